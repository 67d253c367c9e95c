"""Reading elements at computed positions, one-hot encoding, partitioning and stitching."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES, si32, si64
from moir.dialects.shapes import element_of, is_static, rank_of, shape_of
from moir.errors import InferenceError
from moir.expansions.constant_indices import outside
from moir.expansions.shape_values import as_scalar, rank_value
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS, by_formula, by_parts
from moir.lowering.tensorflow.complex.types import is_complex, real_axis
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder, Operand

INDEX_TYPES = (si32, si64)
"""The element types that indices are given in."""

MAXIMUM_STITCH = 1 << 16
"""The largest number of constant indices for which a DynamicStitch is computed during the conversion."""


def as_indices(op: OpBuilder, value: SSAValue) -> SSAValue:
    """Integers of type si32 or si64 unchanged; integers of other types converted to si32."""
    return value if element_of(value) in INDEX_TYPES or element_of(value) not in INTEGER_TYPES else op.convert(value, si32)


def check_bad_indices(node: LoweringNode) -> None:
    """Raises ConversionError if the attribute `bad_indices_policy` allows indices out of range."""
    policy = node.text("bad_indices_policy", "")
    if policy not in ("", "DEFAULT", "ERROR"):
        node.fail(f"indices out of range are handled as {policy}", hint="keep the indices in range and leave bad_indices_policy out")


# Reading


@tf.lowers("Gather", complex=by_parts(0))
@tf.lowers("ResourceGather")
def gather(node: LoweringNode, op: OpBuilder, x: SSAValue, indices: SSAValue, *, batch_dims: int = 0) -> SSAValue:
    """tf.Gather(x, indices) -> opset8.Gather(x, indices, 0) {batch_dims}"""
    node.note(outside(x, op.known.constant(indices), max(batch_dims, 0)))
    return op.Gather(x, as_indices(op, indices), max(batch_dims, 0), batch_dims=batch_dims)


@tf.lowers("GatherV2", complex=PAIRS)
def gather_axis(
    node: LoweringNode, op: OpBuilder, params: SSAValue, indices: SSAValue, axis_: SSAValue, *, batch_dims: int = 0
) -> SSAValue:
    """tf.GatherV2(x, indices, axis) {batch_dims = 0} -> opset8.Gather(x, indices, axis) {batch_dims}"""
    axis = op.known.integers(axis_)
    if axis is not None and not is_complex(node, "Tparams"):
        node.note(outside(params, op.known.constant(indices), axis[0]))
    position: Operand = as_scalar(op, axis_) if axis is None else real_axis(node, axis[0], "Tparams")
    return op.Gather(params, as_indices(op, indices), position, batch_dims=batch_dims)


@tf.lowers("GatherNd", complex=by_parts(0))
@tf.lowers("ResourceGatherNd")
def gather_nd(node: LoweringNode, op: OpBuilder, x: SSAValue, indices: SSAValue) -> SSAValue:
    """tf.GatherNd(x, indices) -> opset8.GatherND(x, indices)"""
    check_bad_indices(node)
    return op.GatherND(x, as_indices(op, indices), batch_dims=0)


@tf.lowers("InvertPermutation")
def invert_permutation(op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.InvertPermutation(x)
    -> opset3.ScatterUpdate(x, x, opset4.Range(0, size), 0); the Range is a constant for a static size
    """
    shape = shape_of(x)
    if rank_of(x) not in (1, None):
        raise InferenceError(f"a permutation is a list, not a tensor of rank {rank_of(x)}")
    if shape is not None and is_static(shape):
        positions = op.constant(np.arange(shape[0]), element_of(x))
    else:
        element = element_of(x) if element_of(x) in INDEX_TYPES else si32
        size = op.Squeeze(op.ShapeOf(x, output_type=element), [0])
        positions = op.Range(op.constant(0, element), size, op.constant(1, element), output_type=element)
    return op.ScatterUpdate(x, x, positions, 0)


@tf.lowers("Where", complex=by_formula("tensorflow.complex.comparison:coordinates", is_real=True))
def where(node: LoweringNode, op: OpBuilder, input: SSAValue) -> SSAValue:
    """tf.Where(x) -> opset1.Transpose(opset3.NonZero(x), [1, 0])"""
    if rank_of(input) == 0:
        node.fail("its operand is a scalar, which has no coordinates", hint="give the operand a dimension")
    return op.Transpose(op.NonZero(input, output_type=si64), [1, 0])


@tf.lowers("OneHot", complex=by_parts(2, 3))
def one_hot(node: LoweringNode, op: OpBuilder, indices: SSAValue, *, axis: int = -1) -> SSAValue:
    """tf.OneHot(indices, depth, on, off) {axis = -1} -> opset16.OneHot(indices, depth, on, off) {axis}"""
    depth, on, off = (as_scalar(op, node.operand(index)) for index in (1, 2, 3))
    return op.OneHot(as_indices(op, indices), depth, on, off, axis=axis, negative_indices_mode="ignore_negative")


