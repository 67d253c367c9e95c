"""Conversions, identities and variables: types and values against OpenVINO Runtime."""

from __future__ import annotations

import numpy as np
import pytest

from moir.dialects.opset import operation
from moir.dialects.opset.interfaces.operation import OpsetOp
from tests.unit.dialects.opset.cases import (
    BOOLEANS,
    INTEGERS,
    REALS,
    Case,
    check_types,
    check_values,
    operations,
)
from tests.unit.dialects.opset.runtime_reference import infer_with_moir

TYPES: list[Case] = [
    *[
        ("opset6.ReadValue", initial, {"variable_id": "v", "variable_type": "f32", "variable_shape": shape})
        for initial in ([], [("f32", (2, 3))], [("f32", (4, 3))], [("i64", (2, 3))], [("f32", None)], [("f32", (2, 3, 1))])
        for shape in ("2,3", "?,3", "...", "", "1..8,3", "[2,3]", "-1,3")
    ],
    *[("opset1.Convert", [(source, None)], {"destination_type": "u4"}) for source in ("f32", "boolean", "dynamic")],
    ("opset1.ConvertLike", [("f32", (-1,)), ("i64", None)], {}),
    ("opset16.Identity", [("dynamic", None)], {}),
]


@pytest.mark.parametrize("op", operations(TYPES))
def test_types_are_those_of_the_runtime(op: str) -> None:
    check_types(op, TYPES)


VALUES: list[Case] = [
    ("opset1.Convert", [np.array([1.7, -1.7, 0.0, 2.5, -0.5], np.float32)], {"destination_type": "i32"}),
    ("opset1.Convert", [np.array([1.7, 0.0, -0.5], np.float32)], {"destination_type": "boolean"}),
    ("opset1.Convert", [np.array([300, -1, 5], np.int32)], {"destination_type": "u8"}),
    ("opset1.Convert", [REALS], {"destination_type": "f16"}),
    # What bfloat16 has no place for the CPU plugin cuts off where others round.
    ("opset1.Convert", [np.array([1.5, -2.25, 100], np.float32)], {"destination_type": "bf16"}),
    ("opset1.Convert", [BOOLEANS], {"destination_type": "f32"}),
    ("opset1.ConvertLike", [REALS, INTEGERS], {}),
    ("opset16.Identity", [REALS], {}),
]


@pytest.mark.parametrize("op", operations(VALUES))
def test_values_are_those_of_the_runtime(op: str) -> None:
    check_values(op, VALUES)


def test_random_numbers_and_variables_are_not_deterministic() -> None:
    for name in ("opset8.RandomUniform", "opset13.Multinomial", "opset6.ReadValue", "opset6.Assign"):
        assert not operation(name).DETERMINISTIC
    assert OpsetOp.DETERMINISTIC


def test_a_variable_keeps_the_type_of_what_it_is_given() -> None:
    assert infer_with_moir("opset6.Assign", [("f32", (2, -1))], {"variable_id": "v"}) == [((2, -1), "f32")]
