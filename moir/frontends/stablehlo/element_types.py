"""The element types of StableHLO by their names; integers whose name has no prefix are signed."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Attribute

from moir.dialects import element_types
from moir.dialects.element_types import describe, is_element_type
from moir.dialects.quantization import IntegerRange

ELEMENTS: dict[str, Attribute] = {
    "bf16": element_types.bf16,
    "f16": element_types.f16,
    "f32": element_types.f32,
    "f64": element_types.f64,
    "f4E2M1FN": element_types.f4e2m1,
    "f8E4M3FN": element_types.f8e4m3,
    "f8E5M2": element_types.f8e5m2,
    "f8E8M0FNU": element_types.f8e8m0,
    "i1": element_types.boolean,
    "i4": element_types.si4,
    "i8": element_types.si8,
    "i16": element_types.si16,
    "i32": element_types.si32,
    "i64": element_types.si64,
    "index": element_types.si64,
    "si8": element_types.si8,
    "si16": element_types.si16,
    "si32": element_types.si32,
    "si64": element_types.si64,
    "ui4": element_types.ui4,
    "ui8": element_types.ui8,
    "ui16": element_types.ui16,
    "ui32": element_types.ui32,
    "ui64": element_types.ui64,
}


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
