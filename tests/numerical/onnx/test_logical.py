"""Logic and comparisons of ONNX, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.onnx.conversion import check, node

A = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
B = np.array([[3, 2, 1], [4, 4, 9]], np.float32)


@pytest.mark.parametrize(
    ("kind", "function", "opset"),
    [
        ("Equal", np.equal, 7),
        ("Equal", np.equal, 13),
        ("Greater", np.greater, 9),
        ("GreaterOrEqual", np.greater_equal, 12),
        ("GreaterOrEqual", np.greater_equal, 16),
        ("Less", np.less, 9),
        ("LessOrEqual", np.less_equal, 16),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64])
def test_comparison(kind: str, function: np.ufunc, opset: int, dtype: type) -> None:
    a, b = A.astype(dtype), B.astype(dtype)
    # Integers beyond 2²⁴ are equal if their difference is 0.
    count = 2 if kind == "Equal" and dtype != np.float32 else 1
    check([node(kind, ["a", "b"], ["y"])], {"a": a, "b": b}, opset=opset, expected=[function(a, b)], operations=count)


@pytest.mark.parametrize(
    ("kind", "function"), [("And", np.logical_and), ("Or", np.logical_or), ("Xor", np.logical_xor), ("Equal", np.equal)]
)
def test_logic(kind: str, function: np.ufunc) -> None:
    a, b = A > 2, (B > 3)[0]
    check([node(kind, ["a", "b"], ["y"])], {"a": a, "b": b}, expected=[function(a, b)], operations=1)


@pytest.mark.parametrize(("kind", "function"), [("And", np.logical_and), ("Or", np.logical_or), ("Xor", np.logical_xor)])
def test_logic_with_an_axis(kind: str, function: np.ufunc) -> None:
    a, b = A > 2, np.array([True, False])
    model = [node(kind, ["a", "b"], ["y"], broadcast=1, axis=0)]
    check(model, {"a": a, "b": b}, opset=1, expected=[function(a, b[:, None])], forms=("static", "dynamic"))


@pytest.mark.parametrize(("kind", "function"), [("Less", np.less), ("Greater", np.greater)])
def test_comparison_with_an_axis(kind: str, function: np.ufunc) -> None:
    b = np.array([2, 5], np.float32)
    model = [node(kind, ["a", "b"], ["y"], broadcast=1, axis=0)]
    check(model, {"a": A, "b": b}, opset=6, expected=[function(A, b[:, None])], forms=("static", "dynamic"))


def test_not() -> None:
    check([node("Not", ["x"], ["y"])], {"x": A > 2}, expected=[A <= 2], operations=1)


SPECIAL = np.array([1, np.nan, np.inf, -np.inf, 0], np.float32)


def test_is_nan() -> None:
    check([node("IsNaN", ["x"], ["y"])], {"x": SPECIAL}, operations=1)


@pytest.mark.parametrize(("negative", "positive"), [(1, 1), (0, 1), (1, 0), (0, 0)])
def test_is_infinite(negative: int, positive: int) -> None:
    check([node("IsInf", ["x"], ["y"], detect_negative=negative, detect_positive=positive)], {"x": SPECIAL}, opset=10)


def test_strings_are_compared_by_their_bytes() -> None:
    a, b = np.array([["a", "bc"], ["", "größe"]], object), np.array(["a", "größe"], object)
    for second in (a, b, b[:1]):
        check([node("Equal", ["a", "b"], ["y"])], {"a": a, "b": second}, expected=[a == second], forms=["static", "dynamic"])
