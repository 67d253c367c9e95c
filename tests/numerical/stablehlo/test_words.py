"""Unsigned integers of 32 bits, with which JAX makes random numbers; numpy says what they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.numerical.stablehlo.test_operations import computed

GENERATOR = np.random.default_rng(6)
LIMITS = np.array([0, 1, 2, 3, 2**16 - 1, 2**24 + 1, 2**30, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 2, 2**32 - 1], np.uint32)
PAIRS = np.array([(x, y) for x in LIMITS for y in LIMITS], np.uint32)
RANDOM = (GENERATOR.integers(0, 2**32, (500, 2), dtype=np.uint64) >> GENERATOR.integers(0, 32, (500, 2), dtype=np.uint64)).astype(np.uint32)
X, Y = np.concatenate([PAIRS, RANDOM]).T.copy()
TYPE = f"tensor<{len(X)}xui32>"


def of_pairs(operation: str, y: np.ndarray, folder: Path, result: str = TYPE) -> np.ndarray:
    types = f"({TYPE}, {TYPE}) -> {result}" if operation.startswith("compare") else TYPE
    body = f"\n    %0 = stablehlo.{operation} : {types}\n    return %0 : {result}"
    return computed(body, folder, [X, y], f"%a: {TYPE}, %b: {TYPE}", result)


@pytest.mark.parametrize(("kind", "function"), [("remainder", np.remainder), ("divide", np.floor_divide)])
def test_division(kind: str, function: np.ufunc, tmp_path: Path) -> None:
    divisors = np.maximum(Y, 1)
    np.testing.assert_array_equal(of_pairs(f"{kind} %a, %b", divisors, tmp_path), function(X, divisors))


@pytest.mark.parametrize("divisor", [1, 10, 2**20 + 7, 2**31 + 5])
def test_division_by_a_constant(divisor: int, tmp_path: Path) -> None:
    body = f"""
    %c = stablehlo.constant dense<{divisor}> : {TYPE}
    %0 = stablehlo.remainder %a, %c : {TYPE}
    return %0 : {TYPE}"""
    np.testing.assert_array_equal(computed(body, tmp_path, [X], f"%a: {TYPE}", TYPE), X % np.uint32(divisor))


@pytest.mark.parametrize(("kind", "function"), [("maximum", np.maximum), ("minimum", np.minimum)])
def test_extremes(kind: str, function: np.ufunc, tmp_path: Path) -> None:
    np.testing.assert_array_equal(of_pairs(f"{kind} %a, %b", Y, tmp_path), function(X, Y))


@pytest.mark.parametrize(
    ("direction", "function"), [("LT", np.less), ("LE", np.less_equal), ("GT", np.greater), ("GE", np.greater_equal), ("EQ", np.equal)]
)
def test_comparisons(direction: str, function: np.ufunc, tmp_path: Path) -> None:
    actual = of_pairs(f"compare {direction}, %a, %b, UNSIGNED", Y, tmp_path, TYPE.replace("ui32", "i1"))
    np.testing.assert_array_equal(actual, function(X, Y))


def test_sort(tmp_path: Path) -> None:
    body = f"""
    %0 = "stablehlo.sort"(%a) <{{dimension = 0 : i64}}> ({{
    ^bb0(%x: tensor<ui32>, %y: tensor<ui32>):
      %p = stablehlo.compare LT, %x, %y, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }}) : ({TYPE}) -> {TYPE}
    return %0 : {TYPE}"""
    np.testing.assert_array_equal(computed(body, tmp_path, [X], f"%a: {TYPE}", TYPE), np.sort(X))


HALVES = np.array([0, 1, 0x3FF, 0x400, 0x3C00, 0x7BFF, 0x7C00, 0x8000, 0x8001, 0xBC01, 0xFBFF, 0xFC00], np.uint16)


@pytest.mark.parametrize("kind", ["i16", "ui16"])
def test_bits_of_halves(kind: str, tmp_path: Path) -> None:
    """There and back; NaN is not among them, which has many patterns."""
    body = f"""
    %0 = stablehlo.bitcast_convert %a : (tensor<12xf16>) -> tensor<12x{kind}>
    return %0 : tensor<12x{kind}>"""
    actual = computed(body, tmp_path, [HALVES.view(np.float16)], "%a: tensor<12xf16>", f"tensor<12x{kind}>")
    np.testing.assert_array_equal(actual.view(np.uint16), HALVES)
    body = f"""
    %0 = stablehlo.bitcast_convert %a : (tensor<12x{kind}>) -> tensor<12xf16>
    return %0 : tensor<12xf16>"""
    actual = computed(body, tmp_path, [HALVES.view(kind.replace("i", "int"))], f"%a: tensor<12x{kind}>", "tensor<12xf16>")
    np.testing.assert_array_equal(actual, HALVES.view(np.float16))
    np.testing.assert_array_equal(np.signbit(actual), np.signbit(HALVES.view(np.float16)))


@pytest.mark.parametrize("bits", [8, 32])
def test_arithmetic_shift_of_unsigned_integers(bits: int, tmp_path: Path) -> None:
    dtype = np.dtype(f"uint{bits}")
    data = GENERATOR.integers(0, 2**bits, 40, dtype)
    body = f"""
    %c = stablehlo.constant dense<3> : tensor<40xui{bits}>
    %0 = stablehlo.shift_right_arithmetic %a, %c : tensor<40xui{bits}>
    return %0 : tensor<40xui{bits}>"""
    actual = computed(body, tmp_path, [data], f"%a: tensor<40xui{bits}>", f"tensor<40xui{bits}>")
    np.testing.assert_array_equal(actual, (data.view(f"int{bits}") >> 3).view(dtype))


def test_bits_of_four_floats(tmp_path: Path) -> None:
    """Two by two integers are the words of a generator's state elsewhere."""
    body = """
    %0 = stablehlo.bitcast_convert %a : (tensor<2x2xi32>) -> tensor<2x2xf32>
    return %0 : tensor<2x2xf32>"""
    numbers = np.array([[1.5, -2.0], [0.0, 3e38]], np.float32)
    actual = computed(body, tmp_path, [numbers.view(np.int32)], "%a: tensor<2x2xi32>", "tensor<2x2xf32>")
    np.testing.assert_array_equal(actual, numbers)


def test_large_constants_as_results(tmp_path: Path) -> None:
    """What is folded is not limited to 2³¹ - 1."""
    body = """
    %c = stablehlo.constant dense<[1, 2147483653, 4294967295]> : tensor<3xui32>
    %0 = stablehlo.negate %c : tensor<3xui32>
    return %0 : tensor<3xui32>"""
    actual = computed(body, tmp_path, [np.zeros(1, np.float32)], "%x: tensor<1xf32>", "tensor<3xui32>")
    np.testing.assert_array_equal(actual, np.array([2**32 - 1, 2**31 - 5, 1], np.uint32))
