"""Nodes that random testing found to be wrong: constants, ranges and dropout."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.numerical.onnx.node_case import EVALUATED, WITH_RANK, NodeCase

RANGES = {
    f"Range of {start}, {limit}, {delta}": NodeCase("Range", {"a": np.array(start), "b": np.array(limit), "c": np.array(delta)})
    for start, limit, delta in ((0, 5, -1), (0, -5, 1), (3, 3, 1), (0, 5, 2), (5.0, 0.0, -2.0), (0.0, 5.0, -2.0))
}

CASES: dict[str, NodeCase] = {
    **RANGES,
    "Dropout of f8": NodeCase(
        "Dropout",
        {"x": np.array([1.25, -1.5], ml_dtypes.float8_e5m2), "training": np.array(False)},
        operands="x - training",
        options=EVALUATED | WITH_RANK | {"opset": 24},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: NodeCase) -> None:
    case.check()
