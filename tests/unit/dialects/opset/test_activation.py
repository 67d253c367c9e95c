"""Activation functions: types and values against OpenVINO Runtime."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.utils.exceptions import VerifyException

from moir.dialects.opset import FAMILIES
from tests.unit.dialects.opset.cases import (
    F32,
    GENERATOR,
    INTEGERS,
    REALS,
    SHAPES,
    SPECIAL,
    Case,
    check_types,
    check_values,
    floating,
    operations,
)
from tests.unit.dialects.opset.runtime_reference import evaluate_with_moir, moir_operation

TYPES: list[Case] = [
    *[("opset8.Softmax", [("f32", shape)], {"axis": axis}) for shape in SHAPES for axis in (-3, -1, 0, 1, 2)],
    *[("opset1.Softmax", [("f32", shape)], {"axis": axis}) for shape in SHAPES for axis in (0, 2)],
    *[("opset5.LogSoftmax", [("f32", shape)], {"axis": axis}) for shape in SHAPES for axis in (-2, 0)],
    *[("opset1.PRelu", [("f32", shape), ("f32", slope)], {}) for shape in SHAPES for slope in ((), (3,), (1, 3), None)],
    *[("opset4.Swish", [("f32", (2, 3)), ("f32", shape)], {}) for shape in ((), (1,), None)],
    ("opset4.Swish", [F32], {}),
    ("opset1.HardSigmoid", [F32, ("f32", ()), ("f32", (1,))], {}),
    ("opset1.Clamp", [F32], {"min": 2.0, "max": 1.0}),
]


@pytest.mark.parametrize("op", operations(TYPES))
def test_types_are_those_of_the_runtime(op: str) -> None:
    check_types(op, TYPES)


VALUES: list[Case] = [
    # The CPU plugin makes 0 or infinity of a NaN here.
    ("opset1.Relu", [SPECIAL[:-1]], {}),
    ("opset1.Relu", [INTEGERS], {}),
    *[
        (name, [REALS], {})
        for name in FAMILIES["activation"].split()
        if name.partition(".")[2] not in ("Clamp", "Elu", "HardSigmoid", "PRelu", "Selu")
    ],
    ("opset7.Gelu", [REALS], {"approximation_mode": "TANH"}),
    ("opset8.Softmax", [REALS * 50], {"axis": -2}),
    ("opset5.LogSoftmax", [REALS * 50], {"axis": 0}),
    ("opset4.Swish", [REALS, floating(1.7)], {}),
    ("opset1.Elu", [REALS], {"alpha": 0.7}),
    ("opset1.Clamp", [REALS], {"min": -1.5, "max": 0.5}),
    ("opset1.Clamp", [INTEGERS], {"min": -2.5, "max": 6.5}),
    ("opset1.HardSigmoid", [REALS, floating(0.3), floating(0.4)], {}),
    ("opset1.Selu", [REALS, np.array([1.2], np.float32), np.array([1.1], np.float32)], {}),
    ("opset1.PRelu", [REALS, np.array([0.1, 0.2, 0.3], np.float32)], {}),
    ("opset1.PRelu", [REALS, np.array([0.1], np.float32)], {}),
    ("opset1.PRelu", [REALS, GENERATOR.uniform(0, 1, (1, 3, 1)).astype(np.float32)], {}),
]


@pytest.mark.parametrize("op", operations(VALUES))
def test_values_are_those_of_the_runtime(op: str) -> None:
    check_values(op, VALUES)


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def gelu(x: float) -> float:
    return 0.5 * x * math.erfc(-x * math.sqrt(0.5))


@pytest.mark.parametrize(
    ("op", "parameters", "function"),
    [
        ("opset1.Sigmoid", [], sigmoid),
        ("opset4.Swish", [floating(3.0)], lambda x: x * sigmoid(3 * x)),
        ("opset7.Gelu", [], gelu),
    ],
)
def test_values_close_to_0_are_accurate(op: str, parameters: list[Any], function: Callable[[float], float]) -> None:
    x = np.array([-12, -8, -5, -3, 0.25], np.float32)
    (actual,) = evaluate_with_moir(op, [x, *parameters], {})
    np.testing.assert_allclose(actual, [function(each) for each in x.tolist()], rtol=1e-5)


@pytest.mark.parametrize(
    ("op", "operands", "properties", "message"),
    [
        ("opset1.Clamp", [F32], {"min": 2.0, "max": 1.0}, "above max"),
        ("opset1.Softmax", [F32], {"axis": -1}, "negative"),
        ("opset7.Gelu", [F32], {"approximation_mode": "erf"}, "not one of"),
    ],
)
def test_verifiers_refuse(op: str, operands: list[Any], properties: dict[str, Any], message: str) -> None:
    instance = moir_operation(op, operands, properties)
    with pytest.raises(VerifyException, match=message):
        instance.verify(verify_nested_ops=False)
