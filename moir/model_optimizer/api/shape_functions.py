"""Functions of Model Optimizer on arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from moir.dialects.data import Array
from moir.model_optimizer.graph.shapes import shape_array


def mo_array(value: Iterable[Any] | float, dtype: Any = None) -> Array:
    """An array, of 32-bit floats if it would be one of 64-bit floats and no type is given."""
    array = np.array(value, dtype=dtype)
    return array.astype(np.float32) if dtype is None and array.dtype == np.float64 else array


def float_array(value: Iterable[Any] | float) -> Array:
    """An array of 64-bit floats."""
    return np.array(value, dtype=np.float64)


def get_shape_from_slice(input_shape: Sequence[int] | Array, slices: Sequence[Any]) -> Array:
    """The shape of a tensor after indexing it; entries are slices, integers, None (a new dimension) and Ellipsis."""
    view = np.broadcast_to(np.int8(0), tuple(int(dimension) for dimension in input_shape))
    return shape_array(view[tuple(slices)].shape)
