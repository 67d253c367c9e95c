"""Concatenation and splitting along fixed axes, flips, turns, diagonals and differences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, si32, si64
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.expansions.shape_values import LARGEST_SIZE, at_least, dimension_list
from moir.frameworks.traits import REPEATED_VIEW, VIEW
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_parts
from moir.lowering.pytorch.arguments import Scalar, Sizes, Tensors, axes_from_front, axis_from_front, present, shape_value, size_list
from moir.lowering.pytorch.complex.rules import JOINED
from moir.lowering.pytorch.promotion import as_element, inferred_element, is_integral, promoted
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder
from moir.rewriting.constant_sizes import check_constant_size


@aten.lowers(*(f"atleast_{count}d.{overload}" for count in (1, 2, 3) for overload in ("default", "Sequence")), complex=by_parts())
def atleast(node: LoweringNode, op: OpBuilder) -> Replacement:
    """aten.atleast_2d.default(x) -> x with at least two dimensions"""
    count = int(node.op.KIND.partition("_")[2][0])
    values = list(node.op.operands)
    return [at_least(op, value, rank_of(value) or 0, count) for value in values]


@aten.lowers("hstack.default", "vstack.default", "row_stack.default", "dstack.default", "column_stack.default", complex=JOINED)
def hstack(node: LoweringNode, op: OpBuilder, *, tensors: Tensors) -> SSAValue:
    """aten.hstack.default([x, y]) -> opset1.Concat(x, y) {axis = 1}, for vectors axis 0; `vstack`: axis 0, `dstack`:
    axis 2
    """
    values = as_element(op, inferred_element(node), *present(node, tensors))
    kind = node.op.KIND.partition(".")[0]
    if kind == "column_stack":
        values = [op.Reshape(value, [-1, 1], special_zero=False) if (rank_of(value) or 0) < 2 else value for value in values]
        axis = 1
    else:
        least = {"hstack": 1, "vstack": 2, "row_stack": 2, "dstack": 3}[kind]
        values = [at_least(op, value, rank_of(value) or 0, least) for value in values]
        axis = (0 if rank_of(values[0]) == 1 else 1) if kind == "hstack" else {2: 0, 3: 2}[least]
    return values[0] if len(values) == 1 else op.Concat(*values, axis=axis)


@aten.lowers("_chunk_cat.default")
def chunk_cat(node: LoweringNode, op: OpBuilder, *, tensors: Tensors, dim: int, num_chunks: int) -> SSAValue:
    """aten._chunk_cat.default([x, y]) {dim, num_chunks} -> the parts of each tensor along an axis as rows,
    concatenated

    Zeros fill the last part of an axis that is not a multiple of the number of parts.
    """
    rows: list[SSAValue] = []
    for value in as_element(op, inferred_element(node), *present(node, tensors)):
        shape = shape_of(value) or (-1,)
        axis = dim % len(shape)
        if min(shape) < 0:
            node.fail("the sizes of its tensors are dynamic")
        ends = [0] * len(shape)
        ends[axis] = -shape[axis] % num_chunks
        whole = op.Pad(value, [0] * len(shape), ends, as_element(op, element_of(value), 0)[0], pad_mode="constant")
        rows.append(op.Reshape(whole, [*shape[:axis], num_chunks, -1], special_zero=False))
    return rows[0] if len(rows) == 1 else op.Concat(*rows, axis=-1)


@aten.lowers("flipud.default", "fliplr.default", complex=by_parts())
def flipud(node: LoweringNode, op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.flipud.default(x) -> opset8.Slice(x, -1, …, -1, [0]); `fliplr` along axis 1"""
    return op.Slice(self, [-1], [-(2**31)], [-1], [0 if node.op.KIND.startswith("flipud") else 1])


@aten.lowers("rot90.default", complex=by_parts())
def rot90(node: LoweringNode, op: OpBuilder, self: SSAValue, *, k: int = 1, dims: tuple[int, ...] = (0, 1)) -> SSAValue:
    """aten.rot90.default(x) {k, dims} -> k quarter turns from the first axis to the second"""
    rank = node.known_rank(0)
    first, second = axes_from_front(node, dims, rank)
    order = list(range(rank))
    order[first], order[second] = second, first

    def flipped(x: SSAValue, axes: Sequence[int]) -> SSAValue:
        count = len(axes)
        return op.Slice(x, [-1] * count, [-(2**31)] * count, [-1] * count, list(axes))

    turns = k % 4
    if turns == 0:
        return self
    if turns == 2:
        return flipped(self, [first, second])
    return op.transposed(flipped(self, [second]), order) if turns == 1 else flipped(op.transposed(self, order), [second])


