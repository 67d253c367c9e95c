"""The element types of PaddlePaddle by the numbers that programs and attributes have for them.

Source: framework.proto of PaddlePaddle 3.3, `VarType.Type`.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Attribute

from moir.dialects import element_types

ELEMENTS: Mapping[int, Attribute] = element_types.of_xml_names(
    {0: "boolean", 1: "i16", 2: "i32", 3: "i64", 4: "f16", 5: "f32", 6: "f64", 20: "u8", 21: "i8", 22: "bf16", 32: "f8e4m3", 33: "f8e5m2"}
)
"""The element types by their numbers in `VarType.Type`."""
