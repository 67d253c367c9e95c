"""`fold-channel-order`: a constant reordering of the input channels of a convolution is moved to its filters.

    %0 = opset8.Gather(%x, [2, 1, 0], 1)
    %1 = opset1.Subtract(%0, %m)                          // any number of such operations with constants
    %2 = opset1.Convolution(%1, %w)
->  %1 = opset1.Subtract(%x, the channels of %m in the inverse order)
    %2 = opset1.Convolution(%1, the input channels of %w in the inverse order)

Padding does not prevent this, because it is the same for all channels. For a convolution in groups, the order must keep
each channel in its group.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from xdsl.ir import Operation, OpResult, SSAValue

from moir.analysis.constants import constant_of, is_shared, weight_of
from moir.analysis.uses import has_one_live_use
from moir.dialects.large_arrays import Values
from moir.dialects.opset.arithmetic import Add, Divide, Multiply, Subtract
from moir.dialects.opset.indexing import Gather
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.spatial import ConvolutionOp
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.passes.fold.fold_scales import with_weights
from moir.rewriting.driver import Pattern, PatternPass, Rewriter

CHANNELS = 1
"""The dimension of the channels in the data of a convolution."""


def channel_order(op: Operation) -> list[int] | None:
    """The order in which a Gather reads all channels of [N, C, …]; None if it is not such a Gather."""
    if not isinstance(op, Gather) or op.integer("batch_dims"):
        return None
    shape, rank, axis, indices = shape_of(op.operands[0]), rank_of(op.operands[0]), constant_of(op.operands[2]), constant_of(op.operands[1])
    if shape is None or rank is None or axis is None or indices is None or axis.size != 1 or indices.ndim != 1:
        return None
    count = shape[CHANNELS] if rank > CHANNELS else -1
    if int(axis.reshape(-1)[0]) % rank != CHANNELS or count != indices.size:
        return None
    order = [int(index) % count for index in indices]
    return order if sorted(order) == list(range(count)) else None


def inverse(order: list[int]) -> list[int]:
    """The inverse of a permutation: element `i` is the index of `i` in `order`."""
    return [order.index(index) for index in range(len(order))]


def reordered_filters(op: ConvolutionOp, filters: Values, order: list[int]) -> Values | None:
    """Filters whose input channels are reordered so that they apply to data before its channels are reordered.

    None if the order moves a channel to another group.
    """
    *grouped, axis = op.INPUT_CHANNELS
    groups = filters.shape[grouped[0]] if grouped else 1
    size = len(order) // groups
    if size * groups != len(order) or filters.shape[axis] != size:
        return None
    if any(channel // size != index // size for index, channel in enumerate(order)):
        return None
    back = np.array(inverse(order)).reshape(groups, size) % size
    array = np.asarray(filters)
    if groups == 1:
        return np.take(array, back[0], axis)
    return np.stack([np.take(each, back[group], axis - 1) for group, each in enumerate(array)])


def reordered_constant(value: SSAValue, rank: int, order: list[int]) -> Values | None:
    """A constant that broadcasts with [N, C, …], reordered so that it applies before the channels are reordered by
    `order`.

    Returns None for values that are not constant, or have a rank above that of the data.
    """
    values = weight_of(value)
    if values is None or values.ndim > rank:
        return None
    axis = CHANNELS - (rank - values.ndim)
    if axis < 0 or values.shape[axis] == 1:
        return values
    return np.take(np.asarray(values), inverse(order), axis) if values.shape[axis] == len(order) else None


class OrderBefore(Pattern):
    """Reorders the filters of a convolution, and the constants between it and a Gather, instead of the data."""

    roots = (ConvolutionOp,)
    companions = ((Gather,),)

    def may_match(self, op: Operation) -> bool:
        return isinstance(op.operands[0].owner, (Add, Subtract, Multiply, Divide, Gather))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        assert isinstance(op, ConvolutionOp)
        between: list[tuple[OpsetOp, int]] = []
        value = op.operands[0]
        while isinstance(value, OpResult) and isinstance(value.op, Add | Subtract | Multiply | Divide):
            constants = [index for index, operand in enumerate(value.op.operands) if weight_of(operand) is not None]
            if len(constants) != 1 or not has_one_live_use(value) or value.op.text("auto_broadcast") != "numpy":
                return
            between.append((value.op, constants[0]))
            value = value.op.operands[1 - constants[0]]
            if value.type != op.operands[0].type:
                return
        order = channel_order(value.op) if isinstance(value, OpResult) else None
        filters = weight_of(op.operands[1])
        if order is None or filters is None or is_shared(op.operands[1]) or (between and not has_one_live_use(value)):
            return
        rank = rank_of(value)
        assert rank is not None
        reordered = reordered_filters(op, filters, order)
        constants = [reordered_constant(each.operands[index], rank, order) for each, index in between]
        if reordered is None or any(each is None for each in constants):
            rewriter.decline("the channels are in several groups" if reordered is None else "a constant has another shape")
            return
        data = value.owner.operands[0] if isinstance(value.owner, Operation) else value
        for (each, index), constant in reversed(list(zip(between, constants, strict=True))):
            operands = [data, rewriter.op.constant(constant, element_of(each.operands[index]))]
            data = rewriter.op[each.name](*(operands[::-1] if index == 0 else operands), **each.properties)
        rewriter.replace_with(op, with_weights(rewriter, op, data, reordered))


class FoldChannelOrderPass(PatternPass):
    """Folds orders of channels into filters."""

    name = "fold-channel-order"

    KEEPS_DIMENSIONS = True

    FIXPOINT: ClassVar[bool] = True

    PATTERNS = (OrderBefore,)
