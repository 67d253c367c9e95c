"""Gather: slices at computed positions, with any order of dimensions.

An index is a list of starts, one for each dimension in `start_index_map`. Where a slice of such a dimension has several
elements, there is an index for each of them:

    starts [[2], [5]], slices of 3  ->  indices [[[2], [3], [4]], [[5], [6], [7]]]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si32, si64
from moir.dialects.shapes import element_of, shape_of
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder

HINT = "export the model with static shapes, so that sizes and dimensions are constants"


class Places:
    """The positions of the slices of a gather or scatter.

    Args:
        op: builds the operations.
        data: the tensor that is read or written.
        indices: the starts [batch…, starts], with the list of starts last.
        mapped: the dimension of the data that each start belongs to.
        batching: batch dimensions of the data, each of which corresponds to a dimension of the indices.
        index_batching: the corresponding dimensions of the indices.
        sizes: the size of a slice along each dimension of the data.
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
    ) -> None:
        self.op = op
        self.data = data
        self.indices = indices
        self.indexed = [*batching, *mapped]
        """The dimensions of the data for which an index has an entry."""
        self.mapped, self.index_batching, self.sizes = list(mapped), list(index_batching), list(sizes)
        self.batch_rank = len(shape_of(indices) or ()) - 1
        self.several = [axis for axis in mapped if sizes[axis] != 1]
        """The indexed dimensions along which a slice has several elements."""
        self.whole = [axis for axis in range(len(sizes)) if axis not in self.indexed]
        """The dimensions along which slices start at the first element."""

    def limits(self) -> SSAValue:
        """For each mapped dimension, the last start at which a slice lies within the data."""
        sizes = [dimension_list(self.op, self.data, axis) for axis in self.mapped]
        together = self.op.Concat(*sizes, axis=0) if len(sizes) > 1 else sizes[0]
        return self.op.Subtract(together, [self.sizes[axis] for axis in self.mapped])

    def elements(self, starts: SSAValue) -> SSAValue:
        """An index [batch…, several…, indexed] for each element of the indexed dimensions of each slice."""
        op, batch, grid = self.op, self.batch_rank, len(self.several)
        if not self.index_batching and not grid:
            return starts
        columns: list[SSAValue] = []
        for axis in self.index_batching:
            count = op.Squeeze(dimension_list(op, self.indices, axis), [0])
            column = op.Range(op.constant(0, si64), count, op.constant(1, si64), output_type=si64)
            columns.append(op.Unsqueeze(column, [each for each in range(batch + grid + 1) if each != axis]))
        for number, axis in enumerate(self.mapped):
            column = op.Gather(starts, [number], -1)
            if grid:
                column = op.Unsqueeze(column, list(range(batch, batch + grid)))
            if axis in self.several:
                after = grid - self.several.index(axis)
                column = op.Add(column, np.arange(self.sizes[axis]).reshape(-1, *(1,) * after))
            columns.append(column)
        outer = [dimension_list(op, self.indices, axis) for axis in range(batch)]
        shape = op.Concat(*outer, op.constant([*(self.sizes[axis] for axis in self.several), 1]), axis=0)
        spread = [op.Broadcast(column, shape, mode="bidirectional") for column in columns]
        return op.Concat(*spread, axis=-1) if len(spread) > 1 else spread[0]


def index_lists(node: LoweringNode, op: OpBuilder, index: int = 1, *, keeps_type: bool = False) -> SSAValue:
    """The indices of a node, its operand `index`, with the dimension of the starts last.

    That dimension is inserted if each index is a scalar.
    They are i64, or of their own type if that is i32 and `keeps_type` is set.
    """
    rank, place, indices = node.known_rank(index), node.integer("index_vector_dim", 0), node.operand(index)
    if not keeps_type or element_of(indices) is not si32:
        indices = op.convert(indices, si64)
    if place == rank:
        return op.Unsqueeze(indices, [rank])
    return op.transposed(indices, [*(axis for axis in range(rank) if axis != place), place])


def batching_of(node: LoweringNode, data: str, indices: str) -> tuple[tuple[int, ...], list[int]]:
    """The batching dimensions of the data, and of the indices, whose dimensions are numbered without the dimension of
    the starts.
    """
    place = node.integer("index_vector_dim", 0)
    return node.integers(data, ()), [axis - (axis > place) for axis in node.integers(indices, ())]


