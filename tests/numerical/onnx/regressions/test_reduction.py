"""Nodes that random testing found to be wrong: reductions."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.numerical.onnx.node_case import EVALUATED, STATIC, WITHOUT_RANK, NodeCase, normal_numbers

real = normal_numbers(np.random.default_rng(17))

CASES: dict[str, NodeCase] = {
    "ReduceSum of bf16": NodeCase(
        "ReduceSum",
        {"x": np.ones((4, 2, 3), ml_dtypes.bfloat16), "axes": np.array([0, 2])},
        attributes={"keepdims": 0},
        options=STATIC | EVALUATED,
    ),
    "ReduceL1 along no computed axis": NodeCase("ReduceL1", {"x": real(3, 2), "axes": np.zeros(0, np.int64)}, options=WITHOUT_RANK),
    "ReduceSum of bf16 of an unknown rank": NodeCase(
        "ReduceSum",
        {"x": np.ones((2, 3, 2), ml_dtypes.bfloat16), "axes": np.array([1, -1])},
        attributes={"noop_with_empty_axes": 1},
        options=WITHOUT_RANK | EVALUATED | {"opset": 18},
    ),
    "ReduceL2 of a scalar along no computed axis": NodeCase(
        "ReduceL2", {"x": np.array(-5.5, np.float32), "axes": np.zeros(0, np.int64)}, options=WITHOUT_RANK
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: NodeCase) -> None:
    case.check()
