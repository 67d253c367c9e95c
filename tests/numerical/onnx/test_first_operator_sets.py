"""Operations of ONNX's first operator sets that are no part of ONNX itself, against ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node
from tests.numerical.runtime import Array

IMAGE = np.random.default_rng(0).standard_normal((1, 3, 6, 7)).astype(np.float32)


@pytest.mark.parametrize("attributes", [{"scale": 0.5}, {}])
def test_image_scaler(attributes: dict[str, Any]) -> None:
    check([node("ImageScaler", ["x"], ["y"], bias=[1.0, -2.0, 3.0], **attributes)], {"x": IMAGE}, opset=7)


@pytest.mark.parametrize(
    "attributes",
    [
        {"border": [1, 2, 1, 1]},
        {"border": [0, 0, 2, 0]},
        {"border": [0, 0, 0, 0]},
        {"border": [1, 2, 0, 0], "scale": [2, 3]},
        {"border": [1, 2, 5, 5], "scale": [4, 6]},
    ],
)
def test_crop(attributes: dict[str, Any]) -> None:
    check([node("Crop", ["x"], ["y"], **attributes)], {"x": IMAGE}, opset=7, operations=1)


@pytest.mark.parametrize(
    ("kind", "attributes", "message"),
    [
        ("Crop", {"border": [1, 2, 1]}, "4 and 2 sizes"),
        ("Crop", {"border": [4, 2, 4, 1]}, "smaller than what is cut from it"),
        ("Crop", {"border": [1, 2, 0, 0], "scale": [5, 3]}, "smaller than what is cut from it"),
        ("ImageScaler", {"bias": [1.0, 2.0]}, "2 biases for 3 channels"),
        ("ImageScaler", {"bias": [1.0]}, "1 biases for 3 channels"),
    ],
)
def test_refusal(kind: str, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConversionError, match=message):
        check([node(kind, ["x"], ["y"], **attributes)], {"x": IMAGE}, opset=7, expected=[IMAGE], forms=["static"])


def test_scale() -> None:
    check([node("Scale", ["x"], ["y"], scale=2.5)], {"x": IMAGE}, opset=7)


@pytest.mark.parametrize("axes", [np.array([3, 1], np.int64), None])
def test_dynamic_slice(axes: Array | None) -> None:
    count = 2 if axes is not None else 4
    constants = {"starts": np.array([1, 0, 0, 0][:count]), "ends": np.array([-1, 2, 99, 99][:count])}
    if axes is None:
        constants["starts"], constants["ends"] = np.array([0, 1, 2, 0]), np.array([1, 3, -1, 99])
    else:
        constants["axes"] = axes
    check([node("DynamicSlice", ["x", *constants], ["y"])], {"x": IMAGE}, constants=constants, opset=7)
