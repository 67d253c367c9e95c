"""What a report says of the values of constants."""

from __future__ import annotations

import json

import ml_dtypes
import numpy as np
import pytest

from moir.dialects.data import DataAttr
from moir.dialects.element_types import from_xml
from moir.dialects.large_arrays import computed
from moir.report_page.weights import SAMPLED, described

RANDOM = np.random.default_rng(0)


def test_all_elements_of_a_small_constant_are_said() -> None:
    actual = described(DataAttr.of(np.array([[1, -2], [3, 4]], np.int32)))
    assert actual == {"bytes": 16, "shape": [2, 2], "values": ["1", "-2", "3", "4"]}
    assert described(DataAttr.of(np.float32(0.5)))["values"] == ["0.5"]


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, np.int8, np.uint8, np.int64])
def test_a_large_one_has_a_histogram(dtype: type) -> None:
    array = (RANDOM.standard_normal((40, 50)) * 20).astype(np.float32).clip(0, 100).astype(dtype)
    numbers = array.astype(np.float64)
    actual = described(DataAttr.of(array))
    assert actual["of"] == sum(actual["counts"]) == 2000
    assert actual["minimum"] == pytest.approx(numbers.min(), rel=1e-5)
    assert actual["maximum"] == pytest.approx(numbers.max(), rel=1e-5)
    assert actual["mean"] == pytest.approx(numbers.mean(), rel=1e-5)
    assert actual["deviation"] == pytest.approx(numbers.std(), rel=1e-5)
    assert actual["zeros"] == np.count_nonzero(numbers == 0)


def test_elements_that_are_not_finite_are_counted_apart() -> None:
    array = np.zeros(100, np.float32)
    array[:3] = np.nan, np.inf, -np.inf
    actual = described(DataAttr.of(array))
    assert (actual["odd"], actual["zeros"], sum(actual["counts"])) == (3, 97, 97)
    only = described(DataAttr.of(np.full(100, np.nan, np.float32)))
    assert only["odd"] == 100
    assert "minimum" not in only
    json.dumps([actual, only], allow_nan=False)


def test_the_range_of_the_values_need_not_be_a_number() -> None:
    limit = np.float64(1.7e308)
    actual = described(DataAttr.of(np.tile(np.array([-limit, limit]), 50)))
    assert "counts" not in actual
    json.dumps(described(DataAttr.of(np.full(100, limit))))


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("is_computed", [False, True])
def test_of_a_very_large_one_a_part_is_looked_at(transposed: bool, is_computed: bool) -> None:
    array = np.full((1000, 2000), 2.0, np.float32)
    array[500:] = 4
    values = array.T if transposed else array
    actual = described(DataAttr.of(computed(lambda a: a + 0, values) if is_computed else values))
    assert SAMPLED // 4 <= actual["of"] <= SAMPLED
    assert actual["bytes"] == 8_000_000
    assert (actual["minimum"], actual["maximum"]) == (2, 4)
    assert actual["mean"] == pytest.approx(3, abs=0.2)


def test_strings_and_packed_numbers_are_no_failure() -> None:
    packed = DataAttr.of(np.arange(80, dtype=np.uint8), from_xml("i4"), (160,))
    strings = DataAttr.of(np.array(["a"] * 100, object))
    for each in (packed, strings):
        assert described(each) == {"bytes": each.nbytes, "shape": list(each.shape)}
    assert described(DataAttr.of(np.array(["a", "b"], object)))["values"] == ["a", "b"]
