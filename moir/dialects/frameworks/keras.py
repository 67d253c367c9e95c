"""Facts about the `keras` dialect that the frontend and the lowerings share."""

from __future__ import annotations

from xdsl.ir import Attribute

from moir.dialects import element_types

ELEMENTS: dict[str, Attribute] = {
    "bfloat16": element_types.bf16,
    "bool": element_types.boolean,
    "float16": element_types.f16,
    "float32": element_types.f32,
    "float64": element_types.f64,
    "float8_e4m3fn": element_types.f8e4m3,
    "float8_e5m2": element_types.f8e5m2,
    "int16": element_types.si16,
    "int32": element_types.si32,
    "int64": element_types.si64,
    "int8": element_types.si8,
    "string": element_types.string,
    "uint16": element_types.ui16,
    "uint32": element_types.ui32,
    "uint64": element_types.ui64,
    "uint8": element_types.ui8,
}
"""The element types by Keras' names."""
