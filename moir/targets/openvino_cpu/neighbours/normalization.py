"""Normalizations that the CPU plugin merges with operations that do not belong to them."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of, is_constant, scalar_of
from moir.dialects.opset.arithmetic import Add, Divide, Multiply, Power, Subtract
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.elementwise import Sqrt
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.normalization import GroupNormalization
from moir.dialects.opset.reduction import ReduceMean
from moir.dialects.opset.shape import Reshape, Squeeze, Unsqueeze
from moir.dialects.shapes import is_static, rank_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.neighbours.identity import computed_identity
from moir.targets.record import Fault, Form

_LONGEST_CHAIN = 8
"""The maximum number of elementwise operations between a value of dynamic shape and a normalization."""


class GroupsOfResidual(Pattern):
    """Computes an identity between a GroupNormalization and an operation on its result and another one.

        %1 = opset12.GroupNormalization(%0, %scale, %shift)
        %2 = opset1.Add(%1, %y)
    ->  %3 = opset1.Maximum(-inf, %1)
        %2 = opset1.Add(%3, %y)

    The plugin merges the two into one operation, also if the normalization is computed of %y, so that the merged
    operation would be its own operand; then it ends the process. It computes the Maximum as a part of the
    normalization.
    """

    roots = (GroupNormalization,)

    def may_match(self, op: Operation) -> bool:
        return any(_has_other_operands(user, value) for value in _views(op.results[0]) for user in _users(value))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        same = rewriter.op.create(GroupNormalization, list(op.operands), dict(op.properties)).results[0]
        rewriter.replace_with(op, computed_identity(rewriter.op, same, replaced=op.results[0]))


def _users(value: SSAValue) -> Iterator[Operation]:
    """The operations that use a value, each once per use."""
    return (use.operation for use in value.uses)


def _views(value: SSAValue) -> Iterator[SSAValue]:
    """A value, and the results of all operations that only reshape it, directly or one after another."""
    yield value
    for user in _users(value):
        if isinstance(user, Reshape | Squeeze | Unsqueeze):
            yield from _views(user.results[0])


def _has_other_operands(op: Operation, value: SSAValue) -> bool:
    """Whether an elementwise operation has an operand that is neither `value` nor a constant."""
    return isinstance(op, OpsetOp) and op.BROADCASTS and any(each is not value and not is_constant(each) for each in op.operands)


class GroupsOfBroadcast(Pattern):
    """Normalizes data with one spatial axis if only constants of an operation before make their shape static.

        %1 = opset1.Add(%0, %c)                              // %0: [3, 1, 5, ?], %c: [1, 1, 5, 4]
        %2 = opset12.GroupNormalization(%1, %scale, %shift)
    ->  %3 = opset12.GroupNormalization(opset1.Reshape(%1, [3, 1, 20]), %scale, %shift)
        %2 = opset1.Reshape(%3, [3, 1, 5, 4])

    The plugin keeps a GroupNormalization of static shape, to generate code for it. Then it replaces the operations
    before by one whose shape is dynamic (a rotary embedding), and does not compile the normalization. The Reshape makes
    the shape static; to another one, since the runtime removes a Reshape to the same shape.
    """

    roots = (GroupNormalization,)

    def may_match(self, op: Operation) -> bool:
        shape = shape_of(op.operands[0])
        return shape is not None and is_static(shape) and _is_computed_of_dynamic(op.operands[0])

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, *others = op.operands
        build, (batch, channels, *spatial) = rewriter.op, shape_of(data) or (0, 0)
        flat = [batch, channels, *([prod(spatial)] if len(spatial) > 1 else [*spatial, 1])]
        line = build.Reshape(data, flat, special_zero=False)
        same = build.create(GroupNormalization, [line, *others], dict(op.properties)).results[0]
        rewriter.replace_with(op, build.Reshape(same, [batch, channels, *spatial], special_zero=False))


def _is_computed_of_dynamic(value: SSAValue, depth: int = 0) -> bool:
    """Whether a value is computed by a few elementwise operations, one of which has an operand of dynamic shape.

    `depth` is the number of operations that were looked through already.
    """
    owner = value.owner
    if not isinstance(owner, OpsetOp) or not (owner.POINTWISE or owner.BROADCASTS) or depth > _LONGEST_CHAIN:
        return False
    shapes = [shape_of(each) for each in owner.operands]
    if any(shape is None or not is_static(shape) for shape in shapes):
        return True
    return any(_is_computed_of_dynamic(each, depth + 1) for each in owner.operands)


class MeansOfOtherNormalization(Pattern):
    """Computes an identity between a mean of squares and its square root if the whole is not an MVN.

        %1 = opset1.Subtract(%0, opset1.ReduceMean(%0, [1]))
        %2 = opset1.ReduceMean(opset1.Power(%1, 2), [1]) {keep_dims = false}
        %y = opset1.Divide(%1, opset1.Sqrt(opset1.Add(%2, 1e-5)))
    ->  %3 = opset1.Maximum(-inf, %2)
        %y = opset1.Divide(%1, opset1.Sqrt(opset1.Add(%3, 1e-5)))

    The plugin computes all of it as an MVN along the axes of the variance, without regard to `keep_dims`, to the axes
    of the mean, and to a number under the root or beside it that adds elements to %0.
    """

    roots = (ReduceMean,)
    companions = ((Power, Multiply), (Subtract,), (Divide, Multiply))

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, ReduceMean)
        centered = _base_of_square(op.operands[0])
        if centered is None or _mean_of(centered) is None:
            return False
        quotients = [(mean, others) for divided, others in _quotients(op.results[0]) if (mean := _mean_of(divided)) is not None]
        means = [mean for mean in (_mean_of(centered), *(mean for mean, _ in quotients)) if mean is not None]
        return bool(quotients) and (
            any(_elements(each) > 1 for _, others in quotients for each in others) or not all(_are_alike(op, each) for each in means)
        )

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        same = rewriter.op.create(ReduceMean, list(op.operands), dict(op.properties)).results[0]
        rewriter.replace_with(op, computed_identity(rewriter.op, same, replaced=op.results[0]))


class RootsOfOtherNormalization(Pattern):
    """Computes an identity between a mean of squares along the last axis and its square root if it is no RMS
    normalization.

        %1 = opset1.ReduceMean(opset1.Power(%0, 2), [2]) {keep_dims = false}      // %0: [4, 4, 4]
        %y = opset1.Divide(%0, opset1.Sqrt(opset1.Add(%1, 1e-5)))
    ->  %2 = opset1.Maximum(-inf, %1)
        %y = opset1.Divide(%0, opset1.Sqrt(opset1.Add(%2, 1e-5)))

    The plugin computes all of it as an RMS normalization, without regard to `keep_dims`, and to a number under the root
    that adds dimensions to %0.
    """

    roots = (ReduceMean,)
    companions = ((Power, Multiply), (Divide, Multiply))

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, ReduceMean)
        base = _base_of_square(op.operands[0])
        if base is None:
            return False
        quotients = [others for divided, others in _quotients(op.results[0]) if _unconverted(divided) is _unconverted(base)]
        rank = rank_of(op.operands[0]) or 0
        return bool(quotients) and (not op.flag("keep_dims") or any((rank_of(each) or 0) > rank for others in quotients for each in others))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        same = rewriter.op.create(ReduceMean, list(op.operands), dict(op.properties)).results[0]
        rewriter.replace_with(op, computed_identity(rewriter.op, same, replaced=op.results[0]))


def _mean_of(value: SSAValue | None) -> ReduceMean | None:
    """The ReduceMean that is subtracted from its own operand to compute a value, perhaps with a factor; None for any
    other value.
    """
    if value is None:
        return None
    op = _unconverted(value).owner
    if isinstance(op, Multiply | Divide) and is_constant(op.operands[1]):
        return _mean_of(op.operands[0])
    if not isinstance(op, Subtract):
        return None
    mean = _unconverted(op.operands[1]).owner
    if not isinstance(mean, ReduceMean):
        return None
    return mean if _unconverted(mean.operands[0]) is _unconverted(op.operands[0]) else None


def _base_of_square(value: SSAValue) -> SSAValue | None:
    """The x of x ** 2 or x * x, converted or not; None for other values."""
    op = _unconverted(value).owner
    if isinstance(op, Power) and scalar_of(op.operands[1]) == 2:
        return op.operands[0]
    return op.operands[0] if isinstance(op, Multiply) and op.operands[0] is op.operands[1] else None


def _unconverted(value: SSAValue) -> SSAValue:
    """The value before the Converts that compute a value; the value itself if no Convert computes it."""
    while isinstance(value.owner, Convert):
        value = value.owner.operands[0]
    return value


def _are_alike(mean: ReduceMean, other: ReduceMean) -> bool:
    """Whether two ReduceMeans keep the reduced dimensions and have the same axes.

    Axes that are not constant count as the same.
    """
    if not (mean.flag("keep_dims") and other.flag("keep_dims")):
        return False
    axes = [constant_of(each.operands[1]) for each in (mean, other)]
    rank = rank_of(mean.operands[0]) or 1
    return any(each is None for each in axes) or len({frozenset((each % rank).ravel().tolist()) for each in axes if each is not None}) == 1


def _quotients(value: SSAValue, constants: tuple[SSAValue, ...] = ()) -> Iterator[tuple[SSAValue, tuple[SSAValue, ...]]]:
    """For each x in x / √value and in x · (1 / √value): x, and the other operands of the operations between value and
    root.

    Args:
        value: the value under the root.
        constants: the other operands that were passed so far.
    """
    for user in _users(value):
        if isinstance(user, Divide | Multiply) and user.operands[0] is not value:
            yield user.operands[0], constants
        elif isinstance(user, Multiply):
            yield user.operands[1], constants
        if isinstance(user, Add | Convert | Divide | Power | Sqrt):
            others = [each for each in user.operands if each is not value]
            if not isinstance(user, Divide) or all(map(is_constant, others)):
                yield from _quotients(user.results[0], (*constants, *others))


def _elements(value: SSAValue) -> int:
    """The number of elements of a constant; 1 for a value that is not constant."""
    known = constant_of(value)
    return 1 if known is None else known.size


FORMS = (
    Form(
        "separate-normalizations",
        (GroupsOfBroadcast, GroupsOfResidual, MeansOfOtherNormalization, RootsOfOtherNormalization),
        "Separates normalizations from operations that the plugin merges with them, although they do not belong to them.",
        faults=(
            Fault(
                "normalized-residual",
                "GroupNormalization of what is computed of the result of an elementwise operation, to which this result is added",
                "ends the process",
            ),
            Fault(
                "normalized-broadcast",
                "GroupNormalization of a rotary embedding of dynamic shape, which constants make static",
                "is not compiled",
            ),
            Fault(
                "root-without-axis",
                "x divided by the root of its mean of squares along the last axis, which is not kept, or of more dimensions",
                "is normalized along the last axis",
            ),
            Fault(
                "normalization-axes",
                "(x - mean) / (√variance + ε) made of simple operations, whose means are along other axes than the variance",
                "all of it is along the axes of the variance",
            ),
            Fault("normalization-keeps", "the same without the axes of a mean in its result", "the mean keeps the axes"),
            Fault("normalization-shape", "the same with an ε that adds elements to x", "has the shape of x"),
        ),
    ),
)
