"""Tensors over the bytes of a file: strided views of the mapped file.

    {"dtype": 7, "sizes": [3, 2], "strides": [1, 3], "storage_offset": 0} over 24 bytes  ->  a transposed f32 [3, 2]

A tensor is sizes, strides and an offset, all in elements, over a storage, which other tensors may share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided
from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Attribute

from moir.dialects import element_types
from moir.dialects.data import DataAttr, TensorData
from moir.dialects.shapes import impossibility

MAXIMUM_RANK = 32

LARGEST_REPEATED = 1 << 26
"""Largest size in bytes of a tensor that repeats the elements of a smaller storage, because a stride is 0."""


def tensor_over(storage: memoryview, element: Attribute, sizes: Sequence[int], strides: Sequence[int], offset: int) -> DataAttr:
    """A tensor over the bytes of a storage, without a copy.

    Raises ValueError if the tensor does not lie within the storage, or no constant of the IR can hold it.
    """
    if isinstance(element, ComplexType):
        # Pairs of parts in a last dimension.
        part: Attribute = cast("ComplexType[Any]", element).element_type
        return tensor_over(storage, part, [*sizes, 2], [*(2 * stride for stride in strides), 1], 2 * offset)
    row = element_types.describe(element)
    dtype = row.numpy
    if len(sizes) != len(strides) or len(sizes) > MAXIMUM_RANK or min((*sizes, *strides, offset), default=0) < 0:
        raise ValueError(f"sizes {list(sizes)}, strides {list(strides)} and offset {offset} do not describe a tensor")
    if reason := impossibility(sizes):
        raise ValueError(reason)
    shape = tuple(sizes)
    if math.prod(shape) == 0:
        return DataAttr(TensorData(np.zeros(shape, dtype), element, shape))
    if row.is_packed:
        return _packed(storage, row, shape)
    last = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    if (last + 1) * dtype.itemsize > len(storage):
        raise ValueError(f"a tensor of shape {list(shape)} does not fit into its storage of {len(storage)} bytes; is the file complete?")
    if math.prod(shape) * dtype.itemsize > max(len(storage), LARGEST_REPEATED):
        raise ValueError(f"a tensor of shape {list(shape)} repeats the elements of a storage of {len(storage)} bytes")
    elements = np.frombuffer(storage, dtype, last + 1 - offset, offset * dtype.itemsize)
    values = as_strided(elements, shape, [stride * dtype.itemsize for stride in strides], writeable=False)
    return DataAttr(TensorData(values, element, shape))


def _packed(storage: memoryview, row: element_types.ElementType, shape: tuple[int, ...]) -> DataAttr:
    """A tensor whose elements share bytes, in C order from the beginning of the storage; `row` is the element type."""
    size = row.storage(math.prod(shape))
    if size > len(storage):
        raise ValueError(f"a tensor of shape {list(shape)} does not fit into its storage of {len(storage)} bytes; is the file complete?")
    return DataAttr(TensorData(np.frombuffer(storage, np.uint8, size), row.attribute, shape))
