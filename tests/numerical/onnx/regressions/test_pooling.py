"""Nodes that random testing found to be wrong: pooling."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.numerical.onnx.node_case import COMPLETE, EVALUATED, STATIC, WITH_RANK, NodeCase, normal_numbers

real = normal_numbers(np.random.default_rng(14))

HALVES = (np.arange(24).reshape(2, 3, 4) * 2).astype(np.float16)

CASES: dict[str, NodeCase] = {
    "MaxPool of bf16 with dilations": NodeCase(
        "MaxPool",
        {"x": real(1, 2, 6, 5).astype(ml_dtypes.bfloat16)},
        attributes={"kernel_shape": [2, 2], "dilations": [2, 1]},
        options=EVALUATED | WITH_RANK | {"opset": 22},
    ),
    "AveragePool with ceil_mode and padding that counts": NodeCase(
        "AveragePool",
        {"x": real(2, 2, 4, 4, 3)},
        attributes={"ceil_mode": 1, "count_include_pad": 1, "kernel_shape": [3, 2, 1], "pads": [0, 1, 0, 1, 0, 0], "strides": [2, 2, 3]},
        options=STATIC | {"opset": 19},
    ),
    "GlobalLpPool whose powers f16 does not have": NodeCase(
        "GlobalLpPool", {}, {"x": HALVES}, attributes={"p": 3}, options=COMPLETE | STATIC
    ),
    "LpPool whose powers f16 does not have": NodeCase(
        "LpPool", {}, {"x": HALVES}, attributes={"p": 3, "kernel_shape": [2]}, options=COMPLETE | STATIC | {"opset": 22}
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: NodeCase) -> None:
    case.check()
