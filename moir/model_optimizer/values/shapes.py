"""Shapes and shape values as extensions see them: int64 arrays whose dynamic dimensions are masked.

`shape_array([1, dynamic_dimension, 3])` is a numpy masked array; it prints as `[1 -- 3]`. Under its mask an unknown
dimension has the number -1000000007, so that arithmetic which ignores the mask results in a number that no tensor has.

Extensions until 2021 compare dimensions with -1, those from 2022 on with `dynamic_dimension`: a dynamic dimension is
equal to both. In arithmetic it stays unknown, whereas -1 would become another number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from moir.dialects.data import Array
from moir.dialects.shapes import Shape
from moir.dialects.symbols import Symbol
from moir.errors import ConversionError

IntegerArray: TypeAlias = NDArray[np.int64]

dynamic_dimension_value = -1_000_000_007
"""The number underneath a masked dimension."""


class _UnknownDimension(np.ma.core.MaskedConstant):
    """The element of a shape that is unknown: numpy's `masked`, but equal to -1 and less than 0."""

    def __eq__(self, other: object) -> Any:
        return True if _is_number(other, -1) else super().__eq__(other)

    def __ne__(self, other: object) -> Any:
        return False if _is_number(other, -1) else super().__ne__(other)

    def __lt__(self, other: Any) -> Any:
        return True if _is_number(other, 0) else super().__lt__(other)

    def __repr__(self) -> str:
        return "dynamic_dimension"

    __hash__ = None


def _is_number(value: object, number: int) -> bool:
    return isinstance(value, int | np.integer) and int(cast(Any, value)) == number


dynamic_dimension: Any = _UnknownDimension()
"""A dynamic dimension: an element of a shape, and of a list given to `shape_array`."""


class _Dimensions(np.ma.MaskedArray[Any, Any]):
    """A masked array of dimensions: its masked elements are `dynamic_dimension`, which are equal to -1."""

    def __getitem__(self, index: Any) -> Any:
        item = super().__getitem__(index)
        return dynamic_dimension if item is np.ma.masked else item

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))

    def __eq__(self, other: Any) -> Any:
        return np.ma.getmaskarray(self) | (np.ma.getdata(self) == -1) if _is_number(other, -1) else super().__eq__(other)

    def __ne__(self, other: Any) -> Any:
        return ~(self == other) if _is_number(other, -1) else super().__ne__(other)

    def __lt__(self, other: Any) -> Any:
        return np.ma.getmaskarray(self) | (np.ma.getdata(self) < 0) if _is_number(other, 0) else super().__lt__(other)


def int64_array(value: Iterable[Any] | float) -> IntegerArray:
    """An array of 64-bit integers."""
    return np.array(value, dtype=np.int64)


def float32_array(value: Iterable[Any] | float) -> NDArray[np.float32]:
    """An array of 32-bit floats."""
    return np.array(value, dtype=np.float32)


def is_dynamic_dimension(dimension: object) -> bool:
    """Whether a dimension is dynamic: masked, the number underneath the mask, or a symbol."""
    if isinstance(dimension, np.ma.core.MaskedConstant | Symbol):
        return True
    return isinstance(dimension, int | np.integer) and int(cast(Any, dimension)) == dynamic_dimension_value


def shape_array(value: Iterable[Any], dtype: Any = np.int64) -> np.ma.MaskedArray[Any, Any]:
    """A masked array of dimensions; unknown ones are masked. A masked array keeps its mask."""
    if isinstance(value, np.ma.MaskedArray):
        array = np.ma.array(cast("np.ma.MaskedArray[Any, Any]", value), dtype=dtype, copy=True)
        array.data[np.ma.getmaskarray(array)] = dynamic_dimension_value
    else:
        entries = [dynamic_dimension_value if is_dynamic_dimension(entry) else entry for entry in value]
        array = np.ma.masked_equal(np.array(entries, dtype=dtype), dynamic_dimension_value)
    dimensions = array.view(_Dimensions)
    dimensions.set_fill_value(dynamic_dimension_value)
    return dimensions


def undefined_shape_of_rank(rank: int) -> np.ma.MaskedArray[Any, Any]:
    """A shape of `rank` dynamic dimensions."""
    return shape_array([dynamic_dimension] * rank)


