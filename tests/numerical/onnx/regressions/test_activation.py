"""Nodes that random testing found to be wrong: activations."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.onnx.node_case import COMPLETE, EVALUATED, STATIC, NodeCase, normal_numbers
from tests.numerical.runtime import Array

real = normal_numbers(np.random.default_rng(1))

ZERO_PARAMETERS = {
    f"{kind} with {name} = 0": NodeCase(kind, {"x": real(5)}, attributes={name: 0.0})
    for kind, name in (("HardSigmoid", "alpha"), ("HardSigmoid", "beta"), ("Selu", "alpha"), ("Selu", "gamma"))
}

LARGE = np.array([8.5, 65504, -0.25, -2.45, 2], np.float16)


def celu(x: Array, alpha: float) -> Array:
    """The definition of Celu, in f64."""
    wide = x.astype(np.float64)
    with np.errstate(over="ignore"):
        return (np.maximum(wide, 0) + np.minimum(alpha * (np.exp(wide / alpha) - 1), 0)).astype(x.dtype)


CASES: dict[str, NodeCase] = {
    **ZERO_PARAMETERS,
    "Hardmax of a list": NodeCase("Hardmax", {"x": real(4)}, attributes={"axis": 0}),
    "Clip of NaN by a computed limit": NodeCase("Clip", {"x": np.array([np.nan, 3, -3], np.float32), "low": np.array(-1, np.float32)}),
    "PRelu of a scalar": NodeCase("PRelu", {"x": np.array(-2, np.float32), "slope": np.array(3, np.float32)}, options={"opset": 16}),
    "PRelu of a positive number with NaN": NodeCase(
        "PRelu", {"slope": np.array(np.nan, np.float32)}, {"x": np.array(2, np.float32)}, operands="x slope", options={"opset": 16}
    ),
    "Shrink of small unsigned integers": NodeCase(
        "Shrink",
        {"x": np.array([0, 1, 2, 200], np.uint8)},
        attributes={"lambd": 0.5, "bias": 2.0},
        options={"expected": [np.array([0, 255, 0, 198], np.uint8)]},
    ),
    "Relu of large integers": NodeCase("Relu", {"x": np.array([2**31 - 2, -5, 2**31 - 1], np.int32)}),
    **{
        f"Celu of f16 with alpha {alpha}": NodeCase(
            "Celu", {}, {"x": LARGE}, attributes={"alpha": alpha}, options=STATIC | {"expected": [celu(LARGE, alpha)]}
        )
        for alpha in (1e-5, -0.2)
    },
    "Clip of a constant list with a computed limit": NodeCase(
        "Clip",
        {"m": np.array(0, np.uint16)},
        {"x": np.array([0], np.uint16), "h": np.array(9, np.uint16)},
        operands="x m h",
        options=COMPLETE | STATIC | EVALUATED,
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: NodeCase) -> None:
    case.check()
