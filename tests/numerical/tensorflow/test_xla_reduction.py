"""Reductions, windows and sorts of XLA, whose functions are graphs of TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.runtime import Array
from tests.numerical.tensorflow.xla_functions import body, check_compiled, xla

RANDOM = np.random.default_rng(32)
FUNCTIONS: dict[str, Any] = {
    "Add": tf.math.add, "Mul": tf.math.multiply, "Max": tf.math.maximum, "Min": tf.math.minimum,
}  # fmt: skip
NEUTRAL = {"Add": 0, "Mul": 1, "Max": -np.inf, "Min": np.inf}


def floats(*shape: int) -> Array:
    return RANDOM.normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("init", ["neutral", "other"])
@pytest.mark.parametrize("kind", FUNCTIONS)
def test_reduction(kind: str, init: str) -> None:
    function, first = body(FUNCTIONS[kind], tf.float32, tf.float32), np.float32(NEUTRAL[kind] if init == "neutral" else 0.5)
    x = floats(2, 3, 4)
    check_compiled(lambda x: xla.reduce(x, first, [1], function), {"x": x}, operations=1 if init == "neutral" else 2)
    check_compiled(lambda x: xla.reduce(x, first, [0, 2], function), {"x": x}, forms=("static",))
    check_compiled(lambda x: xla.variadic_reduce([x], [first], [2, 1], function), {"x": x}, forms=("static",))


@pytest.mark.parametrize("dtype", [np.int32, np.int8, np.uint8])
def test_reduction_of_integers(dtype: Any) -> None:
    x = RANDOM.integers(0, 60, (3, 5)).astype(dtype)
    function = body(tf.math.add, tf.as_dtype(dtype), tf.as_dtype(dtype))
    check_compiled(lambda x: xla.reduce(x, dtype(3), [1], function), {"x": x})


@pytest.mark.parametrize("kind", ["logical_and", "logical_or"])
def test_logical_reduction(kind: str) -> None:
    x, function = RANDOM.random((4, 5)) > 0.3, body(getattr(tf.math, kind), tf.bool, tf.bool)
    check_compiled(lambda x: xla.reduce(x, kind == "logical_and", [1], function), {"x": x})


def test_several_reductions() -> None:
    function = body(lambda a, b, c, d: (a + c, tf.maximum(d, b)), *[tf.float32] * 4)
    inputs = {"x": floats(3, 4), "y": floats(3, 4)}
    check_compiled(lambda x, y: xla.variadic_reduce([x, y], [np.float32(1), np.float32(0)], [1], function), inputs)


def jax_extreme(compare: Any) -> Any:
    """The function with which jax reduces to the largest or the smallest number and its index."""

    def pick(value: Any, index: Any, other: Any, other_index: Any) -> Any:
        takes = tf.logical_or(compare(value, other), tf.not_equal(value, value))
        takes_index = tf.logical_or(takes, tf.logical_and(tf.equal(value, other), tf.less(index, other_index)))
        return tf.where(takes, value, other), tf.where(takes_index, index, other_index)

    return pick


@pytest.mark.parametrize(("compare", "first"), [(tf.greater, -np.inf), (tf.less, np.inf)])
def test_position_of_the_extreme(compare: Any, first: float) -> None:
    function = body(jax_extreme(compare), tf.float32, tf.int32, tf.float32, tf.int32)
    x = RANDOM.integers(-2, 3, (3, 6)).astype(np.float32)
    positions = np.broadcast_to(np.arange(6, dtype=np.int32), (3, 6))
    inits = [np.float32(first), np.int32(0)]
    reduced = lambda x: xla.variadic_reduce([x, positions], inits, [1], function)  # noqa: E731
    # NaN wins.
    check_compiled(reduced, {"x": np.where(x == 1, np.nan, x).astype(np.float32)}, operations=7, forms=("static",))
    others = RANDOM.integers(0, 9, (3, 6)).astype(np.int32)
    inputs = {"x": x, "i": others}
    check_compiled(lambda x, i: xla.variadic_reduce([x, i], inits, [1], function), inputs)
    middle = [np.float32(1), np.int32(3)]
    check_compiled(lambda x, i: xla.variadic_reduce([x, i], middle, [0, 1], function), inputs)


def test_other_functions_are_refused() -> None:
    function = body(lambda a, b: a + 2 * b, tf.float32, tf.float32)
    with pytest.raises(ConversionError, match="is not a sum"):
        check_compiled(lambda x: xla.reduce(x, np.float32(0), [1], function), {"x": floats(2, 3)}, forms=("static",))
    unfair = body(lambda a, i, b, j: (tf.maximum(a, b), tf.where(a >= b, j, i)), tf.float32, tf.int32, tf.float32, tf.int32)
    with pytest.raises(ConversionError, match="is not a sum"):
        check_compiled(
            lambda x: xla.variadic_reduce([x, np.zeros((2, 3), np.int32)], [np.float32(0), np.int32(0)], [1], unfair),
            {"x": floats(2, 3)},
            forms=("static",),
        )


def window(sizes: list[int], strides: list[int], padding: dict[int, tuple[int, int]] | None = None, **dilations: list[int]) -> Any:
    """The arguments that say windows; `padding` is that of some axes."""
    pads = [(padding or {}).get(axis, (0, 0)) for axis in range(len(sizes))]
    return {"window_dimensions": sizes, "window_strides": strides, "padding": pads, **dilations}


SINGLE = [1, 1, 1, 1]
WINDOWS = {
    "pool": window([1, 2, 2, 1], [1, 2, 2, 1]),
    "same": window([1, 3, 2, 1], [1, 2, 1, 1], {1: (1, 1), 2: (0, 1)}),
    "one axis": window([1, 3, 1, 1], SINGLE),
    "channels": window([1, 1, 1, 3], SINGLE, {3: (1, 1)}),
    "all axes": window([2, 3, 2, 3], [1, 2, 1, 2], {0: (1, 0), 1: (1, 1), 2: (0, 1), 3: (0, 2)}),
    "dilated": window([1, 3, 2, 1], SINGLE, {1: (2, 2), 2: (1, 0)}, window_dilations=[1, 2, 3, 1]),
    "spread": window([1, 3, 2, 1], [1, 1, 2, 1], {1: (1, 1)}, base_dilations=[1, 2, 3, 1]),
    "cropped": window([1, 2, 2, 1], SINGLE, {1: (-1, 1), 2: (0, -2)}),
    "running": window([1, 6, 1, 1], SINGLE, {1: (5, 0)}),
    "running back": window([1, 6, 1, 1], SINGLE, {1: (0, 5)}),
}


@pytest.mark.parametrize("kind", FUNCTIONS)
@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name: str, kind: str) -> None:
    function = body(FUNCTIONS[kind], tf.float32, tf.float32)
    check_compiled(lambda x: xla.reduce_window(x, np.float32(NEUTRAL[kind]), function, **WINDOWS[name]), {"x": floats(2, 6, 7, 4)})


@pytest.mark.parametrize("kind", ["Add", "Max"])
def test_windows_of_integers_and_with_another_first_element(kind: str) -> None:
    x = RANDOM.integers(-5, 6, (2, 6, 7, 4)).astype(np.int32)
    function = body(FUNCTIONS[kind], tf.int32, tf.int32)
    for name, first in (("same", 2), ("running", 0), ("running", 2), ("pool", 0)):
        check_compiled(lambda x, name=name, first=first: xla.reduce_window(x, np.int32(first), function, **WINDOWS[name]), {"x": x})


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_windows_of_a_list(kind: str) -> None:
    function = body(FUNCTIONS[kind], tf.float32, tf.float32)
    line = window([3], [2], {0: (1, 1)})
    check_compiled(lambda x: xla.reduce_window(x, np.float32(NEUTRAL[kind]), function, **line), {"x": floats(9)})


def test_sort() -> None:
    x = RANDOM.integers(-3, 4, (3, 7)).astype(np.float32)
    check_compiled(lambda x: xla.sort(x), {"x": x})
    check_compiled(lambda x, y: xla.key_value_sort(x, y), {"x": RANDOM.permutation(7).astype(np.int32), "y": floats(7)})


def total_order_key(x: Any) -> Any:
    """The integer that jax compares in place of a float."""
    canonical = tf.where(tf.equal(x, 0.0), tf.zeros_like(x), x)
    canonical = tf.where(tf.not_equal(x, x), tf.constant(np.nan, tf.float32), canonical)
    signed = tf.bitcast(canonical, tf.int32)
    mask = tf.bitcast(tf.bitwise.right_shift(signed, 31), tf.uint32)
    return tf.bitwise.bitwise_xor(signed, tf.bitcast(tf.bitwise.right_shift(mask, 1), tf.int32))


COMPARATORS: dict[str, Any] = {
    "ascending": lambda a, b, *_: tf.less(a, b),
    "descending": lambda a, b, *_: tf.greater(a, b),
    "by the second": lambda *arguments: tf.less(*arguments[2:]),
    "by both": lambda a, b, i, j: tf.logical_or(tf.less(a, b), tf.logical_and(tf.equal(a, b), tf.greater(i, j))),
    "of jax": lambda a, b, *_: tf.less(total_order_key(a), total_order_key(b)),
    "of jax by both": lambda a, b, i, j: tf.logical_or(
        tf.less(total_order_key(a), total_order_key(b)),
        tf.logical_and(tf.equal(total_order_key(a), total_order_key(b)), tf.less(i, j)),
    ),
}


@pytest.mark.parametrize("name", COMPARATORS)
def test_sort_by_a_comparator(name: str) -> None:
    function = body(COMPARATORS[name], tf.float32, tf.float32, tf.int32, tf.int32)
    inputs = {"x": RANDOM.integers(-2, 3, (6, 4)).astype(np.float32), "i": RANDOM.integers(0, 4, (6, 4)).astype(np.int32)}
    check_compiled(lambda x, i: xla.variadic_sort([x, i], 0, is_stable=True, comparator=function), inputs)


def test_another_comparator_is_refused() -> None:
    function = body(lambda a, b: tf.less(tf.abs(a), tf.abs(b)), tf.float32, tf.float32)
    with pytest.raises(ConversionError, match="comparator is not an order"):
        check_compiled(lambda x: xla.variadic_sort([x], 0, is_stable=True, comparator=function), {"x": floats(4)}, forms=("static",))