def is_fully_defined(value: object) -> bool:
    """Whether a shape, a dimension or a value is known completely; False for None."""
    if value is None:
        return False
    if isinstance(value, np.ma.MaskedArray):
        return not bool(np.ma.is_masked(cast(Any, value)))
    if isinstance(value, list | tuple | set):
        return not any(is_dynamic_dimension(entry) for entry in cast("list[object]", value))
    return not is_dynamic_dimension(value)


def unmask_shape(value: Any) -> Array:
    """A shape with -1 for dynamic dimensions."""
    return np.asarray(cast(Any, value).filled(-1)) if isinstance(value, np.ma.MaskedArray) else np.asarray(value)


def mark_shape_with_dynamic_dims(shape: Iterable[int]) -> np.ma.MaskedArray[Any, Any]:
    """A shape in which the entries -1 become dynamic dimensions."""
    return shape_array([dynamic_dimension if dimension == -1 else dimension for dimension in shape])


def compatible_dims(first: object, second: object) -> bool:
    """Whether two dimensions can be equal."""
    return is_dynamic_dimension(first) or is_dynamic_dimension(second) or first == second


def compatible_shapes(first: Sequence[object] | Array, second: Sequence[object] | Array) -> bool:
    """Whether two shapes can be equal."""
    return len(first) == len(second) and all(compatible_dims(a, b) for a, b in zip(first, second, strict=True))


def strict_compare_tensors(first: Any, second: Any) -> bool:
    """Whether two shapes or values are equal and have unknown entries at the same places."""
    if first is None or second is None:
        return first is second
    a, b = np.ma.asarray(first), np.ma.asarray(second)
    if a.shape != b.shape or not np.array_equal(np.ma.getmaskarray(a), np.ma.getmaskarray(b)):
        return False
    return bool(np.all(np.ma.getmaskarray(a) | (np.ma.getdata(a) == np.ma.getdata(b))))


def masked_shape(shape: Shape) -> np.ma.MaskedArray[Any, Any] | None:
    """A shape of a tensor type as a masked array, None for a dynamic rank."""
    return None if shape is None else shape_array([dynamic_dimension if dimension < 0 else dimension for dimension in shape])


class EditableShape(_Dimensions):
    """The shape of a node; an assignment to an entry, as in `node.shape[1] = 300`, changes the node. Copies are plain
    arrays.

    Args:
        shape: the shape; an entry of -1 is unknown.
        write: called with the shape after each assignment.
    """

    _write: Callable[[np.ma.MaskedArray[Any, Any]], None] | None = None

    def __new__(cls, shape: Shape, write: Callable[[np.ma.MaskedArray[Any, Any]], None]) -> EditableShape:
        """A shape that calls `write` after each assignment to an entry."""
        made = masked_shape(shape or ()).view(cls)  # pyright: ignore[reportOptionalMemberAccess]
        made._write = write
        return made

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, dynamic_dimension if isinstance(value, int) and value == -1 else value)
        if self._write is not None:
            self._write(self)


def type_shape(shape: Any) -> Shape:
    """The shape of a tensor type for a shape from an extension, in which -1 is unknown, too.

    Raises ConversionError for other values.
    """
    if shape is None:
        return None
    try:
        entries = [-1 if is_dynamic_dimension(entry) else int(entry) for entry in np.ma.asarray(shape).reshape(-1)]
    except (TypeError, ValueError, OverflowError) as error:
        raise ConversionError(f"{shape!r} is not a shape") from error
    if any(entry < -1 or entry >= 1 << 63 for entry in entries):
        raise ConversionError(f"{shape!r} is not a shape")
    return tuple(entries)


def masked_value(elements: Array) -> Array:
    """A known value with symbols as an array; it is masked where entries are symbols."""
    if elements.dtype != object or not any(isinstance(entry, Symbol) for entry in elements.ravel()):
        return elements
    return cast(Array, shape_array(elements.ravel().tolist()).reshape(elements.shape))


def symbolic_value(value: Array) -> Array:
    """An array whose masked entries are replaced by new symbols, the inverse of `masked_value`; any other array as it
    is.
    """
    if not isinstance(value, np.ma.MaskedArray) or is_fully_defined(value):
        return np.ma.getdata(value)
    masked = cast("np.ma.MaskedArray[Any, Any]", value)
    result = np.empty(masked.shape, dtype=object)
    for index in np.ndindex(masked.shape):
        entry = masked[index]
        result[index] = Symbol(dimension=True) if is_dynamic_dimension(entry) else int(entry)
    return result
