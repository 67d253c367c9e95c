"""Broadcasting of shapes and values to other shapes, as in numpy or along given axes (Model Optimizer's
`utils.broadcasting`).

Dynamic dimensions are masked; a known and a dynamic dimension broadcast to the known one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from moir.dialects.data import Array
from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.api.inference.shape_functions import shape_insert
from moir.model_optimizer.values.shapes import IntegerArray, dynamic_dimension, int64_array, is_dynamic_dimension, shape_array

MaskedShape = Any
"""A shape as a masked array; dynamic dimensions are masked."""


def make_equal_rank(shape_1: Any, shape_2: Any) -> tuple[MaskedShape, MaskedShape]:
    """Both shapes, where the one of lower rank is extended by leading ones."""
    rank = max(len(shape_1), len(shape_2))
    return shape_insert(shape_1, 0, [1] * (rank - len(shape_1))), shape_insert(shape_2, 0, [1] * (rank - len(shape_2)))


def uni_directional_shape_broadcasting(input_shape: Any, target_shape: Any) -> MaskedShape | None:
    """The shape that results from broadcasting the first shape to the second; None if that is impossible."""
    if len(input_shape) > len(target_shape):
        return None
    result: list[Any] = []
    for given, wanted in zip(*make_equal_rank(input_shape, target_shape), strict=True):
        if is_dynamic_dimension(wanted):
            result.append(given if not is_dynamic_dimension(given) and given != 1 else dynamic_dimension)
        elif not is_dynamic_dimension(given) and given not in (1, wanted):
            return None
        else:
            result.append(wanted)
    return shape_array(result)


def bi_directional_shape_broadcasting(input_shape_1: Any, input_shape_2: Any) -> MaskedShape | None:
    """The shape to which two shapes broadcast; None if they do not broadcast."""
    result: list[Any] = []
    for pair in zip(*make_equal_rank(input_shape_1, input_shape_2), strict=True):
        sizes = {int(each) for each in pair if not is_dynamic_dimension(each)} - {1}
        if len(sizes) > 1:
            return None
        if sizes:
            result.append(sizes.pop())
        else:
            result.append(dynamic_dimension if any(is_dynamic_dimension(each) for each in pair) else 1)
    return shape_array(result)


def broadcast_shape(first_shape: Any, second_shape: Any) -> MaskedShape:
    """The shape to which two shapes broadcast. Raises Error if they do not broadcast."""
    result = bi_directional_shape_broadcasting(first_shape, second_shape)
    if result is None:
        raise Error("shapes {} and {} do not broadcast", list(first_shape), list(second_shape))
    return result


def explicit_shape_broadcasting(input_shape: Sequence[int], target_shape: Any, axes_mapping: Sequence[int]) -> tuple[Any, IntegerArray]:
    """The result of broadcasting a shape to another one along a mapping of axes, and these axes, counted from the
    front.

    Args:
        input_shape: the shape.
        target_shape: the shape it is broadcast to.
        axes_mapping: for each axis of the first shape the corresponding axis of the second, in ascending order.

    Raises Error if the axes do not fit.
    """
    rank = len(target_shape)
    axes = [axis + rank if axis < 0 else axis for axis in (int(each) for each in axes_mapping)]
    if len(axes) != len(input_shape) or axes != sorted(axes) or not all(0 <= axis < rank for axis in axes):
        raise Error("the axes {} do not map the shape {} to {}", list(axes_mapping), list(input_shape), list(target_shape))
    for axis, size in zip(axes, input_shape, strict=True):
        if target_shape[axis] != size:
            raise Error("axis {} has the size {} and is to have {}", axis, size, target_shape[axis])
    return shape_array(target_shape), int64_array(axes)


def uni_directional_broadcasting(input_value: Array, target_shape: Any) -> Array:
    """An array broadcast to a shape. Raises Error if that is impossible."""
    if uni_directional_shape_broadcasting(input_value.shape, target_shape) is None:
        raise Error("an array of shape {} cannot be broadcast to {}", list(input_value.shape), list(target_shape))
    return np.broadcast_to(input_value, tuple(int(size) for size in target_shape)).copy()


def bi_directional_broadcasting(input_value: Array, second_shape: Any) -> Array:
    """An array broadcast to the shape to which its own shape and another one broadcast.

    Raises Error if they do not.
    """
    shape = bi_directional_shape_broadcasting(input_value.shape, second_shape)
    if shape is None:
        raise Error("arrays of shapes {} and {} do not broadcast", list(input_value.shape), list(second_shape))
    return np.broadcast_to(input_value, tuple(int(size) for size in shape)).copy()


def explicit_broadcasting(input_value: Array, target_shape: Any, axes_mapping: Sequence[int]) -> Array:
    """An array broadcast to a shape along given axes; see `explicit_shape_broadcasting`."""
    shape, axes = explicit_shape_broadcasting(input_value.shape, target_shape, axes_mapping)
    others = [axis for axis in range(len(shape)) if axis not in axes]
    return np.broadcast_to(np.expand_dims(input_value, others), tuple(int(size) for size in shape)).copy()
