"""Data types of ONNX in attributes such as `to` and `dtype`: numbers of the enumeration TensorProto.DataType.

Source: onnx.proto of ONNX 1.23.
"""

from __future__ import annotations

from xdsl.ir import Attribute

from moir.dialects import element_types as types
from moir.lowering.binder import LoweringNode
from moir.tables import numbers

ELEMENTS: dict[int, Attribute] = types.numbered(
    "1 f32, 2 u8, 3 i8, 4 u16, 5 i16, 6 i32, 7 i64, 8 string, 9 boolean, 10 f16, 11 f64, 12 u32, 13 u64, 16 bf16, "
    "17 f8e4m3, 19 f8e5m2, 21 u4, 22 i4, 23 f4e2m1, 24 f8e8m0, 25 u2"
)
"""Element types by number; OpenVINO IR has no counterparts of the other data types, such as complex numbers."""

NAMES = numbers(
    "FLOAT 1, UINT8 2, INT8 3, UINT16 4, INT16 5, INT32 6, INT64 7, STRING 8, BOOL 9, FLOAT16 10, DOUBLE 11, UINT32 12, UINT64 13"
)
"""Numbers by name; the first versions of Cast give the data type as a string."""


def element_type(node: LoweringNode, attribute: str, default: Attribute | None = None) -> Attribute:
    """The element type that an attribute contains.

    Raises ConversionError if the attribute is missing or if OpenVINO IR does not have the type.
    """
    if default is not None and not node.has(attribute):
        return default
    given = node.attribute(attribute, None)
    number = NAMES.get(given.upper(), 0) if isinstance(given, str) else given
    element = ELEMENTS.get(number) if isinstance(number, int) else None
    if element is None:
        node.fail(f"attribute {attribute} is {given!r}, a data type that OpenVINO IR does not have")
    return element


def computed_type(element: Attribute) -> Attribute:
    """The type in which numbers of an element type are computed: f32 for the floats of 8 bits or less, else the type.

    Such floats are storage types: their products need more bits than they have.
    """
    is_narrow = element in types.REAL_TYPES and types.describe(element).bits <= 8
    return types.f32 if is_narrow else element
