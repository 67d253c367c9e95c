"""Functions of Model Optimizer on arrays and shapes."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np

from moir.dialects.data import Array
from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.values.shapes import compatible_shapes, dynamic_dimension_value, is_dynamic_dimension, shape_array, unmask_shape

logger = logging.getLogger("moir")

Shape = Any
"""A masked array of dimensions, or a sequence of them."""


def mo_array(value: Iterable[Any] | float, dtype: Any = None) -> Array:
    """An array of the given values. Without `dtype`, floats have 32 bits."""
    array = np.array(value, dtype=dtype)
    return array.astype(np.float32) if dtype is None and array.dtype == np.float64 else array


def float_array(value: Iterable[Any] | float) -> Array:
    """An array of 64-bit floats."""
    return np.array(value, dtype=np.float64)


def int8_array(value: Iterable[Any] | float) -> Array:
    """An array of 8-bit integers."""
    return np.array(value, dtype=np.int8)


def copy_or_none(value: Any) -> Any:
    """A copy of an array; None for None."""
    return None if value is None else value.copy()


def shape_insert(shape: Shape, pos: int, obj: Any) -> Shape:
    """A shape with one dimension, or several, inserted before a position. Unknown ones stay masked."""
    before = list(shape_array(shape))
    is_list = isinstance(obj, list | tuple) or (isinstance(obj, np.ndarray) and np.ndim(cast(Array, obj)) > 0)
    entries: list[Any] = list(cast("Iterable[Any]", obj)) if is_list else [obj]
    position = pos if pos >= 0 else max(len(before) + pos, 0)
    return shape_array([*before[:position], *entries, *before[position:]])


def shape_delete(shape: Shape, obj: Any) -> Shape:
    """A shape without the dimension at an index, or at several. Unknown ones stay masked.

    Raises Error for an index out of range.
    """
    entries = list(shape_array(shape))
    numbers = [int(number) for number in np.asarray(obj).reshape(-1)]
    if any(not -len(entries) <= number < len(entries) for number in numbers):
        raise Error("the shape {} has no dimensions {}", unmask_shape(shape_array(shape)).tolist(), numbers)
    removed = {number % len(entries) for number in numbers}
    return shape_array([entry for index, entry in enumerate(entries) if index not in removed])


def is_dynamic_slice(entry: Any) -> bool:
    """Whether a slice has an unknown start, stop or step."""
    if not isinstance(entry, slice):
        return False
    parts = cast("slice[Any, Any, Any]", entry)
    return any(is_dynamic_dimension(each) for each in (parts.start, parts.stop, parts.step))


def clarify_partial_shape(shapes: Sequence[Shape]) -> Shape:
    """The shape that is consistent with several shapes; a dimension is known if one of them knows it.

    Raises Error if they do not agree.
    """
    result = shape_array(shapes[0])
    for shape in shapes:
        if not compatible_shapes(result, shape):
            raise Error("the shapes {} and {} do not agree", unmask_shape(result).tolist(), unmask_shape(shape_array(shape)).tolist())
        result = shape_array([new if is_dynamic_dimension(old) else old for old, new in zip(result, shape_array(shape), strict=True)])
    return result


def get_canonical_axis_index(shape: Sequence[Any] | Array, axis: int) -> int:
    """An axis, converted to be counted from the front if it is negative."""
    return len(shape) + axis if axis < 0 else axis


def match_shapes(pattern: Any, shape: Any) -> bool:
    """Whether a shape has the dimensions of a pattern, in which 0 and dynamic dimensions match any dimension."""
    if len(pattern) != len(shape):
        return False
    return all(is_dynamic_dimension(wanted) or wanted == 0 or wanted == size for wanted, size in zip(pattern, shape, strict=True))


def symm_match_shapes(shape1: Any, shape2: Any) -> bool:
    """Whether one of two shapes has the dimensions of the other; see `match_shapes`."""
    return match_shapes(shape1, shape2) or match_shapes(shape2, shape1)


def get_shape_from_slice(input_shape: Sequence[int] | Array, slices: Sequence[Any]) -> Array:
    """The shape of a tensor after indexing it; entries are slices, integers, None (a new dimension) and Ellipsis.

    A dimension of the result is unknown if the dimension of the tensor or the slice is unknown.
    """
    taken = sum(1 for entry in slices if entry is not None and entry is not Ellipsis)
    result: list[Any] = []
    rest = list(shape_array(input_shape))
    for entry in slices:
        if entry is None:
            result.append(1)
        elif entry is Ellipsis:
            count = len(input_shape) - taken
            result, rest = [*result, *rest[:count]], rest[count:]
        elif isinstance(entry, slice):
            size = rest.pop(0)
            is_known = not is_dynamic_dimension(size) and not is_dynamic_slice(entry)
            result.append(len(range(*entry.indices(int(size)))) if is_known else dynamic_dimension_value)
        else:
            rest.pop(0)
            result.extend([dynamic_dimension_value] if is_dynamic_dimension(entry) else [])
    return shape_array([*result, *rest])


def factor_update(factor: float | None, real_factor: Sequence[float], in_shape: Any, out_shape: Any, name: str) -> float | None:
    """The factor by which an image is resized: `factor` if it is given, else the factor of both directions.

    None, with a warning, if they differ.
    """
    if factor is not None:
        return factor
    if real_factor[0] == real_factor[1]:
        return real_factor[0]
    logger.warning("node %s resizes %s to %s, which is not one factor", name, list(in_shape), list(out_shape))
    return None
