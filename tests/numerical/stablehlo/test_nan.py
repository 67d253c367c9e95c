"""NaN among numbers that are compared: it is above all of them in an order, and wins each extreme. Numpy says so, too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.stablehlo.test_operations import computed

NAN, INF = np.nan, np.inf
X = np.array([[1, NAN, 3, -2], [NAN, INF, NAN, 5], [-INF, 2, INF, 2], [7, -1, 0, NAN]], np.float32)
TYPE, ROW = "tensor<4x4xf32>", "tensor<4xf32>"
POSITIONS = "tensor<4xi32>"


def literal(x: np.ndarray) -> str:
    """A constant of f32 by its bits."""
    return str([[f"0x{bits:08X}" for bits in row] for row in x.view(np.uint32).tolist()]).replace("'", "")


def given(is_constant: bool) -> tuple[str, str, list[np.ndarray]]:
    """The arguments of a function, its first line, and its inputs: X as an input, or as a constant beside another input."""
    if not is_constant:
        return f"%x: {TYPE}", "", [X]
    return f"%y: {ROW}", f"\n    %x = stablehlo.constant dense<{literal(X)}> : {TYPE}", [np.zeros(4, np.float32)]


@pytest.mark.parametrize("is_constant", [False, True])
@pytest.mark.parametrize(("kind", "limit"), [("maximum", "0xFF800000"), ("minimum", "0x7F800000")])
def test_reductions(kind: str, limit: str, is_constant: bool, tmp_path: Path) -> None:
    arguments, line, inputs = given(is_constant)
    body = f"""{line}
    %i = stablehlo.constant dense<{limit}> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %i) applies stablehlo.{kind} across dimensions = [1] : ({TYPE}, tensor<f32>) -> {ROW}
    return %0 : {ROW}"""
    expected = X.max(1) if kind == "maximum" else X.min(1)
    np.testing.assert_array_equal(computed(body, tmp_path, inputs, arguments, ROW), expected)


@pytest.mark.parametrize("is_constant", [False, True])
@pytest.mark.parametrize(("direction", "limit"), [("GT", "0xFF800000"), ("LT", "0x7F800000")])
def test_positions_of_extremes(direction: str, limit: str, is_constant: bool, tmp_path: Path) -> None:
    """As JAX writes `argmax`."""
    arguments, line, inputs = given(is_constant)
    body = f"""{line}
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %i = stablehlo.constant dense<{limit}> : tensor<f32>
    %n = stablehlo.iota dim = 1 : tensor<4x4xi32>
    %0:2 = stablehlo.reduce(%x init: %i), (%n init: %zero) across dimensions = [1]
        : ({TYPE}, tensor<4x4xi32>, tensor<f32>, tensor<i32>) -> ({ROW}, {POSITIONS})
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%m: tensor<i32>, %k: tensor<i32>) {{
      %1 = stablehlo.compare {direction}, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.or %1, %2 : tensor<i1>
      %4 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %5 = stablehlo.compare LT, %m, %k, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %6 = stablehlo.and %4, %5 : tensor<i1>
      %7 = stablehlo.or %3, %6 : tensor<i1>
      %8 = stablehlo.select %3, %a, %b : tensor<i1>, tensor<f32>
      %9 = stablehlo.select %7, %m, %k : tensor<i1>, tensor<i32>
      stablehlo.return %8, %9 : tensor<f32>, tensor<i32>
    }}
    return %0#1 : {POSITIONS}"""
    expected = (X.argmax if direction == "GT" else X.argmin)(1)
    np.testing.assert_array_equal(computed(body, tmp_path, inputs, arguments, POSITIONS), expected)


