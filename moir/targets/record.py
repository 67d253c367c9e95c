"""Records of what a target does not execute as the operation sets say: faults, and forms that it executes.

Fault("maximum-nan", "Maximum", "is the second operand if the first is NaN")
Form("reverse-comparisons", "Reverses comparisons of floats …", lambda: [ComparisonOfFloats()])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from moir.records import Record

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from moir.analysis.analyses import Analyses
    from moir.rewriting.driver import Pattern
    from moir.rewriting.reporting_pass import Roots


class Form(Record):
    """A pass of a target: it writes what the target does not execute as it stands in a form that it does execute.

    Args:
        name: the name of the pass.
        summary: what the pass does, in a sentence.
        patterns: makes its patterns.
        run: runs it, as `ReportingPass.run` does, if it is more than its patterns.
        roots: the classes of operations without which `run` changes nothing, if there are no patterns.
    """

    name: str
    summary: str
    patterns: Callable[[], Sequence[Pattern]] = list
    run: Callable[[ModuleOp, Analyses], bool] | None = None
    roots: Roots = ()


class Fault(Record):
    """Something that a target computes otherwise than its definition, refuses, or loses.

    The smallest model that proves it is in `tests/numerical/targets`, by its name: a fault of which nothing is seen any
    more on the installed runtime fails its test there.

    Args:
        name: the name of the fault.
        operation: the operations that it concerns, and where.
        instead: what is computed, or happens, in place of the definition.
        form: the name of the pass that avoids it; empty if another form would cost every model with the operation.
        versions: the versions of the runtime in which it was seen.
    """

    name: str
    operation: str
    instead: str
    form: str = ""
    versions: tuple[str, ...] = ("2026.4",)
