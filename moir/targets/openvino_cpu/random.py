"""Random numbers that the runtime samples at the wrong time, or whose form the plugin does not compile."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.constants import scalar_of
from moir.dialects.element_types import REAL_TYPES
from moir.dialects.opset.arithmetic import Add, Multiply, Subtract
from moir.dialects.opset.elementwise import Negative
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.random import Multinomial, RandomUniform
from moir.dialects.opset.shape import ShapeOfOp
from moir.dialects.shapes import element_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter, rewrite
from moir.targets.record import Fault, Form


class RandomSubtrahend(Pattern):
    """Reverses a difference whose subtrahend is random and does not depend on an input.

        %u = opset8.RandomUniform([4], 0.0, 1.0)
        %1 = opset1.Subtract(%x, %u)
    ->  %2 = opset1.Subtract(%u, %x)
        %1 = opset1.Negative(%2)

    If both terms are such floats, they are doubled: (2 · %x + -2 · %u) · ½. Likewise for sums with a term that is
    negated or multiplied by -1. At compile time the runtime folds a subtrahend that does not depend on an input. The
    random numbers would then be the same in every inference, and differ from those that other users of the same
    RandomUniform read.

    Args:
        random: the values that are random and do not depend on an input.
    """

    roots = (Add, Subtract)

    def __init__(self, random: frozenset[SSAValue] = frozenset()) -> None:
        self.random = random

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Add | Subtract)
        first, second = op.operands
        pairs = ((first, second),) if isinstance(op, Subtract) else ((first, negated(second)), (second, negated(first)))
        for minuend, subtrahend in pairs:
            if subtrahend not in self.random or op.text("auto_broadcast") != "numpy":
                continue
            build = rewriter.op
            if minuend in self.random and element_of(op.results[0]) in REAL_TYPES:
                rewriter.replace_with(op, build.Multiply(build.Add(build.Multiply(minuend, 2), build.Multiply(subtrahend, -2)), 0.5))
            else:
                rewriter.replace_with(op, build.Negative(build.Subtract(subtrahend, minuend)))
            return


def negated(value: SSAValue) -> SSAValue | None:
    """The value that an operation negates to produce the given value; None if there is no such operation."""
    op = value.owner
    if isinstance(op, Negative):
        return op.operands[0]
    if isinstance(op, Multiply) and op.text("auto_broadcast") == "numpy":
        return next((other for other, factor in (op.operands, reversed(op.operands)) if scalar_of(factor) == -1), None)
    return None


def random_values(operations: Iterable[Operation]) -> frozenset[SSAValue]:
    """The values of a block that are computed from random numbers, constants and shapes only.

    Shapes count, since the runtime folds them if they are static, and `model.reshape()` may make inputs static.
    """
    sampled, fixed = set[SSAValue](), set[SSAValue]()
    for op in operations:
        if isinstance(op, Constant | ShapeOfOp):
            fixed.update(op.results)
        elif op.operands and not op.regions and all(operand in fixed or operand in sampled for operand in op.operands):
            is_random = isinstance(op, RandomUniform) or any(operand in sampled for operand in op.operands)
            (sampled if is_random else fixed).update(op.results)
    return frozenset(sampled)


def _reverse_random_differences(module: ModuleOp, analyses: Analyses) -> bool:
    random = frozenset[SSAValue]().union(*(random_values(operations) for _, operations in analyses.contents))
    return bool(random) and rewrite(module, [RandomSubtrahend(random)], analyses=analyses)


class RandomScalar(Pattern):
    """Samples a random scalar as a 1-D tensor of one element.

        %u = opset8.RandomUniform([], 0.0, 1.0)
    ->  %0 = opset8.RandomUniform([1], 0.0, 1.0)
        %u = opset15.Squeeze(%0, [0])

    The plugin does not write the result of a RandomUniform of rank 0.
    """

    roots = (RandomUniform,)

    def may_match(self, op: Operation) -> bool:
        return shape_of(op.operands[0]) == (0,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        build = rewriter.op
        drawn = build.create(RandomUniform, [build.constant([1]), *op.operands[1:]], dict(op.properties)).results[0]
        rewriter.replace_with(op, build.Squeeze(drawn, [0]))


class ClassesWithSeveralUses(Pattern):
    """Inserts an Abs after a Multinomial that has several uses, so that one use remains.

        %c = opset13.Multinomial(%p, 3)                      // with two uses
    ->  %0 = opset13.Multinomial(%p, 3)
        %c = opset1.Abs(%0)

    The plugin does not compile a Multinomial with several uses.
    """

    roots = (Multinomial,)

    def may_match(self, op: Operation) -> bool:
        return len(list(op.results[0].uses)) > 1

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        build = rewriter.op
        drawn = build.create(Multinomial, list(op.operands), dict(op.properties)).results[0]
        rewriter.replace_with(op, build.Abs(drawn))


FORMS = (
    Form(
        "reverse-random-differences",
        (RandomSubtrahend,),
        run=_reverse_random_differences,
        roots=(RandomUniform,),
        faults=(
            Fault(
                "random-subtrahend",
                "random numbers that are subtracted",
                "are the same in every run, as the runtime replaces them by a constant",
            ),
        ),
    ),
    Form(
        "sample-1d",
        (RandomScalar, ClassesWithSeveralUses),
        "Samples random scalars as 1-D tensors, and inserts an Abs after a Multinomial with several uses.",
        faults=(
            Fault("random-scalar", "RandomUniform of a scalar", "is not written"),
            Fault("multinomial-uses", "Multinomial with two uses", "is not compiled"),
        ),
    ),
)
