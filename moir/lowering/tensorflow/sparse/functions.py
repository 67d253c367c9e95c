"""Functions of sparse tensors, and of sparse and dense ones.

    %i, %v, %s = tf.SparseAdd(%ai, %av, %as, %bi, %bv, %bs, %t)
->  opset10.Unique of the row-major positions of the elements of both; the sums of both values at each of them
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si64
from moir.dialects.shapes import element_of, normalize_axis
from moir.expansions.functions import operation
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.sparse.tensors import in_order, positions, rank_of_sparse, strides
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


def unravelled(op: OpBuilder, indices: SSAValue, shape: SSAValue, node: LoweringNode) -> SSAValue:
    """The coordinates [n, rank] of row-major indices `indices` [n] in a tensor of a shape."""
    return op.FloorMod(op.Divide(op.Unsqueeze(indices, [1]), strides(op, shape, node), m_pythondiv=False), shape)


def united(node: LoweringNode, op: OpBuilder) -> tuple[SSAValue, SSAValue, SSAValue, SSAValue]:
    """The union of the coordinates of two sparse tensors, as row-major indices.

    Returns these; the values of each tensor at them, 0 where it has none; and the number of tensors that have a value
    there.
    """
    positions_of_each = [positions(op, node.operand(index), node.operand(2), node) for index in (0, 3)]
    distinct, _, inverse, counts = op.Unique.results(op.Concat(*positions_of_each, axis=0), sorted=True, index_element_type=si64)
    count = op.ShapeOf(positions_of_each[0])
    sides = (op.Slice(inverse, [0], count, [1], [0]), op.Slice(inverse, count, [2**31 - 1], [1], [0]))
    values = [
        op.ScatterElementsUpdate(op.Broadcast(op.constant_like(0, values), op.ShapeOf(distinct)), side, values, 0, reduction="none")
        for side, values in zip(sides, (node.operand(1), node.operand(4)), strict=True)
    ]
    return distinct, values[0], values[1], counts


@tf.lowers("SparseAdd")
def addition(
    node: LoweringNode,
    op: OpBuilder,
    _a_indices: SSAValue,
    _a_values: SSAValue,
    a_shape: SSAValue,
    _b_indices: SSAValue,
    _b_values: SSAValue,
    _b_shape: SSAValue,
    thresh: SSAValue,
) -> Sequence[SSAValue]:
    """tf.SparseAdd(a, b, threshold) -> the sums at the union of positions, without sums of two elements whose magnitude
    is below the threshold
    """
    distinct, a, b, counts = united(node, op)
    total, limit = op.Add(a, b), op.known.constant(thresh)
    if limit is None or limit.any():
        threshold = op.convert(as_scalar(op, thresh), element_of(total))
        is_kept = op.LogicalOr(op.Less(counts, 2), op.GreaterEqual(op.Abs(total), threshold))
        kept = op.Squeeze(op.NonZero(is_kept, output_type=si64), [0])
        distinct, total = op.Gather(distinct, kept, 0), op.Gather(total, kept, 0)
    return [unravelled(op, distinct, a_shape, node), total, a_shape][: node.result_count]


@tf.lowers("SparseSparseMaximum", "SparseSparseMinimum")
def extreme(node: LoweringNode, op: OpBuilder, _a_indices: SSAValue, _a_values: SSAValue, a_shape: SSAValue) -> Sequence[SSAValue]:
    """tf.SparseSparseMaximum(a, b) -> the maxima at the union of positions, where missing elements count as 0

    Likewise SparseSparseMinimum.
    """
    distinct, a, b, _ = united(node, op)
    choose = op.Maximum if node.op.KIND.endswith("Maximum") else op.Minimum
    return [unravelled(op, distinct, a_shape, node), choose(a, b)][: node.result_count]


@tf.lowers("SparseDenseCwiseAdd", "SparseDenseCwiseDiv", "SparseDenseCwiseMul")
def with_dense(node: LoweringNode, op: OpBuilder, *operands: SSAValue) -> SSAValue:
    """tf.SparseDenseCwiseMul(coordinates, values, shape, x)
    -> opset1.Multiply(values, opset8.Gather(opset3.Broadcast(x, shape) flattened, row-major positions, 0))

    Likewise SparseDenseCwiseAdd and SparseDenseCwiseDiv.
    """
    coordinates, values, shape, dense = operands
    elements = op.Reshape(op.Broadcast(dense, shape), [-1], special_zero=False)
    chosen = op.Gather(elements, positions(op, coordinates, shape, node), 0)
    return operation(op, node.op.KIND.removeprefix("SparseDenseCwise"))(values, chosen)


@tf.lowers("SparseSoftmax")
def softmax(node: LoweringNode, op: OpBuilder, *operands: SSAValue) -> SSAValue:
    """tf.SparseSoftmax(coordinates, values, shape) -> exp(value) divided by the sum over the row

    opset10.Unique of the positions of the rows gives each row an index; missing elements count as negative infinity.
    """
    coordinates, values, shape = operands
    lead = list(range(rank_of_sparse(node, shape) - 1))
    rows = positions(op, op.Gather(coordinates, lead, 1), op.Gather(shape, lead, 0), node)
    distinct, _, inverse, _ = op.Unique.results(rows, sorted=True, index_element_type=si64)
    zeros = op.Broadcast(op.constant_like(0, values), op.ShapeOf(distinct))

    def of_row(scores: SSAValue, reduction: str) -> SSAValue:
        return op.Gather(op.ScatterElementsUpdate(zeros, inverse, scores, 0, reduction=reduction, use_init_val=False), inverse, 0)

    powers = op.Exp(op.Subtract(values, of_row(values, "max")))
    return op.Divide(powers, of_row(powers, "sum"))


@tf.lowers("SparseReduceMax", "SparseReduceSum")
def reduction(node: LoweringNode, op: OpBuilder, *, keep_dims: bool = False) -> SSAValue:
    """tf.SparseReduceSum(coordinates, values, shape, axes) {keep_dims}
    -> opset12.ScatterElementsUpdate(zeros, positions along the other axes, values, 0) {reduction = sum}, dense
    """
    coordinates, values, shape = node.operand(0), node.operand(1), node.operand(2)
    rank, axes = rank_of_sparse(node, shape), node.constant_integers(3)
    if axes is None:
        node.fail("the axes are computed when the model runs", hint="make the axes a constant")
    # An empty list of axes reduces nothing, contrary to TensorFlow's documentation.
    reduced = {normalize_axis(axis, rank) for axis in axes}
    kept = [axis for axis in range(rank) if axis not in reduced]
    name = "max" if node.op.KIND.endswith("Max") else "sum"
    if kept:
        sizes = op.Gather(shape, kept, 0)
        rows = positions(op, op.Gather(coordinates, kept, 1), sizes, node)
    else:
        sizes = op.constant([1])
        rows = op.Broadcast(op.constant(0, si64), op.ShapeOf(values))
    zeros = op.Broadcast(op.constant_like(0, values), op.ReduceProd(sizes, [0], keep_dims=True))
    totals = op.ScatterElementsUpdate(zeros, rows, values, 0, reduction=name, use_init_val=False)
    if keep_dims:
        target = op.Concat(*(op.constant([1]) if axis in reduced else op.Gather(shape, [axis], 0) for axis in range(rank)), axis=0)
        return op.Reshape(totals, target, special_zero=False)
    return op.Reshape(totals, sizes, special_zero=False) if kept else op.Squeeze(totals, [0])


@tf.lowers("SparseConcat")
def concatenation(node: LoweringNode, op: OpBuilder, *indices: SSAValue, concat_dim: int) -> Sequence[SSAValue]:
    """tf.SparseConcat(coordinates…, values…, shapes…) {concat_dim}
    -> opset1.Concat of the coordinates, offset by the earlier operands' sizes, and of the values, reordered
    """
    count = len(indices) // 3
    parts = indices
    coordinates, values, shapes = parts[:count], parts[count : 2 * count], parts[2 * count :]
    rank = rank_of_sparse(node, shapes[0])
    along = op.constant([int(axis == normalize_axis(concat_dim, rank)) for axis in range(rank)])
    moved, offset = [coordinates[0]], op.Multiply(shapes[0], along)
    for each, shape in zip(coordinates[1:], shapes[1:], strict=True):
        moved.append(op.Add(each, offset))
        offset = op.Add(offset, op.Multiply(shape, along))
    total = op.Select(op.Equal(along, 1), offset, shapes[0])
    ordered = in_order(op, op.Concat(*moved, axis=0), op.Concat(*values, axis=0), total, node)
    return [*ordered, total][: node.result_count]


@tf.lowers("SparseSlice")
def part(node: LoweringNode, op: OpBuilder, *operands: SSAValue) -> Sequence[SSAValue]:
    """tf.SparseSlice(coordinates, values, shape, start, size) -> the elements with start <= coordinate < start +
    size
    """
    coordinates, values, shape, start, size = operands
    moved = op.Subtract(coordinates, start)
    is_inside = op.LogicalAnd(op.GreaterEqual(moved, 0), op.Less(moved, size))
    kept = op.Squeeze(op.NonZero(op.ReduceLogicalAnd(is_inside, [1], keep_dims=False), output_type=si64), [0])
    sizes = op.Maximum(op.Minimum(size, op.Subtract(shape, start)), 0)
    return [op.Gather(moved, kept, 0), op.Gather(values, kept, 0), sizes][: node.result_count]


@tf.lowers("SparseMatMul")
def product(op: OpBuilder, *operands: SSAValue, transpose_a: bool = False, transpose_b: bool = False) -> SSAValue:
    """tf.SparseMatMul(a, b) {transpose_a, transpose_b} -> opset1.MatMul(a, b): both operands are dense tensors"""
    a, b = (op.convert(value, f32) for value in operands)
    return op.MatMul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)