@aten.lowers(
    *(f"{letter}split.{overload}" for letter in "hvd" for overload in ("int", "array")),
    "tensor_split.indices",
    complex=by_parts(),
    traits=(VIEW,),
)
def hsplit(
    node: LoweringNode, op: OpBuilder, self: SSAValue, *, sections: int | None = None, indices: Sizes = (), dim: int = 0
) -> Replacement:
    """aten.hsplit.int(x) {sections} -> opset1.Split(x, 1); `hsplit.array` cuts at indices, as `tensor_split.indices`"""
    rank, kind = node.known_rank(0), node.op.KIND
    axis = {"h": 0 if rank == 1 else 1, "v": 0, "d": 2}.get(kind[0], dim)
    axis = axis_from_front(node, axis, rank)
    if sections is not None:
        return list(op.Split.parts(sections, self, op.constant(axis), num_splits=sections)) if sections > 1 else [self]
    bounds = [size_list(op, each) for each in (0, *indices, LARGEST_SIZE)]
    return [op.Slice(self, start, end, [1], [axis]) for start, end in pairwise(bounds)]


@aten.lowers("tensor_split.tensor_indices_or_sections", complex=by_parts(), traits=(VIEW,))
def tensor_split(node: LoweringNode, op: OpBuilder, self: SSAValue, tensor_indices_or_sections: SSAValue, *, dim: int = 0) -> Replacement:
    """aten.tensor_split.tensor_indices_or_sections(x, indices) {dim} -> opset8.Slice(x, index, next index, 1, dim)

    A scalar is the number of parts; if the parts cannot be equal, the first ones are longer by one element.
    """
    axis, count = axis_from_front(node, dim, node.known_rank(0)), node.result_count
    size = dimension_list(op, self, axis)
    if rank_of(tensor_indices_or_sections) == 0:
        length, rest = op.Divide(size, count), op.FloorMod(size, count)
        bounds = [op.Add(op.Multiply(length, index), op.Minimum(rest, index)) for index in range(count + 1)]
    else:
        cuts = op.convert(tensor_indices_or_sections, si64)
        bounds = [op.constant([0]), *(op.Gather(cuts, op.constant([index]), 0) for index in range(count - 1)), size]
    return [op.Slice(self, start, end, [1], [axis]) for start, end in pairwise(bounds)]


@aten.lowers("diff.default", complex=by_parts())
def diff(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    prepend: SSAValue | None = None,
    append: SSAValue | None = None,
    *,
    n: int = 1,
    dim: int = -1,
) -> SSAValue:
    """aten.diff.default(x) {n, dim} -> the differences of neighbours along an axis, n times"""
    axis = axis_from_front(node, dim, node.known_rank(0))
    if n == 0:
        return self
    values = as_element(op, inferred_element(node), *(each for each in (prepend, self, append) if each is not None))
    x = op.Concat(*values, axis=axis) if len(values) > 1 else values[0]
    for _ in range(n):
        after, before = op.Slice(x, [1], [2**31 - 1], [1], [axis]), op.Slice(x, [0], [-1], [1], [axis])
        x = op.LogicalXor(after, before) if element_of(x) == boolean else op.Subtract(after, before)
    return x


@aten.lowers("linalg_diagonal.default", complex=by_parts(), traits=(VIEW,))
@aten.lowers("diag_embed.default", "diag.default", "diagflat.default", complex=by_parts())
def diag_embed(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    *,
    offset: int = 0,
    dim1: int | None = None,
    dim2: int | None = None,
    diagonal: int | None = None,
) -> SSAValue:
    """aten.diag_embed.default(x) {offset, dim1, dim2} -> matrices with the last dimension of x as their diagonal

    `diag` takes the diagonal out of a matrix.
    """
    from moir.lowering.pytorch.indexing import diagonal as taken

    kind = node.op.KIND.partition(".")[0]
    shift = offset if diagonal is None else diagonal
    if kind == "linalg_diagonal":
        return taken(node, op, self, offset=offset, dim1=-2 if dim1 is None else dim1, dim2=-1 if dim2 is None else dim2)
    if kind == "diag" and node.known_rank(0) == 2:
        return taken(node, op, self, offset=shift, dim1=0, dim2=1)
    x = op.Reshape(self, [-1], special_zero=False) if kind == "diagflat" else self
    rank = rank_of(x) or 1
    count = op.Gather(op.ShapeOf(x), op.constant(rank - 1), 0)
    rows = op.Range(op.constant(0), op.Add(count, abs(shift)), op.constant(1), output_type=si64)
    across = op.Subtract(rows, shift)
    # Row i has the element i, or i + offset below the main diagonal, in column i + offset.
    hit = op.Equal(op.Unsqueeze(rows, [1]), across)
    elements = op.Subtract(op.Unsqueeze(rows, [1]), max(-shift, 0))
    indices = op.Maximum(op.Minimum(elements, op.Subtract(count, 1)), 0)
    spread = op.Gather(x, op.Squeeze(indices, [1]), rank - 1)
    zero = as_element(op, element_of(x), 0)[0]
    embedded = op.Select(hit, op.Unsqueeze(spread, [rank]), zero)
    first, second = axes_from_front(node, [-2 if dim1 is None else dim1, -1 if dim2 is None else dim2], rank + 1)
    rest = iter(range(rank - 1))
    order = [rank - 1 if axis == first else rank if axis == second else next(rest) for axis in range(rank + 1)]
    return op.transposed(embedded, order)


