"""Data types of ONNX in attributes such as `to` and `dtype`: numbers of the enumeration TensorProto.DataType.

Source: onnx.proto of ONNX 1.23.
"""

from __future__ import annotations

from xdsl.ir import Attribute

from moir.dialects import element_types as types
from moir.lowering.binder import LoweringNode

ELEMENTS: dict[int, Attribute] = {
    1: types.f32,
    2: types.ui8,
    3: types.si8,
    4: types.ui16,
    5: types.si16,
    6: types.si32,
    7: types.si64,
    8: types.string,
    9: types.boolean,
    10: types.f16,
    11: types.f64,
    12: types.ui32,
    13: types.ui64,
    16: types.bf16,
    17: types.f8e4m3,
    19: types.f8e5m2,
    21: types.ui4,
    22: types.si4,
    23: types.f4e2m1,
    24: types.f8e8m0,
    25: types.ui2,
}
"""Element types by number; OpenVINO IR has no counterparts of the other data types, such as complex numbers."""

NAMES = {
    "FLOAT": 1,
    "UINT8": 2,
    "INT8": 3,
    "UINT16": 4,
    "INT16": 5,
    "INT32": 6,
    "INT64": 7,
    "STRING": 8,
    "BOOL": 9,
    "FLOAT16": 10,
    "DOUBLE": 11,
    "UINT32": 12,
    "UINT64": 13,
}
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
