"""Comparisons: types and values against OpenVINO Runtime."""

from __future__ import annotations

import itertools
import re

import pytest

from moir.dialects.opset import FAMILIES
from tests.unit.dialects.opset.cases import (
    DIVISORS,
    INTEGERS,
    REALS,
    SHAPES,
    SPECIAL,
    Case,
    check_types,
    check_values,
    operations,
)

TYPES: list[Case] = [
    *[("opset1.Less", [(a, (2,)), (b, (2,))], {}) for a, b in itertools.product(["f32", "i64", "dynamic"], repeat=2)],
    *[("opset10.IsNaN", [("f16", shape)], {}) for shape in SHAPES],
]


@pytest.mark.parametrize("op", operations(TYPES))
def test_types_are_those_of_the_runtime(op: str) -> None:
    check_types(op, TYPES)


COMPARISONS = [name for name in FAMILIES["comparison"].split() if not re.search("Logical|Xor|Select", name)]

VALUES: list[Case] = [
    *[(name, [INTEGERS, DIVISORS], {}) for name in COMPARISONS if "Is" not in name],
    *[(name, [REALS, REALS[0]], {}) for name in COMPARISONS if "Is" not in name],
    *[(name, [SPECIAL], {}) for name in COMPARISONS if "Is" in name],
    ("opset10.IsInf", [SPECIAL], {"detect_negative": False}),
    ("opset10.IsInf", [SPECIAL], {"detect_positive": False}),
]


@pytest.mark.parametrize("op", operations(VALUES))
def test_values_are_those_of_the_runtime(op: str) -> None:
    check_values(op, VALUES)
