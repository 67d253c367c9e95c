"""Sparse tensors, given by coordinates [n, rank], values [n] and a shape [rank]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import element_count, element_of, rank_of, shape_of
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_formula, by_parts
from moir.lowering.tensorflow.indexing import as_indices
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


@tf.lowers("SparseToDense", complex=by_parts(2, 3))
def to_dense(
    node: LoweringNode, op: OpBuilder, sparse_indices: SSAValue, output_shape: SSAValue, sparse_values: SSAValue, default_value: SSAValue
) -> SSAValue:
    """tf.SparseToDense(coordinates, shape, values, default)
    -> opset15.ScatterNDUpdate(Broadcast(default, shape), coordinates, values)
    """
    coordinates, values, rank = as_indices(op, sparse_indices), sparse_values, rank_of(sparse_indices)
    if rank is None:
        node.fail("the rank of its coordinates is dynamic", hint="give the model's inputs a static rank")
    dense = op.Broadcast(as_scalar(op, default_value), as_indices(op, output_shape))
    # 1-D coordinates are the indices of elements of a vector.
    if rank == 0:
        coordinates = op.Reshape(coordinates, [1, 1], special_zero=False)
    elif rank == 1:
        coordinates = op.Unsqueeze(coordinates, [1])
    if rank_of(sparse_values) == 0:
        values = op.Broadcast(values, op.Gather(op.ShapeOf(coordinates), [0], 0))
    return op.ScatterNDUpdate(dense, coordinates, values, reduction="none")


@tf.lowers("SparseTensorDenseMatMul", complex=by_formula("tensorflow.complex.matrices:sparse_product"))
def dense_product(
    op: OpBuilder,
    a_indices: SSAValue,
    a_values: SSAValue,
    a_shape: SSAValue,
    b: SSAValue,
    *,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> SSAValue:
    """tf.SparseTensorDenseMatMul(coordinates, values, shape, b) {adjoint_a, adjoint_b}
    -> opset1.MatMul(the dense matrix, b)
    """
    zeros = op.Broadcast(op.constant_like(0, a_values), a_shape)
    dense = op.ScatterNDUpdate(zeros, as_indices(op, a_indices), a_values, reduction="sum")
    return op.MatMul(dense, b, transpose_a=adjoint_a, transpose_b=adjoint_b)


@tf.lowers("SparseTensorDenseAdd", complex=by_parts(1, 3))
def dense_sum(op: OpBuilder, a_indices: SSAValue, a_values: SSAValue, _a_shape: SSAValue, b: SSAValue) -> SSAValue:
    """tf.SparseTensorDenseAdd(coordinates, values, shape, b)
    -> opset15.ScatterNDUpdate(b, coordinates, values) {reduction = sum}
    """
    return op.ScatterNDUpdate(b, as_indices(op, a_indices), a_values, reduction="sum")


@tf.lowers("SparseFillEmptyRows")
def fill_empty_rows(node: LoweringNode, op: OpBuilder, *operands: SSAValue) -> Sequence[SSAValue | None]:
    """tf.SparseFillEmptyRows(coordinates, values, shape, default)
    -> opset16.SparseFillEmptyRows(values, shape, coordinates, default)

    The last result is the new index of each element: its old index plus the number of elements added to earlier rows.
    """
    coordinates, values, shape, default = operands
    filled, filled_values, empty = op.SparseFillEmptyRows.results(values, shape, coordinates, as_scalar(op, default))
    results: list[SSAValue | None] = [filled, filled_values, None, None]
    if node.is_used(2):
        results[2] = empty
    if node.is_used(3):
        added = op.CumSum(op.convert(empty, si64), op.constant(0, si64), exclusive=True)
        rows = op.Gather(coordinates, 0, 1)
        count = op.Squeeze(op.ShapeOf(rows), [0])
        results[3] = op.Add(op.Gather(added, rows, 0), op.Range(0, count, 1, output_type=si64))
    return results[: node.result_count]


def strides(op: OpBuilder, shape: SSAValue, node: LoweringNode) -> SSAValue:
    """For each dimension of a shape, the product of all following dimensions.

    Raises ConversionError for a dynamic rank.
    """
    known = op.known.integers(shape)
    if known is not None:
        return op.constant(np.array([np.prod(known[axis + 1 :], dtype=np.int64) for axis in range(len(known))], np.int64))
    count = rank_of_sparse(node, shape)
    if count == 1:
        return op.constant([1])
    after = np.triu(np.ones((count, count), bool), 1)
    return op.ReduceProd(op.Select(op.constant(after), shape, op.constant(1, element_of(shape))), [1], keep_dims=False)


def rank_of_sparse(node: LoweringNode, shape: SSAValue) -> int:
    """The length of a shape. Raises ConversionError if it is dynamic."""
    count = element_count(shape_of(shape))
    if count is None:
        node.fail("the rank of a sparse tensor is dynamic", hint="give the model's inputs a static shape")
    return count


def positions(op: OpBuilder, coordinates: SSAValue, shape: SSAValue, node: LoweringNode) -> SSAValue:
    """The row-major index [n] of each row of coordinates [n, rank] in a tensor of a shape."""
    return op.ReduceSum(op.Multiply(coordinates, strides(op, shape, node)), [1], keep_dims=False)


@tf.lowers("UnravelIndex")
def coordinates_of_positions(node: LoweringNode, op: OpBuilder, indices: SSAValue, dims: SSAValue) -> SSAValue:
    """tf.UnravelIndex(positions, shape) -> (positions / strides of the shape) mod shape, [rank, n]"""
    linear, shape = op.convert(indices, si64), op.convert(dims, si64)
    rank = node.known_rank(0)
    steps = strides(op, shape, node)
    if rank:
        steps, shape = (op.Unsqueeze(each, list(range(1, 1 + rank))) for each in (steps, shape))
    return op.convert(op.FloorMod(op.Divide(linear, steps, m_pythondiv=False), shape), element_of(indices))


@tf.lowers("SparseReorder")
def reorder(node: LoweringNode, op: OpBuilder, *operands: SSAValue) -> Sequence[SSAValue]:
    """tf.SparseReorder(coordinates, values, shape)
    -> opset8.Gather of both by the indices of opset11.TopK {mode = min} of their row-major positions
    """
    coordinates, values, shape = operands
    return in_order(op, coordinates, values, shape, node)[: node.result_count]


def in_order(op: OpBuilder, coordinates: SSAValue, values: SSAValue, shape: SSAValue, node: LoweringNode) -> list[SSAValue]:
    """Coordinates and values in row-major order."""
    count = op.Squeeze(op.ShapeOf(values), [0])
    order = op.TopK.results(
        positions(op, coordinates, shape, node), count, axis=0, mode="min", sort="value", stable=True, index_element_type=si64
    )[1]
    return [op.Gather(coordinates, order, 0), op.Gather(values, order, 0)]


@tf.lowers("SparseReshape")
def reshape(node: LoweringNode, op: OpBuilder, input_indices: SSAValue, input_shape: SSAValue, new_shape: SSAValue) -> Sequence[SSAValue]:
    """tf.SparseReshape(coordinates, shape, new_shape)
    -> (positions / strides of the new shape) mod new shape, and the new shape

    A size of -1 in the new shape is replaced by the quotient of the products of both shapes, with the sign reversed
    since the product of the new shape is negative.
    """
    old, new = op.known.integers(input_shape), op.known.integers(new_shape)
    if new is not None and -1 not in new:
        resolved = new_shape
    elif new is not None and old is not None:
        resolved = op.constant([-int(np.prod(old)) // int(np.prod(new)) if entry == -1 else entry for entry in new])
    else:
        missing = op.Divide(op.ReduceProd(input_shape, [0], keep_dims=True), op.Abs(op.ReduceProd(new_shape, [0], keep_dims=True)))
        resolved = op.Select(op.Equal(new_shape, -1), missing, new_shape)
    index = op.Unsqueeze(positions(op, input_indices, input_shape, node), [1])
    moved = op.FloorMod(op.Divide(index, strides(op, resolved, node), m_pythondiv=False), resolved)
    return [moved, resolved][: node.result_count]
