"""Slices, look-ups by indices and masks, and their writes.

`index` and `index_put` take a list of indices, of which an absent one stands for all of a dimension; a mask stands for
the indices where it is true.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, si64
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.expansions.quotients import is_not_negative
from moir.expansions.shape_values import LARGEST_SIZE, cut_to, dimension_list
from moir.frameworks.traits import VIEW
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_parts
from moir.lowering.pytorch.arguments import LAST, Scalar, Size, Tensors, axis_from_front, size_list
from moir.lowering.pytorch.complex.rules import JOINED
from moir.lowering.pytorch.promotion import as_element, inferred_element
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder


def _bound(op: OpBuilder, value: Size | None, default: int) -> SSAValue:
    value = default if value is None else value
    return size_list(op, min(value, 2**31 - 1) if isinstance(value, int) else value)


@aten.lowers("slice.Tensor", complex=by_parts(), traits=(VIEW,))
@aten.lowers("slice_copy.Tensor", complex=by_parts())
def slice_(
    node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: int = 0, start: Size | None = None, end: Size | None = None, step: int = 1
) -> SSAValue:
    """aten.slice.Tensor(x) {dim, start, end, step} -> opset8.Slice(x, start, end, step, dim)"""
    if start in (None, 0) and end in (None, LAST) and step == 1:
        return self
    return op.Slice(self, _bound(op, start, 0), _bound(op, end, LAST), [step], [axis_from_front(node, dim, node.known_rank(0))])


@aten.lowers("narrow.default", "narrow.Tensor", complex=by_parts(), traits=(VIEW,))
@aten.lowers("narrow_copy.default", complex=by_parts())
def narrow(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: int, start: Size, length: Size) -> SSAValue:
    """aten.narrow.default(x) {dim, start, length} -> opset8.Slice(x, start, start + length, 1, dim)

    A negative start counts from the end.
    """
    axis = axis_from_front(node, dim, node.known_rank(0))
    if isinstance(start, int) and isinstance(length, int):
        end = start + length
        return op.Slice(self, [start], [LARGEST_SIZE if start < 0 == end else end], [1], [axis])
    first = _from_front(op, self, axis, start)
    return op.Slice(self, first, op.Add(first, size_list(op, length)), [1], [axis])


def _from_front(op: OpBuilder, x: SSAValue, axis: int, index: Size) -> SSAValue:
    """An index along an axis of x as a 1-D tensor of one element; the size of the axis is added to a negative one."""
    position = size_list(op, index)
    if is_not_negative(op, position):
        return position
    from_end = op.Add(position, dimension_list(op, x, axis))
    return from_end if isinstance(index, int) else op.Select(op.Less(position, 0), from_end, position)


@aten.lowers("select.int", complex=by_parts(), traits=(VIEW,))
@aten.lowers("select_copy.int", complex=by_parts())
def select(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: int, index: Size) -> SSAValue:
    """aten.select.int(x) {dim, index} -> opset8.Gather(x, index, dim)"""
    position = op.constant(index) if isinstance(index, int) else op.Reshape(index, np.array([], np.int64), special_zero=False)
    return op.Gather(self, position, axis_from_front(node, dim, node.known_rank(0)))


@aten.lowers("select_scatter.default", complex=JOINED)
def select_scatter(node: LoweringNode, op: OpBuilder, self: SSAValue, src: SSAValue, *, dim: int, index: Size) -> SSAValue:
    """aten.select_scatter.default(x, y) {dim, index} -> opset3.ScatterUpdate(x, [index], y as a slice, dim)"""
    axis = axis_from_front(node, dim, node.known_rank(0))
    positions = _from_front(op, self, axis, index)
    return op.ScatterUpdate(self, positions, op.Unsqueeze(op.convert(src, element_of(self)), [axis]), op.constant(axis))


@aten.lowers("slice_scatter.default", complex=JOINED)
def slice_scatter(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    src: SSAValue,
    *,
    dim: int = 0,
    start: Size | None = None,
    end: Size | None = None,
    step: int = 1,
) -> SSAValue:
    """aten.slice_scatter.default(x, y) {dim, start, end, step} -> opset3.ScatterUpdate(x, indices, y, dim)"""
    source = op.convert(src, element_of(self))
    if start in (None, 0) and end in (None, LAST) and step == 1:
        return source
    axis = axis_from_front(node, dim, node.known_rank(0))
    size = op.Gather(op.ShapeOf(self), op.constant(axis), 0)
    indices = op.Range(op.constant(0), size, op.constant(1), output_type=si64)
    positions = op.Slice(indices, _bound(op, start, 0), _bound(op, end, LAST), [step], [0])
    return op.ScatterUpdate(self, positions, source, op.constant(axis))


@aten.lowers("index_select.default", complex=by_parts())
def index_select(node: LoweringNode, op: OpBuilder, self: SSAValue, index: SSAValue, *, dim: int) -> SSAValue:
    """aten.index_select.default(x, index) {dim} -> opset8.Gather(x, index, dim)"""
    if node.known_rank(0) == 0:
        return self
    return op.Gather(self, index, axis_from_front(node, dim, node.known_rank(0)))


@aten.lowers("embedding.default", complex=by_parts())
def embedding(op: OpBuilder, weight: SSAValue, indices: SSAValue) -> SSAValue:
    """aten.embedding.default(w [K, N], indices) -> opset8.Gather(w, indices, 0)"""
    return op.Gather(weight, indices, 0)


@aten.lowers("gather.default", complex=by_parts())
def gather(node: LoweringNode, op: OpBuilder, self: SSAValue, index: SSAValue, *, dim: int) -> SSAValue:
    """aten.gather.default(x, index) {dim} -> opset6.GatherElements(x, index) {axis}

    In the other dimensions x is cut to the sizes of the index.
    """
    axis, rank = axis_from_front(node, dim, node.known_rank(0)), node.known_rank(0)
    if rank == 0 or 0 in (shape_of(index) or ()):
        return op.Broadcast(self if rank == 0 else op.constant_like(0, self), op.ShapeOf(index))
    return op.GatherElements(cut_to(op, self, index, axis), index, axis=axis)


@aten.lowers("take_along_dim.default", complex=by_parts())
def take_along_dim(node: LoweringNode, op: OpBuilder, self: SSAValue, indices: SSAValue, *, dim: int | None = None) -> SSAValue:
    """aten.take_along_dim.default(x, indices) {dim} -> opset6.GatherElements(x, indices) {axis}, after broadcasting"""
    if dim is None:
        return op.GatherElements(op.Reshape(self, [-1], special_zero=False), op.Reshape(indices, [-1], special_zero=False), axis=0)
    rank = node.known_rank(0)
    axis = axis_from_front(node, dim, rank)

    def spread(value: SSAValue, other: SSAValue) -> SSAValue:
        if shape_of(value) == shape_of(other) and -1 not in (shape_of(value) or (-1,)):
            return value
        parts = [dimension_list(op, value if each == axis else other, each) for each in range(rank)]
        return op.Broadcast(value, op.Concat(*parts, axis=0) if rank > 1 else parts[0], mode="bidirectional")

    x = spread(self, indices)
    return op.GatherElements(x, spread(indices, x), axis=axis)


def _index_tensors(node: LoweringNode, op: OpBuilder, indices: Tensors) -> list[SSAValue | None]:
    """Index tensors as i64: a mask of n dimensions becomes n 1-D tensors, the indices of its true elements."""
    positions: list[SSAValue | None] = []
    for each in indices:
        if each is None or element_of(each) != boolean:
            positions.append(each)
            continue
        rank = rank_of(each)
        if rank is None or rank == 0:
            node.fail("a mask of no known dimensions")
        nonzero_indices = op.NonZero(each, output_type=si64)
        positions += [op.Gather(nonzero_indices, op.constant(axis), 0) for axis in range(rank)]
    return positions


def _index_tuples(op: OpBuilder, positions: Sequence[SSAValue]) -> SSAValue:
    """Index tensors, broadcast to one shape and stacked in a new last dimension, as GatherND takes them."""
    if len({shape_of(each) for each in positions}) > 1 or (
        any(-1 in (shape_of(each) or (-1,)) for each in positions) and len(positions) > 1
    ):
        total: SSAValue = positions[0]
        for each in positions[1:]:
            total = op.Add(total, op.convert(each, element_of(total)))
        shape = op.ShapeOf(total)
        positions = [op.Broadcast(each, shape) for each in positions]
    parts = [op.Unsqueeze(op.convert(each, si64), [-1]) for each in positions]
    return parts[0] if len(parts) == 1 else op.Concat(*parts, axis=-1)


def from_start(op: OpBuilder, x: SSAValue, index: SSAValue, axis: int) -> SSAValue:
    """Indices along an axis of x, where the size of the axis is added to negative ones."""
    value = op.convert(index, si64)
    return op.Select(op.Less(value, 0), op.Add(value, op.Gather(op.ShapeOf(x), op.constant(axis), 0)), value)


@aten.lowers("index.Tensor", "_unsafe_index.Tensor", complex=by_parts())
def index(node: LoweringNode, op: OpBuilder, self: SSAValue, *, indices: Tensors) -> SSAValue:
    """aten.index.Tensor(x, [i, j]) -> opset8.GatherND(x, i and j in a last dimension), for one index opset8.Gather

    The dimensions of adjacent indices replace those that they index; those of other indices come first in the
    result.
    """
    positions = _index_tensors(node, op, indices)
    rank = node.known_rank(0)
    axes = [axis for axis, each in enumerate(positions) if each is not None]
    values = [each for each in positions if each is not None]
    if not values or len(positions) > rank:
        node.fail(f"{len(positions)} indices of a tensor of {rank} dimensions")
    if len(values) == 1:
        return op.Gather(self, values[0], axes[0])
    others = [axis for axis in range(rank) if axis not in axes]
    x = op.transposed(self, [*axes, *others])
    index_tuples = _index_tuples(op, [from_start(op, self, each, axis) for each, axis in zip(values, axes, strict=True)])
    elements = op.GatherND(x, index_tuples)
    if axes != list(range(axes[0], axes[-1] + 1)) or axes[0] == 0:
        return elements
    count = (rank_of(index_tuples) or 1) - 1
    lead = axes[0]
    order = [*range(count, count + lead), *range(count), *range(count + lead, count + len(others))]
    return op.transposed(elements, order)


@aten.lowers("index_put.default", "_unsafe_index_put.default", complex=JOINED)
def index_put(
    node: LoweringNode, op: OpBuilder, self: SSAValue, values: SSAValue, *, indices: Tensors, accumulate: bool = False
) -> SSAValue:
    """aten.index_put.default(x, [i, j], v) -> opset15.ScatterNDUpdate(x, i and j in a last dimension, v)

    For one mask and a single number: opset1.Select.
    """
    element, rank = element_of(self), node.known_rank(0)
    value = op.convert(values, element)
    present = [each for each in indices if each is not None]
    if len(present) == 1 == len(indices) and element_of(present[0]) == boolean and rank_of(value) == 0 and not accumulate:
        mask, after = present[0], rank - (rank_of(present[0]) or rank)
        for _ in range(after):
            mask = op.Unsqueeze(mask, [-1])
        return op.Select(mask, value, self)
    positions = _index_tensors(node, op, indices)
    axes = [axis for axis, each in enumerate(positions) if each is not None]
    tensors = [each for each in positions if each is not None]
    if not tensors:
        node.fail("no index")
    others = [axis for axis in range(rank) if axis not in axes]
    order = [*axes, *others]
    x = op.transposed(self, order)
    index_tuples = _index_tuples(op, [from_start(op, self, each, axis) for each, axis in zip(tensors, axes, strict=True)])
    count = (rank_of(index_tuples) or 1) - 1
    beside = axes == list(range(axes[0], axes[-1] + 1)) and axes[0] > 0
    tail = op.Slice(op.ShapeOf(x), [len(axes)], [rank], [1], [0])
    lead = op.Slice(op.ShapeOf(index_tuples), [0], [count], [1], [0])
    if beside:
        # The value has the dimensions of the indices at the axis of the first index.
        before = axes[0]
        shape = op.Concat(op.Slice(tail, [0], [before], [1], [0]), lead, op.Slice(tail, [before], [rank], [1], [0]), axis=0)
        total = before + count + len(others) - before
        spread = op.Broadcast(value, shape)
        updates = op.transposed(spread, [*range(before, before + count), *range(before), *range(before + count, total)])
    else:
        updates = op.Broadcast(value, op.Concat(lead, tail, axis=0))
    reduction = {"reduction": "sum"} if accumulate else {}
    written = op.ScatterNDUpdate(x, index_tuples, updates, **reduction)
    return op.transposed(written, [order.index(axis) for axis in range(rank)])


@aten.lowers("_unsafe_masked_index.default")
def masked_index(node: LoweringNode, op: OpBuilder, self: SSAValue, mask: SSAValue, *, indices: Tensors, fill: Scalar) -> SSAValue:
    """aten._unsafe_masked_index.default(x, mask, [i, j]) {fill} -> the elements at i and j where the mask is true"""
    elements = index(node, op, self, indices=_limited(op, self, indices))
    return op.Select(mask, elements, as_element(op, element_of(self), fill)[0])


@aten.lowers("_unsafe_masked_index_put_accumulate.default")
def masked_index_put(node: LoweringNode, op: OpBuilder, self: SSAValue, mask: SSAValue, values: SSAValue, *, indices: Tensors) -> SSAValue:
    """aten._unsafe_masked_index_put_accumulate.default(x, mask, v, [i, j]) -> x with v added where the mask is true"""
    added = op.Select(mask, values, op.constant_like(0, values))
    return index_put(node, op, self, added, indices=_limited(op, self, indices), accumulate=True)


def _limited(op: OpBuilder, x: SSAValue, indices: Tensors) -> Tensors:
    """Index tensors clamped to the range of the dimensions of x.

    Elements whose indices are changed by this are excluded by a mask of the caller.
    """
    limited: list[SSAValue | None] = []
    for axis, each in enumerate(indices):
        size = dimension_list(op, x, axis)
        position = None if each is None else op.convert(each, si64)
        limited.append(None if position is None else op.Minimum(op.Maximum(position, op.Negative(size)), op.Subtract(size, 1)))
    return limited


@aten.lowers("masked_select.default", complex=by_parts())
def masked_select(op: OpBuilder, self: SSAValue, mask: SSAValue) -> SSAValue:
    """aten.masked_select.default(x, mask) -> opset8.GatherND(x, the indices where the mask is true)"""
    if shape_of(self) != shape_of(mask) or -1 in (shape_of(self) or (-1,)):
        spread = op.Broadcast(mask, op.ShapeOf(self), mode="bidirectional")
        self, mask = op.Broadcast(self, op.ShapeOf(spread)), spread
    return op.GatherND(self, op.transposed(op.NonZero(mask, output_type=si64), [1, 0]))


@aten.lowers("nonzero.default", "nonzero_numpy.default")
@aten.lowers("where.default", complex=JOINED)
def nonzero(node: LoweringNode, op: OpBuilder) -> list[SSAValue]:
    """aten.nonzero.default(x) -> opset3.NonZero(x) as [count, rank]; `nonzero_numpy` and `where` -> its rows, one for
    each axis
    """
    indices_ = op.NonZero(node.op.operands[0], output_type=si64)
    if node.op.KIND.startswith("nonzero."):
        return [op.transposed(indices_, [1, 0])]
    return [op.Gather(indices_, op.constant(axis), 0) for axis in range(node.result_count)]


@aten.lowers("nonzero_static.default")
def nonzero_static(node: LoweringNode, op: OpBuilder, self: SSAValue, *, size: Size, fill_value: int = -1) -> SSAValue:
    """aten.nonzero_static.default(x) {size, fill_value} -> the first rows of NonZero(x), then rows of a number"""
    rows = op.transposed(op.NonZero(self, output_type=si64), [1, 0])
    count = size_list(op, size)
    filled = op.Broadcast(op.constant(fill_value), op.Concat(count, op.constant([node.known_rank(0)]), axis=0))
    return op.Slice(op.Concat(rows, filled, axis=0), [0], count, [1], [0])


def _band(op: OpBuilder, x: SSAValue, diagonal: int, is_lower: bool) -> SSAValue:
    """A boolean mask of matrices in the last two dimensions of x: true on and below `diagonal` if `is_lower`, else on
    and above it.
    """
    rows, columns = (op.Gather(op.ShapeOf(x), op.constant(axis), 0) for axis in (-2, -1))
    down = op.Unsqueeze(op.Range(op.constant(0), rows, op.constant(1), output_type=si64), [1])
    across = op.Range(op.constant(0), columns, op.constant(1), output_type=si64)
    shifted = op.Add(down, diagonal)
    return op.LessEqual(across, shifted) if is_lower else op.GreaterEqual(across, shifted)


@aten.lowers("tril.default", "triu.default", complex=by_parts())
def tril(node: LoweringNode, op: OpBuilder, self: SSAValue, *, diagonal: int = 0) -> SSAValue:
    """aten.tril.default(x) {diagonal} -> x where column ≤ row + diagonal, else 0; `triu` where ≥"""
    kept = _band(op, self, diagonal, node.op.KIND.startswith("tril"))
    return op.Select(kept, self, as_element(op, element_of(self), 0)[0])


@aten.lowers("fill_diagonal.default")
def fill_diagonal(node: LoweringNode, op: OpBuilder, self: SSAValue, *, fill_value: Scalar, wrap: bool = False) -> SSAValue:
    """aten.fill_diagonal.default(x) {fill_value} -> the number where row = column, else x"""
    if node.known_rank(0) != 2 or wrap:
        node.fail("only matrices are supported, and no diagonal that wraps")
    both = op.LogicalAnd(_band(op, self, 0, True), _band(op, self, 0, False))
    return op.Select(both, as_element(op, inferred_element(node), fill_value)[0], self)


@aten.lowers("diagonal.default", complex=by_parts(), traits=(VIEW,))
@aten.lowers("diagonal_copy.default", complex=by_parts())
def diagonal(node: LoweringNode, op: OpBuilder, self: SSAValue, *, offset: int = 0, dim1: int = 0, dim2: int = 1) -> SSAValue:
    """aten.diagonal.default(x) {offset, dim1, dim2} -> the elements x[i, i + offset] in a new last dimension"""
    rank = node.known_rank(0)
    first, second = axis_from_front(node, dim1, rank), axis_from_front(node, dim2, rank)
    others = [axis for axis in range(rank) if axis not in (first, second)]
    x = op.transposed(self, [first, second, *others])
    rows, columns = (op.Gather(op.ShapeOf(x), op.constant(axis), 0) for axis in (0, 1))
    count = op.Minimum(op.Subtract(rows, max(-offset, 0)), op.Subtract(columns, max(offset, 0)))
    steps = op.Range(op.constant(0), op.Maximum(count, 0), op.constant(1), output_type=si64)
    positions = _index_tuples(op, [op.Add(steps, max(-offset, 0)), op.Add(steps, max(offset, 0))])
    diagonal_ = op.GatherND(x, positions)
    return op.transposed(diagonal_, [*range(1, rank - 1), 0])


@aten.lowers("moir.positions")
def positions(op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.moir.positions(x) -> 0, 1, … in the shape of x: the flat index of each element"""
    shape = op.ShapeOf(self)
    count = op.ReduceProd(shape, [0], keep_dims=False)
    return op.Reshape(op.Range(op.constant(0), count, op.constant(1), output_type=si64), shape, special_zero=False)


@aten.lowers("moir.write_positions")
def write_positions(op: OpBuilder, self: SSAValue, positions: SSAValue, src: SSAValue) -> SSAValue:
    """aten.moir.write_positions(x, positions, y) -> x with the elements of y at positions in the flattened x"""
    flat = op.Reshape(self, [-1], special_zero=False)
    columns = op.Reshape(positions, [-1, 1], special_zero=False)
    written = op.ScatterNDUpdate(flat, columns, op.Reshape(op.convert(src, element_of(self)), [-1], special_zero=False))
    return op.Reshape(written, op.ShapeOf(self), special_zero=False)