def check_dimensions(node: LoweringNode, fits: bool, dimensions: Sequence[int]) -> None:
    """Raises ConversionError unless dimension numbers are those of operand 0 and of the indices, operand 1."""
    rank, place = node.known_rank(0), node.integer("index_vector_dim", 0)
    if not fits or not all(0 <= each < rank for each in dimensions) or not 0 <= place <= node.known_rank(1):
        node.fail("its dimension numbers are not those of its operands")


def gathered(
    node: LoweringNode,
    op: OpBuilder,
    operand: SSAValue,
    sizes: Sequence[int],
    start_index_map: Sequence[int],
    collapsed_slice_dims: Sequence[int],
) -> SSAValue:
    """The slices of an operand at the indices, operand 1 of a node that has the other dimension numbers.

    A start index beyond the last valid one is clamped to the last valid one.
    """
    data, rank = operand, node.known_rank(0)
    batching, index_batching = batching_of(node, "operand_batching_dims", "start_indices_batching_dims")
    check_dimensions(node, len(sizes) == rank, (*start_index_map, *collapsed_slice_dims, *batching))
    # Gather has batch dimensions, too, if they are the first ones of both.
    leads = list(batching) == index_batching == list(range(len(batching)))
    is_single = len(start_index_map) == 1 and leads and len(batching) <= start_index_map[0] and sizes[start_index_map[0]] == 1
    places = Places(op, data, index_lists(node, op, keeps_type=is_single), start_index_map, batching, index_batching, sizes)
    shape = shape_of(data) or (-1,) * rank
    cut = [axis for axis in places.whole if sizes[axis] != shape[axis]]
    if cut:
        data = op.Slice(data, [0] * len(cut), [sizes[axis] for axis in cut], [1] * len(cut), cut)
    gone = {*collapsed_slice_dims, *batching}
    if is_single:
        starts = op.Squeeze(places.indices, [places.batch_rank])
        limit = op.Squeeze(op.convert(places.limits(), element_of(starts)), [0])
        along, common = start_index_map[0], len(batching)
        found = op.Gather(data, op.Maximum(op.Minimum(starts, limit), 0), along, batch_dims=common)
        count = places.batch_rank - common
        kept = {axis: axis if axis < along else axis - 1 + count for axis in range(common, rank) if axis != along}
        batch = [*range(common), *range(along, along + count)]
    else:
        if places.indexed:
            starts = op.Maximum(op.Minimum(places.indices, places.limits()), 0) if start_index_map else places.indices
            found = op.GatherND(op.transposed(data, [*places.indexed, *places.whole]), places.elements(starts), batch_dims=0)
        else:
            node.fail("it has no dimension that starts belong to")
        kept = {axis: places.batch_rank + number for number, axis in enumerate([*places.several, *places.whole])}
        batch = list(range(places.batch_rank))
    return _arranged(node, op, found, kept, batch, [axis for axis in range(rank) if axis not in gone])


def _arranged(
    node: LoweringNode, op: OpBuilder, found: SSAValue, kept: dict[int, int], batch: Sequence[int], offsets: Sequence[int]
) -> SSAValue:
    """The slices, transposed so that their dimensions are at `offset_dims` and those of the indices at the other
    positions.

    Args:
        found: the slices.
        kept: for each dimension of the data that `found` has, its dimension in `found`.
        batch: the dimensions of `found` that are dimensions of the indices.
        offsets: the dimensions of the data that the result has; those that `found` lacks have size 1.
    """
    places = node.integers("offset_dims", ())
    if len(places) != len(offsets):
        node.fail(f"its offset_dims {list(places)} are not {len(offsets)}")
    dropped = sorted(place for axis, place in kept.items() if axis not in offsets)
    if dropped:
        found = op.Squeeze(found, dropped)

    def left(place: int) -> int:
        return place - sum(each < place for each in dropped)

    rank = len(batch) + len(places)
    present = dict(zip(places, offsets, strict=True))
    outer = iter(batch)
    absent = [place for place, axis in present.items() if axis not in kept]
    order = [left(kept[present[axis]] if axis in present else next(outer)) for axis in range(rank) if axis not in absent]
    found = op.transposed(found, order)
    return op.Unsqueeze(found, absent) if absent else found
