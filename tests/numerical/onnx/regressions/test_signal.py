"""Nodes that random testing found to be wrong: transforms of signals."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.onnx.node_case import EVALUATED, WITH_RANK, WITHOUT_RANK, NodeCase, normal_numbers

real = normal_numbers(np.random.default_rng(20))

CASES: dict[str, NodeCase] = {
    "DFT, onesided, longer than the data": NodeCase(
        "DFT",
        {"x": real(1, 10, 1)},
        {"n": np.array(16)},
        operands="x n",
        attributes={"onesided": 1},
        options=EVALUATED | WITH_RANK | {"opset": 19, "atol": 1e-4},
    ),
    "DFT of f64": NodeCase("DFT", {"x": real(1, 10, 1).astype(np.float64)}, options=EVALUATED | WITH_RANK | {"opset": 19, "atol": 1e-4}),
    "DFT of complex numbers": NodeCase("DFT", {"x": real(2, 6, 2)}, options=EVALUATED | WITH_RANK | {"opset": 19}),
    "DFT along a computed axis": NodeCase(
        "DFT", {"x": real(2, 6, 5, 2), "a": np.array(-3)}, operands="x - a", options=EVALUATED | WITH_RANK | {"opset": 20}
    ),
    "STFT with a step of i32": NodeCase(
        "STFT", {"x": real(1, 64, 1)}, {"s": np.array(8, np.int32), "w": np.hanning(16).astype(np.float32)}, options=EVALUATED
    ),
    "STFT with a window of unknown rank": NodeCase(
        "STFT",
        {"window": real(4)},
        {"x": real(1, 13, 1), "step": np.array(2)},
        operands="x step window",
        attributes={"onesided": 0},
        options=WITHOUT_RANK | {"opset": 17},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: NodeCase) -> None:
    case.check()
