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

ELEMENTS: dict[int, Attribute] = element_types.numbered(
    "1 u8, 2 i8, 3 i16, 4 i32, 5 i64, 6 f16, 7 f32, 8 f64, 12 boolean, 13 bf16, 28 u16, 29 f8e4m3, 30 f8e5m2, 33 f8e8m0, 34 u32, 35 u64"
) | {9: ComplexType(element_types.f16), 10: ComplexType(element_types.f32), 11: ComplexType(element_types.f64)}
"""The element types by their numbers in programs (`torch._export.serde.schema.ScalarType`)."""

STORAGES: dict[str, Attribute] = element_types.named(
    "ByteStorage u8, CharStorage i8, ShortStorage i16, IntStorage i32, LongStorage i64, HalfStorage f16, "
    "FloatStorage f32, DoubleStorage f64, BoolStorage boolean, BFloat16Storage bf16"
)
"""The element types by the storage types that pickles name."""

DTYPES: dict[str, Attribute] = element_types.named(
    "uint8 u8, int8 i8, int16 i16, int32 i32, int64 i64, float16 f16, float32 f32, float64 f64, bool boolean, "
    "bfloat16 bf16, uint16 u16, uint32 u32, uint64 u64, float8_e4m3fn f8e4m3, float8_e5m2 f8e5m2"
)
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
