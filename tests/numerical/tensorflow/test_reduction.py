"""Reductions of TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.tensorflow.conversion import check

X = np.random.default_rng(4).normal(0, 2, (2, 3, 4)).astype(np.float32)
KINDS = "EuclideanNorm Max Mean Min Prod Sum"


@pytest.mark.parametrize("axes", [[1], [0, -1], [], 2, [0, 1, 2]], ids=str)
@pytest.mark.parametrize("keep", [False, True])
def test_reductions(axes: list[int] | int, keep: bool) -> None:
    axis = np.array(axes, np.int32)
    check(lambda x: [getattr(tf.raw_ops, kind)(input=x, axis=axis, keep_dims=keep) for kind in KINDS.split()], {"x": X}, operations=6)
    check(
        lambda x: [tf.raw_ops.All(input=x > -2, axis=axis, keep_dims=keep), tf.raw_ops.Any(input=x > 2, axis=axis, keep_dims=keep)],
        {"x": X},
    )


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64, np.float16, np.float64])
def test_other_types(dtype: type) -> None:
    x = np.array([[1, 3, 2], [4, 1, 0]]).astype(dtype)
    kinds = "Max Mean Min Prod Sum" if np.dtype(dtype).kind != "f" else KINDS
    check(lambda x: [getattr(tf.raw_ops, kind)(input=x, axis=[1]) for kind in kinds.split()], {"x": x}, forms=("static",), rtol=1e-3)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.uint8, np.uint16])
def test_extremes_of_nothing(dtype: type) -> None:
    def function(x: Any) -> Any:
        return tf.reduce_max(x, 0), tf.reduce_min(x, 0)

    check(function, {"x": np.zeros((0, 3), dtype)}, forms=("static", "dynamic"))
    check(function, {"x": np.array([[1, 2, 3], [3, 2, 1]], dtype)}, forms=("dynamic",))


def test_computed_axes() -> None:
    inputs = {"x": X, "axes": np.array([0, 2], np.int32)}
    # Without the reduced dimensions the rank is not known if that of x is not, which the runtime does not support.
    kinds = [*KINDS.split(), "All", "Any"]
    operands = lambda kind, x: x > 1 if kind in ("All", "Any") else x  # noqa: E731
    check(lambda x, axes: [getattr(tf.raw_ops, kind)(input=operands(kind, x), axis=axes, keep_dims=True) for kind in kinds], inputs)


def test_half_of_the_sum_of_squares() -> None:
    check(lambda x: tf.raw_ops.L2Loss(t=x), {"x": X}, operations=3)


@pytest.mark.parametrize("axis", [0, 2, -1, -2])
def test_positions(axis: int) -> None:
    def function(x: tf.Tensor) -> list[tf.Tensor]:
        results = [getattr(tf.raw_ops, kind)(input=x, dimension=axis) for kind in ("ArgMax", "ArgMin")]
        return [*results, tf.raw_ops.ArgMax(input=x, dimension=axis, output_type=tf.int32)]

    check(function, {"x": X}, operations=6)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.float16, np.float64, np.bool_])
def test_positions_of_equal_elements(dtype: type) -> None:
    x = np.array([[1, 3, 3, 0], [0, 0, 5, 5]]).astype(dtype)
    check(lambda x: [tf.raw_ops.ArgMax(input=x, dimension=1), tf.raw_ops.ArgMin(input=x, dimension=1)], {"x": x}, forms=("static",))


def test_positions_of_small_types() -> None:
    check(lambda x: tf.raw_ops.ArgMax(input=x, dimension=1, output_type=tf.uint16), {"x": X}, forms=("static",))


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_running_reductions(axis: int, reverse: bool, exclusive: bool) -> None:
    properties = {"axis": axis, "exclusive": exclusive, "reverse": reverse}
    check(lambda x: tf.raw_ops.Cumsum(x=x, **properties), {"x": X}, operations=1)
    forms = ("static", "dynamic", "rank") if axis < 0 else ("static", "dynamic")
    check(lambda x: [tf.raw_ops.Cumprod(x=x, **properties), tf.raw_ops.CumulativeLogsumexp(x=x, **properties)], {"x": X}, forms=forms)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8, np.float64])
def test_running_reductions_of_other_types(dtype: type) -> None:
    x = np.array([[1, 3, 2], [4, 1, 0]]).astype(dtype)
    check(lambda x: [tf.raw_ops.Cumsum(x=x, axis=1), tf.raw_ops.Cumprod(x=x, axis=1)], {"x": x}, forms=("static",))


def test_running_sum_along_a_computed_axis() -> None:
    check(lambda x, axis: tf.raw_ops.Cumsum(x=x, axis=axis), {"x": X, "axis": np.array(1, np.int32)})


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("kind", ["Cumprod", "CumulativeLogsumexp"])
def test_running_reductions_of_nothing(kind: str, axis: int) -> None:
    check(lambda x: getattr(tf.raw_ops, kind)(x=x, axis=axis), {"x": np.zeros((2, 0), np.float32)}, said={"x": [None, 0]})


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16])
def test_norms_of_small_integers_wrap_around(dtype: type) -> None:
    x = np.array([[3, 4], [100, 100], [90, 3], [120, 126]]).astype(dtype)
    check(lambda x: tf.raw_ops.EuclideanNorm(input=x, axis=[1]), {"x": x})


NUMBERS = np.array([[0, 2, 2], [7, 1, 0]], np.int32)
WEIGHTS = np.array([[1, 2, 3], [4, 5, 6]], np.float32)


def test_histograms() -> None:
    check(lambda x: tf.raw_ops.Bincount(arr=x, size=4, weights=tf.zeros([0], tf.int32)), {"x": NUMBERS})
    check(lambda x, w: tf.raw_ops.Bincount(arr=x, size=9, weights=w), {"x": NUMBERS, "w": WEIGHTS})
    check(lambda x, w: tf.raw_ops.Bincount(arr=x, size=9, weights=w), {"x": NUMBERS, "w": np.zeros((0,), np.float32)}, forms=("dynamic",))


@pytest.mark.parametrize("x", [NUMBERS, NUMBERS[0]], ids=["rows", "list"])
def test_dense_histograms(x: np.ndarray) -> None:
    none = np.zeros(0, np.float32)
    weights = WEIGHTS.reshape(-1)[: x.size].reshape(x.shape)
    check(lambda x: tf.raw_ops.DenseBincount(input=x, size=5, weights=none), {"x": x})
    check(lambda x: tf.raw_ops.DenseBincount(input=x, size=5, weights=none, binary_output=True), {"x": x.astype(np.int64)})
    check(lambda x, w: tf.raw_ops.DenseBincount(input=x, size=np.int32(5), weights=w), {"x": x, "w": weights})
    check(lambda x, w: tf.raw_ops.DenseBincount(input=x, size=np.int32(5), weights=w), {"x": x, "w": weights}, fixed=["w"])


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_histogram_of_ranges(dtype: type) -> None:
    x = np.array([[-1, 0, 1.5, 2], [5, 15, 0.99, 3]], np.float32)
    limits = np.array([0, 5], np.float32)
    check(lambda x: tf.raw_ops.HistogramFixedWidth(values=x, value_range=limits, nbins=5, dtype=dtype), {"x": x})
    check(
        lambda x, limits, n: tf.raw_ops.HistogramFixedWidth(values=x, value_range=limits, nbins=n, dtype=dtype),
        {"x": x, "limits": limits, "n": np.array(4, np.int32)},
    )


@pytest.mark.parametrize("axes", [[0, 2], [2, 0, 1]], ids=str)
@pytest.mark.parametrize("kind", ["Prod", "Max"])
def test_the_number_of_computed_axes_says_how_many_are_left(kind: str, axes: list[int]) -> None:
    inputs = {"x": np.arange(1, 13, dtype=np.float32).reshape(2, 3, 2), "a": np.array(axes)}
    check(lambda x, a: getattr(tf.raw_ops, kind)(input=x, axis=a), inputs, forms=("static", "dynamic"), fixed=["a"])
