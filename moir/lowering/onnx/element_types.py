"""Data types of ONNX in attributes such as `to` and `dtype`: numbers of the enumeration TensorProto.DataType.

Source: onnx.proto of ONNX 1.23.
"""

from __future__ import annotations

from xdsl.ir import Attribute

from moir.dialects import element_types as types
from moir.dialects.frameworks.onnx import DATA_TYPES
from moir.lowering.binder import LoweringNode

ELEMENTS: dict[int, Attribute] = {number: row.element for number, row in DATA_TYPES.items() if row.element is not None}
"""The element types by the numbers of ONNX's data types; other data types do not exist in the operation sets."""

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
"""The numbers of data types by name: the first versions of Cast give the data type as a string."""


def element_type(node: LoweringNode, attribute: str, default: Attribute | None = None) -> Attribute:
    """The element type that an attribute contains; `default` if it is absent.

    Raises ConversionError if the attribute is missing without a default, or the operation sets do not have the type.
    """
    if default is not None and not node.has(attribute):
        return default
    stated = node.attribute(attribute, None)
    code = NAMES.get(stated.upper(), 0) if isinstance(stated, str) else stated
    element = ELEMENTS.get(code) if isinstance(code, int) else None
    if element is None:
        node.fail(f"attribute {attribute} is {stated!r}, a data type that the operation sets do not have")
    return element


def computed_type(element: Attribute) -> Attribute:
    """The type in which numbers of an element type are computed: f32 for the floats of 8 bits or less, else the type.

    Such floats are storage types: their products need more bits than they have.
    """
    is_narrow = element in types.REAL_TYPES and types.describe(element).bits <= 8
    return types.f32 if is_narrow else element
