"""Nodes that random testing found to be wrong: shapes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.onnx.node_case import COMPLETE, STATIC, NodeCase, normal_numbers

real = normal_numbers(np.random.default_rng(19))

CASES: dict[str, NodeCase] = {
    "Squeeze of computed axes": NodeCase("Squeeze", {"x": real(1, 3, 1), "axes": np.array([0, -1])}, options=STATIC),
    "Squeeze of all axes": NodeCase("Squeeze", {"x": real(1, 1), "axes": np.array([1, 0])}, options=STATIC),
    "Squeeze of an unknown rank": NodeCase("Squeeze", {"x": real(3, 1)}, options=STATIC),
    "Flatten of an empty tensor": NodeCase("Flatten", {"x": np.zeros((4, 2, 0, 3), np.float32)}, attributes={"axis": 3}),
    "Reshape of a constant to sizes that it has": NodeCase(
        "Reshape", {"s": np.array([0, -1, 0])}, {"x": real(3, 2, 5)}, operands="x s", options=COMPLETE | STATIC
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: NodeCase) -> None:
    case.check()