@pytest.mark.parametrize("is_constant", [False, True])
@pytest.mark.parametrize("kind", ["maximum", "minimum"])
def test_pairs_and_running_extremes(kind: str, is_constant: bool, tmp_path: Path) -> None:
    arguments, line, inputs = given(is_constant)
    limit = "0xFF800000" if kind == "maximum" else "0x7F800000"
    body = f"""{line}
    %r = stablehlo.reverse %x, dims = [1] : {TYPE}
    %0 = stablehlo.{kind} %x, %r : {TYPE}
    %i = stablehlo.constant dense<{limit}> : tensor<f32>
    %1 = "stablehlo.reduce_window"(%x, %i) <{{
      padding = dense<[[0, 0], [3, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 4>
    }}> ({{
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %2 = stablehlo.{kind} %a, %b : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }}) : ({TYPE}, tensor<f32>) -> {TYPE}
    %3 = stablehlo.concatenate %0, %1, dim = 0 : ({TYPE}, {TYPE}) -> tensor<8x4xf32>
    return %3 : tensor<8x4xf32>"""
    function = np.maximum if kind == "maximum" else np.minimum
    expected = np.concatenate([function(X, X[:, ::-1]), function.accumulate(X, 1)])
    np.testing.assert_array_equal(computed(body, tmp_path, inputs, arguments, "tensor<8x4xf32>"), expected)


@pytest.mark.parametrize("is_constant", [False, True])
def test_order(is_constant: bool, tmp_path: Path) -> None:
    arguments, line, inputs = given(is_constant)
    body = f"""{line}
    %0 = "stablehlo.sort"(%x) <{{dimension = 1 : i64, is_stable = true}}> ({{
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }}) : ({TYPE}) -> {TYPE}
    return %0 : {TYPE}"""
    np.testing.assert_array_equal(computed(body, tmp_path, inputs, arguments, TYPE), np.sort(X, 1))


def test_bits_of_complex_constants(tmp_path: Path) -> None:
    """The bits of a part are those of f32; an infinite part leaves the other one as it is."""
    constant = "dense<[(0x7F800000, 1.0), (2.0, 0xFF800000), (0x7FC00000, -0.5)]> : tensor<3xcomplex<f32>>"
    body = f"""
    %c = stablehlo.constant {constant}
    %0 = stablehlo.real %c : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    %1 = stablehlo.imag %c : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
    %2 = stablehlo.concatenate %0, %1, %x, dim = 0 : (tensor<3xf32>, tensor<3xf32>, tensor<1xf32>) -> tensor<7xf32>
    return %2 : tensor<7xf32>"""
    actual = computed(body, tmp_path, [np.zeros(1, np.float32)], "%x: tensor<1xf32>", "tensor<7xf32>")
    np.testing.assert_array_equal(actual, np.array([INF, 2, NAN, 1, -INF, -0.5, 0], np.float32))


@pytest.mark.parametrize("places", [33, 40, 63])
def test_shifts_of_double_words(places: int, tmp_path: Path) -> None:
    x = np.array([0, 1, -1, 5, -7, 2**31 - 1], np.int64)
    body = f"""
    %c = stablehlo.constant dense<{places}> : tensor<6xi64>
    %0 = stablehlo.shift_right_logical %x, %c : tensor<6xi64>
    return %0 : tensor<6xi64>"""
    expected = (x.view(np.uint64) >> np.uint64(places)).astype(np.int64)
    np.testing.assert_array_equal(computed(body, tmp_path, [x], "%x: tensor<6xi64>", "tensor<6xi64>"), expected)


@pytest.mark.parametrize(("kind", "wanted"), [("popcnt", [0, 1, 64, 2, 61, 33]), ("count_leading_zeros", [64, 63, 0, 61, 0, 0])])
def test_bits_of_double_words(kind: str, wanted: list[int], tmp_path: Path) -> None:
    x = np.array([0, 1, -1, 5, -8, -(2**31)], np.int64)
    body = f"""
    %0 = stablehlo.{kind} %x : tensor<6xi64>
    return %0 : tensor<6xi64>"""
    np.testing.assert_array_equal(computed(body, tmp_path, [x], "%x: tensor<6xi64>", "tensor<6xi64>"), wanted)


def test_shifts_beyond_the_words_of_the_target(tmp_path: Path) -> None:
    body = """
    %c = stablehlo.constant dense<1> : tensor<1xi64>
    %0 = stablehlo.shift_right_logical %x, %c : tensor<1xi64>
    return %0 : tensor<1xi64>"""
    with pytest.raises(ConversionError, match="negative integers shifted within 64 bits"):
        computed(body, tmp_path, [np.array([-1])], "%x: tensor<1xi64>", "tensor<1xi64>")
