"""Records of a target's deviations from the operation sets: faults, and the equivalent forms that avoid them.

Form(
    "reverse-comparisons",
    (ComparisonOfFloats,),
    faults=(Fault("comparison-nan", "Greater of floats", "is the negation of LessEqual, and so holds for NaN"),),
)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from moir.support.records import Record
from moir.targets.stages import CORRECT

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

    from moir.analysis.analyses import Analyses
    from moir.rewriting.driver import Pattern
    from moir.rewriting.reporting_pass import Roots


class Fault(Record):
    """A deviation of a target from the definition of an operation: a wrong result, a rejection or a crash.

    It stands in the record of the form or refusal that avoids it, or else in the table of `unavoided_faults`.

    `tests/numerical/targets` has the smallest model that shows the fault, under its name; `python -m
    tests.numerical.targets.faults` says whether the installed runtime still has the fault on this processor.

    Args:
        name: the name of the fault.
        operation: the operations that have the fault, and its conditions.
        instead: the result or behaviour of the target.
        versions: the versions of the runtime in which it was seen.
        feature: the feature of the processor, by its name in Linux, without which the fault does not occur, since the
            runtime has other kernels for such processors; empty if it occurs on every processor.
    """

    name: str
    operation: str
    instead: str
    versions: tuple[str, ...] = ("2026.4",)
    feature: str = ""


class Form(Record):
    """A pass of a target: it rewrites operations that the target executes wrongly into equivalent operations.

    Args:
        name: the name of the pass.
        patterns: the classes of its patterns, made without arguments.
        summary: what the pass does, in a sentence; that of its pattern if it has one pattern.
        run: the pass itself, as `ReportingPass.run`, if it does more than apply its patterns.
        roots: if there are no patterns, the classes of operations that `run` may change.
        in_place: whether it adds and erases no operations and changes no operands, see `ReportingPass.IN_PLACE`.
        stage: when it runs, one of `moir.targets.stages`.
        after: the forms of its stage that run before it: they build operations that it rewrites, or match
            operations that it would change.
        faults: what it avoids.
    """

    name: str
    patterns: tuple[type[Pattern], ...] = ()
    summary: str = ""
    run: Callable[[ModuleOp, Analyses], bool] | None = None
    roots: Roots = ()
    in_place: bool = False
    stage: str = CORRECT
    after: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()


class Refusal(Record):
    """A check of a target, after all forms: it refuses valid operations that the target does not execute in any form.

    The error names the node of the framework that the operation comes from.

    Args:
        name: the name of the pass.
        roots: the classes of operations that it may refuse.
        reason: a function that returns why the target does not execute an operation; None if it does.
        hint: what the user can do about it.
        summary: what it refuses, in a sentence.
        faults: the deviations of the target that are the cause.
    """

    name: str
    roots: tuple[type[Operation], ...]
    reason: Callable[[Operation, Analyses], str | None]
    hint: str
    summary: str
    faults: tuple[Fault, ...] = ()


AVX_512 = "avx512bw"
"""The name of a feature of processors.

With it the runtime uses separate kernels; without it bf16 is computed in f32.
"""

BF16 = "avx512_bf16"
"""The name of a feature of processors.

With it the runtime uses separate kernels, and fuses more operations on quantized values.
"""
