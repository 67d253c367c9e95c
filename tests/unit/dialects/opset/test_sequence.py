"""Cumulative sums and one-hot encoding: types and values against OpenVINO Runtime."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.unit.dialects.opset.cases import (
    INTEGERS,
    REALS,
    Case,
    check_types,
    check_values,
    floating,
    integer,
    integers,
    operations,
)

TYPES: list[Case] = [
    *[
        ("opset3.CumSum", [("f32", (2, -1)), axis], {})
        for axis in (integer(1), integers(0), ("i64", ()), ("i32", None), ("f32", ()), ("u8", ()))
    ],
    *[
        (op, [("i64", indices), depth, floating(1), floating(0)], {"axis": axis})
        for op in ("opset1.OneHot", "opset16.OneHot")
        for indices in ((), (3,), (2, -1), None)
        for depth in (integer(4), integers(4), integer(-1), integer(0), ("i64", ()), ("i64", None), floating(4))
        for axis in (-2, -1, 0, 1)
    ],
    ("opset1.OneHot", [("i64", (3,)), integer(4), ("f32", None), ("dynamic", None)], {"axis": 0}),
    ("opset1.OneHot", [("i64", (3,)), integer(4), ("f32", ()), ("i64", ())], {"axis": 0}),
    ("opset1.OneHot", [("i64", (3,)), integer(4), ("f32", (1,)), ("f32", ())], {"axis": 0}),
    ("opset1.OneHot", [("f32", (3,)), integer(4), ("f32", ()), ("f32", ())], {"axis": 0}),
]


@pytest.mark.parametrize("op", operations(TYPES))
def test_types_are_those_of_the_runtime(op: str) -> None:
    check_types(op, TYPES)


VALUES: list[Case] = [
    *[
        ("opset3.CumSum", [data, axis], {"exclusive": exclusive, "reverse": reverse})
        for data in (REALS, INTEGERS)
        for axis in (integer(1), integer(-1))
        for exclusive, reverse in itertools.product((False, True), repeat=2)
    ],
    *[
        (op, [np.array([[0, 3], [1, 2]], np.int32), integer(4), floating(2), floating(-1)], {"axis": axis})
        for op in ("opset1.OneHot", "opset16.OneHot")
        for axis in (-1, 0, 1)
    ],
    ("opset1.OneHot", [np.array([0, 7], np.int64), integer(4), floating(2), floating(-1)], {"axis": -1}),
    (
        "opset16.OneHot",
        [np.array([0, -1, -9], np.int64), integer(4), integer(2), integer(-1)],
        {"axis": 0, "negative_indices_mode": "normalize"},
    ),
]


@pytest.mark.parametrize("op", operations(VALUES))
def test_values_are_those_of_the_runtime(op: str) -> None:
    check_values(op, VALUES)
