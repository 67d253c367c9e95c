"""Unique, NonZero and OneHot of ONNX, against ONNX Runtime."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.onnx.node_case import EVALUATED, STATIC, WITH_RANK, WITHOUT_RANK, NodeCase, normal_numbers

real = normal_numbers(np.random.default_rng(18))

TEXTS = np.array([["a", ""], ["Ä", "bc"], ["", "d"]], dtype=object)

NODES: dict[str, NodeCase] = {
    "Unique of an empty tensor": NodeCase("Unique", {"x": np.zeros((0, 3), np.float32)}, options=STATIC),
    "OneHot of 8-bit indices": NodeCase(
        "OneHot", {"x": np.array([0, 3, -1, 7], np.int8)}, {"d": np.array(5), "v": real(2)}, operands="x d v", options=EVALUATED
    ),
    "NonZero of strings": NodeCase("NonZero", {"x": np.array([["a", ""], ["", "b"]], object)}, options=EVALUATED | WITH_RANK),
    "NonZero of a scalar": NodeCase("NonZero", {"x": np.array(3, np.int32)}, options=STATIC | {"expected": [np.zeros((0, 1), np.int64)]}),
    "OneHot of strings": NodeCase(
        "OneHot",
        {"indices": np.array([[0, 2], [-2, 1]]), "depth": np.array(3), "values": np.array(["off", "on"], dtype=object)},
        operands="indices depth values",
        options={"opset": 11},
    ),
    **{
        f"NonZero of {shape} of any rank": NodeCase(
            "NonZero", {"x": np.ones(shape, np.float32)}, options=WITHOUT_RANK | {"expected": [np.stack(np.nonzero(np.ones(shape)))]}
        )
        for shape in ((2, 3), (4,))
    },
    "NonZero of a scalar of any rank": NodeCase(
        "NonZero", {"x": np.array(2, np.float32)}, options=WITHOUT_RANK | {"expected": [np.zeros((0, 1), np.int64)]}
    ),
    "NonZero of many constant strings": NodeCase("NonZero", {}, {"x": np.tile(TEXTS, (50, 3))}, operands="x", options=STATIC | EVALUATED),
}


@pytest.mark.parametrize("case", NODES.values(), ids=NODES)
def test_node(case: NodeCase) -> None:
    case.check()
