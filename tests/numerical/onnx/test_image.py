"""Resizing and sampling of images in ONNX models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node

RANDOM = np.random.default_rng(4)
X = RANDOM.normal(size=(1, 2, 6, 8)).astype(np.float32)
ROI = np.array([], np.float32)
COORDINATES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn")


def resize(
    attributes: dict[str, Any],
    *,
    scales: list[float] | None = None,
    sizes: list[int] | None = None,
    roi: list[float] | None = None,
    opset: int = 19,
    data: Any = X,
    **options: Any,
) -> None:
    """Check a Resize whose scales or sizes are constants."""
    constants: dict[str, Any] = {"roi": ROI if roi is None else np.array(roi, np.float32)}
    if scales is not None:
        constants["scales"] = np.array(scales, np.float32)
    if sizes is not None:
        constants["sizes"] = np.array(sizes, np.int64)
    names = ["x", "roi", "scales" if scales is not None else "", *(["sizes"] if sizes is not None else [])]
    if opset == 11 and scales is None:
        constants["scales"] = ROI
        names[2] = "scales"
    check([node("Resize", names, ["y"], **attributes)], {"x": data}, constants=constants, opset=opset, **options)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("coordinates", COORDINATES[:4])
@pytest.mark.parametrize("target", [{"scales": [1, 1, 2, 1.5]}, {"sizes": [1, 2, 3, 5]}])
def test_modes_and_coordinates(mode: str, coordinates: str, target: dict[str, Any]) -> None:
    attributes = {"mode": mode, "coordinate_transformation_mode": coordinates}
    resize(attributes, opset=13, forms=["static", "dynamic"], operations=1, **target)


@pytest.mark.parametrize("nearest", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_nearest_modes(nearest: str, coordinates: str) -> None:
    attributes = {"mode": "nearest", "nearest_mode": nearest, "coordinate_transformation_mode": coordinates}
    resize(attributes, scales=[1, 1, 1.5, 0.5], opset=11, forms=["static", "dynamic"], operations=1)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("scales", [[1, 1, 2, 2], [1, 1, 0.5, 0.5], [1, 1, 1.5, 3]])
def test_resize_of_version_10(mode: str, scales: list[float]) -> None:
    nodes = [node("Resize", ["x", "scales"], ["y"], mode=mode)]
    check(nodes, {"x": X}, constants={"scales": np.array(scales, np.float32)}, opset=10, forms=["static", "dynamic"], operations=1)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_upsample(mode: str) -> None:
    scales = np.array([1, 1, 2, 3], np.float32)
    check([node("Upsample", ["x"], ["y"], mode=mode, scales=scales.tolist())], {"x": X}, opset=7, forms=["static", "dynamic"])
    check([node("Upsample", ["x", "s"], ["y"], mode=mode)], {"x": X}, constants={"s": scales}, opset=9, forms=["static", "dynamic"])
    check([node("Upsample", ["x", "s"], ["y"], mode=mode)], {"x": X, "s": scales}, opset=9, forms=["static"])


def test_scales_of_one_do_nothing() -> None:
    resize({"mode": "linear"}, scales=[1, 1, 1, 1], operations=0, forms=["static", "dynamic"])


def test_axes() -> None:
    resize({"mode": "linear", "axes": [3, 2]}, scales=[2, 3], opset=18, operations=1, forms=["static", "dynamic"])
    resize({"mode": "linear", "axes": [-2, -1]}, sizes=[12, 4], opset=18, operations=1, forms=["static", "dynamic"])


def test_cubic_coefficient() -> None:
    resize({"mode": "cubic", "cubic_coeff_a": -0.5}, scales=[1, 1, 2, 2], operations=1, forms=["static", "dynamic"])


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_aspect_ratio(policy: str) -> None:
    attributes = {"mode": "linear", "keep_aspect_ratio_policy": policy, "axes": [2, 3]}
    resize(attributes, sizes=[9, 16], forms=["static", "dynamic"], rtol=1e-3)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("exclude", [0, 1])
@pytest.mark.parametrize("sizes", [[3, 5], [12, 5]])
def test_antialias(mode: str, exclude: int, sizes: list[int]) -> None:
    attributes = {"mode": mode, "antialias": 1, "exclude_outside": exclude, "axes": [2, 3]}
    # Without exclude_outside what lies outside counts as the outermost element, in the definition (ONNX Runtime differs).
    resize(attributes, sizes=sizes, forms=["static", "dynamic"], reference="onnx", operations=2, atol=1e-4)


def test_exclude_outside() -> None:
    resize({"mode": "cubic", "exclude_outside": 1}, scales=[1, 1, 2, 0.5], forms=["static", "dynamic"], operations=2, atol=1e-4)


def test_symmetric_coordinates() -> None:
    attributes = {"mode": "linear", "coordinate_transformation_mode": "half_pixel_symmetric"}
    resize(attributes, scales=[1, 1, 0.6, 0.7], forms=["static", "dynamic"], operations=2, atol=1e-4)
    resize(attributes, scales=[1, 1, 2, 3], forms=["static", "dynamic"], operations=1)
    resize(attributes, sizes=[1, 2, 5, 5], forms=["static", "dynamic"], operations=1)


@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
def test_crop_and_resize(mode: str) -> None:
    attributes = {"mode": mode, "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 7.0}
    inside = [0, 0, 0.2, 0.1, 1, 1, 0.8, 0.9]
    resize(attributes, sizes=[1, 2, 4, 5], roi=inside, opset=13, forms=["static", "dynamic"], atol=1e-4, operations=2)
    if mode != "cubic":
        beyond = [0, 0, -0.2, 0.1, 1, 1, 0.8, 1.4]
        resize(attributes, sizes=[1, 2, 4, 5], roi=beyond, opset=13, forms=["static", "dynamic"], atol=1e-4, operations=3)


def test_volumes_and_lines() -> None:
    resize({"mode": "linear"}, scales=[1, 1, 2], data=X[0], forms=["static", "dynamic"])
    resize({"mode": "linear"}, scales=[1, 1, 2, 2, 0.5], data=X[None], forms=["static", "dynamic"])
    resize({"mode": "nearest"}, scales=[1, 1, 2, 2, 0.5], data=X[None], forms=["static", "dynamic"])


def test_computed_sizes() -> None:
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Slice", ["s", "zero", "two"], ["lead"]),
        node("Concat", ["lead", "sizes"], ["target"], axis=0),
        node("Resize", ["x", "", "", "target"], ["y"], mode="linear"),
    ]
    constants = {"zero": np.array([0]), "two": np.array([2]), "sizes": np.array([12, 4])}
    check(nodes, {"x": X}, constants=constants, opset=13, forms=["static", "dynamic"])


@pytest.mark.parametrize("dtype", [np.uint8, np.int32])
def test_integers(dtype: Any) -> None:
    resize({"mode": "nearest"}, scales=[1, 1, 2, 2], data=(X * 10 + 50).astype(dtype), opset=13, forms=["static", "dynamic"])


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"mode": "area"}, "is not one of nearest"),
        ({"nearest_mode": "away"}, "nearest_mode 'away' is not defined"),
        ({"coordinate_transformation_mode": "corner"}, "'corner' is not defined"),
    ],
)
def test_resize_errors(attributes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConversionError, match=reason):
        resize(attributes, scales=[1, 1, 0.5, 0.5], forms=["dynamic"], expected=[])


@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align", [0, 1])
def test_grid_sample(mode: str, padding: str, align: int) -> None:
    grid = RANDOM.uniform(-1.2, 1.2, size=(1, 3, 4, 2)).astype(np.float32)
    old = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
    for opset, name in ((20, mode), (16, old)):
        nodes = [node("GridSample", ["x", "g"], ["y"], mode=name, padding_mode=padding, align_corners=align)]
        check(nodes, {"x": X, "g": grid}, opset=opset, forms=["static", "dynamic"], atol=1e-4, operations=1)


@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("size", [[2, 2, 4, 5], [2, 1, 3, 4, 5]])
def test_affine_grid(align: int, size: list[int]) -> None:
    theta = RANDOM.normal(size=(2, len(size) - 2, len(size) - 1)).astype(np.float32)
    nodes, numbers = [node("AffineGrid", ["t", "size"], ["y"], align_corners=align)], np.array(size)
    check(nodes, {"t": theta}, constants={"size": numbers}, opset=20, forms=["static"], reference="onnx", operations=2)
    check(nodes, {"t": theta, "size": numbers}, opset=20, fixed=["size"], forms=["static", "dynamic"], reference="onnx")


@pytest.mark.parametrize("attributes", [{}, {"strides": [2, 2], "pads": [1, 1, 1, 1]}, {"dilations": [2, 1]}])
def test_column_to_image(attributes: dict[str, Any]) -> None:
    blocks = {"": 20, "strides": 9, "dilations": 15}[next(iter(attributes), "")]
    x = RANDOM.normal(size=(1, 8, blocks)).astype(np.float32)
    constants = {"image": np.array([5, 6] if "strides" not in attributes else [4, 4]), "block": np.array([2, 2])}
    nodes = [node("Col2Im", ["x", "image", "block"], ["y"], **attributes)]
    check(nodes, {"x": x}, constants=constants, opset=18, forms=["static", "dynamic"], reference="onnx", operations=1)


def test_images_are_not_decoded() -> None:
    with pytest.raises(ConversionError, match="cannot be decoded"):
        check([node("ImageDecoder", ["x"], ["y"])], {"x": np.zeros(4, np.uint8)}, opset=20, expected=[])
