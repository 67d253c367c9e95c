"""Slices, strided slices with their masks, updates of strided slices, and padding."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.analysis.input_dependence import is_computed_of_sizes
from moir.dialects.opset.movement import Concat
from moir.dialects.opset.shape import Unsqueeze
from moir.dialects.shapes import element_count, element_of, rank_of, shape_of
from moir.dialects.symbols import Symbol, integer_entries
from moir.errors import InferenceError
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS, by_parts
from moir.lowering.tensorflow.complex.types import is_complex
from moir.lowering.tensorflow.padding import mirror_mode, padded
from moir.lowering.tensorflow.ranks import sized_by_rows
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder, Operand
from moir.support.records import Record

FIRST, LAST = -(2**31), 2**31 - 1
"""Bounds of a slice before the first and after the last element of any axis."""


@tf.lowers("Slice", rank=sized_by_rows(None, 1, 1), complex=PAIRS)
def slice_of_size(node: LoweringNode, op: OpBuilder, input: SSAValue, begin: SSAValue, size: SSAValue) -> SSAValue:
    """tf.Slice(x, begin, size)
    -> opset8.Slice(x, begin, begin + size, 1, axes) for the axes that are sliced; x if there are none

    A size of -1 selects all remaining elements; the end of the slice is then a number larger than every dimension.
    """
    starts, sizes = op.known.lasting_integers(begin), op.known.lasting_integers(size)
    known_count(begin, size)
    if starts is not None and sizes is not None:
        shape = shape_of(input)
        stops = [LAST if count < 0 else start + count for start, count in zip(starts, sizes, strict=True)]
        cut = [axis for axis, (start, stop) in enumerate(zip(starts, stops, strict=True)) if start or stop != LAST]
        if shape is not None:
            cut = [axis for axis in cut if starts[axis] or stops[axis] < shape[axis] or shape[axis] < 0]
        if not cut:
            return input
        return op.Slice(input, [starts[axis] for axis in cut], [stops[axis] for axis in cut], [1] * len(cut), cut)
    entries = node.known.elements(size)
    if starts is not None and entries is not None:
        rest = [isinstance(entry, Symbol) or entry != -1 for entry in entries.ravel()]
        cut = [axis for axis, (start, is_cut) in enumerate(zip(starts, rest, strict=True)) if start or is_cut]
        if cut and all(map(_is_size, entries.ravel()[cut])):
            sizes_of_cut = op.Gather(size, cut, 0) if len(cut) < len(starts) else size
            begins = op.constant([starts[axis] for axis in cut], element_of(size))
            return op.Slice(input, begins, op.Add(begins, sizes_of_cut), op.constant([1] * len(cut), element_of(size)), cut)
    if (count := known_count(begin, size)) is None:
        ones: Operand = op.Broadcast(op.constant_like(1, begin), op.ShapeOf(begin))
    else:
        ones = op.constant([1] * count, element_of(begin))
    return op.Slice(input, begin, slice_ends(node, op, begin, size), ones)


def known_count(*lists: SSAValue) -> int | None:
    """The common length of 1-D tensors; None if no length is static.

    Raises InferenceError if they are not one-dimensional, or differ in length.
    """
    counts = {count for value in lists if (count := element_count(shape_of(value))) is not None}
    if len(counts) > 1 or any(rank_of(value) not in (1, None) for value in lists):
        raise InferenceError(f"begins, ends and strides are lists of one length, not {', '.join(map(str, sorted(counts)))}")
    return next(iter(counts), None)


def _is_size(entry: int | Symbol) -> bool:
    """Whether an element of the operand of sizes is known not to be -1."""
    return bool(entry.dimension) if isinstance(entry, Symbol) else entry >= 0


def slice_ends(node: LoweringNode, op: OpBuilder, begin: SSAValue, size: SSAValue) -> SSAValue:
    """The ends of slices: begin + size, or a number larger than every dimension where the size is -1."""
    # The sum of this number and a begin must fit in 32 bits, in which it may be computed (fault i64-width).
    large = 2**30
    known, entries = node.constant(2), node.known.elements(size)
    if known is not None:
        return op.Add(begin, op.constant(np.where(known < 0, large, known), element_of(size)))
    if entries is not None and all(map(_is_size, entries.ravel())):
        return op.Add(begin, size)
    sizes = op.Select(op.Less(size, 0), op.constant(large, element_of(size)), size)
    starts = node.constant(1)
    return sizes if starts is not None and not starts.any() else op.Add(begin, sizes)


class Index(Record):
    """The index expression of a strided slice, decoded from the masks: the kind of each position (`x[position,
    position, …]`).

    Axes after an ellipsis are negative, so that the rank of the data may be dynamic.
    """

    count: int
    begin: int
    end: int
    ellipsis: int
    new_axis: int
    shrink_axis: int

    @staticmethod
    def of(node: LoweringNode) -> Index | None:
        """The index that the attributes of a node describe; None if its number of positions is dynamic.

        Raises ConversionError for more than one ellipsis.
        """
        count = known_count(node.operand(1), node.operand(2), node.operand(3))
        if count is None:
            return None
        masks = [node.integer(f"{name}_mask", 0) for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")]
        if (masks[2] & ((1 << count) - 1)).bit_count() > 1:
            node.fail("the index has more than one ellipsis")
        return Index(count, *masks)

    def kind(self, position: int) -> str:
        """The kind of a position: `ellipsis`, `new` for a new axis, `slice`, or `single` for one element, which removes
        the axis.
        """
        for name, mask in (("ellipsis", self.ellipsis), ("new", self.new_axis), ("single", self.shrink_axis)):
            if mask >> position & 1:
                return name
        return "slice"

    @property
    def kinds(self) -> list[str]:
        """The kind of each position."""
        return [self.kind(position) for position in range(self.count)]

    def begins(self, position: int) -> bool:
        """Whether the slice at a position has a begin."""
        return not self.begin >> position & 1

    def ends(self, position: int) -> bool:
        """Whether the slice at a position has an end."""
        return not self.end >> position & 1

    def axes(self, within: Sequence[str]) -> list[int]:
        """For each position, its axis in a tensor that has a dimension for each position of the kinds `within`, in
        order.

        Axes from an ellipsis on are negative. A position of another kind has the axis of the next dimension.
        """
        kinds, axis = self.kinds, 0
        axes: list[int] = []
        for position, kind in enumerate(kinds):
            if kind == "ellipsis":
                axis = -sum(later in within for later in kinds[position:])
                axes.append(axis)
            else:
                axes.append(axis)
                axis += kind in within
        return axes


DATA = ("slice", "single")
"""The kinds of positions that consume a dimension of the data."""


class Cut(Record):
    """The slice start:stop:step of one axis, with constant bounds."""

    axis: int
    start: int
    stop: int
    step: int


@tf.lowers("StridedSlice", complex=PAIRS)
def strided_slice(node: LoweringNode, op: OpBuilder, input: SSAValue, begin: SSAValue, end: SSAValue, strides: SSAValue) -> SSAValue:
    """tf.StridedSlice(x, begin, end, strides) {masks} -> one operation; x itself if it is the identity

    opset8.Slice if all positions are slices; opset8.Gather for one single element, or single elements at computed
    positions; opset1.Unsqueeze if there are new dimensions only; otherwise opset1.StridedSlice.
    """
    data, index = input, Index.of(node)
    if index is None:
        if any(node.integer(f"{name}_mask", 0) for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")):
            node.fail("it has masks for an index whose length is dynamic", hint="give begin, end and strides a static shape")
        return op.Slice(data, begin, end, strides)
    kinds = index.kinds
    cuts = known_cuts(node, index)
    if cuts is None and "single" not in kinds and "new" not in kinds and not (index.begin or index.end or index.ellipsis):
        return op.Slice(data, begin, end, strides)
    singles = [position for position, kind in enumerate(kinds) if kind == "single"]
    if cuts == [] and not singles:
        return with_new_axes(node, op, data, index)
    if singles and (op.known.constant(begin) is None or (cuts == [] and len(singles) == 1 and "new" not in kinds)):
        data = single_elements(node, op, data, index)
        return with_new_axes(node, op, data, index) if cuts == [] else masked_slice(node, op, data, index, ("slice", "ellipsis", "new"))
    if cuts is not None and not singles and "new" not in kinds and not (is_complex(node) and index.ellipsis):
        bounds = ([getattr(cut, name) for cut in cuts] for name in ("start", "stop", "step", "axis"))
        return op.Slice(data, *bounds)
    return masked_slice(node, op, data, index, ("slice", "single", "ellipsis", "new"))


def single_elements(node: LoweringNode, op: OpBuilder, data: SSAValue, index: Index) -> SSAValue:
    """The data with the positions of kind `single` applied, whose axes are removed."""
    singles = [(axis, position) for position, axis in enumerate(index.axes(DATA)) if index.kind(position) == "single"]
    # Nonnegative axes are removed from the last one on, negative axes from the first one on, so that the remaining axes
    # stay valid.
    for axis, position in sorted(singles, key=lambda single: single[0] if single[0] < 0 else -single[0]):
        data = op.Gather(data, entry_of(op, node.operand(1), position), axis - 1 if axis < 0 and is_complex(node) else axis)
    return data


def entry_of(op: OpBuilder, vector: SSAValue, position: int) -> Operand:
    """An element of a 1-D tensor: an int if it is known, otherwise a scalar.

    The scalar is the operand of the Concat that builds the tensor, or else a Gather.
    """
    if (known := op.known.elements(vector)) is not None and not isinstance(known[position], Symbol):
        return int(known[position])
    if isinstance(vector.owner, Concat) and all(shape_of(part) == (1,) for part in vector.owner.operands):
        part = vector.owner.operands[position]
        if isinstance(part.owner, Unsqueeze) and shape_of(part.owner.operands[0]) == ():
            return part.owner.operands[0]
    return op.Gather(vector, position, 0)


def with_new_axes(node: LoweringNode, op: OpBuilder, data: SSAValue, index: Index) -> SSAValue:
    """The data with the new axes of an index inserted, after the other positions have been applied."""
    axes = [axis for axis, kind in zip(index.axes(("slice", "new")), index.kinds, strict=True) if kind == "new"]
    if is_complex(node):
        axes = [axis - 1 if axis < 0 else axis for axis in axes]
    return op.Unsqueeze(data, axes) if axes else data


def known_cuts(node: LoweringNode, index: Index, *, is_reshaped: bool = True) -> list[Cut] | None:
    """The slices of an index that do not take a whole axis; None if their bounds are computed.

    Positions of the kind `single` are not included. Bounds that are computed from shapes count as computed, even if the
    shapes are static, if the model may be reshaped. Raises ConversionError for a stride of 0.
    """
    kinds, bounds = index.kinds, [node.operand(operand) for operand in (1, 2, 3)]
    known = [None if is_reshaped and is_computed_of_sizes(value) else node.known.elements(value) for value in bounds]
    entries = [None if each is None else integer_entries(each) for each in known]
    shape = None if is_complex(node) else node.shape(0)
    cuts: list[Cut] = []
    for position, axis in enumerate(index.axes(DATA)):
        begins, ends = index.begins(position), index.ends(position)
        if kinds[position] != "slice":
            continue
        start, stop, step = (None if each is None or isinstance(entry := each[position], Symbol) else entry for each in entries)
        if step is None or (begins and start is None) or (ends and stop is None):
            return None
        if step == 0:
            node.fail("a stride is zero")
        size = shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else -1
        first, after = (0, LAST) if step > 0 else (-1, FIRST)
        cut = Cut(axis, start if begins and start is not None else first, stop if ends and stop is not None else after, step)
        if not is_whole(cut, size):
            cuts.append(settled(cut, size))
    return cuts


def is_whole(cut: Cut, size: int) -> bool:
    """Whether a slice takes all elements of an axis of a size."""
    if cut.step != 1:
        return False
    return (cut.start == 0 and cut.stop >= LAST) or (size >= 0 and range(size)[cut.start : cut.stop] == range(size))


def settled(cut: Cut, size: int) -> Cut:
    """A slice with bounds that fit in 32 bits. Negative bounds stay negative, since `Model.reshape` may change the
    size.

    opset8.Slice clamps the start of a backward slice to the first element if it lies before it, where TensorFlow's
    result is empty.
    """
    if cut.step < 0 <= size and not range(size)[cut.start : cut.stop : cut.step]:
        return Cut(cut.axis, 0, 0, 1)
    return Cut(cut.axis, max(FIRST, min(cut.start, LAST)), max(FIRST, min(cut.stop, LAST)), cut.step)


def masked_slice(node: LoweringNode, op: OpBuilder, data: SSAValue, index: Index, taken: Sequence[str]) -> SSAValue:
    """opset1.StridedSlice of the data by only those positions of an index whose kind is in `taken`."""
    positions = [position for position, kind in enumerate(index.kinds) if kind in taken]
    kinds = [index.kind(position) for position in positions]
    masks = {
        "begin_mask": [int(kind == "slice" and not index.begins(position)) for position, kind in zip(positions, kinds, strict=True)],
        "end_mask": [int(kind == "slice" and not index.ends(position)) for position, kind in zip(positions, kinds, strict=True)],
        "new_axis_mask": [int(kind == "new") for kind in kinds],
        "shrink_axis_mask": [int(kind == "single") for kind in kinds],
        "ellipsis_mask": [int(kind == "ellipsis") for kind in kinds],
    }
    bounds = [node.operand(1), node.operand(2), node.operand(3)]
    if len(positions) < index.count:
        bounds = [op.Gather(bound, positions, 0) for bound in bounds]
    if is_complex(node) and index.ellipsis:
        # The dimension of real and imaginary parts comes after all axes that are counted from the end.
        bounds = [op.Concat(bound, op.constant([entry], element_of(bound)), axis=0) for bound, entry in zip(bounds, (0, 2, 1), strict=True)]
        masks = {name: [*mask, 0] for name, mask in masks.items()}
    return op.StridedSlice(data, *bounds, **masks)


@tf.lowers("TensorStridedSliceUpdate", complex=by_parts(0, 4))
@tf.lowers("StridedSliceAssign", "ResourceStridedSliceAssign")
def strided_slice_update(
    node: LoweringNode, op: OpBuilder, data: SSAValue, begin_: SSAValue, _end: SSAValue, _strides: SSAValue, value: SSAValue
) -> SSAValue:
    """tf.TensorStridedSliceUpdate(x, begin, end, strides, value) {masks}
    -> opset15.SliceScatter(x, value, start, stop, step, axes)

    A single element becomes a slice of size 1, for which a dimension is inserted into the value. Dimensions of the
    value that correspond to new axes are removed.
    """
    index = Index.of(node)
    if index is None:
        node.fail("the length of its index is dynamic", hint="give begin, end and strides a static shape")
    cuts, begin, kinds = known_cuts(node, index, is_reshaped=False), op.known.integers(begin_), index.kinds
    if cuts is None or begin is None:
        node.fail("its bounds are computed when the model runs", hint="make begin, end and strides constants")
    rank = rank_of(data)
    for position, axis in enumerate(index.axes(DATA)):
        if kinds[position] == "single":
            start = begin[position]
            cuts.append(Cut(axis, start, start + 1 if start != -1 else LAST, 1))
    added = [axis for axis, kind in zip(index.axes((*DATA, "new")), kinds, strict=True) if kind == "new"]
    dropped = [axis for axis, kind in zip(index.axes(DATA), kinds, strict=True) if kind == "single"]
    if added and dropped:
        node.fail("its index takes single elements and has new dimensions as well", hint="use single elements or new dimensions")
    value = op.Squeeze(value, added) if added else op.Unsqueeze(value, dropped) if dropped else value
    if not cuts:
        return value
    cuts = [Cut(cut.axis + rank if cut.axis < 0 and rank is not None else cut.axis, cut.start, cut.stop, cut.step) for cut in cuts]
    bounds = ([getattr(cut, name) for cut in cuts] for name in ("start", "stop", "step", "axis"))
    return op.SliceScatter(data, value, *bounds)


@tf.lowers("Pad", rank=sized_by_rows(None, 2, 0), complex=by_parts(0))
@tf.lowers("PadV2", rank=sized_by_rows(None, 2, 0), complex=by_parts(0, 2))
def pad(node: LoweringNode, op: OpBuilder, input: SSAValue, paddings: SSAValue, constant_values: SSAValue | None = None) -> SSAValue:
    """tf.PadV2(x, paddings, value) -> opset12.Pad(x, begin, end, value) {pad_mode = constant}; x if nothing is added"""
    known = node.constant(2)
    if constant_values is None or (known is not None and not known.any()):
        return padded(op, input, paddings, "constant", None)
    return padded(op, input, paddings, "constant", as_scalar(op, constant_values))


@tf.lowers("MirrorPad", rank=sized_by_rows(None, 2, 0), complex=by_parts(0))
def mirror_pad(node: LoweringNode, op: OpBuilder, input: SSAValue, paddings: SSAValue) -> SSAValue:
    """tf.MirrorPad(x, paddings) {mode} -> opset12.Pad(x, begin, end) {pad_mode}"""
    return padded(op, input, paddings, mirror_mode(node), None)
