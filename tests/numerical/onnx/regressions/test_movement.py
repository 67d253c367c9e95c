"""Nodes that random testing found to be wrong: movement of elements."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.node_case import COMPLETE, DYNAMIC, EVALUATED, STATIC, WITH_RANK, WITHOUT_RANK, NodeCase, normal_numbers

RANDOM = np.random.default_rng(12)
real = normal_numbers(RANDOM)

WORDS = np.array([["a", "Bc", ""], ["Ä", "x y", "e"]], dtype=object)

STRINGS = {
    "Split": NodeCase("Split", {"x": WORDS}, attributes={"axis": 0}, options=WITH_RANK | {"opset": 13}),
    "Tile": NodeCase("Tile", {"x": WORDS}, {"n": np.array([2, 1])}, options=EVALUATED | WITH_RANK),
    "Expand": NodeCase("Expand", {"x": WORDS}, {"n": np.array([2, 2, 3])}, options=EVALUATED | WITH_RANK),
    "GatherElements": NodeCase("GatherElements", {"x": WORDS, "i": np.array([[0, 1, 1], [1, 0, 1]])}, options=WITH_RANK),
    "GatherND": NodeCase("GatherND", {"x": WORDS}, {"i": np.array([[0, 2], [1, 0]])}, options=WITH_RANK),
    "ScatterND": NodeCase(
        "ScatterND", {"x": WORDS, "i": np.array([[0, 2], [1, 0]]), "u": np.array(["new", ""], object)}, options=EVALUATED | WITH_RANK
    ),
    "Pad": NodeCase("Pad", {"x": WORDS}, {"p": np.array([0, 1, 1, 0])}, attributes={"mode": "edge"}, options=EVALUATED | WITH_RANK),
}

CASES: dict[str, NodeCase] = {
    **{f"{name} of strings": case for name, case in STRINGS.items()},
    "Compress by nothing": NodeCase("Compress", {"x": real(2, 3)}, {"c": np.array([False, False])}, attributes={"axis": 1}),
    "CenterCropPad": NodeCase(
        "CenterCropPad",
        {"x": real(2, 5, 4)},
        {"s": np.array([3, 7], np.int32)},
        attributes={"axes": [1, 2]},
        options=EVALUATED | WITH_RANK | {"opset": 18},
    ),
    "Expand to a scalar": NodeCase("Expand", {"x": np.array(3.5, np.float32), "shape": np.zeros(0, np.int64)}, options=STATIC),
    "CenterCropPad of an unknown rank": NodeCase(
        "CenterCropPad", {"x": real(3, 4, 5), "shape": np.array([6, 2])}, attributes={"axes": [-1, 0]}, options=WITHOUT_RANK | EVALUATED
    ),
    "Pad of f4": NodeCase(
        "Pad",
        {"x": np.array([1, -2, 6], ml_dtypes.float4_e2m1fn), "pads": np.array([1, 1])},
        attributes={"mode": "edge"},
        options={"opset": 25} | EVALUATED,
    ),
    "Transpose of i4": NodeCase(
        "Transpose",
        {"x": np.array(RANDOM.integers(-8, 7, (3, 5, 3)), ml_dtypes.int4)},
        attributes={"perm": [2, 0, 1]},
        options=STATIC | EVALUATED,
    ),
    "Concat with nothing": NodeCase(
        "Concat", {"a": np.zeros((0, 4), np.int16)}, {"b": np.zeros((0, 3), np.int16)}, attributes={"axis": 1}, options=DYNAMIC
    ),
    "Transpose of f4": NodeCase(
        "Transpose",
        {"x": RANDOM.integers(0, 7, (2, 3, 4, 2, 2)).astype(ml_dtypes.float4_e2m1fn)},
        attributes={"perm": [0, 4, 3, 1, 2]},
        options=EVALUATED | WITH_RANK | {"opset": 25},
    ),
    "Pad of f8 with a computed value": NodeCase(
        "Pad",
        {"x": np.ones((2, 3), ml_dtypes.float8_e5m2), "pads": np.array([1, 0, 0, 2]), "value": np.array(3, ml_dtypes.float8_e5m2)},
        options=STATIC | EVALUATED | {"opset": 23},
    ),
    "Expand of a scalar to a scalar": NodeCase("Expand", {"x": np.array(2.5, np.float32)}, {"shape": np.zeros(0, np.int64)}),
    "Pad of u2 by repetition": NodeCase(
        "Pad",
        {"pads": np.array([1, 0, 0, 2])},
        {"x": RANDOM.integers(0, 3, (2, 3)).astype(ml_dtypes.uint2)},
        operands="x pads",
        attributes={"mode": "wrap"},
        options=DYNAMIC | EVALUATED | {"opset": 25},
    ),
    "Pad that cuts off added elements": NodeCase(
        "Pad", {}, {"x": np.zeros((2, 0), np.float32)}, attributes={"pads": [0, -1, 0, 3]}, options=COMPLETE | STATIC | {"opset": 2}
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: NodeCase) -> None:
    case.check()


def test_lengths_of_parts_in_a_list_of_unknown_length() -> None:
    nodes = [node("Split", ["x", "lengths"], ["a", "b", "c"]), node("Concat", ["c", "a", "b"], ["y"], axis=0)]
    check(nodes, {"x": real(6), "lengths": np.array([1, 3, 2])}, forms=["dynamic", "rank"])
