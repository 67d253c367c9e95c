"""Nodes that random testing found to be wrong: resizing, sampling and columns of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.node_case import COMPLETE, DYNAMIC, EVALUATED, STATIC, WITH_RANK, WITHOUT_RANK, NodeCase, normal_numbers
from tests.numerical.runtime import Array

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
    "to nothing": resizing(real(1, 2, 1, 3), {"scales": np.array([1, 1, 0.6, 1], np.float32)}, mode="linear"),
}

COLUMNS = {
    "Col2Im of a line": (real(2, 6, 4), [5], [2], {"strides": [1], "dilations": [1]}),
    "Col2Im of images": (real(1, 12, 16), [4, 5], [2, 3], {"pads": [0, 1, 1, 0]}),
    "Col2Im of volumes": (real(1, 12, 8), [3, 4, 3], [1, 3, 2], {"pads": [0, 0, 0, 1, 0, 0], "dilations": [1, 1, 2]}),
}

CASES: dict[str, NodeCase] = {
    "Upsample of booleans": NodeCase(
        "Upsample",
        {"x": np.eye(3, dtype=bool)[None, None]},
        {"s": np.array([1, 1, 2, 2], np.float32)},
        attributes={"mode": "nearest"},
        options=WITH_RANK | {"opset": 9, "expected": [np.kron(np.eye(3), np.ones((2, 2))).astype(bool)[None, None]]},
    ),
    "NonMaxSuppression of boxes of unknown size": NodeCase(
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
    "Resize of a constant in a region of unknown rank": NodeCase(
        "Resize",
        {"roi": np.array([0, 0, 0, 0.1, 1, 1, 0.8, 1], np.float32)},
        {"x": real(1, 1, 3, 3), "scales": np.array([1, 1, 0.6, 0.5], np.float32)},
        operands="x roi scales",
        attributes={"coordinate_transformation_mode": "tf_crop_and_resize", "mode": "linear"},
        options=WITHOUT_RANK | {"opset": 18},
    ),
    "Resize of a volume of unknown rank": NodeCase(
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
    "Resize to one element of an axis of unknown rank": NodeCase(
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
    "Resize of images of unknown rank to a constant number": NodeCase(
        "Resize",
        {"x": np.arange(80).reshape(1, 4, 5, 4).astype(np.uint8)},
        {"sizes": np.array([2, 12, 10, 4])},
        operands="x - - sizes",
        attributes={"mode": "nearest"},
        options=COMPLETE | WITHOUT_RANK,
    ),
    "Resize of images of unknown rank to more images": NodeCase(
        "Resize",
        {"x": real(2, 1, 3, 2)},
        {"scales": np.array([2, 1, 1, 3], np.float32)},
        operands="x - scales",
        attributes={"mode": "nearest"},
        options=COMPLETE | WITHOUT_RANK,
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: NodeCase) -> None:
    case.check()


@pytest.mark.parametrize(
    ("kind", "operands", "inputs"),
    [
        ("Resize", ["x", "", "", "sizes"], {"x": real(2, 1, 3, 3), "sizes": np.array([4, 1, 6, 6])}),
        ("GridSample", ["x", "grid"], {"x": real(1, 1, 2, 3, 2), "grid": real(1, 2, 2, 2, 3)}),
    ],
)
def test_what_depends_on_an_unknown_rank_is_refused(kind: str, operands: Sequence[str], inputs: dict[str, Any]) -> None:
    with pytest.raises(ConversionError, match="the rank of operand 0 is unknown"):
        check([node(kind, operands, ["y"])], inputs, forms=["rank"], opset=22, expected=[])
