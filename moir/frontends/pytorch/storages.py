"""The element types of storages, by the numbers and names that programs and pickles give them."""

from __future__ import annotations

from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Attribute

from moir.dialects import element_types

ELEMENTS: dict[int, Attribute] = element_types.of_xml_names(
    {
        1: "u8",
        2: "i8",
        3: "i16",
        4: "i32",
        5: "i64",
        6: "f16",
        7: "f32",
        8: "f64",
        12: "boolean",
        13: "bf16",
        28: "u16",
        29: "f8e4m3",
        30: "f8e5m2",
        33: "f8e8m0",
        34: "u32",
        35: "u64",
    }
) | {9: ComplexType(element_types.f16), 10: ComplexType(element_types.f32), 11: ComplexType(element_types.f64)}
"""The element types by their numbers in programs (`torch._export.serde.schema.ScalarType`)."""

STORAGES: dict[str, Attribute] = element_types.of_xml_names(
    {
        "ByteStorage": "u8",
        "CharStorage": "i8",
        "ShortStorage": "i16",
        "IntStorage": "i32",
        "LongStorage": "i64",
        "HalfStorage": "f16",
        "FloatStorage": "f32",
        "DoubleStorage": "f64",
        "BoolStorage": "boolean",
        "BFloat16Storage": "bf16",
    }
)
"""The element types by the storage types that pickles name."""

DTYPES: dict[str, Attribute] = element_types.of_xml_names(
    {
        "uint8": "u8",
        "int8": "i8",
        "int16": "i16",
        "int32": "i32",
        "int64": "i64",
        "float16": "f16",
        "float32": "f32",
        "float64": "f64",
        "bool": "boolean",
        "bfloat16": "bf16",
        "uint16": "u16",
        "uint32": "u32",
        "uint64": "u64",
        "float8_e4m3fn": "f8e4m3",
        "float8_e5m2": "f8e5m2",
    }
)
"""The element types by the names that pickles give them, as in `torch.float32`."""
