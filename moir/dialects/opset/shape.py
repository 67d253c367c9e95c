"""Operations that change or return the shape of a tensor and keep its elements."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import ClassVar, cast

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def

from moir.dialects import element_types
from moir.dialects.data import Array
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.bounds import LARGEST_SIZE, Bounds, OperandBounds
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import boolean_property, deferred_definition, element_property, optional_operands
from moir.dialects.shapes import (
    AnyDimension,
    Shapes,
    SymbolicShape,
    element_count,
    format_shape,
    is_fixed,
    normalize_axis,
    shape_of,
    unknown_dimensions,
)
from moir.dialects.symbols import Dimension, Symbol, factors_of, integer_array, is_symbolic, product, same
from moir.errors import InferenceError


@deferred_definition
class Reshape(OpsetOp):
    """The elements of `data` in another shape.

    In `shape`, one entry may be -1 (the quotient of the element counts), and 0 stands for the dimension of `data` at
    that position if `special_zero` is set. Symbols of dimensions of `data` cancel: the -1 of `[batch, -1]` is static if
    all dimensions of `data` after the batch are.
    """

    name = "opset1.Reshape"
    MOVES: ClassVar[bool] = True
    PERMUTES: ClassVar[bool] = True
    RESHAPES: ClassVar[bool] = True
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (1,)
    PASSES_ERRORS_ON: ClassVar[bool] = True
    data = operand_def()
    shape_ = operand_def()
    special_zero = boolean_property()
    result = result_def()

    SYMBOLIC: ClassVar[bool] = True

    def gives_back_operand(self, known: OperandValues) -> bool:
        """Whether the data already have the target shape; the element count determines one dimension."""
        shape, target, entries = self.shape(0), shape_of(self.results[0]), known.elements(self.operands[1])
        if shape is None or target is None or len(shape) != len(target):
            return False
        computed = not isinstance(self.operands[1].owner, Constant)
        unproved = 0
        for axis, (d, t) in enumerate(zip(shape, target, strict=True)):
            if d == t >= 0 and not computed:
                continue
            entry = None if entries is None else entries.ravel()[axis]
            copied = entry is not None and not isinstance(entry, Symbol) and entry == 0 and self.flag("special_zero")
            unproved += not copied and (entry is None or not same(entry, known.dimension(self.operands[0], axis)))
        return unproved == 0 or (unproved == 1 and 0 not in shape)

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        data, target = self.operands
        pattern = known.elements(target)
        counts = shapes[1] if pattern is None else pattern.shape
        if counts is not None and len(counts) != 1:
            raise InferenceError(f"the target shape is a tensor of rank 1, not of shape {format_shape(counts)}")
        if pattern is None:
            return None if counts is None or not is_fixed(counts[0]) else unknown_dimensions(counts[0])
        shape = shapes[0]
        if pattern.dtype.kind not in "iuO":
            pattern = integer_array(pattern)
        if pattern.dtype != object and (count := element_count(shape)) and (simple := _simply_reshaped(count, pattern.tolist())):
            return simple
        source = None if shape is None else [known.dimension(data, axis) if d == -1 else d for axis, d in enumerate(shape)]
        return _reshaped(source, pattern.tolist(), self.flag("special_zero"))

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        data, pattern = operands
        if is_symbolic(pattern):
            return None
        target = cast("tuple[int, ...]", _reshaped(list(data.shape), pattern.tolist(), self.flag("special_zero")))
        return (data.reshape(target),)


def _simply_reshaped(count: int, pattern: list[int]) -> tuple[int, ...] | None:
    """Result shape of a Reshape of `count` elements to positive sizes and at most one -1; None for any other."""
    known_part = math.prod(pattern)
    if not pattern:
        return None
    if known_part == count and min(pattern) > 0:
        return tuple(pattern)
    if known_part < 0 and pattern.count(-1) == 1 and min(pattern) == -1 and count % known_part == 0:
        return tuple(count // -known_part if entry == -1 else entry for entry in pattern)
    return None


def _reshaped(source: list[Dimension] | None, pattern: list[Dimension], special_zero: bool) -> tuple[Dimension, ...]:
    """Result shape of a Reshape of the shape `source`, None for a dynamic rank, to the target shape `pattern`.

    Raises InferenceError if the element counts differ, or for an entry that is no size, 0, or the only -1.
    """
    target: list[Dimension] = list(pattern)
    copied: set[int] = set()
    hole: int | None = None
    for position, entry in enumerate(pattern):
        if isinstance(entry, Symbol) or entry > 0:
            continue
        if entry == 0 and special_zero:
            copied.add(position)
            if source is not None and position >= len(source):
                raise InferenceError(f"entry {position} of the target shape copies a dimension the data does not have")
            target[position] = Symbol() if source is None else source[position]
        elif entry < -1 or (entry == -1 and hole is not None):
            raise InferenceError(f"{pattern} is not a target shape: entries are sizes, 0, and at most one -1")
        elif entry == -1:
            hole = position
            target[position] = Symbol()
    rest_of_source = [d for axis, d in enumerate(source or ()) if axis not in copied]
    rest_of_target = [d for axis, d in enumerate(target) if axis not in copied and axis != hole]
    rest_of_source, rest_of_target = _cancelled(rest_of_source, rest_of_target)
    unknown = [axis for axis, d in enumerate(target) if isinstance(d, Symbol)]
    if hole is not None:
        target[hole] = _missing_dimension(None if source is None else rest_of_source, rest_of_target, pattern)
    elif source is not None and not any(isinstance(d, Symbol) for d in source) and len(unknown) < 2:
        count = math.prod(d for d in source if not isinstance(d, Symbol))
        static = math.prod(d for d in target if not isinstance(d, Symbol))
        if unknown and static and count % static == 0:
            target[unknown[0]] = count // static
        elif (unknown and static) or (not unknown and count != static):
            raise InferenceError(f"{count} elements do not have the shape {pattern}")
    return tuple([-1 if isinstance(d, Symbol) and not d.dimension else d for d in target])


def _cancelled(a: list[Dimension], b: list[Dimension]) -> tuple[list[Dimension], list[Dimension]]:
    """Two lists of factors without the symbols that both contain."""
    if not any(isinstance(d, Symbol) for d in b):
        return a, b
    (first, number), (second, other) = factors_of(a), factors_of(b)
    for symbol in tuple(first):
        if symbol in second:
            first.remove(symbol)
            second.remove(symbol)
    return [*first, number], [*second, other]


def _missing_dimension(source: list[Dimension] | None, target: list[Dimension], pattern: list[Dimension]) -> Dimension:
    """The size for the -1 of a target shape: the quotient of the factors of `source` and `target`; -1 if dynamic."""
    numbers = [d for d in target if not isinstance(d, Symbol)]
    divisor = math.prod(numbers)
    if divisor == 0:
        if source is None or 0 not in [d for d in source if not isinstance(d, Symbol)]:
            raise InferenceError(f"the -1 in {pattern} cannot be found: another entry is 0")
        return 1 if not any(isinstance(d, Symbol) for d in source) else -1
    if source is None or len(numbers) < len(target):
        return -1
    symbols, count = factors_of(source)
    if symbols and count != 0:
        return product((*symbols, count // divisor)) if count % divisor == 0 else -1
    if count % divisor:
        raise InferenceError(f"{count} elements cannot be split evenly by the target shape {pattern}")
    return count // divisor


class ShapeOfOp(OpsetOp):
    """Base of the versions of ShapeOf: the shape of `data` as a 1-D tensor of integers."""

    data = operand_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        return (-1 if shapes[0] is None else len(shapes[0]),)

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        return (np.array(operands[0].shape, dtype=element_types.to_numpy(self.result_element())),)

    def integral_bounds(self, index: int, of: OperandBounds) -> Bounds | None:
        return 0.0, LARGEST_SIZE


@deferred_definition
class ShapeOf1(ShapeOfOp):
    """The shape of `data` as a 1-D tensor of integers (si64)."""

    name = "opset1.ShapeOf"
    result = result_def()

    def result_element(self) -> Attribute:
        return element_types.si64


@deferred_definition
class ShapeOf(ShapeOfOp):
    """The shape of `data` as a 1-D tensor of integers (si32 or si64)."""

    name = "opset3.ShapeOf"
    output_type = element_property(element_types.si64)
    result = result_def()

    def result_element(self) -> Attribute:
        if (element := self.element("output_type")) not in (element_types.si64, element_types.si32):
            raise InferenceError(f"a shape has element type i32 or i64, not {element_types.describe(element).xml}")
        return element


def _squeezed(shape: Sequence[Dimension], axes: Collection[int]) -> SymbolicShape:
    """A shape without the dimensions at `axes`; those that are known to differ from 1 stay."""
    return tuple([d for axis, d in enumerate(shape) if axis not in axes or (is_fixed(d) and d != 1)])


class SqueezingOp(OpsetOp):
    """Base of the versions of Squeeze, which remove the dimensions `axes`, by default all dimensions of size 1.

    A dimension of another size is kept.
    """

    MOVES: ClassVar[bool] = True
    PERMUTES: ClassVar[bool] = True
    RESHAPES: ClassVar[bool] = True
    data = operand_def()
    axes = optional_operands(1)

    SYMBOLIC: ClassVar[bool] = True

    def gives_back_operand(self, known: OperandValues) -> bool:
        """Whether the Squeeze removes no dimension."""
        shape, result = self.shape(0), shape_of(self.results[0])
        return shape is not None and result is not None and len(shape) == len(result)

    def axes_of(self, known: OperandValues, shape: tuple[Dimension, ...]) -> set[int] | None:
        """The axes that Squeeze removes: those of operand 1, or else of all dimensions of size 1.

        None if operand 1 is not constant, or absent for a dynamic shape.
        """
        operand = self.optional_operand(1)
        axes = () if operand is None else known.integers(operand)
        if axes:
            # A scalar accepts the axes of a tensor of rank 1.
            return {normalize_axis(axis, max(len(shape), 1)) for axis in axes}
        return None if axes is None or not all(map(is_fixed, shape)) else {axis for axis, d in enumerate(shape) if d == 1}

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        data = operands[0]
        if len(operands) > 1 and operands[1].size:
            if is_symbolic(operands[1]):
                return None
            axes = {normalize_axis(int(axis), max(data.ndim, 1)) for axis in operands[1].ravel()}
        else:
            axes = set(range(data.ndim))
        return (data.reshape([d for axis, d in enumerate(data.shape) if axis not in axes or d != 1]),)


@deferred_definition
class Squeeze1(SqueezingOp):
    """Removal of dimensions of size 1. A dynamic dimension that `axes` lists is assumed to be 1."""

    name = "opset1.Squeeze"
    PASSES_ERRORS_ON: ClassVar[bool] = True
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape = shapes[0]
        axes = None if shape is None else self.axes_of(known, shape)
        if shape is None or axes is not None:
            return None if shape is None else _squeezed(shape, axes or ())
        one_axis = self.optional_operand(1) is not None and shapes[1] in ((), (1,))
        return unknown_dimensions(len(shape) - 1) if one_axis and shape else None


@deferred_definition
class Squeeze(SqueezingOp):
    """Removal of dimensions of size 1.

    A dynamic dimension that `axes` lists is assumed to be 1. With `allow_axis_skip` it may have another size and be
    kept, so that the rank is dynamic.
    """

    name = "opset15.Squeeze"
    PASSES_ERRORS_ON: ClassVar[bool] = True
    allow_axis_skip = boolean_property(False)
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape = shapes[0]
        axes = None if shape is None else self.axes_of(known, shape)
        if shape is None or axes is None:
            return None
        open_rank = self.flag("allow_axis_skip") and any(axis in axes and not is_fixed(d) for axis, d in enumerate(shape))
        return None if open_rank else _squeezed(shape, axes)


@deferred_definition
class Unsqueeze(OpsetOp):
    """`data` with dimensions of size 1 inserted; `axes` are axes of the result."""

    name = "opset1.Unsqueeze"
    MOVES: ClassVar[bool] = True
    PERMUTES: ClassVar[bool] = True
    RESHAPES: ClassVar[bool] = True
    PASSES_ERRORS_ON: ClassVar[bool] = True
    data = operand_def()
    axes = operand_def()
    result = result_def()

    SYMBOLIC: ClassVar[bool] = True

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape, axes = shapes[0], known.integers(self.operands[1])
        return None if shape is None or axes is None else _expanded(shape, axes)

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        data, axes = operands
        return None if is_symbolic(axes) else (data.reshape(_expanded(data.shape, axes.ravel().tolist())),)


def _expanded(shape: Sequence[AnyDimension], axes: Sequence[int]) -> tuple[AnyDimension | int, ...]:
    """A shape with a dimension of 1 inserted for each of `axes`; two axes at the same position count once."""
    if not axes:
        raise InferenceError("at least one axis is required")
    positions = _distinct_positions(axes, len(shape))
    dimensions = iter(shape)
    return tuple([1 if axis in positions else next(dimensions) for axis in range(len(shape) + len(positions))])


def _distinct_positions(axes: Sequence[int], rank: int) -> set[int]:
    distinct = dict.fromkeys(axes)
    return {normalize_axis(axis, rank + len(distinct)) for axis in distinct}
