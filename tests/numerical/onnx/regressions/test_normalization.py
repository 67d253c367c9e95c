"""Nodes that random testing found to be wrong: normalization."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.node_case import COMPLETE, DYNAMIC, EVALUATED, STATIC, WITH_RANK, NodeCase, normal_numbers

real = normal_numbers(np.random.default_rng(13))

ZERO_MATRIX = np.zeros((2, 2), np.float32)

CASES: dict[str, NodeCase] = {
    "LRN of an unknown number of channels": NodeCase("LRN", {"x": real(2, 6, 2, 5)}, attributes={"size": 5, "bias": 2.0, "alpha": 0.5}),
    "LpNormalization of f16": NodeCase(
        "LpNormalization", {"x": np.array([[-1, -0.5, 0, 1]], np.float16)}, attributes={"axis": 0}, options=EVALUATED | WITH_RANK
    ),
    "BatchNormalization of no channel": NodeCase(
        "BatchNormalization",
        {"x": np.zeros((2, 0), np.float32)},
        {name: np.zeros(0, np.float32) for name in ("scale", "bias", "mean", "variance")},
        options={"opset": 14, "expected": [np.zeros((2, 0), np.float32)]},
    ),
    "BatchNormalization of no channel, as the bias says": NodeCase(
        "BatchNormalization",
        {
            "x": np.zeros((2, 0), np.float32),
            "scale": np.zeros(0, np.float32),
            "mean": np.zeros(0, np.float32),
            "v": np.zeros(0, np.float32),
        },
        {"bias": np.zeros(0, np.float32)},
        operands="x scale bias mean v",
        options=DYNAMIC | {"opset": 14, "expected": [np.zeros((2, 0), np.float32)]},
    ),
    "LpNormalization of f16 whose sum is infinite": NodeCase(
        "LpNormalization", {}, {"x": np.array([65504, 0, -60000, 1], np.float16)}, attributes={"p": 1}, options=STATIC
    ),
    "LpNormalization of small numbers": NodeCase(
        "LpNormalization", {"x": np.array([3e-26, 0, -1e-26], np.float32)}, attributes={"p": 1}, options=COMPLETE | STATIC
    ),
    "LpNormalization of zeros": NodeCase("LpNormalization", {"x": ZERO_MATRIX}, attributes={"p": 1}, options=COMPLETE | STATIC),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: NodeCase) -> None:
    case.check()


def test_normalization_of_equal_halves() -> None:
    """With an epsilon that f16 does not have, as that of BERT."""
    inputs = {"x": np.full((2, 4), 2.738, np.float16), "s": np.ones(4, np.float16), "b": np.arange(4).astype(np.float16)}
    check([node("LayerNormalization", ["x", "s", "b"], ["y"], epsilon=1e-12)], inputs, atol=1e-2)
