"""Records of a target's deviations from the operation sets: faults, and the equivalent forms that avoid them.

Fault("maximum-nan", "Maximum", "is the second operand if the first is NaN")
Form("reverse-comparisons", (ComparisonOfFloats,))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from moir.records import Record

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from moir.analysis.analyses import Analyses
    from moir.rewriting.driver import Pattern
    from moir.rewriting.reporting_pass import Roots


class Form(Record):
    """A pass of a target: it rewrites operations that the target executes wrongly into equivalent operations.

    Args:
        name: the name of the pass.
        patterns: the classes of its patterns, made without arguments.
        summary: what the pass does, in a sentence; that of its pattern if it has one pattern.
        run: the pass itself, as `ReportingPass.run`, if it does more than apply its patterns.
        roots: if there are no patterns, the classes of operations that `run` may change.
        in_place: whether it adds and erases no operations and changes no operands, see `ReportingPass.IN_PLACE`.
    """

    name: str
    patterns: tuple[type[Pattern], ...] = ()
    summary: str = ""
    run: Callable[[ModuleOp, Analyses], bool] | None = None
    roots: Roots = ()
    in_place: bool = False


class Fault(Record):
    """A deviation of a target from the definition of an operation: a wrong result, a rejection or a crash.

    `tests/numerical/targets` has the smallest model that shows the fault, under its name; `python -m
    tests.numerical.targets.faults` says whether the installed runtime still has the fault on this processor.

    Args:
        name: the name of the fault.
        operation: the operations that it concerns, and under which conditions.
        instead: what the target computes or does instead.
        form: the name of the pass that avoids it; empty if another form would cost every model with the operation.
        versions: the versions of the runtime in which it was seen.
        feature: the feature of the processor, by its name in Linux, without which the fault does not occur, since the
            runtime has other kernels for such processors; empty if it occurs on every processor.
    """

    name: str
    operation: str
    instead: str
    form: str = ""
    versions: tuple[str, ...] = ("2026.4",)
    feature: str = ""


AVX_512 = "avx512bw"
"""A feature of processors: the runtime has separate kernels for it, and computes bf16 in f32 without it."""

BF16 = "avx512_bf16"
"""A feature of processors: the runtime has separate kernels for it, and more fusions of quantized values."""
