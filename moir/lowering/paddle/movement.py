"""Movement of elements: transposition, concatenation, splitting, padding, rolling.

Source: transpose_op.cc, concat_op.cc, stack_op.cc, split_op.cc, roll_op.cc and flip_op.cc of PaddlePaddle 2.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import element_of, normalize_axis, rank_of, shape_of
from moir.expansions.constant_forms import as_type
from moir.expansions.shape_values import dimension_value
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import all_complex, by_parts
from moir.lowering.paddle.operands import axes_of, known_integer, known_integers, vector_of
from moir.lowering.paddle.table import paddle
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder
from moir.rewriting.constant_sizes import check_constant_size


@paddle.lowers("transpose2", "transpose", complex=by_parts())
def transpose(node: LoweringNode, op: OpBuilder, x: SSAValue, *, axis: tuple[int, ...]) -> Replacement:
    """paddle.transpose2(x) {axis} -> opset1.Transpose(x, axis)"""
    rank = len(axis)
    return [op.transposed(x, [normalize_axis(each, rank) for each in axis]), *[None] * (node.result_count - 1)]


@paddle.lowers("concat", complex=by_parts())
def concat(node: LoweringNode, op: OpBuilder, _axis: SSAValue, *values: SSAValue) -> SSAValue:
    """paddle.concat(axis, values…) -> opset1.Concat(values…)"""
    axis = known_integer(node, 0, "axis", 0)
    return values[0] if len(values) == 1 else op.Concat(*values, axis=axis)


@paddle.lowers("stack", complex=by_parts(accepts=all_complex))
def stack(op: OpBuilder, *values: SSAValue, axis: int = 0) -> SSAValue:
    """paddle.stack(values…) {axis} -> opset1.Concat of the values with a new axis"""
    rank = rank_of(values[0])
    axis = axis if rank is None or axis >= 0 else axis + rank + 1
    parts = [op.Unsqueeze(value, [axis]) for value in values]
    return parts[0] if len(parts) == 1 else op.Concat(*parts, axis=axis)


@paddle.lowers("unstack", "unbind", complex=by_parts())
def unstack(node: LoweringNode, op: OpBuilder, x: SSAValue, *, axis: int = 0) -> Replacement:
    """paddle.unstack(x) {axis} -> opset1.Split(x, axis), each part without the axis; `unbind` likewise"""
    parts = op.Split.parts(node.result_count, x, op.constant(axis), num_splits=node.result_count)
    return [op.Squeeze(part, [axis]) for part in parts]


@paddle.lowers("split", complex=by_parts())
def split(
    node: LoweringNode, op: OpBuilder, x: SSAValue, sections: SSAValue | None = None, _axis: SSAValue | None = None, *, num: int = 0
) -> Replacement:
    """paddle.split(x, sections, axis) {num} -> opset1.VariadicSplit(x, axis, sections), or opset1.Split"""
    axis = known_integer(node, 2, "axis", 0)
    known = None if sections is None else node.known.integers(sections)
    if sections is None or known == ():
        count = num or node.result_count
        if count != node.result_count:
            node.fail(f"it has {node.result_count} results for {count} parts")
        if count == 1:
            return [x]
        return list(op.Split.parts(count, x, op.constant(axis), num_splits=count))
    lengths: SSAValue = vector_of(op, sections) if known is None else op.constant(list(known))
    return list(op.VariadicSplit.parts(node.result_count, x, op.constant(axis), lengths))


@paddle.lowers("flip", complex=by_parts())
def flip(node: LoweringNode, op: OpBuilder, x: SSAValue, *, axis: tuple[int, ...]) -> SSAValue:
    """paddle.flip(x) {axis} -> opset8.Slice(x) with steps of -1"""
    return _reversed(op, x, axes_of(node, axis))


@paddle.lowers("reverse")
def reverse(node: LoweringNode, op: OpBuilder, x: SSAValue, _axis: SSAValue) -> SSAValue:
    """paddle.reverse(x, axis) -> opset8.Slice(x) with steps of -1"""
    return _reversed(op, x, axes_of(node, known_integers(node, 1, "axis")))


def _reversed(op: OpBuilder, x: SSAValue, axes: Sequence[int]) -> SSAValue:
    count = len(axes)
    return op.Slice(x, [-1] * count, [-(2**31)] * count, [-1] * count, list(axes)) if count else x


@paddle.lowers("roll", complex=by_parts())
def roll(op: OpBuilder, x: SSAValue, shifts: SSAValue, *, axis: tuple[int, ...] = ()) -> SSAValue:
    """paddle.roll(x, shifts) {axis} -> opset7.Roll(x, shifts, axis); without axis, of the flattened x"""
    amounts = vector_of(op, shifts)
    if axis:
        return op.Roll(x, amounts, list(axis))
    flat = op.Roll(op.Reshape(x, [-1], special_zero=False), amounts, [0])
    return op.Reshape(flat, op.ShapeOf(x), special_zero=False)


@paddle.lowers("meshgrid")
def meshgrid(op: OpBuilder, *values: SSAValue) -> Replacement:
    """paddle.meshgrid(values…) -> each one along its own axis, broadcast to the sizes of all"""
    count = len(values)
    vectors = [op.Reshape(value, [-1], special_zero=False) for value in values]
    sizes = op.Concat(*(op.ShapeOf(value) for value in vectors), axis=0) if count > 1 else op.ShapeOf(vectors[0])
    return [
        op.Broadcast(op.Reshape(value, [-1, *[1] * (count - 1 - index)], special_zero=False), sizes) for index, value in enumerate(vectors)
    ]


@paddle.lowers("tril_triu", "tril", "triu")
def triangle(node: LoweringNode, op: OpBuilder, x: SSAValue, *, diagonal: int = 0, lower: bool = False) -> SSAValue:
    """paddle.tril_triu(x) {diagonal, lower} -> opset1.Select of the elements up to a diagonal, or from it on"""
    is_lower = lower if node.op.KIND == "tril_triu" else node.op.KIND == "tril"
    shape = shape_of(x) or (-1, -1)
    if shape[-2] >= 0 and shape[-1] >= 0:
        check_constant_size(shape[-2], shape[-1])
        mask = np.tri(shape[-2], shape[-1], diagonal if is_lower else diagonal - 1, dtype=bool)
        return op.Select(op.constant(mask if is_lower else ~mask), x, op.constant_like(0, x))
    sizes = op.ShapeOf(x)
    rows, columns = (op.Range(op.constant(0), op.Gather(sizes, axis, 0), op.constant(1), output_type=si64) for axis in (-2, -1))
    distance = op.Subtract(columns, op.Unsqueeze(rows, [1]))
    kept = op.LessEqual(distance, diagonal) if is_lower else op.GreaterEqual(distance, diagonal)
    return op.Select(kept, x, op.constant_like(0, x))


@paddle.lowers("diag_v2")
def diagonal_matrix(node: LoweringNode, op: OpBuilder, x: SSAValue, *, offset: int = 0, padding_value: float = 0.0) -> SSAValue:
    """paddle.diag_v2(x) {offset, padding_value} -> the matrix with a diagonal, or the diagonal of a matrix"""
    shape = shape_of(x)
    if shape is None or min(shape, default=0) < 0:
        node.fail("the sizes of its operand are dynamic", hint="give the model's inputs static shapes")
    if len(shape) == 2:
        length = max(min(shape[0] + min(offset, 0), shape[1] - max(offset, 0)), 0)
        indices = np.arange(length) * (shape[1] + 1) + (offset if offset >= 0 else -offset * shape[1])
        return op.Gather(op.Reshape(x, [-1], special_zero=False), indices, 0)
    size = shape[0] + abs(offset)
    check_constant_size(size, size)
    mask = np.eye(size, k=offset, dtype=bool)
    before, after = (0, offset) if offset < 0 else (offset, 0)
    spread = op.Pad(x, [before], [abs(after)], op.constant_like(0, x), pad_mode="constant")
    return op.Select(op.constant(mask), spread, op.constant_like(padding_value, x))


@paddle.lowers("diag_embed")
def diagonal_matrices(node: LoweringNode, op: OpBuilder, x: SSAValue, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> SSAValue:
    """paddle.diag_embed(x [..., N]) {offset, dim1, dim2} -> opset1.Select of x in the diagonal, else 0, padded"""
    rank = node.known_rank(0) + 1
    first, second = normalize_axis(dim1, rank), normalize_axis(dim2, rank)
    if first == second:
        node.fail(f"dim1 {dim1} and dim2 {dim2} are the same axis")
    size = op.Gather(op.ShapeOf(x), rank - 2, 0)
    line = op.Range(op.constant(0), size, op.constant(1), output_type=si64)
    square = op.Select(op.Equal(op.Unsqueeze(line, [1]), line), op.Unsqueeze(x, [rank - 1]), op.constant_like(0, x))
    if offset:
        lead = [0] * (rank - 2)
        rows, columns = max(-offset, 0), max(offset, 0)
        square = op.Pad(square, [*lead, rows, columns], [*lead, columns, rows], pad_mode="constant")
    order = list(range(rank - 2))
    for position, axis in sorted(((first, rank - 2), (second, rank - 1))):
        order.insert(position, axis)
    return op.transposed(square, order)


@paddle.lowers("diagonal", "trace")
def diagonal(node: LoweringNode, op: OpBuilder, x: SSAValue, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> SSAValue:
    """paddle.diagonal(x) {offset, axis1, axis2} -> the elements of a diagonal in the last axis; trace: their sum"""
    rank, shape = node.known_rank(0), shape_of(x) or ()
    first, second = normalize_axis(axis1, rank), normalize_axis(axis2, rank)
    rows, columns = shape[first], shape[second]
    if rows < 0 or columns < 0:
        node.fail("the sizes of its matrices are dynamic", hint="give the model's inputs static shapes")
    length = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    indices = np.arange(length) * (columns + 1) + (offset if offset >= 0 else -offset * columns)
    moved = op.transposed(x, [axis for axis in range(rank) if axis not in (first, second)] + [first, second])
    flat = op.Reshape(moved, [*[0] * (rank - 2), rows * columns], special_zero=True)
    elements = op.Gather(flat, indices, rank - 2)
    return elements if node.op.KIND == "diagonal" else op.ReduceSum(elements, [rank - 2], keep_dims=False)


@paddle.lowers("fused_softmax_mask_upper_triangle")
def softmax_of_triangle(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """paddle.fused_softmax_mask_upper_triangle(x) -> opset8.Softmax of x with the elements above the diagonal
    masked
    """
    shape = shape_of(x)
    if shape is None or min(shape[-2:]) < 0:
        node.fail("the sizes of its operand are dynamic", hint="give the model's inputs static shapes")
    mask = op.constant(np.tri(shape[-2], shape[-1], dtype=bool))
    return op.Softmax(op.Select(mask, x, op.constant_like(-10000.0, x)), axis=-1)


@paddle.lowers("fused_softmax_mask")
def softmax_with_mask(op: OpBuilder, x: SSAValue, mask: SSAValue) -> SSAValue:
    """paddle.fused_softmax_mask(x, mask) -> opset8.Softmax(x + mask)"""
    return op.Softmax(op.Add(x, as_type(op, mask, element_of(x))), axis=-1)


@paddle.lowers("fill_diagonal")
def fill_diagonal(node: LoweringNode, op: OpBuilder, x: SSAValue, *, value: float = 0.0, offset: int = 0, wrap: bool = False) -> SSAValue:
    """paddle.fill_diagonal(x) {value, offset, wrap} -> x with a number in its diagonal

    In a matrix with more rows than columns the diagonal ends at the last column, or, with `wrap`, begins again after
    an empty row.
    """
    rank = node.known_rank(0)
    if rank != 2 and (offset or rank < 2):
        node.fail(f"a diagonal with offset {offset} of {rank} dimensions is not supported")
    indices = [op.Unsqueeze(_positions(op, x, axis), [each for each in range(rank) if each != axis]) for axis in range(rank)]
    if rank == 2:
        rows, columns = indices
        count = dimension_value(op, x, 1)
        rows = op.FloorMod(rows, op.Add(count, 1)) if wrap else rows
        is_filled = op.LogicalAnd(op.Less(rows, count), op.Equal(columns, op.Add(rows, offset)))
    else:
        is_filled = reduce(op.LogicalAnd, [op.Equal(indices[0], each) for each in indices[1:]])
    return op.Select(is_filled, op.constant_like(value, x), x)


def _positions(op: OpBuilder, x: SSAValue, axis: int) -> SSAValue:
    """The indices 0, 1, … along an axis of a value, as a 1-D tensor."""
    return op.Range(op.constant(0), dimension_value(op, x, axis), op.constant(1), output_type=si64)
