"""Resizing, sampling and patches of images: types against OpenVINO Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.dialects.opset.tables import check_values, numbers
from tests.unit.dialects.opset.variations import (
    Case,
    Impossible,
    Operands,
    check_partly_known_shape,
    check_refused,
    check_types,
    integers,
    reals,
    typed,
)

SIZES = {"mode": "nearest", "shape_calculation_mode": "sizes"}
SCALES = {"mode": "linear_onnx", "shape_calculation_mode": "scales"}
PADDED = {"pads_begin": [0, 1, 2], "pads_end": [0, 0, 0, 3]}
IMAGE_AXES = integers(2, 3)
PATCHES = {"sizes": [3, 2], "strides": [2, 1], "rates": [1, 2]}

CASES = [
    *(
        Case("opset4.Interpolate", typed((1, 3, 8, 9), sizes, scales, axes), {**mode, **pads})
        for mode in (SIZES, SCALES)
        for pads in ({}, PADDED)
        for sizes, scales in ((integers(16, 5), reals(0.3, 1.7)), (("i64", (2,)), ("f32", (2,))))
        for axes in (IMAGE_AXES, ("i64", (2,)))
    ),
    Case("opset4.Interpolate", typed((1, 3, 8, 9), integers(1, 3, 16, 5), reals(1, 1, 2, 0.5)), SIZES),
    Case("opset4.Interpolate", typed((1, 3, 8, 9), integers(1, 3, 16, 5), reals(1, 1, 2, 0.5)), SCALES),
    *(Case("opset11.Interpolate", typed((1, 3, 8, 9), sizes, IMAGE_AXES), SIZES) for sizes in (integers(16, 5), ("i64", (2,)))),
    *(Case("opset11.Interpolate", typed((1, 3, 8, 9), scales, IMAGE_AXES), SCALES) for scales in (reals(0.7, 0.33), ("f32", (2,)))),
    Case("opset11.Interpolate", typed((1, 3, 8, 9), integers(16, 5), integers(2, -1)), SIZES),
    Case("opset11.Interpolate", typed((1, 3, 8, 9), integers(1, 3, 16, 5)), SIZES),
    Case("opset11.Interpolate", typed((1, 3, 8, 9), integers(16, 5)), SIZES),
    *(Case("opset11.Interpolate", typed((1, 1, 100, 1000), reals(a, b), IMAGE_AXES), SCALES) for a, b in ((0.7, 0.1), (0.29, 0.003))),
    Case("opset9.GridSample", typed((2, 3, 8, 8), (2, 4, 5, 2))),
    *(Case("opset3.ExtractImagePatches", typed((1, 3, 9, 8)), {**PATCHES, "auto_pad": pad}) for pad in ("valid", "same_upper", "explicit")),
    Case("opset3.ExtractImagePatches", typed((1, 3, 2, 8)), {**PATCHES, "auto_pad": "valid"}),
    *(
        Case("opset15.Col2Im", typed((2, 12, 9), size, kernel))
        for size in (integers(4, 4), ("i64", (2,)))
        for kernel in (integers(2, 2), ("i64", (2,)))
    ),
    Case("opset15.Col2Im", typed((12, 4), integers(4, 4), integers(2, 2)), {"strides": [2, 2]}),
    Case("opset15.Col2Im", typed((12, 8), integers(4, 4), integers(2, 2)), {"strides": [2, 2]}),
]

STRICTER = {
    "Interpolate": "the number of sizes, scales and pads must fit even where their values are not known",
}
"""What moir refuses and the runtime accepts, by kind."""


LAXER = {
    "Col2Im": "the runtime wants the shapes of output_size and kernel_size to be static",
}
"""What the runtime refuses and moir accepts, for types may still become more precise."""


@pytest.mark.parametrize("case", CASES, ids=str)
def test_types_are_those_of_the_runtime(case: Case) -> None:
    check_types(case, STRICTER, laxer=LAXER)


IMPOSSIBLE: list[Impossible] = [
    ("opset3.ExtractImagePatches", typed((1, 3, 9, 8)), {**PATCHES, "auto_pad": "valid", "rates": [1]}, "two entries"),
    ("opset15.Col2Im", typed((12, 9), integers(4, 4), integers(2, 2)), {"strides": [1]}, "two entries"),
    ("opset11.Interpolate", typed((1, 3), reals(1e30, 1e38)), SCALES, "cannot be scaled"),
    ("opset11.Interpolate", typed((1, 3), reals(1, np.nan)), SCALES, "cannot be scaled"),
    ("opset11.Interpolate", typed((1, 3), reals(1, 2)), SIZES, "sizes of type"),
]


@pytest.mark.parametrize(("name", "operands", "properties", "reason"), IMPOSSIBLE, ids=lambda item: item if isinstance(item, str) else None)
def test_impossible_properties_are_inference_errors(name: str, operands: Operands, properties: dict[str, Any], reason: str) -> None:
    check_refused(name, operands, properties, reason)


SHAPE_READERS: list[tuple[str, Operands, int, dict[str, Any], tuple[int, ...]]] = [
    ("opset11.Interpolate", typed((1, 3, 8, 9), None, IMAGE_AXES), 1, SIZES, (1, 3, -1, 7)),
    ("opset15.Col2Im", typed((12, 18), None, integers(2, 2)), 1, {}, (3, -1, 7)),
]


@pytest.mark.parametrize(("name", "operands", "index", "properties", "expected"), SHAPE_READERS, ids=lambda item: str(item)[:40])
def test_known_parts_of_a_computed_shape_are_used(
    name: str, operands: Operands, index: int, properties: dict[str, Any], expected: tuple[int, ...]
) -> None:
    check_partly_known_shape(name, operands, index, properties, expected)


@pytest.mark.parametrize("nearest", ["ceil", "floor", "round_prefer_ceil", "round_prefer_floor", "simple"])
@pytest.mark.parametrize("coordinates", ["align_corners", "asymmetric", "half_pixel", "pytorch_half_pixel", "tf_half_pixel_for_nn"])
def test_nearest_elements_are_those_of_the_runtime(coordinates: str, nearest: str) -> None:
    properties = {"mode": "nearest", "coordinate_transformation_mode": coordinates, "nearest_mode": nearest}
    data = np.arange(40, dtype=np.float32).reshape(1, 5, 8)
    for sizes in ([7, 3], [10, 1], [2, 16]):
        check_values("opset11.Interpolate", properties | {"shape_calculation_mode": "sizes"}, [data, numbers(sizes), numbers([1, 2])])
    scales = np.array([1.7, 0.45], np.float32)
    check_values("opset11.Interpolate", properties | {"shape_calculation_mode": "scales"}, [data, scales, numbers([1, 2])])


@pytest.mark.parametrize("mode", ["linear", "linear_onnx", "cubic"])
@pytest.mark.parametrize("coordinates", ["align_corners", "asymmetric", "half_pixel"])
def test_interpolated_elements_are_those_of_the_runtime(coordinates: str, mode: str) -> None:
    properties = {"mode": mode, "coordinate_transformation_mode": coordinates, "cube_coeff": -0.5}
    data = np.sin(np.arange(40, dtype=np.float32)).reshape(1, 1, 5, 8)
    for sizes in ([7, 3], [2, 16]):
        check_values("opset11.Interpolate", properties | {"shape_calculation_mode": "sizes"}, [data, numbers(sizes), numbers([2, 3])])
