"""XLA operations that move elements (padding, dynamic slices) or change nothing.

    %y = tf.XlaPad(%x, 0, [1, 0], [1, 0], [0, 2])
->  %0 = opset1.Reshape(opset12.Pad(opset1.Unsqueeze(%x, 2), …))   // two zeros between the columns
    %y = opset12.Pad(%0, [1, 0], [1, 0], 0)
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.lowering.xla.padding import slice_at, updated_at, with_edges, with_interior
from moir.rewriting.builder import OpBuilder

HINT = "export the model with static shapes, so that sizes and dimensions are constants"


def constant_list(node: LoweringNode, index: int, what: str, length: int | None = None) -> tuple[int, ...]:
    """The integers of constant operand `index`, a 1-D tensor; `what` is its name for messages.

    Raises ConversionError if it is not constant, or if its length differs from `length`, unless that is None.
    """
    values = node.constant_integers(index)
    if values is None:
        node.fail(f"its {what} are computed when the model runs", hint=HINT)
    if length is not None and len(values) != length:
        node.fail(f"its {what} have {len(values)} entries, not {length}")
    return values


# Operations that change nothing


@tf.lowers("XlaSharding", "XlaSetBound", "XlaRemoveDynamicDimensionSize")
def unchanged(input: SSAValue) -> SSAValue:
    """tf.XlaSharding(x) {sharding} -> x

    On one device a shard is the whole tensor. Bounds and sizes of dynamic dimensions only concern XLA's memory
    allocation.
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


@tf.lowers("XlaBroadcastHelper")
def broadcast_helper(node: LoweringNode, op: OpBuilder, lhs: SSAValue, rhs: SSAValue) -> Sequence[SSAValue]:
    """tf.XlaBroadcastHelper(a, b, dims) -> a, opset1.Reshape(b, [1, size, 1]): ones in the dimensions that b lacks

    Element i of `dims` is the dimension of the operand of higher rank that corresponds to dimension i of the other
    operand.
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


@tf.lowers("XlaDynamicSlice")
def dynamic_slice(node: LoweringNode, op: OpBuilder, input: SSAValue, start_indices: SSAValue) -> SSAValue:
    """tf.XlaDynamicSlice(x, start, sizes)
    -> opset8.Gather(x, start + [0, 1, …], axis) for each axis that is not taken whole; opset8.Slice for constants

    A start index beyond the last valid one is clamped to the last valid one.
    """
    return slice_at(op, input, start_indices, constant_list(node, 2, "sizes", node.known_rank(0)))


@tf.lowers("XlaDynamicUpdateSlice")
def dynamic_update_slice(node: LoweringNode, op: OpBuilder, input: SSAValue, update: SSAValue, indices: SSAValue) -> SSAValue:
    """tf.XlaDynamicUpdateSlice(x, update, start) -> opset3.ScatterUpdate, or opset1.Select between padded tensors

    A start index beyond the last valid one is clamped to the last valid one.
    """
    node.known_rank(0)
    return updated_at(op, input, update, indices)
