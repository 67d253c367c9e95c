"""Facts about the `keras` dialect that the frontend and the lowerings share."""

from __future__ import annotations

from xdsl.ir import Attribute

from moir.dialects import element_types

ELEMENTS: dict[str, Attribute] = element_types.of_xml_names(
    {
        "bfloat16": "bf16",
        "bool": "boolean",
        "float16": "f16",
        "float32": "f32",
        "float64": "f64",
        "float8_e4m3fn": "f8e4m3",
        "float8_e5m2": "f8e5m2",
        "int16": "i16",
        "int32": "i32",
        "int64": "i64",
        "int8": "i8",
        "string": "string",
        "uint16": "u16",
        "uint32": "u32",
        "uint64": "u64",
        "uint8": "u8",
    }
)
"""The element types by Keras' names."""