@aten.lowers("tril_indices.default", "triu_indices.default")
def tril_indices(node: LoweringNode, op: OpBuilder, *, row: int, col: int, offset: int = 0) -> SSAValue:
    """aten.tril_indices.default() {row, col, offset} -> the rows and columns of a triangle; `triu_indices` of the upper
    one
    """
    indices = np.tril_indices(row, offset, col) if node.op.KIND.startswith("tril") else np.triu_indices(row, offset, col)
    return op.constant(np.stack(indices).astype(np.int64), si64)


@aten.lowers("vander.default", "linalg_vander.default")
def vander(node: LoweringNode, op: OpBuilder, *, N: int | None = None, increasing: bool | None = None) -> SSAValue:
    """aten.vander.default(x) {N, increasing} -> the powers 0, 1, … of each element"""
    value = op.convert(node.op.operands[0], inferred_element(node))
    count = (shape_of(value) or (-1,))[-1] if N is None else N
    if count < 0:
        node.fail("the number of its powers is dynamic")
    grows = node.op.KIND.startswith("linalg") if increasing is None else increasing
    powers = np.arange(count) if grows else np.arange(count)[::-1]
    return op.Power(op.Unsqueeze(value, [-1]), op.constant_like(np.ascontiguousarray(powers), value))


@aten.lowers("block_diag.default", complex=JOINED)
def block_diag(node: LoweringNode, op: OpBuilder, *, tensors: Tensors) -> SSAValue:
    """aten.block_diag.default([x, y]) -> one matrix with the given matrices along its diagonal and zeros elsewhere"""
    values = [at_least(op, value, rank_of(value) or 0, 2) for value in as_element(op, inferred_element(node), *present(node, tensors))]
    shapes = [shape_of(value) or (-1, -1) for value in values]
    if any(size < 0 for shape in shapes for size in shape):
        node.fail("the sizes of its matrices are dynamic")
    total, start = sum(shape[1] for shape in shapes), 0
    rows: list[SSAValue] = []
    for value, shape in zip(values, shapes, strict=True):
        rows.append(op.Pad(value, [0, start], [0, total - start - shape[1]], as_element(op, element_of(value), 0)[0], pad_mode="constant"))
        start += shape[1]
    return rows[0] if len(rows) == 1 else op.Concat(*rows, axis=0)


@aten.lowers("cartesian_prod.default")
def cartesian_prod(node: LoweringNode, op: OpBuilder, *, tensors: Tensors) -> SSAValue:
    """aten.cartesian_prod.default([x, y]) -> all pairs of elements, a row each"""
    values = as_element(op, inferred_element(node), *present(node, tensors))
    if len(values) == 1:
        return values[0]
    sizes = [op.ShapeOf(value) for value in values]
    shape = op.Concat(*sizes, axis=0)
    columns: list[SSAValue] = []
    for axis, value in enumerate(values):
        lines = op.Reshape(value, [-1 if each == axis else 1 for each in range(len(values))], special_zero=False)
        columns.append(op.Reshape(op.Broadcast(lines, shape), [-1, 1], special_zero=False))
    return op.Concat(*columns, axis=1)


