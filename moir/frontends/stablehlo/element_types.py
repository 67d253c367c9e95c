"""The element types of StableHLO by their names; integers whose name has no prefix are signed."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Attribute

from moir.dialects import element_types
from moir.dialects.element_types import describe, is_element_type
from moir.dialects.quantization import IntegerRange

ELEMENTS: dict[str, Attribute] = element_types.named(
    "bf16 bf16, f16 f16, f32 f32, f64 f64, f4E2M1FN f4e2m1, f8E4M3FN f8e4m3, f8E5M2 f8e5m2, f8E8M0FNU f8e8m0, "
    "i1 boolean, i4 i4, i8 i8, i16 i16, i32 i32, i64 i64, index i64, si8 i8, si16 i16, si32 i32, si64 i64, ui4 u4, "
    "ui8 u8, ui16 u16, ui32 u32, ui64 u64"
)


def storage_of(element: Attribute) -> np.dtype[Any] | None:
    """The numpy type of the elements of a constant; None for a type that numpy does not have."""
    if isinstance(element, ComplexType):
        return np.dtype(np.complex64 if cast("ComplexType[Any]", element).element_type == element_types.f32 else np.complex128)
    if not is_element_type(element) or describe(element).is_packed:
        return None
    return describe(element).numpy


def lowest_of(element: Attribute) -> int:
    """The smallest integer of an element type."""
    return IntegerRange.of(element).lowest


def largest_of(element: Attribute) -> int:
    """The largest integer of an element type."""
    return IntegerRange.of(element).highest
