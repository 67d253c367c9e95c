"""Earlier versions of operations, and operations that few models have: types and values against the runtime."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import openvino
import pytest
from openvino import opset14

from moir.errors import InferenceError
from tests.unit.dialects.opset.runtime_reference import evaluate_with_moir, evaluate_with_runtime, infer_with_moir, infer_with_runtime

F32 = np.float32
RANDOM = np.random.default_rng(12)
DATA = RANDOM.normal(size=(2, 3, 4)).astype(F32)
TABLE = RANDOM.normal(size=(5, 2)).astype(F32)


def ints(*values: Any) -> np.ndarray[Any, Any]:
    return np.array(values[0] if len(values) == 1 and isinstance(values[0], list) else values, np.int64)


def scalar(value: int) -> np.ndarray[Any, Any]:
    return np.array(value, np.int64)


VALUES: list[tuple[str, list[Any], dict[str, Any], int]] = [
    ("opset1.Gather", [DATA, ints([[0, 2], [1, 1]]), scalar(1)], {}, 1),
    ("opset7.Gather", [DATA, ints([[0, 2], [1, 1]]), scalar(1)], {"batch_dims": 1}, 1),
    ("opset5.GatherND", [DATA, ints([[[1], [2], [0]], [[3], [0], [1]]])], {"batch_dims": 2}, 1),
    ("opset5.GatherND", [DATA, ints([[1, 2], [0, 0]])], {"batch_dims": 0}, 1),
    ("opset3.ScatterElementsUpdate", [DATA[0], ints([[2, 0]]), np.array([[7, 8]], F32), scalar(0)], {}, 1),
    ("opset4.ScatterNDUpdate", [DATA[0], ints([[2], [0]]), DATA[1, :2]], {}, 1),
    ("opset1.Broadcast", [DATA[0, 0], ints(2, 4, 3), ints([1])], {"mode": "explicit"}, 1),
    ("opset1.Broadcast", [DATA[0, 0], ints(2, 3, 4)], {"mode": "numpy"}, 1),
    ("opset1.Pad", [DATA[0], ints(1, 0), ints(0, 2), np.array(0.5, F32)], {"pad_mode": "constant"}, 1),
    ("opset1.Pad", [DATA[0], ints(1, 2), ints(1, 1)], {"pad_mode": "reflect"}, 1),
    ("opset1.ShapeOf", [DATA], {}, 1),
    ("opset1.Range", [scalar(9), scalar(1), scalar(-3)], {}, 1),
    ("opset1.Range", [np.array(0.5, F32), np.array(2, F32), np.array(0.25, F32)], {}, 1),
    *[
        (f"opset{version}.TopK", [DATA[0], scalar(2)], {"axis": 1, "mode": mode, "sort": "value", "index_element_type": "i64"}, 2)
        for version in (1, 3)
        for mode in ("max", "min")
    ],
    ("opset1.Xor", [DATA[0] > 0, DATA[1, 0] > 0], {}, 1),
    (
        "opset1.BatchNormInference",
        [*RANDOM.normal(size=(2, 3)).astype(F32), DATA, RANDOM.normal(size=3).astype(F32), np.abs(DATA[0, :, 0])],
        {"epsilon": 0.01},
        1,
    ),
    ("opset2.MVN", [DATA[None]], {"eps": 0.001, "normalize_variance": True}, 1),
    ("opset2.MVN", [DATA[None]], {"eps": 0.001, "normalize_variance": True, "across_channels": True}, 1),
    ("opset3.EmbeddingBagOffsetsSum", [TABLE, ints(0, 2, 3, 4), ints(0, 2, 2)], {}, 1),
    ("opset15.EmbeddingBagOffsets", [TABLE, ints(0, 2, 3, 4), ints(0, 2, 2)], {"reduction": "mean"}, 1),
    ("opset3.EmbeddingBagPackedSum", [TABLE, ints([[0, 2], [3, 4]])], {}, 1),
    ("opset15.EmbeddingBagPacked", [TABLE, ints([[0, 2], [3, 4]])], {"reduction": "mean"}, 1),
    ("opset14.ConvertPromoteTypes", [DATA, ints(1, 2, 3, 4)], {"promote_unsafe": True}, 2),
]


@pytest.mark.parametrize(("name", "operands", "properties", "results"), VALUES, ids=[case[0] for case in VALUES])
def test_values_are_those_of_the_runtime(name: str, operands: list[Any], properties: dict[str, Any], results: int) -> None:
    expected = evaluate_with_runtime(name, operands, properties, results)
    actual = evaluate_with_moir(name, operands, properties, results)
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


BOXES, SCORES = ("f32", (2, 6, 4)), ("f32", (2, 3, 6))
ANY = ("f32", None)

TYPES: list[tuple[str, list[Any], dict[str, Any], int]] = [
    ("opset1.NonMaxSuppression", [BOXES, SCORES, scalar(1)], {}, 1),
    ("opset1.NonMaxSuppression", [BOXES, SCORES], {}, 1),
    ("opset3.NonMaxSuppression", [BOXES, SCORES, scalar(9)], {"output_type": "i32"}, 1),
    ("opset4.NonMaxSuppression", [BOXES, SCORES, scalar(4)], {}, 1),
    *[(f"opset{version}.NonMaxSuppression", [BOXES, SCORES], {}, 1) for version in (3, 4)],
    *[(f"opset{version}.NonMaxSuppression", [BOXES, SCORES], {}, 3) for version in (5, 9)],
    ("opset4.NonMaxSuppression", [ANY, SCORES, scalar(4)], {}, 1),
    ("opset5.NonMaxSuppression", [BOXES, ANY, scalar(4)], {}, 3),
    ("opset9.MulticlassNms", [BOXES, SCORES], {"nms_top_k": 2, "keep_top_k": 3}, 3),
    ("opset9.MulticlassNms", [("f32", (3, 6, 4)), ("f32", (3, 6)), ("i32", (-1,))], {}, 3),
    ("opset1.Interpolate", [("f32", (1, 3, -1, 9)), ints(16, 5)], {"mode": "linear", "axes": (2, 3), "pads_begin": (1,)}, 1),
    ("opset1.Interpolate", [("f32", (1, 3, 8, 9)), ("i64", (2,))], {"mode": "cubic", "axes": (2, 3)}, 1),
    ("opset1.LSTMCell", [("f32", (2, -1)), ("f32", (2, 4)), ANY, ("f32", (16, 3)), ("f32", (16, 4))], {"hidden_size": 4}, 2),
    ("opset15.EmbeddingBagOffsets", [("f32", (5, 2, 3)), ("i32", (-1,)), ("i32", (-1,)), ("i32", ())], {}, 1),
    ("opset3.EmbeddingBagPackedSum", [("f32", (-1, 2)), ("i64", None), ("f32", (4, 3))], {}, 1),
    ("opset6.ExperimentalDetectronPriorGridGenerator", [("f32", (3, 4)), ("f32", (1, 8, -1, 5)), ("f32", (1, 3, 64, 80))], {"h": 4}, 1),
    ("opset6.ExperimentalDetectronROIFeatureExtractor", [("f32", (-1, 4)), ("f32", (1, 8, 16, 16))], {"output_size": 7}, 2),
    (
        "opset9.GenerateProposals",
        [("f32", (1, 4)), ANY, ("f32", (1, 12, 4, 5)), ANY],
        {"min_size": 1.0, "nms_threshold": 0.5, "pre_nms_count": 20, "post_nms_count": 9, "roi_num_type": "i32"},
        3,
    ),
    (
        "opset1.BinaryConvolution",
        [("f32", (1, 3, 9, 8)), ("u1", (4, 3, 3, 2))],
        {
            "strides": (1, 1),
            "dilations": (1, 1),
            "pads_begin": (1, 1),
            "pads_end": (0, 0),
            "mode": "xnor-popcount",
            "pad_value": 0.0,
            "auto_pad": "same_upper",
        },
        1,
    ),
    *[(f"opset8.{kind}", [("u8", (1, 6, 4, 1))], {}, 1) for kind in ("I420toBGR", "I420toRGB", "NV12toBGR", "NV12toRGB")],
    *[(f"opset8.{kind}", [("f32", (1, -1, 4, 1)), ("f32", (-1, 3, 2, 2))], {}, 1) for kind in ("NV12toBGR", "NV12toRGB")],
    *[
        (f"opset17.{kind}", [("u8", (1, 4, -1, 3))], {"single_plane": single}, 2 - single)
        for kind in ("BGRtoNV12", "RGBtoNV12")
        for single in (True, False)
    ],
    ("opset17.GroupedMatMul", [("f32", (3, 8, 4)), ("f32", (3, 6, -1))], {}, 1),
    ("opset17.GroupedMatMul", [("f32", (-1, 4)), ("f32", (3, 6, -1)), ("i64", (3,))], {}, 1),
    (
        "opset1.DeformablePSROIPooling",
        [("f32", (1, 8, 6, 7)), ("f32", (-1, 5))],
        {"output_dim": 2, "spatial_scale": 0.5, "group_size": 2},
        1,
    ),
    (
        "opset1.DetectionOutput",
        [("f32", (2, 40)), ("f32", (2, -1)), ("f32", (1, 2, -1))],
        {"num_classes": 2, "keep_top_k": (-1,), "nms_threshold": 0.4, "top_k": 7},
        1,
    ),
    (
        "opset1.Proposal",
        [("f32", (-1, 12, 4, 5)), ANY, ("f32", (3,))],
        {
            "base_size": 16,
            "pre_nms_topn": 20,
            "post_nms_topn": 10,
            "nms_thresh": 0.7,
            "feat_stride": 16,
            "min_size": 8,
            "ratio": (1.0,),
            "scale": (2.0,),
        },
        1,
    ),
]


@pytest.mark.parametrize(("name", "operands", "properties", "results"), TYPES, ids=[case[0] for case in TYPES])
def test_types_are_those_of_the_runtime(name: str, operands: list[Any], properties: dict[str, Any], results: int) -> None:
    assert infer_with_moir(name, operands, properties, results) == infer_with_runtime(name, operands, properties, results)


ELEMENTS = (
    "boolean",
    "u8",
    "u16",
    "u32",
    "u64",
    "i8",
    "i16",
    "i32",
    "i64",
    "f8e4m3",
    "f8e5m2",
    "f16",
    "bf16",
    "f32",
    "f64",
    "u4",
    "i4",
    "string",
)


def promoted_by_runtime(operands: list[Any], properties: dict[str, Any]) -> Any:
    """The types of both results, or `refused`; not from XML, for these are many."""
    try:
        sources = [openvino.op.Parameter(getattr(openvino.Type, name), shape_of_runtime(shape)) for name, shape in operands]
        node = opset14.convert_promote_types(*sources, **properties)
    except RuntimeError:
        return "refused"
    return [port.get_element_type().get_type_name() for port in node.outputs()]


def shape_of_runtime(shape: tuple[int, ...] | None) -> openvino.PartialShape:
    return openvino.PartialShape.dynamic() if shape is None else openvino.PartialShape(list(shape))


@pytest.mark.parametrize("shapes", [((2, 3), (2, 3)), ((2, 3), ()), ((), (3,)), ((), ()), (None, ())], ids=str)
@pytest.mark.parametrize("unsafe", [False, True])
@pytest.mark.parametrize("scalars", [False, True])
def test_element_types_are_promoted_as_by_the_runtime(shapes: Any, unsafe: bool, scalars: bool) -> None:
    properties = {"promote_unsafe": unsafe, "pytorch_scalar_promotion": scalars, "u64_integer_promotion_target": "f16"}
    for a, b in product(ELEMENTS, ELEMENTS):
        operands = [(a, shapes[0]), (b, shapes[1])]
        try:
            actual: Any = [element for _, element in infer_with_moir("opset14.ConvertPromoteTypes", operands, properties, 2)]
        except InferenceError:
            actual = "refused"
        assert actual == promoted_by_runtime(operands, properties), (a, b)