@aten.lowers("channel_shuffle.default", "native_channel_shuffle.default", complex=by_parts())
def channel_shuffle(node: LoweringNode, op: OpBuilder, self: SSAValue, *, groups: int) -> SSAValue:
    """aten.channel_shuffle.default(x) {groups} -> opset1.ShuffleChannels(x) {axis = 1, group}"""
    channels = (node.shape(0) or (-1, -1))[1]
    if channels < 0 or channels % groups:
        node.fail("the number of its channels is dynamic")
    parts = [dimension_list(op, self, axis) for axis in range(2, node.known_rank(0))]
    wide = op.Reshape(self, op.Concat(op.constant([0, groups, channels // groups]), *parts, axis=0), special_zero=True)
    order = [0, 2, 1, *range(3, node.known_rank(0) + 1)]
    return op.Reshape(op.transposed(wide, order), op.ShapeOf(self), special_zero=False)


@aten.lowers("as_strided.default", traits=(REPEATED_VIEW,))
@aten.lowers("as_strided_copy.default")
def as_strided(node: LoweringNode, op: OpBuilder, self: SSAValue, *, size: Sizes, stride: Sizes, storage_offset: int = 0) -> SSAValue:
    """aten.as_strided.default(x) {size, stride, storage_offset} -> opset8.Gather(flattened x, indices, 0)

    If the elements stay in their order it is opset1.Reshape(x, size). The elements of x are assumed to be stored in
    their order; the reader marks operands for which that is not known.
    """
    if node.flag("undecided"):
        node.fail("its operand is itself a view, whose memory is not known", hint="export the model with x.clone() before it")
    if storage_offset == 0 and _keeps_order(size, stride):
        return op.Reshape(self, shape_value(op, size, 0), special_zero=False)
    known = [each for each in (*size, *stride) if isinstance(each, int)]
    shape = shape_of(self)
    if len(known) != len(size) + len(stride) or shape is None or min(shape, default=0) < 0:
        node.fail("the sizes of its operand or of its result are computed when the model runs")
    check_constant_size(*known[: len(size)])
    offsets = np.full(known[: len(size)], storage_offset, np.int64)
    for axis, (count, step) in enumerate(zip(known[: len(size)], known[len(size) :], strict=True)):
        offsets = offsets + (np.arange(count) * step).reshape([-1 if each == axis else 1 for each in range(len(size))])
    if offsets.size and int(offsets.max()) >= prod(shape):
        node.fail("it reads memory that is not of its operand")
    return op.Gather(op.Reshape(self, [-1], special_zero=False), op.constant(offsets, si64), 0)


def _keeps_order(size: Sizes, stride: Sizes) -> bool:
    """Whether `stride` are the strides of contiguous elements of a tensor of shape `size`; only the first size may be
    dynamic.
    """
    expected = 1
    for index in range(len(size) - 1, -1, -1):
        count, step = size[index], stride[index]
        if count == 1:
            continue
        if step != expected:
            return False
        if not isinstance(count, int):
            return all(each == 1 for each in size[:index])
        expected *= count
    return False


@aten.lowers("trapezoid.x", "trapezoid.dx", "trapz.x", "trapz.dx", "cumulative_trapezoid.x", "cumulative_trapezoid.dx", complex=by_parts())
def trapezoid(node: LoweringNode, op: OpBuilder, y: SSAValue, x: SSAValue | None = None, *, dx: Scalar = 1, dim: int = -1) -> SSAValue:
    """aten.trapezoid.x(y, x) {dim} -> the sum of the areas between neighbours; `cumulative_trapezoid` -> their running
    sums

    Sums, differences and products of integers wrap around before they become floats.
    """
    rank = node.known_rank(0)
    axis = axis_from_front(node, dim, rank)

    def pair(value: SSAValue, along: int) -> tuple[SSAValue, SSAValue]:
        return op.Slice(value, [1], [2**31 - 1], [1], [along]), op.Slice(value, [0], [-1], [1], [along])

    areas = op.Add(*pair(op.convert(y, si32) if element_of(y) == boolean else y, axis))
    if x is not None:
        if rank_of(x) == 1 and rank > 1:
            x = op.Reshape(x, [-1 if each == axis else 1 for each in range(rank)], special_zero=False)
        distances = op.Subtract(*pair(x, axis - rank + (rank_of(x) or 1)))
        areas = op.Multiply(*as_element(op, promoted([areas, distances]), areas, distances))
    areas = op.convert(areas, si64) if is_integral(element_of(areas)) else areas
    is_cumulative = node.op.KIND.startswith("cumulative")
    area = op.CumSum(areas, op.constant(axis)) if is_cumulative else op.ReduceSum(areas, [axis], keep_dims=False)
    (area, factor) = as_element(op, inferred_element(node), area, dx)
    return op.Multiply(area, 0.5) if x is not None else op.Multiply(op.Multiply(area, factor), 0.5)
