"""Comparisons, predicates, logic and selection of TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.tensorflow.conversion import check

A = np.array([[1, 2, 3], [-4, 5, 6]])
B = np.array([[1, 3, 2]])
YES = np.array([[True, False, True], [False, False, True]])
ROW = np.array([True, True, False])
COMPARISONS = "Equal NotEqual Less LessEqual Greater GreaterEqual"


def both(kinds: str) -> Any:
    return lambda a, b: [getattr(tf.raw_ops, kind)(x=a, y=b) for kind in kinds.split()]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.int32, np.int64, np.uint16])
def test_comparisons(dtype: type) -> None:
    forms = ("static", "dynamic", "rank") if dtype is np.float32 else ("static",)
    # Equal and NotEqual of integers that f32 may not have look at the difference.
    most = 7 if dtype in (np.int32, np.int64) else 6
    check(both(COMPARISONS), {"a": np.abs(A).astype(dtype), "b": B.astype(dtype)}, forms=forms, operations=most)


def test_comparisons_of_booleans() -> None:
    check(both("Equal NotEqual"), {"a": YES, "b": ROW}, forms=("static", "rank"))


def test_logic() -> None:
    check(both("LogicalAnd LogicalOr"), {"a": YES, "b": ROW}, operations=2)
    check(lambda a: tf.raw_ops.LogicalNot(x=a), {"a": YES}, operations=1)


def test_predicates() -> None:
    x = np.array([1.5, np.nan, np.inf, -np.inf, 0], np.float32)
    check(lambda x: [tf.raw_ops.IsFinite(x=x), tf.raw_ops.IsInf(x=x), tf.raw_ops.IsNan(x=x)], {"x": x}, operations=3)


def test_approximate_equality() -> None:
    inputs = {"a": A.astype(np.float32), "b": np.add(A, [1e-6, 0.05, 0.2]).astype(np.float32)}
    check(lambda a, b: [tf.raw_ops.ApproximateEqual(x=a, y=b), tf.raw_ops.ApproximateEqual(x=a, y=b, tolerance=0.1)], inputs)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_])
def test_selection(dtype: type) -> None:
    inputs = {"condition": ROW, "a": np.abs(A).astype(dtype), "b": np.zeros((2, 1), dtype)}
    check(
        lambda condition, a, b: tf.raw_ops.SelectV2(condition=condition, t=a, e=b),
        inputs,
        forms=("static", "dynamic", "rank") if dtype is np.float32 else ("static",),
        operations=1,
    )


@pytest.mark.parametrize("condition", [np.array(True), np.array([True, False]), YES], ids=["scalar", "rows", "elements"])
def test_selection_of_rows(condition: np.ndarray) -> None:
    inputs = {"condition": condition, "a": A.astype(np.float32), "b": -A.astype(np.float32)}
    check(lambda condition, a, b: tf.raw_ops.Select(condition=condition, x=a, y=b), inputs)
    check(lambda condition, a, b: tf.raw_ops.Select(condition=condition, x=a, y=b), inputs, forms=("rank",), fixed=("a",))
    check(lambda condition, a, b: tf.raw_ops.Select(condition=condition, x=a, y=b), inputs, forms=("rank",), fixed=("condition",))


def test_selection_of_elements_of_a_list() -> None:
    inputs = {"condition": ROW, "a": B[0].astype(np.float32), "b": np.zeros(3, np.float32)}
    check(lambda condition, a, b: tf.raw_ops.Select(condition=condition, x=a, y=b), inputs)


@pytest.mark.parametrize("x", [0.0, 2.5, np.int8(3), True, [], [0], np.zeros((0, 3), np.float32), "", "a"], ids=str)
def test_truth(x: Any) -> None:
    value = np.array(x, object if isinstance(x, str) else None)
    check(lambda x: tf.raw_ops.ToBool(input=x), {"x": value}, forms=("static", "dynamic"))
