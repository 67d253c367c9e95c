"""Tensors of numbers that TensorFlow makes."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.tensorflow.conversion import check


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64, np.bool_, np.float64])
def test_filled(dtype: type) -> None:
    inputs = {"dims": np.array([2, 3], np.int32), "value": np.array(1, dtype)}
    check(lambda dims, value: tf.raw_ops.Fill(dims=dims, value=value), inputs, fixed=("dims",), operations=1)
    check(lambda value: tf.raw_ops.Fill(dims=np.array([3], np.int64), value=value), {"value": inputs["value"]}, forms=("static",))


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint8, np.int32, np.int64, np.float16, np.bool_])
def test_filled_like(dtype: type) -> None:
    x = np.ones((2, 3), dtype)
    forms = ("static", "dynamic", "rank") if dtype is np.float32 else ("static",)
    check(lambda x: [tf.raw_ops.OnesLike(x=x), tf.raw_ops.ZerosLike(x=x)], {"x": x}, forms=forms)


def test_empty() -> None:
    check(lambda x: tf.raw_ops.Empty(shape=tf.shape(x), dtype=tf.int32, init=True), {"x": np.ones((2, 3), np.float32)})


@pytest.mark.parametrize(
    ("dtype", "numbers"),
    [
        (np.int32, (0, 7, 2)),
        (np.int64, (7, -2, -3)),
        (np.float32, (0.5, 3.1, 0.5)),
        (np.float64, (3, 0, -1)),
        (np.int32, (3, 3, 1)),
    ],
)
def test_ranges(dtype: type, numbers: tuple[float, ...]) -> None:
    start, limit, delta = (np.array(number, dtype) for number in numbers)
    inputs = {"start": start, "limit": limit, "delta": delta}
    check(lambda start, limit, delta: tf.raw_ops.Range(start=start, limit=limit, delta=delta), inputs)
    check(lambda limit: tf.raw_ops.Range(start=start, limit=limit, delta=delta), {"limit": limit}, operations=1)


UNEVEN = [(0, 1, 0.01), (0, 1.1, 0.1), (0, 0.3, 0.1), (0, 2.1, 0.7), (-1.2, 1.2, 0.4), (1, 0, -0.1)]
"""Ranges whose lengths depend on how the quotient is rounded."""


@pytest.mark.parametrize("numbers", UNEVEN)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lengths_of_ranges_of_floats(dtype: type, numbers: tuple[float, ...]) -> None:
    start, limit, delta = (np.array(number, dtype) for number in numbers)
    check(lambda x: [x, tf.raw_ops.Range(start=start, limit=limit, delta=delta)], {"x": np.ones(2, np.float32)}, forms=("static",))
    if dtype is np.float32:
        check(lambda limit: tf.raw_ops.Range(start=start, limit=limit, delta=delta), {"limit": limit}, forms=("static",))


@pytest.mark.parametrize("size", [3, 6, 13])
def test_range_to_a_part_of_a_dimension(size: int) -> None:
    tenth = np.float64(0.1)
    check(lambda x: tf.range(np.float64(0), tf.cast(tf.shape(x)[0], tf.float64) * tenth, tenth), {"x": np.ones(size, np.float32)})


def test_range_of_a_dimension() -> None:
    check(lambda x: tf.range(tf.shape(x)[0]), {"x": np.ones((4, 2), np.float32)})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_even_spaces(dtype: type, count: int) -> None:
    inputs = {"start": np.array(-1.5, dtype), "stop": np.array(4, dtype)}
    check(lambda start, stop: tf.raw_ops.LinSpace(start=start, stop=stop, num=count), inputs)
    check(lambda start, stop, num: tf.raw_ops.LinSpace(start=start, stop=stop, num=num), {**inputs, "num": np.int32(count)})


def test_even_spaces_between_constants_are_a_constant() -> None:
    check(lambda x: x + tf.raw_ops.LinSpace(start=1.0, stop=2.0, num=3), {"x": np.ones(3, np.float32)}, forms=("static",), operations=1)


@pytest.mark.parametrize("kind", ["Fill", "ZerosLike", "Empty"])
def test_strings_are_refused(kind: str) -> None:
    functions = {
        "Fill": lambda x: tf.strings.length(tf.raw_ops.Fill(dims=tf.shape(x), value="a")),
        "ZerosLike": lambda x: tf.strings.length(tf.raw_ops.ZerosLike(x=x)),
        "Empty": lambda x: tf.strings.length(tf.raw_ops.Empty(shape=tf.shape(x), dtype=tf.string)),
    }
    with pytest.raises(ConversionError, match="strings"):
        check(functions[kind], {"x": np.array(["a"], object)}, forms=("static",), expected=[])


@pytest.mark.parametrize("shape", [[2, 3], [2, None], []])
def test_result_of_an_untaken_branch(shape: list[int | None]) -> None:
    def function(x: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(tf.raw_ops.FakeParam(dtype=tf.float32, shape=shape)) * 0 + x

    check(function, {"x": np.ones(2, np.float32)}, expected=[np.ones(2, np.float32)], operations=1)
