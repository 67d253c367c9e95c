"""Nodes that random testing found to be wrong: attention."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.onnx.node_case import COMPLETE, DYNAMIC, EVALUATED, STATIC, WITHOUT_RANK, NodeCase, normal_numbers

real = normal_numbers(np.random.default_rng(3))

CASES: dict[str, NodeCase] = {
    "RotaryEmbedding of unknown rank": NodeCase(
        "RotaryEmbedding", {"x": real(1, 2, 3, 8)}, {"cos": real(1, 3, 4), "sin": real(1, 3, 4)}, options=WITHOUT_RANK | {"opset": 23}
    ),
    "Attention with a window that leaves queries nothing": NodeCase(
        "Attention",
        {"q": real(1, 2, 6, 4), "k": real(1, 2, 3, 4), "v": real(1, 2, 3, 5)},
        attributes={"left_window_size": 1, "softcap": 2.0},
        options=STATIC | {"opset": 25},
    ),
    "Attention to one constant key": NodeCase(
        "Attention",
        {"q": real(1, 1, 2, 4), "v": real(1, 1, 1, 3)},
        {"k": real(1, 1, 1, 4), "n": np.array([1])},
        operands="q k v - - - n",
        attributes={"softcap": 2.0, "scale": 0.1},
        options=COMPLETE | DYNAMIC | EVALUATED | {"opset": 24},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: NodeCase) -> None:
    case.check()
