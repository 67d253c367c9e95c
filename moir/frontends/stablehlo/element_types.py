"""The element types of StableHLO by their names; integers whose name has no prefix are signed."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from xdsl.dialects import builtin
from xdsl.dialects.builtin import ComplexType, IntegerType, Signedness
from xdsl.ir import Attribute

from moir.dialects import element_types
from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import describe, is_element_type
from moir.dialects.quantization import IntegerRange

ELEMENTS: dict[str, Attribute] = element_types.of_xml_names(
    {
        "bf16": "bf16",
        "f16": "f16",
        "f32": "f32",
        "f64": "f64",
        "f4E2M1FN": "f4e2m1",
        "f8E4M3FN": "f8e4m3",
        "f8E5M2": "f8e5m2",
        "f8E8M0FNU": "f8e8m0",
        "i1": "boolean",
        "i4": "i4",
        "i8": "i8",
        "i16": "i16",
        "i32": "i32",
        "i64": "i64",
        "index": "i64",
        "si8": "i8",
        "si16": "i16",
        "si32": "i32",
        "si64": "i64",
        "ui4": "u4",
        "ui8": "u8",
        "ui16": "u16",
        "ui32": "u32",
        "ui64": "u64",
    }
)


NARROW: dict[str, tuple[Attribute, str, Attribute]] = {
    "f4E2M1FN": (ELEMENTS["f4E2M1FN"], "float4_e2m1fn", element_types.f16),
    "f6E2M3FN": (builtin.Float6E2M3FNType(), "float6_e2m3fn", element_types.f16),
    "f6E3M2FN": (builtin.Float6E3M2FNType(), "float6_e3m2fn", element_types.f16),
    "f8E3M4": (builtin.Float8E3M4Type(), "float8_e3m4", element_types.f16),
    "f8E4M3": (builtin.Float8E4M3Type(), "float8_e4m3", element_types.f16),
    "f8E4M3B11FNUZ": (builtin.Float8E4M3B11FNUZType(), "float8_e4m3b11fnuz", element_types.f16),
    "f8E4M3FNUZ": (builtin.Float8E4M3FNUZType(), "float8_e4m3fnuz", element_types.f16),
    "f8E5M2FNUZ": (builtin.Float8E5M2FNUZType(), "float8_e5m2fnuz", element_types.f16),
    "i4": (ELEMENTS["i4"], "int4", element_types.si8),
    "ui4": (ELEMENTS["ui4"], "uint4", element_types.ui8),
    "i2": (IntegerType(2, Signedness.SIGNED), "int2", element_types.si8),
    "ui2": (IntegerType(2, Signedness.UNSIGNED), "uint2", element_types.ui8),
}
"""Element types that the IR does not have, or whose elements it does not move, by their names: the type, its name in
ml_dtypes, and its carrier, an element type of the IR that holds all of its values.
"""

ELEMENTS.update({name: element for name, (element, _, _) in NARROW.items()})

CARRIERS: dict[Attribute, Attribute] = {element: carrier for element, _, carrier in NARROW.values()}


NARROW_INTEGERS: dict[Attribute, int] = {ELEMENTS[name]: bits for name, bits in (("i2", 2), ("ui2", 2), ("i4", 4), ("ui4", 4))}
"""The number of bits of each integer type of less than 8 bits."""

STORED = frozenset(ELEMENTS[name] for name in ("f4E2M1FN", "i4", "ui4"))
"""The narrow element types that inputs, results and conversions of an IR may have."""

_STORAGE: dict[Attribute, str] = {element: storage for element, storage, _ in NARROW.values()}


def storage_of(element: Attribute) -> np.dtype[Any] | None:
    """The numpy type in which a constant of an element type stores its elements; None for a type that numpy does not
    have.
    """
    if isinstance(element, ComplexType):
        return np.dtype(np.complex64 if cast("ComplexType[Any]", element).element_type == element_types.f32 else np.complex128)
    if element in _STORAGE:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, _STORAGE[element]))
    return describe(element).numpy if is_element_type(element) else None


def constant_data(values: Array, element: Attribute, shape: tuple[int, ...]) -> DataAttr:
    """The value of a constant in the IR.

    Args:
        values: the elements, in the type of `storage_of`; one may stand for all.
        element: the element type. Integers of 4 bits are stored as such, other narrow types as their carriers.
        shape: the shape of the constant.
    """
    if element in CARRIERS and not (element in NARROW_INTEGERS and element in STORED):
        carrier = CARRIERS[element]
        return DataAttr.of(np.broadcast_to(values.astype(describe(carrier).numpy), shape), carrier)
    if not is_element_type(element) or not describe(element).is_packed:
        return DataAttr.of(np.broadcast_to(values, shape), element)
    # Elements of 4 bits, the first one of a byte in its lower half.
    codes = np.broadcast_to(values, shape).reshape(-1).view(np.uint8) & np.uint8(0xF)
    codes = np.concatenate([codes, np.zeros(codes.size % 2, np.uint8)])
    return DataAttr.of(codes[0::2] | codes[1::2] << np.uint8(4), element, shape)


def is_integer(element: Attribute) -> bool:
    """Whether an element type is an integer type of the IR; booleans are not."""
    return is_element_type(element) and describe(element).xml[0] in "iu"


def lowest_of(element: Attribute) -> int:
    """The smallest integer of an element type."""
    return IntegerRange.of(element).lowest


def largest_of(element: Attribute) -> int:
    """The largest integer of an element type."""
    return IntegerRange.of(element).highest
