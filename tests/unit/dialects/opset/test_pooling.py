"""Pooling: types against OpenVINO Runtime."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.dialects.opset.variations import (
    Case,
    Operands,
    check_partly_known_shape,
    check_types,
    integers,
    typed,
)

KERNEL = {"strides": [2, 2], "dilations": [1, 1], "pads_begin": [0, 1], "pads_end": [1, 1], "auto_pad": "explicit", "kernel": [3, 2]}
POOL = {name: value for name, value in KERNEL.items() if name != "dilations"}
AVERAGE = {**POOL, "exclude-pad": True}
TORCH = {"strides": [3, 3], "pads_begin": [0, 0], "pads_end": [2, 2], "kernel": [3, 3], "rounding_type": "ceil_torch"}
VARIANTS: list[dict[str, Any]] = [{}, {"rounding_type": "ceil"}, {"auto_pad": "same_lower"}, {"auto_pad": "valid", "rounding_type": "ceil"}]

CASES = [
    *(Case("opset1.MaxPool", typed((1, 3, 9, 8)), {**POOL, **variant}) for variant in VARIANTS),
    *(Case(f"opset{v}.MaxPool", typed((1, 3, 9, 8)), {**KERNEL, **variant}, 2) for v in (8, 14) for variant in VARIANTS),
    *(Case("opset14.AvgPool", typed((1, 3, 9, 8)), {**AVERAGE, **variant}) for variant in VARIANTS),
    *(Case("opset16.AvgPool", typed((1, 3, 9, 8)), {**AVERAGE, **variant, "dilations": [2, 1]}) for variant in VARIANTS),
    *(Case(f"opset{v}.MaxPool", typed((1, 3, 6, 6)), TORCH, 1 if v == 1 else 2) for v in (1, 8, 14)),
    *(Case(f"opset{v}.AvgPool", typed((1, 3, 6, 7)), {**TORCH, "exclude-pad": False}) for v in (14, 16)),
    Case("opset14.MaxPool", typed((1, 3, 6, 6)), {**TORCH, "axis": -2, "index_element_type": "i32"}, 2),
    Case("opset14.MaxPool", typed((1, 3, 6, 6)), {**TORCH, "axis": 4}, 2),
    Case("opset14.AvgPool", typed((1, 3, 6, 6)), {**AVERAGE, "pads_begin": [3, 0]}),
    Case("opset8.AdaptiveAvgPool", typed((1, 3, 9, 8), integers(4, 5))),
    Case("opset8.AdaptiveAvgPool", typed((1, 3, 9, 8), ("i64", (2,)))),
    Case("opset8.AdaptiveMaxPool", typed((1, 3, 9, 8), integers(4, 5)), {"index_element_type": "i32"}, 2),
    Case("opset8.AdaptiveMaxPool", typed((1, 3, 9), integers(4)), {}, 2),
]

STRICTER = {
    "MaxPool": "axis and rounding type are verified whether or not the rank of the data is known",
    "AvgPool": "pads are verified whether or not the sizes of the data are known",
}
"""What moir refuses and the runtime accepts, by kind."""


@pytest.mark.parametrize("case", CASES, ids=str)
def test_types_are_those_of_the_runtime(case: Case) -> None:
    check_types(case, STRICTER)


SHAPE_READERS: list[tuple[str, Operands, int, dict[str, Any], tuple[int, ...]]] = [
    ("opset8.AdaptiveAvgPool", typed((1, 3, 9, 8), None), 1, {}, (1, 3, -1, 7)),
]


@pytest.mark.parametrize(("name", "operands", "index", "properties", "expected"), SHAPE_READERS, ids=lambda item: str(item)[:40])
def test_known_parts_of_a_computed_shape_are_used(
    name: str, operands: Operands, index: int, properties: dict[str, Any], expected: tuple[int, ...]
) -> None:
    check_partly_known_shape(name, operands, index, properties, expected)
