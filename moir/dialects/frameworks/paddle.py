"""The element types of PaddlePaddle by the numbers that programs and attributes have for them.

Source: framework.proto of PaddlePaddle 3.3, `VarType.Type`.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Attribute

from moir.dialects import element_types

ELEMENTS: Mapping[int, Attribute] = {
    0: element_types.boolean,
    1: element_types.si16,
    2: element_types.si32,
    3: element_types.si64,
    4: element_types.f16,
    5: element_types.f32,
    6: element_types.f64,
    20: element_types.ui8,
    21: element_types.si8,
    22: element_types.bf16,
    32: element_types.f8e4m3,
    33: element_types.f8e5m2,
}
"""The element types by their numbers in `VarType.Type`."""
