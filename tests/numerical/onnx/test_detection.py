"""Non-maximum suppression and pooling of regions in ONNX models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node

RANDOM = np.random.default_rng(6)
CORNERS = np.sort(RANDOM.random((2, 12, 2, 2)), axis=2).reshape(2, 12, 4).astype(np.float32)
SCORES = RANDOM.normal(size=(2, 3, 12)).astype(np.float32)
X = RANDOM.normal(size=(2, 3, 10, 12)).astype(np.float32)
ROIS = np.array([[0, 0, 8, 8], [1.5, 2, 9, 7.5], [3, 3, 4, 4]], np.float32)
BATCHES = np.array([0, 1, 1], np.int64)

LIMIT = np.array([4], np.int64)


def number(value: float) -> Any:
    """A list of one f32."""
    return np.array([value], np.float32)


@pytest.mark.parametrize(
    ("operands", "attributes"),
    [
        ({"limit": LIMIT}, {}),
        ({"limit": LIMIT, "overlap": number(0.3)}, {}),
        ({"limit": LIMIT, "overlap": number(0.3), "score": number(0.2)}, {}),
        ({"limit": LIMIT, "": None, "score": number(0.2)}, {}),
        ({"limit": np.array(2, np.int64), "overlap": np.array(0.5, np.float32)}, {"center_point_box": 1}),
        ({"limit": np.array([0], np.int64)}, {}),
        ({}, {}),
    ],
)
@pytest.mark.parametrize("constant", [True, False])
def test_non_max_suppression(operands: dict[str, Any], attributes: dict[str, int], constant: bool) -> None:
    given = {name: value for name, value in operands.items() if name}
    inputs: dict[str, Any] = {"boxes": CORNERS, "scores": SCORES}
    nodes = [node("NonMaxSuppression", ["boxes", "scores", *operands], ["y"], **attributes)]
    if constant:
        check(nodes, inputs, constants=given, opset=11, forms=["static", "dynamic"], fixed=["boxes"], operations=1)
    else:
        check(nodes, inputs | given, opset=10, forms=["static", "dynamic"], fixed=["boxes", *given])


def test_boxes_that_overlap_exactly_as_allowed_stay() -> None:
    boxes = np.array([[[0, 0, 1, 2], [0, 0, 1, 1], [5, 5, 6, 6]]], np.float32)
    constants = {"limit": LIMIT, "overlap": number(0.5)}
    nodes = [node("NonMaxSuppression", ["boxes", "scores", "limit", "overlap"], ["y"])]
    expected = [np.array([[0, 0, 0], [0, 0, 1], [0, 0, 2]], np.int64)]
    inputs = {"boxes": boxes, "scores": np.array([[[0.9, 0.8, 0.7]]], np.float32)}
    check(nodes, inputs, constants=constants, expected=expected, forms=["static"])


@pytest.mark.parametrize("ratio", [0, 1, 2])
@pytest.mark.parametrize(
    ("attributes", "opset"),
    [
        ({}, 10),
        ({}, 16),
        ({"coordinate_transformation_mode": "output_half_pixel"}, 16),
        ({"spatial_scale": 0.5}, 16),
    ],
)
def test_roi_align(ratio: int, attributes: dict[str, Any], opset: int) -> None:
    nodes = [node("RoiAlign", ["x", "r", "b"], ["y"], output_height=3, output_width=2, sampling_ratio=ratio, **attributes)]
    check(nodes, {"x": X, "r": ROIS, "b": BATCHES}, opset=opset, forms=["static", "dynamic"], fixed=["r"], operations=1)


@pytest.mark.parametrize("samples", [1, 2])
@pytest.mark.parametrize("coordinates", ["half_pixel", "output_half_pixel"])
def test_roi_align_of_maxima(samples: int, coordinates: str) -> None:
    """A sample is the largest of the four weighted elements around it, also where all elements are negative."""
    inputs = {"x": X - 3, "r": ROIS, "b": BATCHES}
    attributes = {"sampling_ratio": samples, "mode": "max", "coordinate_transformation_mode": coordinates}
    nodes = [node("RoiAlign", list(inputs), ["y"], output_height=3, output_width=2, **attributes)]
    check(nodes, inputs, opset=16, forms=["static", "dynamic"], fixed=["r"])


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_max_roi_pool(scale: float) -> None:
    rois = np.array([[0, 0, 0, 7, 7], [1, 2, 3, 10, 9], [1, 4, 4, 6, 4]], np.float32)
    nodes = [node("MaxRoiPool", ["x", "r"], ["y"], pooled_shape=[2, 3], spatial_scale=scale)]
    check(nodes, {"x": X, "r": rois}, forms=["static", "dynamic"], fixed=["r"], operations=1)


@pytest.mark.parametrize(
    ("kind", "attributes", "reason"),
    [
        ("RoiAlign", {"mode": "sum"}, "mode 'sum'"),
        ("RoiAlign", {"mode": "max"}, "depends on the region"),
        ("RoiAlign", {"coordinate_transformation_mode": "corner"}, "coordinates 'corner'"),
        ("MaxRoiPool", {"pooled_shape": [2]}, "pooled_shape has 1 entries"),
    ],
)
def test_errors(kind: str, attributes: dict[str, Any], reason: str) -> None:
    inputs = {"x": X, "r": ROIS} | ({"b": BATCHES} if kind == "RoiAlign" else {})
    with pytest.raises(ConversionError, match=reason):
        check([node(kind, list(inputs), ["y"], **attributes)], inputs, expected=[])
