"""Nodes that later random testing found: numbers of 16 bits that overflow, gaps, quantization of unknown ranks."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.test_found_by_fuzzing import Case, real
from tests.numerical.runtime import Array

STATIC: dict[str, Any] = {"forms": ["static"]}
LARGE = np.array([8.5, 65504, -0.25, -2.45, 2], np.float16)


def celu(x: Array, alpha: float) -> Array:
    """The definition of Celu, in f64."""
    wide = x.astype(np.float64)
    with np.errstate(over="ignore"):
        return (np.maximum(wide, 0) + np.minimum(alpha * (np.exp(wide / alpha) - 1), 0)).astype(x.dtype)


CASES: dict[str, Case] = {
    **{
        f"Celu of f16 with alpha {alpha}": Case(
            "Celu", {}, {"x": LARGE}, options=STATIC | {"expected": [celu(LARGE, alpha)]}, attributes={"alpha": alpha}
        )
        for alpha in (1e-5, -0.2)
    },
    "LpNormalization of f16 whose sum is infinite": Case(
        "LpNormalization", {}, {"x": np.array([65504, 0, -60000, 1], np.float16)}, options=STATIC, attributes={"p": 1}
    ),
    "ConvTranspose of bf16 with gaps": Case(
        "ConvTranspose",
        {"w": real(2, 2, 2, 1).astype(ml_dtypes.bfloat16)},
        {"x": real(1, 2, 4, 5).astype(ml_dtypes.bfloat16), "b": real(2).astype(ml_dtypes.bfloat16)},
        "x w b",
        STATIC | {"reference": "onnx", "opset": 22, "rtol": 1e-2, "atol": 2e-2},
        {"strides": [1, 3]},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: Case) -> None:
    names = case.operands.split() or [*case.inputs, *case.constants]
    check([node(case.kind, names, ["y"], **case.attributes)], case.inputs, constants=case.constants, **case.options)
