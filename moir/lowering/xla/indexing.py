"""Gather and scatter: slices at computed positions, with any order of dimensions.

An index is a list of starts, one for each dimension in `start_index_map`. Where a slice of such a dimension has several
elements, there is an index for each of them:

    starts [[2], [5]], slices of 3  ->  indices [[[2], [3], [4]], [[5], [6], [7]]]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Region, SSAValue

from moir.dialects.element_types import boolean, si32, si64, ui8
from moir.dialects.shapes import element_of, shape_of
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.xla.computations import combination
from moir.rewriting.builder import OpBuilder

HINT = "export the model with static shapes, so that sizes and dimensions are constants"

REDUCTIONS = {"second": "none", "max": "max", "min": "min", "prod": "prod", "sum": "sum"}
"""The reduction of ScatterNDUpdate for each function that combines the present element with the update."""


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


def index_lists(node: LoweringNode, op: OpBuilder, *, keeps_type: bool = False) -> SSAValue:
    """The indices of a node, with the dimension of the starts last; it is inserted if each index is a scalar.

    They are i64, or of their own type if that is i32 and `keeps_type` is set.
    """
    rank, place, indices = node.known_rank(1), node.integer("index_vector_dim", 0), node.operand(1)
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


def _check_dimensions(node: LoweringNode, fits: bool, dimensions: Sequence[int]) -> None:
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
    _check_dimensions(node, len(sizes) == rank, (*start_index_map, *collapsed_slice_dims, *batching))
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


def scattered(
    node: LoweringNode,
    op: OpBuilder,
    operand: SSAValue,
    updates: SSAValue,
    body: Region,
    update_window_dims: Sequence[int],
    scatter_dims_to_operand_dims: Sequence[int],
    inserted_window_dims: Sequence[int],
) -> SSAValue:
    """An operand with updates written at the indices, operand 1 of a node that has the other dimension numbers.

    A slice that does not lie within the operand is not written. Unless the indices are constants, such slices are
    written after it, into elements that are cut off afterwards.
    """
    rank = node.known_rank(0)
    reduction = REDUCTIONS.get(combination(body) or "")
    if reduction is None or (reduction != "none" and element_of(operand) is boolean):
        node.fail("its function is not a sum, a product, an extreme or the update alone", hint="cut the model before this node")
    batching, index_batching = batching_of(node, "input_batching_dims", "scatter_indices_batching_dims")
    _check_dimensions(node, True, (*scatter_dims_to_operand_dims, *inserted_window_dims, *batching))
    kept = [axis for axis in range(rank) if axis not in inserted_window_dims and axis not in batching]
    if len(kept) != len(update_window_dims) or not (scatter_dims_to_operand_dims or batching):
        node.fail(f"its update_window_dims {list(update_window_dims)} do not fit its other dimension numbers")
    window_of = dict(zip(kept, update_window_dims, strict=True))
    written, shape = shape_of(updates) or (-1,) * node.known_rank(2), shape_of(operand) or (-1,) * rank
    sizes = [written[window_of[axis]] if axis in window_of else 1 for axis in range(rank)]
    if any(sizes[axis] < 0 for axis in scatter_dims_to_operand_dims):
        node.fail("the size of what it writes is unknown", hint=HINT)
    starts, mapped = index_lists(node, op), list(scatter_dims_to_operand_dims)
    others = [axis for axis in range(rank) if axis not in mapped and axis not in batching]
    partial = [axis for axis in others if axis not in window_of or not _is_whole(op, operand, updates, axis, window_of[axis])]
    if any(shape[axis] < 0 or sizes[axis] < 0 for axis in partial):
        node.fail("it writes a part of a dimension that no start belongs to, whose size is unknown", hint=HINT)
    if partial:
        # What is written there begins with the first element.
        starts = op.Concat(starts, *[op.Multiply(op.Gather(starts, [0], -1), 0)] * len(partial), axis=-1)
        mapped += partial
    places = Places(op, operand, starts, mapped, batching, index_batching, sizes)
    batch = [axis for axis in range(node.known_rank(2)) if axis not in update_window_dims]
    singles = [window_of[axis] for axis in mapped if axis in window_of and axis not in places.several]
    order = [*batch, *(window_of[axis] for axis in (*places.several, *places.whole)), *singles]
    values = op.transposed(updates, order)
    if singles:
        values = op.Squeeze(values, list(range(len(order) - len(singles), len(order))))
    return _written(op, places, values, reduction)


def _is_whole(op: OpBuilder, operand: SSAValue, updates: SSAValue, axis: int, window: int) -> bool:
    """Whether a dimension of the updates covers a whole dimension of the operand.

    Two unknown sizes are taken to be equal: the runtime refuses updates of other sizes.
    """
    if (shape_of(operand) or ())[axis : axis + 1] == (shape_of(updates) or ())[window : window + 1]:
        return True
    return bool(op.known.dimension(operand, axis) == op.known.dimension(updates, window))


def _written(op: OpBuilder, places: Places, values: SSAValue, reduction: str) -> SSAValue:
    """The data after values have been written to the positions of slices."""
    order = [*places.indexed, *places.whole]
    target, starts = op.transposed(places.data, order), places.indices
    element = element_of(target)
    if element is boolean:
        target, values = op.convert(target, ui8), op.convert(values, ui8)
    limits = places.limits() if places.mapped else None
    bounds = None if limits is None else op.known.constant(limits)
    known = op.known.constant(starts)
    is_within = limits is None or (known is not None and bounds is not None and bool(np.all((known >= 0) & (known <= bounds))))
    after = 0
    if not is_within and limits is not None:
        after = places.sizes[places.mapped[0]]
        axis = places.indexed.index(places.mapped[0])
        rank = len(order)
        ends = [after if each == axis else 0 for each in range(rank)]
        inside = op.LogicalAnd(op.GreaterEqual(starts, 0), op.LessEqual(starts, limits))
        inside = op.ReduceLogicalAnd(inside, [-1], keep_dims=True)
        # The index of the first appended element, and 0 along all other dimensions.
        size = dimension_list(op, places.data, places.mapped[0])
        outside = op.Concat(size, op.constant([0] * (len(places.mapped) - 1)), axis=0) if len(places.mapped) > 1 else size
        starts = op.Select(inside, starts, outside)
        target = op.Pad(target, [0] * rank, ends, op.constant_like(0, target), pad_mode="constant")
    result = op.ScatterNDUpdate(target, places.elements(starts), values, reduction=reduction)
    if after:
        result = op.Slice(result, [0], [-after], [1], [places.indexed.index(places.mapped[0])])
    return op.transposed(op.convert(result, element), [order.index(axis) for axis in range(len(order))])
