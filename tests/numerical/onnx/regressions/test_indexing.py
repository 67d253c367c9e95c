"""Nodes that random testing found to be wrong: elements by index."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.numerical.onnx.node_case import EVALUATED, STATIC, WITH_RANK, NodeCase, normal_numbers

RANDOM = np.random.default_rng(9)
real = normal_numbers(RANDOM)

SMALLER_INDICES = {
    f"GatherElements along {axis}": NodeCase(
        "GatherElements", {"x": real(3, 4, 5), "i": RANDOM.integers(0, 3, shape)}, attributes={"axis": axis}
    )
    for axis, shape in ((0, (2, 3, 2)), (1, (2, 6, 5)), (-1, (3, 2, 2)))
}

CASES: dict[str, NodeCase] = {
    **SMALLER_INDICES,
    "GatherND of one coordinate": NodeCase(
        "GatherND",
        {"i": RANDOM.integers(-4, 4, (2, 3, 1))},
        {"x": real(2, 4)},
        operands="x i",
        attributes={"batch_dims": 1},
        options={"forms": ["dynamic", "rank"]},
    ),
    "TensorScatter of f4": NodeCase(
        "TensorScatter",
        {"x": np.zeros((1, 1, 3, 1), ml_dtypes.float4_e2m1fn), "u": np.full((1, 1, 3, 1), 4, ml_dtypes.float4_e2m1fn), "i": np.array([0])},
        attributes={"axis": 1, "mode": "circular"},
        options=EVALUATED | WITH_RANK | {"opset": 25},
    ),
    "Where of booleans and a constant": NodeCase(
        "Where", {"x": np.array(True)}, {"c": np.array(True)}, operands="c x c", options=STATIC | EVALUATED
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: NodeCase) -> None:
    case.check()
