"""Storages and the tensors over them: a record's bytes -> strided views of the mapped file.

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

ELEMENTS: dict[int, Attribute] = {
    1: element_types.ui8,
    2: element_types.si8,
    3: element_types.si16,
    4: element_types.si32,
    5: element_types.si64,
    6: element_types.f16,
    7: element_types.f32,
    8: element_types.f64,
    9: ComplexType(element_types.f16),
    10: ComplexType(element_types.f32),
    11: ComplexType(element_types.f64),
    12: element_types.boolean,
    13: element_types.bf16,
    28: element_types.ui16,
    29: element_types.f8e4m3,
    30: element_types.f8e5m2,
    33: element_types.f8e8m0,
    34: element_types.ui32,
    35: element_types.ui64,
}
"""The element types by their numbers in programs (`torch._export.serde.schema.ScalarType`)."""

STORAGES: dict[str, Attribute] = {
    "ByteStorage": element_types.ui8,
    "CharStorage": element_types.si8,
    "ShortStorage": element_types.si16,
    "IntStorage": element_types.si32,
    "LongStorage": element_types.si64,
    "HalfStorage": element_types.f16,
    "FloatStorage": element_types.f32,
    "DoubleStorage": element_types.f64,
    "BoolStorage": element_types.boolean,
    "BFloat16Storage": element_types.bf16,
}
"""The element types by the storage types that pickles name."""

DTYPES: dict[str, Attribute] = {
    "uint8": element_types.ui8,
    "int8": element_types.si8,
    "int16": element_types.si16,
    "int32": element_types.si32,
    "int64": element_types.si64,
    "float16": element_types.f16,
    "float32": element_types.f32,
    "float64": element_types.f64,
    "bool": element_types.boolean,
    "bfloat16": element_types.bf16,
    "uint16": element_types.ui16,
    "uint32": element_types.ui32,
    "uint64": element_types.ui64,
    "float8_e4m3fn": element_types.f8e4m3,
    "float8_e5m2": element_types.f8e5m2,
}
"""The element types by the names that pickles give them, as in `torch.float32`."""

MAXIMUM_RANK = 32

LARGEST_REPEATED = 1 << 26
"""Largest size in bytes of a tensor whose storage holds fewer elements, because a stride is 0."""


def tensor_over(storage: memoryview, element: Attribute, sizes: Sequence[int], strides: Sequence[int], offset: int) -> DataAttr:
    """A tensor over the bytes of a storage, without a copy.

    Raises ValueError if the tensor does not lie within the storage, or no constant of the IR can hold it.
    """
    if isinstance(element, ComplexType):
        # Pairs of parts in a last dimension.
        part: Attribute = cast("ComplexType[Any]", element).element_type
        return tensor_over(storage, part, [*sizes, 2], [*(2 * stride for stride in strides), 1], 2 * offset)
    dtype = element_types.to_numpy(element)
    if len(sizes) != len(strides) or len(sizes) > MAXIMUM_RANK or min((*sizes, *strides, offset), default=0) < 0:
        raise ValueError(f"sizes {list(sizes)}, strides {list(strides)} and offset {offset} are those of no tensor")
    if reason := impossibility(sizes):
        raise ValueError(reason)
    shape = tuple(sizes)
    if math.prod(shape) == 0:
        return DataAttr(TensorData(np.zeros(shape, dtype), element, shape))
    last = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    if (last + 1) * dtype.itemsize > len(storage):
        raise ValueError(f"a tensor of shape {list(shape)} does not fit into its storage of {len(storage)} bytes; is the file complete?")
    if math.prod(shape) * dtype.itemsize > max(len(storage), LARGEST_REPEATED):
        raise ValueError(f"a tensor of shape {list(shape)} repeats the elements of a storage of {len(storage)} bytes")
    elements = np.frombuffer(storage, dtype, last + 1 - offset, offset * dtype.itemsize)
    values = as_strided(elements, shape, [stride * dtype.itemsize for stride in strides], writeable=False)
    return DataAttr(TensorData(values, element, shape))
