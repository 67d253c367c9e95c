"""The data types of ONNX.

Source: onnx-ml.proto of ONNX 1.23.
"""

from __future__ import annotations

from xdsl.ir import Attribute

from moir.dialects import element_types
from moir.support.records import Record


class DataType(Record):
    """A data type of ONNX.

    Args:
        name: its name.
        element: the element type; None if the operation sets have no such type.
        field: the field of TensorProto with the values, if they are not in `raw_data`.
        stored: the numpy type of a value in that field.
    """

    name: str
    element: Attribute | None
    field: str
    stored: str


DATA_TYPES = {
    1: DataType("FLOAT", element_types.f32, "float_data", "<f4"),
    2: DataType("UINT8", element_types.ui8, "int32_data", "<u1"),
    3: DataType("INT8", element_types.si8, "int32_data", "<i1"),
    4: DataType("UINT16", element_types.ui16, "int32_data", "<u2"),
    5: DataType("INT16", element_types.si16, "int32_data", "<i2"),
    6: DataType("INT32", element_types.si32, "int32_data", "<i4"),
    7: DataType("INT64", element_types.si64, "int64_data", "<i8"),
    8: DataType("STRING", element_types.string, "string_data", "O"),
    9: DataType("BOOL", element_types.boolean, "int32_data", "<u1"),
    10: DataType("FLOAT16", element_types.f16, "int32_data", "<u2"),
    11: DataType("DOUBLE", element_types.f64, "double_data", "<f8"),
    12: DataType("UINT32", element_types.ui32, "uint64_data", "<u4"),
    13: DataType("UINT64", element_types.ui64, "uint64_data", "<u8"),
    14: DataType("COMPLEX64", None, "float_data", "<f4"),
    15: DataType("COMPLEX128", None, "double_data", "<f8"),
    16: DataType("BFLOAT16", element_types.bf16, "int32_data", "<u2"),
    17: DataType("FLOAT8E4M3FN", element_types.f8e4m3, "int32_data", "<u1"),
    18: DataType("FLOAT8E4M3FNUZ", None, "int32_data", "<u1"),
    19: DataType("FLOAT8E5M2", element_types.f8e5m2, "int32_data", "<u1"),
    20: DataType("FLOAT8E5M2FNUZ", None, "int32_data", "<u1"),
    21: DataType("UINT4", element_types.ui4, "int32_data", "<u1"),
    22: DataType("INT4", element_types.si4, "int32_data", "<u1"),
    23: DataType("FLOAT4E2M1", element_types.f4e2m1, "int32_data", "<u1"),
    24: DataType("FLOAT8E8M0", element_types.f8e8m0, "int32_data", "<u1"),
    25: DataType("UINT2", element_types.ui2, "int32_data", "<u1"),
    26: DataType("INT2", None, "int32_data", "<u1"),
    27: DataType("FLOAT6E2M3", None, "int32_data", "<u1"),
    28: DataType("FLOAT6E3M2", None, "int32_data", "<u1"),
}
"""The data types by their numbers in TensorProto.DataType."""

NUMBERS = {each.element: number for number, each in DATA_TYPES.items() if each.element is not None}
"""The numbers in TensorProto.DataType of the element types that ONNX has, too."""
