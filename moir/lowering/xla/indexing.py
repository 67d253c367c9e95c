"""Gather: slices at computed indices, with any order of dimensions.

An index has a start for each dimension in `start_index_map`. Where a slice of such a dimension has several elements,
there is an index for each of them:

    starts [[2], [5]], slices of 3  ->  indices [[[2], [3], [4]], [[5], [6], [7]]]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si32, si64
from moir.dialects.shapes import element_of, shape_of
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder

HINT = "export the model with static shapes, so that sizes and dimensions are constants"


class SliceIndices:
    """The indices of the slices of a gather or scatter.

    Args:
        op: the builder.
        data: the tensor that is read or written.
        indices: the starts [batch…, starts].
        mapped: the dimension of the data that each start belongs to.
        batching: batch dimensions of the data, each of which corresponds to a dimension of the indices.
        index_batching: the corresponding dimensions of the indices.
        sizes: the size of a slice along each dimension of the data, -1 for a computed one.
        computed: the sizes of slices, a 1-D tensor of i64; needed for computed ones.
    """

    def __init__(
        self,
        op: OpBuilder,
        data: SSAValue,
        indices: SSAValue,
        mapped: Sequence[int],
        batching: Sequence[int],
        index_batching: Sequence[int],
        sizes: Sequence[int],
        computed: SSAValue | None = None,
    ) -> None:
        self.op = op
        self.data = data
        self.indices = indices
        self.indexed = [*batching, *mapped]
        """The dimensions of the data for which an index has an element."""
        self.mapped, self.index_batching, self.sizes = list(mapped), list(index_batching), list(sizes)
        self.computed = computed
        self.batch_rank = len(shape_of(indices) or ()) - 1
        self.several = [axis for axis in mapped if sizes[axis] != 1]
        """The indexed dimensions along which a slice has several elements."""
        self.whole = [axis for axis in range(len(sizes)) if axis not in self.indexed]
        """The dimensions along which slices start at the first element."""

    def limits(self) -> SSAValue:
        """For each mapped dimension, the last start at which a slice lies within the data."""
        sizes = [dimension_list(self.op, self.data, axis) for axis in self.mapped]
        together = self.op.Concat(*sizes, axis=0) if len(sizes) > 1 else sizes[0]
        return self.op.Subtract(together, self.sizes_along(self.mapped))

    def sizes_along(self, axes: Sequence[int]) -> SSAValue:
        """The sizes of a slice along some dimensions of the data, a 1-D tensor."""
        op, sizes = self.op, [self.sizes[axis] for axis in axes]
        return op.constant(sizes, si64) if min(sizes, default=0) >= 0 or self.computed is None else op.Gather(self.computed, list(axes), 0)

    def is_whole(self, axis: int) -> bool:
        """Whether a slice has all elements of the data along a dimension."""
        size, known = self.sizes[axis], self.op.known
        if size >= 0 or self.computed is None:
            return size == (shape_of(self.data) or ())[axis]
        elements = known.elements(self.computed)
        return elements is not None and elements.reshape(-1)[axis] == known.dimension(self.data, axis)

    def cut(self, begins: Mapping[int, SSAValue], others: Sequence[int]) -> SSAValue:
        """The slice of the data that begins at a computed index of some dimensions, and at 0 of others.

        Args:
            begins: the first index by the dimension, a 1-D tensor of one element of type i64.
            others: the dimensions along which the slice begins at 0.
        """
        op = self.op
        axes = sorted([*begins, *(axis for axis in others if not self.is_whole(axis))])
        if not axes:
            return self.data
        first = [begins.get(axis, op.constant([0], si64)) for axis in axes]
        starts = op.Concat(*first, axis=0) if len(first) > 1 else first[0]
        sizes = self.sizes_along(axes)
        return op.Slice(self.data, starts, op.Add(starts, sizes) if begins else sizes, [1] * len(axes), axes)

    def elements(self, starts: SSAValue) -> SSAValue:
        """The index of each element of each slice, [batch…, slice…, indexed], from the `starts` of the slices.

        Only indexed dimensions of the data with slices of several elements have a `slice` dimension.
        """
        op, batch, grid = self.op, self.batch_rank, len(self.several)
        if not self.index_batching and not grid:
            return starts
        columns: list[SSAValue] = []
        for axis in self.index_batching:
            count = op.Squeeze(dimension_list(op, self.indices, axis), [0])
            column = op.Range(op.constant(0, si64), count, op.constant(1, si64), output_type=si64)
            columns.append(op.Unsqueeze(column, [each for each in range(batch + grid + 1) if each != axis]))
        for position, axis in enumerate(self.mapped):
            column = op.Gather(starts, [position], -1)
            if grid:
                column = op.Unsqueeze(column, list(range(batch, batch + grid)))
            if axis in self.several:
                after = grid - self.several.index(axis)
                column = op.Add(column, op.Reshape(self._offsets(axis), [-1, *(1,) * after], special_zero=False))
            columns.append(column)
        outer = [dimension_list(op, self.indices, axis) for axis in range(batch)]
        ends = [self.sizes_along(self.several)] if grid else []
        shape = op.Concat(*outer, *ends, op.constant([1], si64), axis=0)
        spread = [op.Broadcast(column, shape, mode="bidirectional") for column in columns]
        return op.Concat(*spread, axis=-1) if len(spread) > 1 else spread[0]

    def _offsets(self, axis: int) -> SSAValue:
        """The indices of the elements of a slice along a dimension, relative to its start."""
        op, size = self.op, self.sizes[axis]
        if size >= 0:
            return op.constant(np.arange(size))
        return op.Range(op.constant(0, si64), op.Squeeze(self.sizes_along([axis]), [0]), op.constant(1, si64), output_type=si64)


def index_lists(node: LoweringNode, op: OpBuilder, index: int = 1, *, keeps_type: bool = False) -> SSAValue:
    """The indices of a node, its operand `index`, with the dimension of the starts moved to the end, or appended if
    each index is a scalar.

    They are i64, or of their own type if that is i32 and `keeps_type` is set.
    """
    rank, vector_axis, indices = node.known_rank(index), node.integer("index_vector_dim", 0), node.operand(index)
    if not keeps_type or element_of(indices) is not si32:
        indices = op.convert(indices, si64)
    if vector_axis == rank:
        return op.Unsqueeze(indices, [rank])
    return op.transposed(indices, [*(axis for axis in range(rank) if axis != vector_axis), vector_axis])


def slice_sizes_of(node: LoweringNode, op: OpBuilder, index: int) -> tuple[list[int], SSAValue]:
    """The sizes of slices, from operand `index`: -1 for those that are not constant; and the operand as i64."""
    elements = op.known.elements(node.operand(index))
    count = node.known_rank(0)
    known = [-1] * count if elements is None or elements.size != count else elements.reshape(-1).tolist()
    return [size if isinstance(size, int) else -1 for size in known], op.convert(node.operand(index), si64)


def batching_of(node: LoweringNode, data: str, indices: str) -> tuple[tuple[int, ...], list[int]]:
    """The batching dimensions of the data, and those of the indices, counted without the dimension of the starts.

    `data` and `indices` are the names of the attributes that have them.
    """
    vector_axis = node.integer("index_vector_dim", 0)
    return node.integers(data, ()), [axis - (axis > vector_axis) for axis in node.integers(indices, ())]


def check_dimensions(node: LoweringNode, fits: bool, dimensions: Sequence[int]) -> None:
    """Raises ConversionError, with the `dimensions`, unless `fits` is true, which says that they suit operand 0 and the
    indices.
    """
    rank, axis = node.known_rank(0), node.integer("index_vector_dim", 0)
    if not fits or not all(0 <= each < rank for each in dimensions) or not 0 <= axis <= node.known_rank(1):
        node.fail("its dimension numbers do not fit the ranks of its operands")


def gathered(
    node: LoweringNode,
    op: OpBuilder,
    operand: SSAValue,
    sizes: Sequence[int],
    start_index_map: Sequence[int],
    collapsed_slice_dims: Sequence[int],
    computed: SSAValue | None = None,
) -> SSAValue:
    """The slices of an operand at the indices, operand 1 of a node that has the other dimension numbers.

    A start index beyond the last valid one is clamped to the last valid one. Sizes that are -1 are elements of
    `computed`, a 1-D tensor of i64.
    """
    data, rank = operand, node.known_rank(0)
    batching, index_batching = batching_of(node, "operand_batching_dims", "start_indices_batching_dims")
    check_dimensions(node, len(sizes) == rank, (*start_index_map, *collapsed_slice_dims, *batching))
    # Gather has batch dimensions, too, if they are the first ones of both.
    leads = list(batching) == index_batching == list(range(len(batching)))
    is_single = len(start_index_map) == 1 and leads and len(batching) <= start_index_map[0] and sizes[start_index_map[0]] == 1
    starts = index_lists(node, op, keeps_type=is_single)
    indexing = SliceIndices(op, data, starts, start_index_map, batching, index_batching, sizes, computed)
    gone = {*collapsed_slice_dims, *batching}
    if indexing.several and indexing.batch_rank == 0 and not batching:
        # One slice.
        starts = op.Maximum(op.Minimum(indexing.indices, indexing.limits()), 0)
        slices = indexing.cut({axis: op.Gather(starts, [position], 0) for position, axis in enumerate(start_index_map)}, indexing.whole)
        return _arranged(node, op, slices, {axis: axis for axis in range(rank)}, [], [axis for axis in range(rank) if axis not in gone])
    data = indexing.cut({}, indexing.whole)
    if is_single:
        starts = op.Squeeze(indexing.indices, [indexing.batch_rank])
        limit = op.Squeeze(op.convert(indexing.limits(), element_of(starts)), [0])
        along, common = start_index_map[0], len(batching)
        slices = op.Gather(data, op.Maximum(op.Minimum(starts, limit), 0), along, batch_dims=common)
        count = indexing.batch_rank - common
        kept = {axis: axis if axis < along else axis - 1 + count for axis in range(common, rank) if axis != along}
        batch = [*range(common), *range(along, along + count)]
    else:
        if indexing.indexed:
            starts = op.Maximum(op.Minimum(indexing.indices, indexing.limits()), 0) if start_index_map else indexing.indices
            slices = op.GatherND(op.transposed(data, [*indexing.indexed, *indexing.whole]), indexing.elements(starts), batch_dims=0)
        else:
            node.fail("it has no dimension that starts belong to")
        kept = {axis: indexing.batch_rank + position for position, axis in enumerate([*indexing.several, *indexing.whole])}
        batch = list(range(indexing.batch_rank))
    return _arranged(node, op, slices, kept, batch, [axis for axis in range(rank) if axis not in gone])


def _arranged(
    node: LoweringNode, op: OpBuilder, slices: SSAValue, kept: dict[int, int], batch: Sequence[int], offsets: Sequence[int]
) -> SSAValue:
    """Transpose gathered slices so that the dimensions of a slice are the axes `offset_dims`, and those of the indices
    the other axes.

    Args:
        slices: the slices.
        kept: for each dimension of the data that `slices` has, its dimension in `slices`.
        batch: the dimensions of `slices` that are dimensions of the indices.
        offsets: the dimensions of the data that the result has; those that `slices` lacks have size 1.
    """
    offset_axes = node.integers("offset_dims", ())
    if len(offset_axes) != len(offsets):
        node.fail(f"its offset_dims {list(offset_axes)} are not {len(offsets)}")
    dropped = sorted(axis_of_result for axis, axis_of_result in kept.items() if axis not in offsets)
    if dropped:
        slices = op.Squeeze(slices, dropped)

    def left(axis_of_result: int) -> int:
        return axis_of_result - sum(each < axis_of_result for each in dropped)

    rank = len(batch) + len(offset_axes)
    present = dict(zip(offset_axes, offsets, strict=True))
    outer = iter(batch)
    absent = [axis_of_result for axis_of_result, axis in present.items() if axis not in kept]
    order = [left(kept[present[axis]] if axis in present else next(outer)) for axis in range(rank) if axis not in absent]
    slices = op.transposed(slices, order)
    return op.Unsqueeze(slices, absent) if absent else slices
