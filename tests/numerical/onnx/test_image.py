"""Resizing and sampling of images in ONNX models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import moir
from moir.errors import ConversionError
from tests.numerical.onnx.conversion import build, check, expected_results, node
from tests.numerical.onnx.node_case import COMPLETE, DYNAMIC, EVALUATED, STATIC, WITH_RANK, WITHOUT_RANK, NodeCase, normal_numbers
from tests.numerical.runtime import Array, compare, run

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


@pytest.mark.parametrize("sizes", [(6, 8, 10), (3, 2, 1)])
def test_volumes_to_sizes_of_any_batch(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    """The weights follow from the sizes of the data."""
    inputs = {"x": RANDOM.normal(size=(1, 2, 3, 4, 5)).astype(np.float32)}
    model = build([node("Resize", ["x", "", "", "sizes"], ["y"], mode="linear")], inputs, constants={"sizes": np.array([1, 2, *sizes])})
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    path = tmp_path / "m.onnx"
    onnx.save(model, path)
    compare(run(moir.to_openvino(moir.convert_model(path)), inputs), expected_results(model, inputs, "onnxruntime"))


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


real = normal_numbers(np.random.default_rng(8))


def resizing(x: Array, constants: dict[str, Any] | None = None, inputs: dict[str, Any] | None = None, **attributes: Any) -> NodeCase:
    """A Resize with scales or sizes, constants or inputs."""
    given = (constants or {}) | (inputs or {})
    operands = ["x", "", "scales" if "scales" in given else "", *(["sizes"] if "sizes" in given else [])]
    options = {"opset": 19, "atol": 1e-4, "forms": ["static", "dynamic"] if inputs else ["static"]}
    return NodeCase(
        "Resize",
        {"x": x} | (inputs or {}),
        constants or {},
        operands=" ".join(each or "-" for each in operands),
        attributes=attributes,
        options=options,
    )


def by_definition(*arguments: Any, **attributes: Any) -> NodeCase:
    """A Resize that ONNX Runtime has no kernel for."""
    case = resizing(*arguments, **attributes)
    return replace(case, options={**case.options, "reference": "onnx"})


RESIZED = {
    "a batch, nearest": resizing(real(2, 3, 4, 5), {"scales": np.array([2, 1, 1.5, 1], np.float32)}, mode="nearest"),
    "channels": resizing(real(1, 2, 4, 5), {"sizes": np.array([1, 3, 2, 7])}, mode="nearest"),
    "channels by computed sizes": resizing(real(1, 2, 4, 5), inputs={"sizes": np.array([1, 3, 2, 7])}, mode="nearest"),
    "volumes by computed sizes": resizing(real(1, 2, 4, 5, 3), inputs={"sizes": np.array([1, 2, 6, 5, 6])}, mode="nearest"),
    "a single element of three": resizing(
        real(1, 2, 4, 3), inputs={"sizes": np.array([1, 2, 1, 4])}, mode="nearest", coordinate_transformation_mode="pytorch_half_pixel"
    ),
    "to one factor for all axes": resizing(
        real(2, 2, 5, 3),
        {"sizes": np.array([2, 1])},
        axes=[2, 3],
        keep_aspect_ratio_policy="not_larger",
        coordinate_transformation_mode="asymmetric",
        mode="linear",
    ),
    "an image and its channels, cubic": by_definition(real(1, 2, 4, 5), {"scales": np.array([1, 1.5, 2, 1.7], np.float32)}, mode="cubic"),
    "rows of a batch, cubic": by_definition(real(2, 3, 4), {"scales": np.array([1.5, 1, 2], np.float32)}, mode="cubic"),
    "all axes of a volume": by_definition(real(1, 2, 3, 3, 2), {"scales": np.array([2, 1.5, 2, 1.7, 2], np.float32)}, mode="linear"),
    "six dimensions": by_definition(real(1, 2, 1, 2, 3, 4), {"scales": np.array([1, 1, 1, 1, 2, 1.7], np.float32)}, mode="linear"),
    "to nothing": resizing(real(1, 2, 1, 3), {"scales": np.array([1, 1, 0.6, 1], np.float32)}, mode="linear"),
}

COLUMNS = {
    "Col2Im of a line": (real(2, 6, 4), [5], [2], {"strides": [1], "dilations": [1]}),
    "Col2Im of images": (real(1, 12, 16), [4, 5], [2, 3], {"pads": [0, 1, 1, 0]}),
    "Col2Im of volumes": (real(1, 12, 8), [3, 4, 3], [1, 3, 2], {"pads": [0, 0, 0, 1, 0, 0], "dilations": [1, 1, 2]}),
}

NODES: dict[str, NodeCase] = {
    "Upsample of booleans": NodeCase(
        "Upsample",
        {"x": np.eye(3, dtype=bool)[None, None]},
        {"s": np.array([1, 1, 2, 2], np.float32)},
        attributes={"mode": "nearest"},
        options=WITH_RANK | {"opset": 9, "expected": [np.kron(np.eye(3), np.ones((2, 2))).astype(bool)[None, None]]},
    ),
    "NonMaxSuppression of boxes of dynamic size": NodeCase(
        "NonMaxSuppression", {"b": np.abs(real(1, 6, 4)), "s": real(1, 1, 6)}, {"m": np.array([3]), "i": np.array([0.5], np.float32)}
    ),
    **{f"Resize, {name}": case for name, case in RESIZED.items()},
    **{
        f"{name} of {x.dtype}": NodeCase(
            "Col2Im",
            {"x": x, "image": np.array(image), "block": np.array(block)},
            attributes=given,
            options={"forms": ["static", "dynamic"], **(EVALUATED if x.dtype == np.int32 or len(image) > 2 else {})},
        )
        for name, (values, image, block, given) in COLUMNS.items()
        for x in (values, (values * 9).astype(np.int32))
    },
    "AffineGrid of constant transformations": NodeCase(
        "AffineGrid",
        {"size": np.array([2, 1, 3, 4])},
        {"theta": real(2, 2, 3)},
        operands="theta size",
        attributes={"align_corners": 1},
        options=DYNAMIC,
    ),
    "Resize by computed factors below 1": NodeCase(
        "Resize", {"x": real(2, 1, 3, 4), "scales": np.array([2, 1.5, 3, 0.6], np.float32)}, options=WITH_RANK | {"opset": 10}
    ),
    "Resize of a constant in a region of dynamic rank": NodeCase(
        "Resize",
        {"roi": np.array([0, 0, 0, 0.1, 1, 1, 0.8, 1], np.float32)},
        {"x": real(1, 1, 3, 3), "scales": np.array([1, 1, 0.6, 0.5], np.float32)},
        operands="x roi scales",
        attributes={"coordinate_transformation_mode": "tf_crop_and_resize", "mode": "linear"},
        options=WITHOUT_RANK | {"opset": 18},
    ),
    "Resize of a volume of dynamic rank": NodeCase(
        "Resize",
        {"x": real(1, 2, 3, 4, 2)},
        {"scales": np.array([1, 1.5, 2, 3, 1], np.float32)},
        operands="x - scales",
        attributes={"nearest_mode": "round_prefer_ceil"},
        options=WITHOUT_RANK | {"opset": 19},
    ),
    "RoiAlign of constants": NodeCase(
        "RoiAlign",
        {},
        {"x": real(2, 1, 6, 7), "rois": np.array([[0, 1, 4, 5], [1, 0, 6, 3.5]], np.float32), "batch": np.array([1, 0])},
        attributes={"mode": "max", "output_height": 2, "output_width": 3, "sampling_ratio": 2},
        options=STATIC | {"opset": 16},
    ),
    "Resize to one element of an axis of dynamic rank": NodeCase(
        "Resize",
        {"x": real(2, 2, 3)},
        {"sizes": np.array([1, 3, 2])},
        operands="x - - sizes",
        attributes={"mode": "nearest", "coordinate_transformation_mode": "align_corners", "nearest_mode": "floor"},
        options=COMPLETE | WITHOUT_RANK,
    ),
    "Resize of a region to its end": NodeCase(
        "Resize",
        {"x": real(1, 2, 4, 4), "r": np.array([0, 0, 1, 1], np.float32)},
        {"s": np.array([0.5, 2], np.float32)},
        operands="x r s",
        attributes={"axes": [2, 3], "coordinate_transformation_mode": "tf_crop_and_resize", "mode": "linear"},
        options=COMPLETE | DYNAMIC,
    ),
    "Resize of the batch to the nearest element": NodeCase(
        "Resize",
        {"x": np.arange(30).reshape(2, 3, 1, 5).astype(np.uint8)},
        {"scales": np.array([0.6, 1, 1, 0.6], np.float32)},
        operands="x - scales",
        attributes={"mode": "nearest", "coordinate_transformation_mode": "pytorch_half_pixel", "nearest_mode": "floor"},
        options=COMPLETE | STATIC,
    ),
    "Resize to fewer elements, the nearest ones": NodeCase(
        "Resize",
        {"x": real(2, 3, 5)},
        {"scales": np.array([0.6, 1, 0.6], np.float32)},
        attributes={"mode": "nearest"},
        options=COMPLETE | STATIC | {"opset": 10},
    ),
    "Resize of images of dynamic rank to a constant number": NodeCase(
        "Resize",
        {"x": np.arange(80).reshape(1, 4, 5, 4).astype(np.uint8)},
        {"sizes": np.array([2, 12, 10, 4])},
        operands="x - - sizes",
        attributes={"mode": "nearest"},
        options=COMPLETE | WITHOUT_RANK,
    ),
    "Resize of images of dynamic rank to more images": NodeCase(
        "Resize",
        {"x": real(2, 1, 3, 2)},
        {"scales": np.array([2, 1, 1, 3], np.float32)},
        operands="x - scales",
        attributes={"mode": "nearest"},
        options=COMPLETE | WITHOUT_RANK,
    ),
}


@pytest.mark.parametrize("case", NODES.values(), ids=NODES)
def test_node(case: NodeCase) -> None:
    case.check()


@pytest.mark.parametrize(
    ("kind", "operands", "inputs"),
    [
        ("Resize", ["x", "", "", "sizes"], {"x": real(2, 1, 3, 3), "sizes": np.array([4, 1, 6, 6])}),
        ("GridSample", ["x", "grid"], {"x": real(1, 1, 2, 3, 2), "grid": real(1, 2, 2, 2, 3)}),
    ],
)
def test_what_depends_on_an_unknown_rank_is_refused(kind: str, operands: Sequence[str], inputs: dict[str, Any]) -> None:
    with pytest.raises(ConversionError, match="the rank of operand 0 is dynamic"):
        check([node(kind, operands, ["y"])], inputs, forms=["rank"], opset=22, expected=[])
