"""Convolutions: types against OpenVINO Runtime."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.dialects.opset.variations import (
    Case,
    Impossible,
    Operands,
    check_partly_known_shape,
    check_refused,
    check_types,
    integers,
    typed,
)

WINDOW = {"strides": [2, 2], "dilations": [1, 1], "pads_begin": [0, 1], "pads_end": [1, 1], "auto_pad": "explicit"}
LINE = {"strides": [1], "dilations": [2], "pads_begin": [2], "pads_end": [1]}
SPACE = {"strides": [1, 2, 1], "dilations": [1, 1, 3], "pads_begin": [0, 0, 1], "pads_end": [0, 1, 0]}
SAME = {**WINDOW, "auto_pad": "same_upper"}
VALID = {**WINDOW, "auto_pad": "valid"}
SPREAD = {**WINDOW, "output_padding": [1, 0]}
WANTED = integers(17, 20)

CASES = [
    *(Case("opset1.Convolution", typed((1, 3, 9, 8), (4, 3, 3, 2)), window) for window in (WINDOW, SAME, VALID)),
    Case("opset1.Convolution", typed((2, 3, 9), (4, 3, 3)), LINE),
    Case("opset1.Convolution", typed((2, 3, 9, 8, 7), (4, 3, 3, 2, 2)), SPACE),
    Case("opset1.Convolution", typed((2, 3, 9, 8, 7), (4, 3, 3, 2, 2), element="dynamic"), SPACE),
    Case("opset1.Convolution", typed((1, 3, 4, 4), (4, 3, 7, 3)), WINDOW),
    Case("opset1.Convolution", typed((1, 3, 0, 4), (4, 3, 2, 3)), SAME),
    *(Case("opset1.GroupConvolution", typed((1, 4, 9, 8), (2, 3, 2, 3, 2)), window) for window in (WINDOW, SAME, VALID)),
    Case("opset1.GroupConvolution", typed((2, 4, 9), (4, 1, 1, 3)), LINE),
    *(Case("opset1.ConvolutionBackpropData", typed((1, 3, 9, 8), (3, 4, 3, 2)), {**SPREAD, **window}) for window in (WINDOW, SAME, VALID)),
    Case("opset1.ConvolutionBackpropData", typed((2, 3, 9, 8, 7), (3, 4, 3, 2, 2)), SPACE),
    Case("opset1.ConvolutionBackpropData", typed((1, 3, 9, 8), (3, 4, 3, 2), WANTED), SPREAD),
    Case("opset1.ConvolutionBackpropData", typed((1, 3, 9, 8), (3, 4, 3, 2), WANTED), {**SAME, "pads_begin": [], "pads_end": []}),
    Case("opset1.ConvolutionBackpropData", typed((1, 3, 9, 8), (3, 4, 3, 2)), {**WINDOW, "pads_begin": [-1, 0]}),
    *(
        Case("opset1.GroupConvolutionBackpropData", typed((1, 4, 9, 8), (2, 2, 3, 3, 2)), {**SPREAD, **window})
        for window in (WINDOW, SAME, VALID)
    ),
    Case("opset1.GroupConvolutionBackpropData", typed((1, 4, 9, 8), (2, 2, 3, 3, 2), WANTED), SPREAD),
    Case("opset8.DeformableConvolution", typed((1, 3, 8, 8), (1, 18, 4, 5), (4, 3, 3, 3)), {**WINDOW, "pads_end": [1, 2]}),
    Case(
        "opset8.DeformableConvolution",
        typed((2, 4, 8, 8), (2, 36, 4, 4), (4, 2, 3, 3), (2, 18, 4, 4)),
        {**SAME, "group": 2, "deformable_group": 2},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_types_are_those_of_the_runtime(case: Case) -> None:
    check_types(case)


IMPOSSIBLE: list[Impossible] = [
    ("opset1.Convolution", typed((1, 3, 9, 8), (4, 3, 3, 2)), {**WINDOW, "strides": [0, 1]}, "stride 0 is not positive"),
    ("opset1.Convolution", typed((1, 3, 9, 8), (4, 3, 3, 2)), {**WINDOW, "pads_end": [1]}, "1 entries for 2 spatial axes"),
    ("opset1.ConvolutionBackpropData", typed((1, 3, 9, 8), (3, 4, 3, 2)), {**WINDOW, "output_padding": [1]}, "output_padding has 1"),
    ("opset8.DeformableConvolution", typed((1, 3, 8, 8), (1, 18, 4, 5), (4, 3, 3, 3)), {**WINDOW, "group": 0}, "channels"),
    (
        "opset8.DeformableConvolution",
        typed((1, 3, -1, -1), (1, 2, 4, 5), (4, 3, 1, 1)),
        {**WINDOW, "strides": [1, 1], "dilations": [1, 1], "pads_begin": [0, 9], "pads_end": [0, 9]},
        "there are offsets for 5 positions where there are at least 18",
    ),
]


@pytest.mark.parametrize(("name", "operands", "properties", "reason"), IMPOSSIBLE, ids=lambda item: item if isinstance(item, str) else None)
def test_impossible_properties_are_inference_errors(name: str, operands: Operands, properties: dict[str, Any], reason: str) -> None:
    check_refused(name, operands, properties, reason)


SHAPE_READERS: list[tuple[str, Operands, int, dict[str, Any], tuple[int, ...]]] = [
    ("opset1.ConvolutionBackpropData", typed((1, 3, 9, 8), (3, 4, 3, 2), None), 2, SPREAD, (1, 4, -1, 7)),
]


@pytest.mark.parametrize(("name", "operands", "index", "properties", "expected"), SHAPE_READERS, ids=lambda item: str(item)[:40])
def test_known_parts_of_a_computed_shape_are_used(
    name: str, operands: Operands, index: int, properties: dict[str, Any], expected: tuple[int, ...]
) -> None:
    check_partly_known_shape(name, operands, index, properties, expected)
