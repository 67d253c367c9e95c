"""Sorts by several keys."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from moir.errors import UnsupportedOperationError
from tests.numerical.stablehlo.test_operations import computed

KEYS = np.random.default_rng(4).integers(0, 3, (4, 40)).astype(np.int32)


def sort(comparator: str) -> str:
    """The positions of 40 elements in the order of three keys."""
    pairs = ", ".join(f"%a{number}: tensor<i32>, %b{number}: tensor<i32>" for number in range(4))
    return f"""
    %i = stablehlo.iota dim = 0 : tensor<40xi32>
    %0:4 = "stablehlo.sort"(%x, %y, %z, %i) <{{dimension = 0 : i64, is_stable = true}}> ({{
    ^bb0({pairs}):{comparator}
      stablehlo.return %p : tensor<i1>
    }}) : ({", ".join(["tensor<40xi32>"] * 4)}) -> ({", ".join(["tensor<40xi32>"] * 4)})
    return %0#3 : tensor<40xi32>"""


def positions(comparator: str, folder: Path) -> np.ndarray:
    arguments = "%x: tensor<40xi32>, %y: tensor<40xi32>, %z: tensor<40xi32>"
    return computed(sort(comparator), folder, list(KEYS[:3]), arguments, "tensor<40xi32>")


def compared(name: str, direction: str, number: int, other: int | None = None) -> str:
    second = number if other is None else other
    return f"\n      %{name} = stablehlo.compare {direction}, %a{number}, %b{second} : (tensor<i32>, tensor<i32>) -> tensor<i1>"


def joined(name: str, kind: str, first: str, second: str) -> str:
    return f"\n      %{name} = stablehlo.{kind} %{first}, %{second} : tensor<i1>"


def test_three_keys(tmp_path: Path) -> None:
    """In ascending, descending and ascending order: the second key before the first one, which is before the third."""
    comparator = (
        compared("less2", "LT", 2)
        + compared("less0", "LT", 0)
        + compared("same0", "EQ", 0)
        + joined("then", "and", "same0", "less2")
        + joined("rest", "or", "less0", "then")
        + compared("more1", "GT", 1)
        + compared("same1", "EQ", 1)
        + joined("after", "and", "same1", "rest")
        + joined("p", "or", "more1", "after")
    )
    np.testing.assert_array_equal(positions(comparator, tmp_path), np.lexsort((KEYS[2], KEYS[0], -KEYS[1])))


@pytest.mark.parametrize(
    "comparator",
    [
        compared("less", "LT", 0)
        + compared("other", "LT", 1)
        + compared("third", "LT", 2)
        + joined("q", "or", "less", "other")
        + joined("p", "or", "q", "third"),
        compared("less", "LT", 0)
        + compared("other", "LT", 1, 2)
        + compared("third", "EQ", 0)
        + joined("q", "and", "third", "other")
        + joined("p", "or", "q", "less"),
    ],
    ids=["no key comes first", "one key is compared with another"],
)
def test_a_comparator_that_is_no_order(comparator: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedOperationError, match="its comparator is not an order by its operands"):
        positions(comparator, tmp_path)


def test_complex_numbers(tmp_path: Path) -> None:
    """JAX orders by the real part first."""
    body = """
    %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
    ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
      %ar = stablehlo.real %a : (tensor<complex<f32>>) -> tensor<f32>
      %ai = stablehlo.imag %a : (tensor<complex<f32>>) -> tensor<f32>
      %br = stablehlo.real %b : (tensor<complex<f32>>) -> tensor<f32>
      %bi = stablehlo.imag %b : (tensor<complex<f32>>) -> tensor<f32>
      %less = stablehlo.compare LT, %ar, %br : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %same = stablehlo.compare EQ, %ar, %br : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %second = stablehlo.compare LT, %ai, %bi : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %and = stablehlo.and %same, %second : tensor<i1>
      %or = stablehlo.or %less, %and : tensor<i1>
      stablehlo.return %or : tensor<i1>
    }) : (tensor<40xcomplex<f32>>) -> tensor<40xcomplex<f32>>
    return %0 : tensor<40xcomplex<f32>>"""
    data = KEYS[:2].T.astype(np.float32)
    actual = computed(body, tmp_path, [data], "%x: tensor<40xcomplex<f32>>", "tensor<40xcomplex<f32>>")
    wanted = np.sort(data[:, 0] + 1j * data[:, 1])
    np.testing.assert_array_equal(actual[:, 0] + 1j * actual[:, 1], wanted)


def key(name: str, argument: str) -> str:
    """The integer that orders floats, as JAX writes the total order for dynamic shapes: a selection of bits."""
    return f"""
      %{name}0 = stablehlo.bitcast_convert {argument} : (tensor<f32>) -> tensor<i32>
      %{name}1 = stablehlo.bitcast_convert {argument} : (tensor<f32>) -> tensor<ui32>
      %{name}2 = stablehlo.compare EQ, {argument}, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %{name}3 = stablehlo.select %{name}2, %null, %{name}0 : tensor<i1>, tensor<i32>
      %{name}4 = stablehlo.compare NE, {argument}, {argument}, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %{name}5 = stablehlo.select %{name}4, %nan, %{name}3 : tensor<i1>, tensor<i32>
      %{name}6 = stablehlo.subtract %largest, %{name}1 : tensor<ui32>
      %{name}7 = stablehlo.bitcast_convert %{name}6 : (tensor<ui32>) -> tensor<i32>
      %{name}8 = stablehlo.compare LT, %{name}5, %null, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %{name}9 = stablehlo.select %{name}8, %{name}7, %{name}5 : tensor<i1>, tensor<i32>"""


SORT_BY_BITS = f"""
    %0 = "stablehlo.sort"(%x) <{{dimension = 0 : i64, is_stable = true}}> ({{
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %null = stablehlo.constant dense<0> : tensor<i32>
      %nan = stablehlo.constant dense<2143289344> : tensor<i32>
      %largest = stablehlo.constant dense<2147483647> : tensor<ui32>{key("k", "%a")}{key("m", "%b")}
      %c = stablehlo.compare LT, %k9, %m9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }}) : (tensor<?xf32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>"""


def test_order_of_bit_patterns(tmp_path: Path) -> None:
    x = np.array([2, np.nan, -1, 0.0, -np.inf, -0.0, 3e-39, np.inf, -5, 1], np.float32)
    actual = computed(SORT_BY_BITS, tmp_path, [x], "%x: tensor<?xf32>", "tensor<?xf32>")
    np.testing.assert_array_equal(actual, np.sort(x))


@pytest.mark.parametrize(
    ("before", "after"), [("<2143289344>", "<7>"), ("<2147483647>", "<2147483646>"), ("EQ, %a, %zero", "EQ, %b, %zero")]
)
def test_other_bit_patterns_are_no_order(before: str, after: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedOperationError, match="its comparator is not an order by its operands"):
        computed(SORT_BY_BITS.replace(before, after, 1), tmp_path, [], "%x: tensor<?xf32>", "tensor<?xf32>")
