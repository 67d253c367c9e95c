"""Movement operations that extract parts of a tensor or add a border: Slice, SliceScatter, StridedSlice, Pad."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects.data import Array
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.elementwise import narrowed
from moir.dialects.opset.interfaces.movement import MovementOp, integer_list, keeps_sizes, require_operand_rank
from moir.dialects.opset.interfaces.properties import deferred_definition, integers_property, optional_operands, string_property
from moir.dialects.shapes import (
    Shapes,
    SymbolicShape,
    element_of,
    format_shape,
    is_fixed,
    merge_elements,
    normalize_axis,
    shifted,
)
from moir.dialects.symbols import Clipped, Dimension, Symbol, integer_entries
from moir.errors import InferenceError

Bound = int | Symbol | None
"""A start, a stop or a step: an integer, a symbol, or None if unknown."""

UNBOUNDED = 2**31 - 1
"""Smallest stop that certainly reaches to the end of a dimension: no dimension is larger."""


def bounds_of(entries: Array | None) -> list[Bound] | None:
    """Starts, stops or steps as integers; None if they are not constant."""
    return None if entries is None else [entry if isinstance(entry, Symbol) else int(entry) for entry in integer_entries(entries)]


def slice_length(dimension: Dimension, start: Bound, stop: Bound, step: Bound, *, begins: bool = True, ends: bool = True) -> Dimension:
    """Number of elements of a slice; -1 if it depends on unknown values.

    Args:
        dimension: size of the sliced dimension, a symbol or -1 if dynamic.
        start: index of the first element; negative counts from the end; None if unknown.
        stop: index of the element after the last one; negative counts from the end; None if unknown.
        step: distance of two elements; None if unknown.
        begins: whether `start` applies; otherwise the slice starts at the first element in its direction.
        ends: whether `stop` applies; otherwise the slice extends to the last element in its direction.

    Raises:
        InferenceError: the step is zero.
    """
    if step == 0:
        raise InferenceError("the step of a slice is zero")
    if dimension == 0:
        return 0
    start, stop = start if begins else None, stop if ends else None
    if step == 1 and (not begins or start == 0) and (not ends or stop is dimension or (isinstance(stop, int) and stop >= UNBOUNDED)):
        return dimension
    if step == 1 and (not begins or start == 0) and isinstance(stop, Symbol) and stop.dimension and is_fixed(dimension):
        return Clipped(stop)
    if not isinstance(step, int) or (begins and not isinstance(start, int)) or (ends and not isinstance(stop, int)):
        return -1
    assert not isinstance(start, Symbol)
    assert not isinstance(stop, Symbol)
    if not is_fixed(dimension):
        return 0 if _is_empty(start, stop, step) else -1
    return len(range(*slice_of(dimension, start, stop, step).indices(dimension)))


def slice_of(dimension: int, start: int | None, stop: int | None, step: int) -> slice:
    """The Python slice for a slice; if `step` is negative, a `start` before the first element is moved to it."""
    return slice(max(start, -dimension) if start is not None and step < 0 else start, stop, step)


def _is_empty(start: int | None, stop: int | None, step: int) -> bool:
    """Whether a slice is certainly empty, however large the dimension is; False for an unknown start or stop."""
    if start is None or stop is None:
        return False
    if step < 0:
        # A start before the first element is the first element, which a stop before it does not exclude.
        return 0 <= start <= stop
    return start >= stop if (start < 0) == (stop < 0) else stop == 0


def padded(values: Sequence[int], count: int) -> tuple[int, ...]:
    """A mask padded with zeros, or truncated, to `count` entries."""
    return (*values, *([0] * count))[:count]


@deferred_definition
class Slice(MovementOp):
    """`data[start:stop:step]` along `axes` (by default the first ones), as for Python slices."""

    name = "opset8.Slice"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (1, 2, 3, 4)
    PASSES_ERRORS_ON: ClassVar[bool] = True
    data = operand_def()
    start = operand_def()
    stop = operand_def()
    step = operand_def()
    axes = optional_operands(1)
    result = result_def()

    def gives_back_operand(self, known: OperandValues) -> bool:
        """Whether the step is positive and all elements are selected, inferred from the size or from the bounds."""
        starts, stops, steps = (known.integers(operand) for operand in self.operands[1:4])
        if steps is None or any(step <= 0 for step in steps):
            return False
        if keeps_sizes(self, known):
            return True
        if starts is None or stops is None or any(starts):
            return False
        return set(steps) <= {1} and all(stop >= UNBOUNDED for stop in stops)

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape = shapes[0]
        if shape is None:
            return None
        if any(vector is not None and len(vector) != 1 for vector in shapes[1:5]):
            raise InferenceError("start, stop, step and axes of a slice are tensors of rank 1")
        starts, stops, steps = (bounds_of(known.elements(bound)) for bound in self.operands[1:4])
        counts = [vector[0] for vector in shapes[1:4] if vector and is_fixed(vector[0])]
        operand = self.optional_operand(4)
        axes = known.integers(operand) if operand is not None else range(counts[0]) if counts else None
        if axes is None:
            return tuple([0 if d == 0 else -1 for d in shape])
        if len(axes) > len(shape):
            raise InferenceError(f"{len(axes)} axes are sliced of shape {format_shape(shape)}")
        if len(set(counts)) > 1 or (counts and counts[0] != len(axes)) or len(set(axes)) < len(axes):
            raise InferenceError("start, stop, step and axes of a slice have different lengths, or an axis is named twice")
        unknown: list[Bound] = [None] * len(axes)
        starts, stops, steps = (unknown if each is None else each for each in (starts, stops, steps))
        result = list(shape)
        for axis, start, stop, step in zip(axes, starts, stops, steps, strict=True):
            position = normalize_axis(axis, len(shape))
            result[position] = slice_length(shape[position], start, stop, step)
        return tuple(result)

    def move(self, *operands: Array) -> Sequence[Array] | None:
        data, starts, stops, steps = operands[:4]
        axes = integer_list(operands[4]) if len(operands) > 4 else range(starts.size)
        cuts = [slice(None)] * data.ndim
        for axis, *cut in zip(axes, *map(integer_list, (starts, stops, steps)), strict=True):
            cuts[axis] = slice_of(data.shape[axis], *cut)
        return (data[tuple(cuts)],)


@deferred_definition
class SliceScatter(MovementOp):
    """`data` with `updates` in place of its slice `[start:stop:step]` along `axes` (by default the first ones)."""

    name = "opset15.SliceScatter"
    MOVES: ClassVar[bool] = False
    data = operand_def()
    updates = operand_def()
    start = operand_def()
    stop = operand_def()
    step = operand_def()
    axes = optional_operands(1)
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        for index in range(2, len(self.operands)):
            require_operand_rank(self, index, 1)
        return shapes[0]

    def result_element(self) -> Attribute:
        merge_elements(self.element_type(0), self.element_type(1))
        return self.element_type(0)

    def move(self, *operands: Array) -> Sequence[Array] | None:
        data, updates, starts, stops, steps = operands[:5]
        if data.dtype != updates.dtype:
            return None
        axes = integer_list(operands[5]) if len(operands) > 5 else range(starts.size)
        cuts = [slice(None)] * data.ndim
        for axis, *cut in zip(axes, *map(integer_list, (starts, stops, steps)), strict=True):
            cuts[axis] = slice_of(data.shape[axis], *cut)
        result = data.copy()
        result[tuple(cuts)] = updates
        return (result,)


@deferred_definition
class StridedSlice(MovementOp):
    """`data[begin:end:strides]` with masks of one element for each position of the index.

    `begin_mask`, `end_mask`: 1 ignores the bound; `new_axis_mask`: 1 inserts a dimension; `shrink_axis_mask`: 1 selects
    the single element at `begin` and removes the dimension; `ellipsis_mask`: 1 stands for all remaining dimensions.
    """

    name = "opset1.StridedSlice"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (1, 2, 3)
    PASSES_ERRORS_ON: ClassVar[bool] = True
    data = operand_def()
    begin = operand_def()
    end = operand_def()
    strides = optional_operands(1)
    begin_mask = integers_property()
    end_mask = integers_property()
    new_axis_mask = integers_property(())
    shrink_axis_mask = integers_property(())
    ellipsis_mask = integers_property(())
    result = result_def()

    def gives_back_operand(self, known: OperandValues) -> bool:
        """Whether all elements are selected and dimensions are neither inserted nor removed."""
        if any(self.integers("new_axis_mask")) or any(self.integers("shrink_axis_mask")):
            return False
        begin, end = known.integers(self.operands[1]), known.integers(self.operands[2])
        strides = None if self.optional_operand(3) is None else known.integers(self.operands[3])
        if self.optional_operand(3) is not None and (strides is None or any(step <= 0 for step in strides)):
            return False
        if keeps_sizes(self, known):
            return True
        if begin is None or end is None or any(self.integers("ellipsis_mask")) or not set(strides or (1,)) <= {1}:
            return False
        open_begin, open_end = self.integers("begin_mask"), self.integers("end_mask")
        if len(open_begin) < len(begin) or len(open_end) < len(end):
            return False
        begins = all(mask or start == 0 for mask, start in zip(open_begin, begin, strict=False))
        return begins and all(mask or stop >= UNBOUNDED for mask, stop in zip(open_end, end, strict=False))

    def check_invariants(self) -> None:
        super().check_invariants()
        if sum(self.integers("ellipsis_mask")) > 1:
            raise VerifyException("an index has at most one ellipsis")
        count = len(self.integers("begin_mask"))
        for name in ("end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask"):
            if len(self.integers(name)) not in (0, count):
                raise VerifyException(f"{name} is not as long as begin_mask")
        for name in ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask"):
            if not set(self.integers(name)) <= {0, 1}:
                raise VerifyException(f"{name} has entries other than 0 and 1")

    def _positions(self, count: int, rank: int) -> Iterable[tuple[int, int, str]]:
        """For each dimension: the position in the index of `count` entries, the dimension of `data`, and the kind of
        the entry (`new`, `whole`, `single`, …).
        """
        new, shrink, ellipsis = (padded(self.integers(f"{name}_mask"), count) for name in ("new_axis", "shrink_axis", "ellipsis"))
        dimension = 0
        for position in range(count):
            if ellipsis[position]:
                after = sum(1 for later in range(position + 1, count) if not new[later])
                for _ in range(rank - after - dimension):
                    yield position, dimension, "whole"
                    dimension += 1
            elif new[position]:
                yield position, dimension, "new"
            elif dimension >= rank:
                raise InferenceError(f"the index has more entries than the {rank} dimensions of the data")
            else:
                yield position, dimension, "single" if shrink[position] else "slice"
                dimension += 1
        for rest in range(dimension, rank):
            yield count, rest, "whole"

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape = shapes[0]
        starts, stops = (bounds_of(known.elements(self.operands[index])) for index in (1, 2))
        operand = self.optional_operand(3)
        steps = None if operand is None else bounds_of(known.elements(operand))
        counts = [vector[0] for vector in shapes[1:] if vector and is_fixed(vector[0])]
        if shape is None or not counts:
            return None
        count = counts[0]
        if count > len(shape) + sum(self.integers("new_axis_mask")) + 1:
            raise InferenceError(f"an index of {count} entries is too long for shape {format_shape(shape)}")
        steps = [1 if operand is None else None] * count if steps is None else steps
        starts, stops = ([None] * count if bounds is None else bounds for bounds in (starts, stops))
        if not len(starts) == len(stops) == len(steps):
            raise InferenceError("begin, end and strides have different lengths")
        skip_begin, skip_end = (padded(self.integers(name), count) for name in ("begin_mask", "end_mask"))
        result: list[Dimension] = []
        for position, dimension, kind in self._positions(count, len(shape)):
            if kind == "new":
                result.append(1)
            elif kind == "whole":
                result.append(shape[dimension])
            elif kind == "slice":
                begins, ends = not skip_begin[position], not skip_end[position]
                size = shape[dimension]
                result.append(slice_length(size, starts[position], stops[position], steps[position], begins=begins, ends=ends))
        return tuple(result)

    def move(self, *operands: Array) -> Sequence[Array] | None:
        data, starts, stops = operands[0], integer_list(operands[1]), integer_list(operands[2])
        steps = integer_list(operands[3]) if len(operands) > 3 else [1] * len(starts)
        skip_begin, skip_end = (padded(self.integers(name), len(starts)) for name in ("begin_mask", "end_mask"))
        index: list[slice | int | None] = []
        for position, dimension, kind in self._positions(len(starts), data.ndim):
            if kind == "slice":
                start, stop = None if skip_begin[position] else starts[position], None if skip_end[position] else stops[position]
                index.append(slice_of(data.shape[dimension], start, stop, steps[position]))
            else:
                index.append(
                    {"new": None, "whole": slice(None)}[kind] if kind != "single" else 0 if skip_begin[position] else starts[position]
                )
        return (narrowed(data[tuple(index)], data.dtype),)


class PadOp(MovementOp):
    """Base of the versions of Pad: `data` padded by `pads_begin` and `pads_end` elements along every dimension.

    `pad_mode`: `constant` fills with `pad_value` (0 by default), `edge` repeats the outermost element, `reflect` and
    `symmetric` mirror the data, without and with its outermost element.
    """

    MOVES: ClassVar[bool] = False
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (1, 2)
    EXTENTS: ClassVar[tuple[int, ...]] = (1, 2)
    data = operand_def()
    pads_begin = operand_def()
    pads_end = operand_def()
    pad_value = optional_operands(1)
    pad_mode = string_property(None, "constant", "edge", "reflect", "symmetric")

    SYMBOLIC: ClassVar[bool] = False

    def gives_back_operand(self, known: OperandValues) -> bool:
        widths = [known.integers(operand) for operand in self.operands[1:3]]
        return all(width is not None and not any(width) for width in widths)

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape = shapes[0]
        if self.optional_operand(3) is not None:
            require_operand_rank(self, 3, 0)
        if shape is None:
            return None
        for vector in shapes[1:3]:
            if vector is not None and len(vector) == 1 and is_fixed(vector[0]) and vector[0] > len(shape):
                raise InferenceError(f"{vector[0]} paddings are given for {len(shape)} dimensions")
        begin, end = (_extended(bounds_of(known.elements(operand)), len(shape)) for operand in self.operands[1:3])
        sizes: list[Dimension] = []
        for dimension, before, after in zip(shape, begin, end, strict=True):
            if not isinstance(before, int) or not isinstance(after, int):
                sizes.append(-1)
                continue
            sizes.append(shifted(dimension, before + after))
            if is_fixed(dimension) and not is_fixed(sizes[-1]):
                raise InferenceError(f"the padding cuts more off shape {format_shape(shape)} than is there")
        return tuple(sizes)

    def result_element(self) -> Attribute:
        if (value := self.optional_operand(3)) is not None:
            merge_elements(self.element_type(0), element_of(value))
        return self.element_type(0)

    def move(self, *operands: Array) -> Sequence[Array] | None:
        data, begin, end = operands[0], integer_list(operands[1]), integer_list(operands[2])
        widths = [(max(b, 0), max(e, 0)) for b, e in zip(begin, end, strict=True)]
        mode = self.text("pad_mode")
        if mode == "constant":
            # Added elements can be cut off at the other end.
            value = operands[3].ravel()[0] if len(operands) > 3 else data.dtype.type(0)
            return (_cut(np.pad(data, widths, constant_values=value), begin, end),)
        data = _cut(data, begin, end)
        if mode == "edge":
            return (np.pad(data, widths, mode="edge"),)
        if any(max(width) > d - (mode == "reflect") for d, width in zip(data.shape, widths, strict=True)):
            return None
        return (np.pad(data, widths, mode="reflect" if mode == "reflect" else "symmetric"),)


@deferred_definition
class Pad1(PadOp):
    """`data` padded; the pads are not negative."""

    name = "opset1.Pad"
    result = result_def()

    UNWRITTEN: ClassVar[Mapping[str, object]] = {"pad_mode": "constant"}


@deferred_definition
class Pad(PadOp):
    """`data` padded; negative pads crop elements."""

    name = "opset12.Pad"
    result = result_def()

    UNWRITTEN: ClassVar[Mapping[str, object]] = {"pad_mode": "constant"}


def _cut(data: Array, begin: Sequence[int], end: Sequence[int]) -> Array:
    """An array without the elements that negative pads at the beginning and the end of each axis remove."""
    return data[tuple(slice(max(-b, 0), d - max(-e, 0)) for d, b, e in zip(data.shape, begin, end, strict=True))]


def _extended(bounds: list[Bound] | None, rank: int) -> list[Bound]:
    if bounds is not None and len(bounds) != rank:
        raise InferenceError(f"{len(bounds)} paddings are given for {rank} dimensions")
    return [None] * rank if bounds is None else bounds
