"""`fuse-group-normalization`: the standardization of groups of channels becomes one operation, with scale and shift.

    %g = opset1.Reshape(%x, [2, 4, 4, 6, 6])          // %x: [2, 16, 6, 6], of four groups
    %m = opset6.MVN(%g, [2, 3, 4]) {eps = 0.00001, normalize_variance = true, eps_mode = "INSIDE_SQRT"}
    %n = opset1.Reshape(%m, [2, 16, 6, 6])
    %y = opset1.Add(opset1.Multiply(%n, %scale), %shift)    // [1, 16, 1, 1], or numbers
->  %y = opset12.GroupNormalization(%x, %scale', %shift') {num_groups = 4, epsilon = 0.00001}

    %c = opset1.Subtract(%x, %mean)                   // mean and variance of the groups, repeated for their channels
    %n = opset1.Multiply(%c, opset1.Divide(1.0, opset1.Sqrt(opset1.Add(%variance, 0.00001))))
->  %n = opset12.GroupNormalization(%x, [1.0, …], [0.0, …]) {num_groups = 4, epsilon = 0.00001}

Channels are the second dimension, or the last one; Transposes around the operation then bring them to the second place,
and are moved by the layout change.
"""

from __future__ import annotations

from math import prod

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import TOLERANCES, constant_of, scalar_of
from moir.analysis.dimensions import Dimensions
from moir.analysis.uses import has_one_live_use
from moir.dialects.data import Array
from moir.dialects.opset.activation import Relu
from moir.dialects.opset.arithmetic import Add, Divide, Maximum, Multiply, Subtract
from moir.dialects.opset.elementwise import Sqrt
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.movement import Transpose
from moir.dialects.opset.normalization import MVN, GroupNormalization
from moir.dialects.opset.reduction import ReduceMean
from moir.dialects.opset.repetition import Broadcast
from moir.dialects.opset.shape import Reshape, Squeeze, Unsqueeze
from moir.dialects.shapes import element_of, shape_of
from moir.dialects.symbols import same
from moir.rewriting.builder import OpBuilder
from moir.rewriting.dimension_patterns import DimensionsPass, DimensionsPattern
from moir.rewriting.driver import Pattern, Rewriter
from moir.rewriting.reporting_pass import Needs, all_of, either, needs_of_roots
from moir.support.records import Record


class Groups(Record):
    """How the channels of data are grouped.

    Args:
        count: the number of groups.
        axis: the dimension of the channels.
        channels: the number of channels.
    """

    count: int
    axis: int
    channels: int


def groups_of(split: SSAValue, axes: tuple[int, ...] | None, known: Dimensions) -> tuple[SSAValue, Groups] | None:
    """The data that a Reshape splits into groups of channels, and these groups.

    Returns None unless `axes` are all dimensions of a group, and the channels are the second or the last dimension.
    """
    reshape = split.owner
    if not isinstance(reshape, Reshape) or axes is None:
        return None
    data = reshape.operands[0]
    whole, parts = known.tokens(data), known.tokens(split)
    if whole is None or parts is None or len(whole) < 3 or len(parts) < 3 or not same(whole[0], parts[0]):
        return None
    reduced, rank = {axis % len(parts) for axis in axes}, len(parts)
    if reduced == {*range(2, rank)}:
        axis, position = 1, 1
    elif reduced == {*range(1, rank)} - {rank - 2} and rank == len(whole) + 1 and all(map(same, whole[:-1], parts[:-2])):
        axis, position = len(whole) - 1, rank - 2
    else:
        return None
    channels, count = whole[axis], parts[position]
    if not isinstance(channels, int) or not isinstance(count, int) or count < 1 or channels % count:
        return None
    return data, Groups(count, axis, channels)


def normalized(op: OpBuilder, data: SSAValue, groups: Groups, epsilon: float) -> SSAValue:
    """Build a GroupNormalization without scale and shift: data standardized in each group of channels."""
    rank = len(shape_of(data) or ())
    order = [0, groups.axis, *(axis for axis in range(1, rank) if axis != groups.axis)]
    affine = [op.constant_like(np.full(groups.channels, number), data) for number in (1.0, 0.0)]
    normalization = op.GroupNormalization(op.transposed(data, order), *affine, num_groups=groups.count, epsilon=epsilon)
    return op.transposed(normalization, [order.index(axis) for axis in range(rank)])


