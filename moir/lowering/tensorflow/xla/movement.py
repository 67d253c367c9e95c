"""XLA operations that move elements: padding, and slices at computed positions; and those that change nothing.

    %y = tf.XlaPad(%x, 0, [1, 0], [1, 0], [0, 2])
->  %0 = opset1.Reshape(opset12.Pad(opset1.Unsqueeze(%x, 2), …))   // two zeros between the columns
    %y = opset12.Pad(%0, [1, 0], [1, 0], 0)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import shape_of
from moir.expansions.shape_values import as_scalar, dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

HINT = "export the model with static shapes, so that sizes and dimensions are constants"


def constant_list(node: LoweringNode, index: int, what: str, length: int | None = None) -> tuple[int, ...]:
    """A constant operand that is a list of integers. Raises ConversionError if it is computed or has another length."""
    found = node.constant_integers(index)
    if found is None:
        node.fail(f"its {what} are computed when the model runs", hint=HINT)
    if length is not None and len(found) != length:
        node.fail(f"its {what} have {len(found)} entries, not {length}")
    return found


# Nothing to do


@tf.lowers("XlaSharding", "XlaSetBound", "XlaRemoveDynamicDimensionSize")
def unchanged(input: SSAValue) -> SSAValue:
    """tf.XlaSharding(x) {sharding} -> x

    On one device a shard is the whole tensor. Bounds and the end of a dynamic dimension say what XLA has to allocate.
    """
    return input


@tf.lowers("XlaOptimizationBarrier")
def all_unchanged(node: LoweringNode, *input: SSAValue) -> Sequence[SSAValue]:
    """tf.XlaOptimizationBarrier(x…) -> x…"""
    return input[: node.result_count]


# Padding


@tf.lowers("XlaPad")
def pad(node: LoweringNode, op: OpBuilder, input: SSAValue, padding_value: SSAValue) -> SSAValue:
    """tf.XlaPad(x, value, low, high, interior)
    -> opset12.Pad(x, low, high, value); interior elements are padded onto a new dimension, which is then merged
    """
    data, rank = input, node.known_rank(0)
    value = as_scalar(op, padding_value)
    interior = constant_list(node, 4, "interior paddings", rank)
    if interior and min(interior) < 0:
        node.fail(f"an interior padding of {list(interior)} is negative")
    data = with_interior(op, data, interior, value)
    low, high = node.constant_integers(2), node.constant_integers(3)
    if low is None or high is None:
        begin, end = (op.convert(node.operand(index), si64) for index in (2, 3))
        return op.Pad(data, begin, end, value, pad_mode="constant")
    return with_edges(op, data, low, high, value)


def with_edges(op: OpBuilder, data: SSAValue, low: Sequence[int], high: Sequence[int], value: SSAValue) -> SSAValue:
    """Data with a value in front of the first elements and after the last; negative numbers cut elements off."""
    added = [[max(entry, 0) for entry in entries] for entries in (low, high)]
    if any(map(any, added)):
        data = op.Pad(data, *added, value, pad_mode="constant")
    cut = [axis for axis, (begin, end) in enumerate(zip(low, high, strict=True)) if min(begin, end) < 0]
    if not cut:
        return data
    last = 2**31 - 1
    return op.Slice(data, [max(-low[axis], 0) for axis in cut], [min(high[axis], 0) or last for axis in cut], [1] * len(cut), cut)


def with_interior(op: OpBuilder, data: SSAValue, counts: Sequence[int], value: SSAValue) -> SSAValue:
    """Data with copies of a value between the elements along each axis; the rank has to be known.

    [1, 2] with two zeros -> [[1, 0, 0], [2, 0, 0]] -> [1, 0, 0, 2, 0, 0] -> [1, 0, 0, 2]
    """
    rank = len(counts)
    for axis, count in enumerate(counts):
        if not count:
            continue
        ends = [0] * (rank + 1)
        ends[axis + 1] = count
        spread = op.Pad(op.Unsqueeze(data, [axis + 1]), [0] * (rank + 1), ends, value, pad_mode="constant")
        size = (shape_of(data) or (-1,) * rank)[axis]
        sizes = [dimension_list(op, data, each) for each in range(rank)]
        sizes[axis] = op.constant([size * (count + 1)]) if size >= 0 else op.Multiply(sizes[axis], count + 1)
        merged = op.Reshape(spread, op.Concat(*sizes, axis=0) if rank > 1 else sizes[0], special_zero=False)
        data = op.Slice(merged, [0], [-count], [1], [axis])
    return data


@tf.lowers("XlaBroadcastHelper")
def broadcast_helper(node: LoweringNode, op: OpBuilder, lhs: SSAValue, rhs: SSAValue) -> Sequence[SSAValue]:
    """tf.XlaBroadcastHelper(a, b, dims) -> a, opset1.Reshape(b, [1, size, 1]): ones in the dimensions that b lacks

    Entry i of `dims` is the dimension of the operand of higher rank that dimension i of the other one belongs to.
    """
    values, ranks = [lhs, rhs], [node.known_rank(0), node.known_rank(1)]
    dims = constant_list(node, 2, "dimensions")
    if ranks[0] == ranks[1] or min(ranks) == 0:
        return values
    lower = int(ranks[1] < ranks[0])
    if len(dims) != ranks[lower] or len(set(dims)) != len(dims) or list(dims) != sorted(dims):
        node.fail(f"its dimensions {list(dims)} are not an ascending list of {ranks[lower]}")
    missing = [axis for axis in range(max(ranks)) if axis not in dims]
    values[lower] = op.Unsqueeze(values[lower], missing)
    return values


# Slices at computed positions


def limited_start(op: OpBuilder, start: SSAValue, size: SSAValue, taken: SSAValue) -> SSAValue:
    """The start of a slice, moved so that the slice lies within the data: XLA never reads or writes beyond them."""
    return op.Maximum(op.Minimum(op.convert(start, si64), op.Subtract(size, taken)), 0)


@tf.lowers("XlaDynamicSlice")
def dynamic_slice(node: LoweringNode, op: OpBuilder, input: SSAValue, start_indices: SSAValue) -> SSAValue:
    """tf.XlaDynamicSlice(x, start, sizes)
    -> opset8.Gather(x, start + [0, 1, …], axis) for each axis that is not taken whole; opset8.Slice for constants

    A start beyond the last possible one is that.
    """
    data, rank = input, node.known_rank(0)
    sizes = constant_list(node, 2, "sizes", rank)
    shape, starts = shape_of(data) or (-1,) * rank, op.known.integers(start_indices)
    cut = [axis for axis in range(rank) if sizes[axis] != shape[axis]]
    if not cut:
        return data
    if starts is not None and all(shape[axis] >= 0 for axis in cut):
        first = [max(0, min(starts[axis], shape[axis] - sizes[axis])) for axis in cut]
        return op.Slice(data, first, [start + sizes[axis] for start, axis in zip(first, cut, strict=True)], [1] * len(cut), cut)
    for axis in cut:
        size = dimension_list(op, data, axis)
        start = limited_start(op, op.Gather(start_indices, [axis], 0), size, op.constant([sizes[axis]]))
        data = op.Gather(data, op.Add(start, np.arange(sizes[axis])), axis)
    return data


@tf.lowers("XlaDynamicUpdateSlice")
def dynamic_update_slice(node: LoweringNode, op: OpBuilder, input: SSAValue, update: SSAValue, indices: SSAValue) -> SSAValue:
    """tf.XlaDynamicUpdateSlice(x, update, start)
    -> opset3.ScatterUpdate(x, start + [0, 1, …], update, axis) if the other axes are written whole;
       else opset1.Select(opset12.Pad(true, start, …), opset12.Pad(update, start, …), x)

    A start beyond the last possible one is that.
    """
    rank = node.known_rank(0)
    shape, written = shape_of(input) or (-1,) * rank, shape_of(update) or (-1,) * rank
    cut = [axis for axis in range(rank) if shape[axis] != written[axis] or shape[axis] < 0]
    if not cut:
        return update
    if len(cut) == 1:
        size, taken = (dimension_list(op, value, cut[0]) for value in (input, update))
        start = limited_start(op, op.Gather(indices, cut, 0), size, taken)
        places = op.Add(start, op.Range(0, op.Squeeze(taken, [0]), 1, output_type=si64))
        return op.ScatterUpdate(input, places, update, cut[0])
    size, taken = op.ShapeOf(input), op.ShapeOf(update)
    start = limited_start(op, indices, size, taken)
    end = op.Subtract(op.Subtract(size, taken), start)
    ones = op.Broadcast(op.constant(np.array(1, np.uint8)), taken)
    inside = op.Pad(ones, start, end, op.constant(np.array(0, np.uint8)), pad_mode="constant")
    moved = op.Pad(update, start, end, op.constant_like(0, update), pad_mode="constant")
    return op.Select(op.Equal(inside, 1), moved, input)
