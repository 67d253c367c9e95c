"""`lower-to-release`: replaces operations that a release of the runtime does not read by older ones.

    moir-opt -p 'lower-to-release{release="2022.3"}'

    %y = opset11.TopK(%x, 2) {axis = 1, mode = "max", sort = "value"}
->  %y = opset3.TopK(%x, 2) {axis = 1, mode = "max", sort = "value"}

Of each operation the newest version that the release reads is written (`earlier_versions.py`), or else its expansion
(`expansions/`), until nothing is left that has one. `check-release` refuses what is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module

from xdsl.dialects.builtin import ModuleOp

from moir.analysis.analyses import Analyses
from moir.dialects.moir import ModuleLevel, models_of
from moir.dialects.properties import integer_attribute
from moir.frameworks import load
from moir.rewriting.driver import Pattern, rewrite
from moir.rewriting.reporting_pass import ReportingPass
from moir.targets.releases.expansions import FAMILIES
from moir.targets.releases.registry import accepts, is_earlier, release_named
from moir.targets.releases.release import Release

NEWEST_VERSION = 11
"""The version of the IR that is written for a model without the attribute `ir_version`."""

MOST_ROUNDS = 16
"""The maximum number of rounds of replacement: longer than any chain of expansions, so that a cycle in the tables is
noticed.
"""


@dataclass(frozen=True)
class LowerToReleasePass(ReportingPass):
    """Replaces operations that a release of the runtime does not read by older ones."""

    name = "lower-to-release"

    release: str = ""

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        release = release_named(self.release)
        if release.ir_version < NEWEST_VERSION:
            for model in models_of(module):
                model.attributes[ModuleLevel.IR_VERSION] = integer_attribute(release.ir_version)
        for _ in range(MOST_ROUNDS):
            patterns = [*patterns_for(release, {each.name for each in analyses.classes})]
            if not patterns or not rewrite(module, patterns, analyses=analyses):
                break
            analyses = Analyses(module)
        return True


def patterns_for(release: Release, operations: set[str]) -> Iterator[Pattern]:
    """The patterns for those of the operations that a release does not accept, older versions before expansions."""
    from moir.targets.releases.earlier_versions import EARLIER_VERSIONS, EarlierVersionPattern
    from moir.targets.releases.expansions.expansion import ExpansionPattern
    from moir.targets.releases.limitations import LIMITATIONS

    for each in LIMITATIONS:
        if each.operation in operations and is_earlier(release, each.until) and accepts(release, each.operation):
            yield ExpansionPattern(each.operation, load(each.instead), each.when)
    refused = {name for name in operations if not accepts(release, name)}
    yield from (EarlierVersionPattern(each) for each in EARLIER_VERSIONS if each.newer in refused)
    for family, names in FAMILIES.items():
        for name in refused.intersection(names.split()):
            expansions = import_module(f"moir.targets.releases.expansions.{family}").EXPANSIONS
            yield ExpansionPattern(name, expansions[name])