# Partitioning and stitching


@tf.lowers("DynamicPartition", complex=by_parts(0))
def dynamic_partition(node: LoweringNode, op: OpBuilder, data_: SSAValue, partitions: SSAValue) -> Sequence[SSAValue | None]:
    """tf.DynamicPartition(x, partitions) {num_partitions}
    -> opset8.Gather(x, NonZero(Equal(partitions, p)), 0) for each partition p

    If `partitions` has several dimensions, these dimensions of both operands are merged first.
    """
    data, partition_ids = merged(op, data_, partitions), as_row(op, partitions)
    parts: list[SSAValue | None] = []
    for partition in range(node.result_count):
        selected = op.Squeeze(op.NonZero(op.Equal(partition_ids, partition)), [0]) if node.is_used(partition) else None
        parts.append(None if selected is None else op.Gather(data, selected, 0))
    return parts


def as_row(op: OpBuilder, value: SSAValue) -> SSAValue:
    """All elements of a value, flattened to one dimension."""
    return value if rank_of(value) == 1 else op.Reshape(value, [-1], special_zero=False)


def merged(op: OpBuilder, value: SSAValue, like: SSAValue) -> SSAValue:
    """A value whose first n dimensions are merged into one, where n is the rank of `like`."""
    rank = rank_of(like)
    if rank is not None:
        return flattened(op, value, rank)
    first = op.ReduceProd(op.ShapeOf(like), [0], keep_dims=True)
    rest = op.Slice(op.ShapeOf(value), rank_value(op, like), [2**31 - 1], [1], [0])
    return op.Reshape(value, op.Concat(first, rest, axis=0), special_zero=False)


def flattened(op: OpBuilder, value: SSAValue, count: int) -> SSAValue:
    """A value whose first `count` dimensions are merged; for `count` 0 a dimension of size 1 is inserted."""
    if count == 1:
        return value
    if count == 0:
        return op.Unsqueeze(value, [0])
    shape = shape_of(value)
    if shape is not None and is_static(shape[count:]):
        return op.Reshape(value, [-1, *shape[count:]], special_zero=False) if 0 not in shape else flattened_by_shape(op, value, count)
    return flattened_by_shape(op, value, count)


def flattened_by_shape(op: OpBuilder, value: SSAValue, count: int) -> SSAValue:
    """A value whose first `count` dimensions are merged by a Reshape with a computed target."""
    sizes = op.ShapeOf(value)
    first = op.ReduceProd(op.Slice(sizes, [0], [count], [1], [0]), [0], keep_dims=True)
    if rank_of(value) == count:
        return op.Reshape(value, first, special_zero=False)
    return op.Reshape(value, op.Concat(first, op.Slice(sizes, [count], [2**31 - 1], [1], [0]), axis=0), special_zero=False)


@tf.lowers("DynamicStitch", "ParallelDynamicStitch", complex=PAIRS)
def dynamic_stitch(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.DynamicStitch(i, j, a, b) -> opset8.Gather(opset1.Concat(a, b), sources, 0)

    `sources` contains, for each position of the result, the position of the last slice with that index. It is a
    constant if the indices are known, otherwise the maximum of the positions by opset12.ScatterElementsUpdate.
    """
    count = len(node.operands) // 2
    pieces = [merged(op, value, ids) for ids, value in zip(node.operands[:count], node.operands[count:], strict=True)]
    data = pieces[0] if count == 1 else op.Concat(*pieces, axis=0)
    known = [node.constant(index) for index in range(count)]
    entries = [array.ravel() for array in known if array is not None]
    if len(entries) == count and sum(map(len, entries)) <= MAXIMUM_STITCH:
        indices = np.concatenate(entries).astype(np.int64)
        if indices.size and not 0 <= indices.min() <= indices.max() < MAXIMUM_STITCH:
            node.fail("an index is negative or too large")
        sources = np.zeros(int(indices.max()) + 1 if indices.size else 0, np.int64)
        sources[indices] = np.arange(indices.size)
        return data if np.array_equal(sources, np.arange(indices.size)) else op.Gather(data, sources, 0)
    lists = [as_row(op, value) for value in node.operands[:count]]
    indices = lists[0] if count == 1 else op.Concat(*lists, axis=0)
    size = op.Add(op.ReduceMax(indices, [0], keep_dims=True), 1)
    total = op.Squeeze(op.ShapeOf(indices, output_type=si32), [0])
    positions = op.Range(op.constant(0, si32), total, op.constant(1, si32), output_type=si32)
    nowhere = op.Broadcast(op.constant(0, si32), size)
    return op.Gather(data, op.ScatterElementsUpdate(nowhere, indices, positions, 0, reduction="max"), 0)
