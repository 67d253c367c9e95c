"""Single nodes that long campaigns of random testing found, whose other forms were right: mixed known and unknown sizes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.test_found_by_fuzzing import Case, real

RANDOM = np.random.default_rng(31)
DYNAMIC: dict[str, Any] = {"forms": ["dynamic"]}
EVALUATED: dict[str, Any] = {"reference": "onnx", "forms": ["static", "dynamic"]}

STATES = {
    "LSTM": Case(
        "LSTM",
        {"x": real(3, 2, 4), "h": real(2, 2, 3)},
        {"w": real(2, 12, 4), "r": real(2, 12, 3), "c": real(2, 2, 3)},
        "x w r - - h c",
        DYNAMIC | {"opset": 7},
        {"hidden_size": 3, "direction": "bidirectional"},
    ),
    "GRU": Case(
        "GRU",
        {"x": real(4, 3, 2)},
        {"w": real(1, 6, 2), "r": real(1, 6, 2), "h": real(1, 3, 2)},
        "x w r - - h",
        DYNAMIC,
        {"hidden_size": 2},
    ),
}

CASES: dict[str, Case] = {
    **{f"{name} whose state says the batch": case for name, case in STATES.items()},
    "MatMul of a matrix and constant ones": Case("MatMul", {"a": real(5, 2)}, {"b": real(3, 2, 4)}, options=DYNAMIC),
    "MatMulInteger of a matrix and constant ones": Case(
        "MatMulInteger",
        {"a": RANDOM.integers(-9, 9, (5, 2)).astype(np.int8)},
        {"b": RANDOM.integers(-9, 9, (2, 3, 2, 4)).astype(np.int8)},
        options=DYNAMIC,
    ),
    "AffineGrid of constant transformations": Case(
        "AffineGrid", {"size": np.array([2, 1, 3, 4])}, {"theta": real(2, 2, 3)}, "theta size", DYNAMIC, {"align_corners": 1}
    ),
    "Dropout of f8": Case(
        "Dropout",
        {"x": np.array([1.25, -1.5], ml_dtypes.float8_e5m2), "training": np.array(False)},
        operands="x - training",
        options=EVALUATED | {"opset": 24},
    ),
    "DequantizeLinear to f8e8m0": Case(
        "DequantizeLinear",
        {"x": np.array([3, 9, 17], np.uint16), "scale": np.array(2, ml_dtypes.float8_e8m0fnu)},
        {"zero": np.array(1, np.uint16)},
        "x scale zero",
        EVALUATED | {"opset": 24},
    ),
    "Cast of f4 to integers": Case(
        "Cast", {"x": np.array([-0.5, -2, 3, 6], ml_dtypes.float4_e2m1fn)}, options=EVALUATED | {"opset": 23}, attributes={"to": 7}
    ),
    "Cast of integers to f8": Case(
        "Cast", {"x": np.array([-(2**31), -7, 448, 500], np.int32)}, options=EVALUATED, attributes={"to": onnx.TensorProto.FLOAT8E4M3FN}
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: Case) -> None:
    names = ["" if name == "-" else name for name in case.operands.split()] or [*case.inputs, *case.constants]
    check([node(case.kind, names, ["y"], **case.attributes)], case.inputs, constants=case.constants, **case.options)
