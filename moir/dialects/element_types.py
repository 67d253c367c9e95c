"""Element types of OpenVINO IR, their spellings and their numpy counterparts.

Source: the element types of `opset.json`, which names its release. Integers are signed `si8…si64` or unsigned
`ui1…ui64`; `i1` is boolean.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

import numpy as np
from xdsl.dialects import builtin
from xdsl.dialects.builtin import IntegerType, Signedness
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition

from moir.support.records import Record

Key = TypeVar("Key")


@irdl_attr_definition
class StringType(ParametrizedAttribute, TypeAttribute):
    """Element type of tensors of UTF-8 strings."""

    name = "moir.string"


@irdl_attr_definition
class DynamicType(ParametrizedAttribute, TypeAttribute):
    """Element type of a tensor whose element type is not known yet."""

    name = "moir.dynamic"


@irdl_attr_definition
class NF4Type(ParametrizedAttribute, TypeAttribute):
    """Four-bit normal-float element type."""

    name = "moir.nf4"


def _signed(width: int) -> IntegerType:
    return IntegerType(width, Signedness.SIGNED)


def _unsigned(width: int) -> IntegerType:
    return IntegerType(width, Signedness.UNSIGNED)


boolean = IntegerType(1)
si4, si8, si16, si32, si64 = (_signed(width) for width in (4, 8, 16, 32, 64))
ui1, ui2, ui3, ui4, ui6, ui8, ui16, ui32, ui64 = (_unsigned(width) for width in (1, 2, 3, 4, 6, 8, 16, 32, 64))
f16, bf16, f32, f64 = builtin.f16, builtin.bf16, builtin.f32, builtin.f64
f8e4m3, f8e5m2, f8e8m0 = builtin.f8E4M3FN, builtin.f8E5M2, builtin.f8E8M0FNU
f4e2m1 = builtin.Float4E2M1FNType()
string, dynamic, nf4 = StringType(), DynamicType(), NF4Type()


@cache
def _numpy_type(name: str | None) -> np.dtype[Any]:
    if name is None:
        return np.dtype(np.uint8)
    if name.startswith(("bfloat", "float8")):
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))
    return np.dtype(name)


class ElementType(Record):
    """One element type: its attribute, its names in the IR, its width in bits and the numpy type of its arrays."""

    attribute: Attribute
    xml: str
    """Spelling inside `<data>`, e.g. ``f32``."""
    precision: str
    """Spelling of `<port precision>`, e.g. ``FP32``."""
    bits: int
    """Width of one element; 0 where elements have no fixed width."""
    numpy_name: str | None
    """Name in numpy or ml_dtypes of the type of its arrays.

    None if elements are packed (below 8 bits) or have no arrays.
    """

    @property
    def numpy(self) -> np.dtype[Any]:
        """The numpy element type. Packed types are stored as bytes (uint8); strings as Python objects."""
        return _numpy_type(self.numpy_name)

    def storage(self, count: int) -> int:
        """The number of bytes that hold `count` elements of fixed width.

        Three bytes hold eight elements of 3 bits, or four of 6; their bits are spread over all three.
        """
        unit = 24 if self.bits in (3, 6) else 8
        return -(-count * self.bits // unit) * (unit // 8)

    @property
    def is_packed(self) -> bool:
        """Whether several elements share a byte."""
        return 0 < self.bits < 8 and self.attribute != boolean


_TABLE = (
    ElementType(boolean, "boolean", "BOOL", 8, "bool"),
    ElementType(f32, "f32", "FP32", 32, "float32"),
    ElementType(si64, "i64", "I64", 64, "int64"),
    ElementType(si32, "i32", "I32", 32, "int32"),
    ElementType(f16, "f16", "FP16", 16, "float16"),
    ElementType(bf16, "bf16", "BF16", 16, "bfloat16"),
    ElementType(f64, "f64", "FP64", 64, "float64"),
    ElementType(si4, "i4", "I4", 4, None),
    ElementType(si8, "i8", "I8", 8, "int8"),
    ElementType(si16, "i16", "I16", 16, "int16"),
    ElementType(ui1, "u1", "BIN", 1, None),
    ElementType(ui2, "u2", "U2", 2, None),
    ElementType(ui3, "u3", "U3", 3, None),
    ElementType(ui4, "u4", "U4", 4, None),
    ElementType(ui6, "u6", "U6", 6, None),
    ElementType(ui8, "u8", "U8", 8, "uint8"),
    ElementType(ui16, "u16", "U16", 16, "uint16"),
    ElementType(ui32, "u32", "U32", 32, "uint32"),
    ElementType(ui64, "u64", "U64", 64, "uint64"),
    ElementType(nf4, "nf4", "NF4", 4, None),
    ElementType(f8e4m3, "f8e4m3", "F8E4M3", 8, "float8_e4m3fn"),
    ElementType(f8e5m2, "f8e5m2", "F8E5M2", 8, "float8_e5m2"),
    ElementType(f4e2m1, "f4e2m1", "F4E2M1", 4, None),
    ElementType(f8e8m0, "f8e8m0", "F8E8M0", 8, "float8_e8m0fnu"),
    ElementType(string, "string", "STRING", 0, "object"),
    ElementType(dynamic, "dynamic", "UNSPECIFIED", 0, "object"),
)

_BY_ATTRIBUTE = {row.attribute: row for row in _TABLE}
_BY_IDENTITY = {id(row.attribute): row for row in _TABLE}
"""The rows of the table by the `id` of their attributes, because hashing an attribute is slow; the attributes are never
deleted.
"""
_BY_XML = {row.xml: row.attribute for row in _TABLE}
_BY_PRECISION = {row.precision: row.attribute for row in _TABLE}
_BY_NUMPY = {row.numpy_name: row.attribute for row in _TABLE if row.numpy_name not in (None, "object")}

REAL_TYPES = frozenset((f16, bf16, f32, f64, f8e4m3, f8e5m2, f8e8m0, f4e2m1, nf4))
"""Element types of floating-point numbers."""
INTEGER_TYPES = frozenset(row.attribute for row in _TABLE if row.xml[0] in "iu")
"""Element types of integers; boolean is not one of them."""


def describe(element: Attribute) -> ElementType:
    """The record of an element type. Raises KeyError for a type that the operation sets do not have."""
    return _BY_IDENTITY.get(id(element)) or _BY_ATTRIBUTE[element]


def interned(element: Attribute) -> Attribute:
    """The unique instance of an element type, which can be compared by identity; any other attribute unchanged.

    A parser creates other instances of the same type.
    """
    row = _BY_IDENTITY.get(id(element)) or _BY_ATTRIBUTE.get(element)
    return element if row is None else row.attribute


def is_element_type(attribute: Attribute) -> bool:
    """Whether an attribute is an element type of OpenVINO IR."""
    return attribute in _BY_ATTRIBUTE


def from_xml(name: str) -> Attribute:
    """The element type that is spelled `name` inside `<data>`, such as `f32`. Raises KeyError for an unknown name."""
    return _BY_XML[name]


def of_xml_names(names: Mapping[Key, str]) -> dict[Key, Attribute]:
    """The element types by the keys of a framework, from their spellings inside `<data>`: {"U8": "u8", "F16": "f16"}"""
    return {key: _BY_XML[xml] for key, xml in names.items()}


def from_precision(name: str) -> Attribute:
    """The element type that is spelled `name` in the attribute `precision` of a port, such as `FP32`.

    Raises KeyError for an unknown name.
    """
    return _BY_PRECISION[name]


def from_numpy(dtype: np.dtype[Any]) -> Attribute:
    """The element type of an array; an object array holds strings.

    Raises KeyError for a type that the operation sets do not have.
    """
    if dtype.kind in "OUST":
        return string
    return _BY_NUMPY[dtype.name]


def to_numpy(element: Attribute) -> np.dtype[Any]:
    """The numpy type that stores an element type."""
    return describe(element).numpy
