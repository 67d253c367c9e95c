"""Functions of single elements: types and values against OpenVINO Runtime."""

from __future__ import annotations

import numpy as np
import pytest

from moir.dialects.opset import FAMILIES, newest
from tests.unit.dialects.opset.cases import (
    GENERATOR,
    INTEGERS,
    REALS,
    SPECIAL,
    Case,
    assert_same_types,
    check_values,
    operations,
)

UNIT = GENERATOR.uniform(-0.99, 0.99, (3, 5)).astype(np.float32)

UNARY_DOMAINS = {
    **dict.fromkeys(("Acos", "Asin", "Atanh"), UNIT),
    "Acosh": np.abs(REALS) + 1,
    # The CPU plugin approximates it less well near -1 and 1.
    "ErfInv": UNIT / 2,
    **dict.fromkeys(("Log", "Sqrt"), np.abs(REALS) + 0.1),
}

VALUES: list[Case] = [
    *[(name, [UNARY_DOMAINS.get(name.partition(".")[2], REALS)], {}) for name in FAMILIES["elementwise"].split()],
    *[(f"opset1.{kind}", [SPECIAL], {}) for kind in ("Abs", "Ceiling", "Floor", "Negative", "Tanh")],
    # The CPU plugin makes 0 or infinity of a NaN here.
    ("opset1.Exp", [SPECIAL[:-1]], {}),
    *[(f"opset1.{kind}", [INTEGERS], {}) for kind in ("Abs", "Negative", "Sign", "Floor")],
    *[("opset5.Round", [SPECIAL], {"mode": mode}) for mode in ("half_to_even", "half_away_from_zero")],
]


@pytest.mark.parametrize("op", operations(VALUES))
def test_values_are_those_of_the_runtime(op: str) -> None:
    check_values(op, VALUES)


ELEMENTWISE_KINDS = [
    name.partition(".")[2]
    for family in ("activation", "arithmetic", "comparison", "elementwise")
    for name in FAMILIES[family].split()
    if "Select" not in name
]
REQUIRED = {"Elu": {"alpha": 1.0}, "Clamp": {"min": 0.0, "max": 1.0}}
MORE_OPERANDS = {"PRelu": 1, "Selu": 2, "HardSigmoid": 2}
ACCEPTED_BY_THE_RUNTIME_ONLY = {("Clamp", "string"), ("BitwiseNot", "string")} | {
    ("LogicalNot", element) for element in ("string", "i32", "f16", "f32", "u4", "u64")
}
"""Element types the specification excludes and the runtime does not look at when it infers."""


@pytest.mark.parametrize("kind", sorted(set(ELEMENTWISE_KINDS)))
def test_elementwise_operations_take_the_element_types_of_the_runtime(kind: str) -> None:
    count = MORE_OPERANDS.get(kind, 1 if "auto_broadcast" in newest(kind).get_irdl_definition().properties else 0)
    for element in ("boolean", "i32", "u4", "u64", "f16", "f32", "string", "dynamic"):
        if (kind, element) in ACCEPTED_BY_THE_RUNTIME_ONLY or (
            element == "string" and newest(kind).name.startswith(("opset13", "opset15"))
        ):
            continue
        assert_same_types(newest(kind).name, [(element, (2, -1)), *[(element, ())] * count], REQUIRED.get(kind, {}))
