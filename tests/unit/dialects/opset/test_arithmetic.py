"""Arithmetic: types and values against OpenVINO Runtime."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from moir.analysis.known_values import evaluate as evaluate_operation
from moir.dialects.opset import FAMILIES
from tests.unit.dialects.opset.cases import (
    DIVISORS,
    INTEGERS,
    REALS,
    SHAPES,
    Case,
    assert_same_types,
    check_types,
    check_values,
    floating,
    integers,
    operations,
)
from tests.unit.dialects.opset.runtime_reference import moir_operation

TYPES: list[Case] = [
    *[("opset1.Add", [(a, (2,)), (b, (2,))], {}) for a, b in itertools.product(["f32", "i64", "dynamic"], repeat=2)],
]


@pytest.mark.parametrize("op", operations(TYPES))
def test_types_are_those_of_the_runtime(op: str) -> None:
    check_types(op, TYPES)


ARITHMETIC = [name for name in FAMILIES["arithmetic"].split() if "Bitwise" not in name]

VALUES: list[Case] = [
    *[(name, [REALS, REALS[:1, ::-1] * 0.9 + 0.1], {}) for name in ARITHMETIC if "Power" not in name],
    *[(name, [INTEGERS, DIVISORS], {}) for name in ARITHMETIC if "Power" not in name],
    ("opset1.Power", [np.abs(REALS), REALS], {}),
    ("opset1.Power", [REALS, floating(2)], {}),
    ("opset1.Power", [INTEGERS, np.array([0, 1, 2, 3, 2], np.int32)], {}),
]


@pytest.mark.parametrize("op", operations(VALUES))
def test_values_are_those_of_the_runtime(op: str) -> None:
    # The kernel of the CPU plugin truncates the quotient of integers whatever `m_pythondiv` says.
    check_values(op, VALUES, folded=op == "opset1.Divide")


@pytest.mark.parametrize("mode", ["numpy", "none", "pdpd"])
def test_shapes_broadcast_as_in_the_runtime(mode: str) -> None:
    for a, b in itertools.product(SHAPES, SHAPES):
        assert_same_types("opset1.Add", [("f32", a), ("f32", b)], {"auto_broadcast": mode})


def test_integer_division_by_zero_is_left_to_the_runtime() -> None:
    for kind in ("Divide", "Mod", "FloorMod"):
        instance = moir_operation(f"opset1.{kind}", [integers(1), integers(0)], {})
        assert evaluate_operation(instance, [integers(1), integers(0)]) is None