class GroupedMvn(DimensionsPattern):
    """Replaces an MVN of data split into groups of channels by a GroupNormalization, from the Reshape that merges them
    again.
    """

    roots = (Reshape,)

    def may_match(self, op: Operation) -> bool:
        return isinstance(op.operands[0].owner, MVN)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        mvn = op.operands[0].owner
        assert isinstance(mvn, MVN)
        grouped = groups_of(mvn.operands[0], self.known.integers(mvn.operands[1]), self.known)
        if grouped is None or not mvn.flag("normalize_variance") or mvn.text("eps_mode").upper() != "INSIDE_SQRT":
            return
        data, groups = grouped
        before, after = self.known.tokens(data), self.known.tokens(op.results[0])
        if before is None or after is None or len(before) != len(after) or not all(map(same, before, after)):
            return
        if element_of(data) in TOLERANCES and has_one_live_use(mvn.results[0]):
            rewriter.replace_with(op, normalized(rewriter.op, data, groups, mvn.number("eps")))


REPEATING = (Broadcast, Reshape, Squeeze, Unsqueeze)
"""Operations that repeat the statistics of a group for the channels of the group."""


def statistics_of(value: SSAValue, data: SSAValue, known: Dimensions) -> SSAValue | None:
    """The statistics [N, groups] of groups of channels that a value repeats for each channel; None for other values.

    To recognize the repetition, the operations are evaluated for numbered groups, of several samples if N is dynamic.
    """
    chain: list[tuple[OpsetOp, list[Array]]] = []
    while isinstance(value.owner, REPEATING):
        op = value.owner
        others = [each for each in map(constant_of, op.operands[1:]) if each is not None]
        if len(others) != len(op.operands) - 1:
            return None
        chain.append((op, others))
        value = op.operands[0]
    shape, whole = known.tokens(value), known.tokens(data)
    if not chain or shape is None or whole is None or len(shape) < 2 or not same(shape[0], whole[0]):
        return None
    groups, channels, batch = [each for each in shape[1:] if isinstance(each, int)], whole[-1], whole[0]
    if len(groups) != len(shape) - 1 or not isinstance(channels, int) or min(*groups, channels) < 1 or channels % prod(groups):
        return None
    for samples in (batch,) if isinstance(batch, int) else (2, 3):
        numbers: Array = np.arange(samples * prod(groups)).reshape(samples, *groups)
        wanted = np.repeat(numbers.reshape(samples, -1), channels // prod(groups), axis=1)
        for op, others in reversed(chain):
            numbers_of_groups = op.evaluate(numbers, *others)
            if numbers_of_groups is None:
                return None
            numbers = numbers_of_groups[0]
        if not np.array_equal(numbers, wanted.reshape(samples, *(1,) * (len(whole) - 2), channels)):
            return None
    return value


def is_square(value: SSAValue, of: SSAValue) -> bool:
    """Whether a value is the square of another one."""
    return isinstance(value.owner, Multiply) and value.owner.operands[0] is of and value.owner.operands[1] is of


def is_variance(value: SSAValue, mean: ReduceMean) -> bool:
    """Whether a value is the variance that belongs to `mean`: the mean of the squares of the same data minus the square
    of the mean.
    """
    op = value.owner
    if isinstance(op, Maximum):
        rest = [each for each in op.operands if scalar_of(each) != 0]
        op = rest[0].owner if len(rest) == 1 else None
    elif isinstance(op, Relu):
        op = op.operands[0].owner
    if not isinstance(op, Subtract) or not is_square(op.operands[1], mean.results[0]):
        return False
    squares = op.operands[0].owner
    if not isinstance(squares, ReduceMean) or not is_square(squares.operands[0], mean.operands[0]):
        return False
    first, second = (constant_of(each.operands[1]) for each in (squares, mean))
    return first is not None and second is not None and np.array_equal(first, second)


class RepeatedStatistics(DimensionsPattern):
    """Replaces data minus a repeated mean, times a factor that begins with the reciprocal deviation, by a
    GroupNormalization.
    """

    roots = (Multiply,)

    def may_match(self, op: Operation) -> bool:
        return any(isinstance(each.owner, Subtract) and isinstance(each.owner.operands[1].owner, REPEATING) for each in op.operands)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        for centred, factor in (op.operands, tuple(reversed(op.operands))):
            if not isinstance(centred.owner, Subtract):
                continue
            data, mean = centred.owner.operands
            scale: SSAValue | None = None
            if isinstance(factor.owner, Multiply):
                constants = [each for each in factor.owner.operands if constant_of(each) is not None]
                others = [each for each in factor.owner.operands if constant_of(each) is None]
                if len(constants) != 1:
                    continue
                (scale,), (factor,) = constants, others
            statistics = self.statistics(data, mean, factor)
            if statistics is not None and element_of(data) in TOLERANCES:
                value = normalized(rewriter.op, data, *statistics)
                rewriter.replace_with(op, value if scale is None else rewriter.op.Multiply(value, scale))
                return

    def statistics(self, data: SSAValue, mean: SSAValue, factor: SSAValue) -> tuple[Groups, float] | None:
        """The groups and the epsilon of a standardization: data minus `mean`, times `factor`, the reciprocal deviation.

        Returns None for other values.
        """
        reciprocal = factor.owner
        if not isinstance(reciprocal, Divide) or scalar_of(reciprocal.operands[0]) != 1:
            return None
        root = reciprocal.operands[1].owner
        total = root.operands[0].owner if isinstance(root, Sqrt) else None
        if not isinstance(total, Add):
            return None
        first, second = statistics_of(mean, data, self.known), None
        for variance, constant in (total.operands, tuple(reversed(total.operands))):
            epsilon = scalar_of(constant)
            second = None if epsilon is None else statistics_of(variance, data, self.known)
            if first is None or second is None or epsilon is None or not isinstance(first.owner, ReduceMean):
                continue
            groups = groups_of(first.owner.operands[0], self.known.integers(first.owner.operands[1]), self.known)
            if groups is not None and groups[0] is data and groups[1].axis > 1 and epsilon > 0 and is_variance(second, first.owner):
                return groups[1], epsilon
        return None


class AffineOfGroups(Pattern):
    """Merges a constant factor or summand of each channel into the normalization before it."""

    roots = (Multiply, Add)

    def may_match(self, op: Operation) -> bool:
        return any(isinstance(each.owner, GroupNormalization | Transpose) for each in op.operands)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        for value, other in (op.operands, tuple(reversed(op.operands))):
            number, order = constant_of(other), None
            norm = value.owner
            if isinstance(norm, Transpose):
                order = norm.permutation(rewriter.known)
                norm = norm.operands[0].owner if order is not None and has_one_live_use(value) else None
            if number is None or not isinstance(norm, GroupNormalization) or not has_one_live_use(norm.results[0]):
                continue
            shape, affine = shape_of(value), [constant_of(each) for each in norm.operands[1:]]
            scale, bias = affine
            if shape is None or scale is None or bias is None or number.ndim > len(shape):
                continue
            axis = 1 if order is None else order.index(1)
            sizes = (1,) * (len(shape) - number.ndim) + number.shape
            if any(size != 1 for index, size in enumerate(sizes) if index != axis) or sizes[axis] not in (1, scale.size):
                continue
            factor = np.broadcast_to(number.reshape(sizes[axis]), scale.shape)
            new = (scale * factor, bias * factor) if isinstance(op, Multiply) else (scale, bias + factor)
            constants = [rewriter.op.constant_like(each, norm.operands[0]) for each in new]
            normalization = rewriter.op.GroupNormalization(
                norm.operands[0], *constants, num_groups=norm.integer("num_groups"), epsilon=norm.number("epsilon")
            )
            rewriter.replace_with(op, normalization if order is None else rewriter.op.transposed(normalization, order))
            return


class FuseGroupNormalizationPass(DimensionsPass):
    """Fuses the normalization of groups of channels, Wu and He, "Group Normalization", 2018."""

    name = "fuse-group-normalization"

    PATTERNS = (GroupedMvn, RepeatedStatistics, AffineOfGroups)

    STATIC = True

    FIXPOINT = True

    @classmethod
    def needs(cls) -> Needs | None:
        standardized, elementary = ((Reshape,), (MVN,)), ((Multiply,), (Divide,), (Sqrt,), (ReduceMean,), (Subtract,))
        return either(all_of(map(needs_of_roots, roots)) for roots in (standardized, elementary))
