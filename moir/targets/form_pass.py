"""The passes of a target, each built from the record of a form (`Form`) or of a check (`Refusal`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp

from moir.analysis.analyses import Analyses
from moir.analysis.provenance import Source, sources
from moir.dialects.names import name_of
from moir.errors import UnsupportedOperationError
from moir.rewriting.driver import Pattern, PatternPass, rewrite
from moir.rewriting.reporting_pass import Elements, Needs, ReportingPass, needs_of_roots
from moir.targets.known_faults import record_of
from moir.targets.record import Form, Refusal


class FormPass(PatternPass):
    """Rewrites operations into a form that the target executes correctly.

    An operation that a pattern inserts is visited by the patterns after it, so that the operation has the forms of all.
    """

    FORM: ClassVar[Form]

    def patterns(self) -> Sequence[Pattern]:
        return [each() for each in self.FORM.patterns]

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        if self.FORM.run is not None:
            return self.FORM.run(module, analyses)
        return rewrite(module, self.patterns(), cascade=True, analyses=analyses)

    @classmethod
    def needs(cls) -> Needs | None:
        return needs_of_roots(cls.FORM.roots) if cls.FORM.roots else super().needs()

    @classmethod
    def elements(cls) -> Elements | None:
        return super().elements() if cls.FORM.run is None else None


class RefusalPass(ReportingPass):
    """Raises UnsupportedOperationError for an operation that the target does not execute."""

    REFUSAL: ClassVar[Refusal]

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        refusal = self.REFUSAL
        for op in analyses.operations(*refusal.roots):
            if (reason := refusal.reason(op, analyses)) is not None:
                # The error names the node of the framework; without one, the operation.
                source = next(iter(sources(op)), Source(name_of(op) or "", op.name))
                raise UnsupportedOperationError(reason, operation=source.operation, node=source.node, hint=refusal.hint)
        return False

    @classmethod
    def needs(cls) -> Needs | None:
        return needs_of_roots(cls.REFUSAL.roots)


@cache
def form_pass(name: str, module: str) -> type[FormPass | RefusalPass]:
    """The pass of a form or refusal, given its name and the module whose list `FORMS` or `REFUSALS` contains it."""
    record = record_of(name, module)
    title = "".join(word.capitalize() for word in name.split("-"))
    if isinstance(record, Refusal):
        return type(f"{title}Pass", (RefusalPass,), {"name": name, "REFUSAL": record, "__doc__": record.summary, "__module__": module})
    summary = record.summary or (record.patterns[0].__doc__ or "").partition("\n\n")[0]
    members = {"name": name, "FORM": record, "IN_PLACE": record.in_place, "__doc__": summary, "__module__": module}
    return type(f"{title}Pass", (FormPass,), members)
