"""Reductions: types and values against OpenVINO Runtime."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from moir.dialects.opset import FAMILIES
from tests.unit.dialects.opset.cases import (
    BOOLEANS,
    INTEGERS,
    REALS,
    SHAPES,
    Case,
    assert_same_types,
    check_values,
    integer,
    integers,
    operations,
)
from tests.unit.dialects.opset.runtime_reference import evaluate_with_moir

REDUCTIONS = [name for name in FAMILIES["reduction"].split() if "Reduce" in name]

VALUES: list[Case] = [
    *[
        (name, [BOOLEANS if "Logical" in name else REALS, axes], {"keep_dims": keep_dims})
        for name in REDUCTIONS
        for axes in (integers(1), integers(-1, 0), integer(1))
        for keep_dims in (True, False)
    ],
    *[(name, [REALS, integers()], {"keep_dims": True}) for name in REDUCTIONS if "Logical" not in name],
    *[(f"opset1.Reduce{kind}", [INTEGERS, integers(1)], {}) for kind in ("Max", "Min", "Prod", "Sum")],
]


@pytest.mark.parametrize("op", operations(VALUES))
def test_values_are_those_of_the_runtime(op: str) -> None:
    check_values(op, VALUES)


AXES = [
    integer(1),
    integers(),
    integers(0),
    integers(-1),
    integers(0, -1),
    integers(0, 0),
    integers(5),
    np.array([[0]]),
    *(("i64", shape) for shape in [(), (1,), (2,), (-1,), (0,), (1, 1), None]),
    ("f32", (1,)),
    ("dynamic", None),
]


@pytest.mark.parametrize("keep_dims", [True, False])
def test_reductions_have_the_shapes_of_the_runtime(keep_dims: bool) -> None:
    for shape, axes in itertools.product(SHAPES, AXES):
        assert_same_types("opset1.ReduceSum", [("f32", shape), axes], {"keep_dims": keep_dims})


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_floats_are_reckoned_with_in_float32(dtype: Any) -> None:
    data = np.full((600,), 7.25, dtype)
    (total,) = evaluate_with_moir("opset1.ReduceSum", [data, integers(0)], {})
    assert total.dtype == np.dtype(dtype)
    assert total == np.array(4350, dtype)
    (product,) = evaluate_with_moir("opset1.Multiply", [data[:1], data[:1]], {})
    assert product == np.array([52.5625]).astype(dtype)
