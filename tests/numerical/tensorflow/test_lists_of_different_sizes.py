"""Arrays and lists of TensorFlow whose elements differ in their first dimension, in both versions of control flow."""

# ruff: noqa: ARG005

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.tensorflow.conversion import check

X = np.array([[0, 1, 2, 3], [0.9, 5, 6, 7], [-1.2, 8, 9, 10]], np.float32)
COUNT = np.array(3, np.int32)
raw = tf.raw_ops


@pytest.fixture(params=[1, 2], ids=["v1", "v2"], autouse=True)
def version(request: pytest.FixtureRequest) -> Iterator[int]:
    (tf.compat.v1.enable_control_flow_v2 if request.param == 2 else tf.compat.v1.disable_control_flow_v2)()
    (tf.compat.v1.enable_tensor_equality if request.param == 2 else lambda: None)()
    yield request.param
    tf.compat.v1.enable_control_flow_v2()


def array(size: Any = 0, *, grows: bool = True, shape: Any = (None, 4)) -> Any:
    return tf.TensorArray(tf.float32, size, dynamic_size=grows, infer_shape=False, element_shape=shape)


def selected(x: Any, i: Any) -> Any:
    """As many rows as the data say, like the candidates of a detector at a scale."""
    moved = x + tf.cast(i, tf.float32)
    return tf.boolean_mask(moved, moved[:, 0] > 0.5)


def looped(x: Any, count: Any, made: Any, element: Callable[..., Any] = selected, start: Any = 0) -> Any:
    return tf.while_loop(lambda i, _: i < count, lambda i, made: (i + 1, made.write(i, element(x, i))), [start, made])[1]


def scaled(x: Any, i: Any) -> Any:
    return x * tf.cast(i, tf.float32)


def early_end(x: Any, k: Any) -> Any:
    def body(i: Any, made: Any, total: Any) -> Any:
        return i + 1, made.write(i, selected(x, i)), total + tf.reduce_sum(selected(x, i))

    _, made, total = tf.while_loop(lambda i, _, total: tf.logical_and(i < k, total < 30.0), body, [0, array(), 0.0])
    return made.concat(), total


def nested(x: Any, k: Any) -> Any:
    def body(i: Any, made: Any) -> Any:
        return i + 1, made.write(i, looped(x, i + 1, array()).concat())

    return tf.while_loop(lambda i, _: i < k, body, [0, array()])[1].concat()


def nested_of_one_size(x: Any, k: Any) -> Any:
    def body(i: Any, made: Any) -> Any:
        inner = looped(x, k, array(), lambda x, j: x * tf.cast(i + j, tf.float32))
        return i + 1, made.write(i, inner.concat())

    return tf.while_loop(lambda i, _: i < k, body, [0, array()])[1].stack()


def of_a_growing_state(x: Any, k: Any) -> Any:
    def body(i: Any, made: Any, state: Any) -> Any:
        return i + 1, made.write(i, state), tf.concat([state, x], 0)

    shapes = [tf.TensorShape([]), None, tf.TensorShape([None, *x.shape[1:]])]
    return tf.while_loop(lambda i, *_: i < k, body, [0, array(), x], shape_invariants=shapes)[1].concat()


def pushed(x: Any, k: Any) -> Any:
    empty = raw.EmptyTensorList(element_shape=tf.constant([-1, 4]), max_num_elements=-1, element_dtype=tf.float32)

    def body(i: Any, handle: Any) -> Any:
        return i + 1, raw.TensorListPushBack(input_handle=handle, tensor=selected(x, i))

    return tf.while_loop(lambda i, _: i < k, body, [0, empty])[1]


def joined(handle: Any) -> Any:
    none = tf.zeros([0], tf.int64)
    return raw.TensorListConcatV2(input_handle=handle, element_shape=tf.constant([-1, 4]), leading_dims=none, element_dtype=tf.float32)


CASES: dict[str, Callable[..., Any]] = {
    "concatenated": lambda x, k: looped(x, k, array()).concat(),
    "known number of iterations": lambda x, k: looped(x, 3, array()).concat(),
    "no iteration": lambda x, k: looped(x, k - 3, array()).concat(),
    "size that is known": lambda x, k: looped(x, 3, array(3, grows=False)).concat(),
    "size that is computed": lambda x, k: looped(x, k, array(k, grows=False)).concat(),
    "shape that is not known": lambda x, k: looped(x, k, array(shape=None)).concat(),
    "read": lambda x, k: [(made := looped(x, k, array())).read(1), made.read(k - 1), made.size()],
    "further element": lambda x, k: looped(x, k, array()).write(k, x).concat(),
    "element before": lambda x, k: looped(x, k, array().write(0, x), start=1).concat(),
    "replaced element": lambda x, k: looped(x, k, array()).write(1, x).concat(),
    "size from the number of the iteration": lambda x, k: looped(x, k, array(), lambda x, i: x[:i]).concat(),
    "repeated rows": lambda x, k: looped(x, k, array(), lambda x, i: tf.tile(x, [i + 1, 1])).concat(),
    "lists of numbers": lambda x, k: looped(x, k, array(shape=[None]), lambda x, i: selected(x, i)[:, 0]).concat(),
    "images": lambda x, k: looped(
        x, k, array(shape=[None, 2, 2]), lambda x, i: tf.reshape(selected(x, i), [-1, 2, 2])
    ).concat(),
    "one size": lambda x, k: [looped(x, k, array(), scaled).concat(), looped(x, k, array(), scaled).stack()],
    "one size that the data say": lambda x, k: looped(
        x, k, array(), lambda x, i: tf.boolean_mask(x, x[:, 0] + 0.0 * tf.cast(i, tf.float32) > 0.5)
    ).stack(),
    "outside of loops": lambda x, k: array().write(0, x).write(1, x[:2]).concat(),
    "outside of loops, read": lambda x, k: [(made := array().write(0, x).write(1, x[:2])).read(1), made.read(0)],
    "lists joined": lambda x, k: joined(
        raw.TensorListConcatLists(input_a=pushed(x, k), input_b=pushed(x * 2, k), element_dtype=tf.float32)
    ),
    "pushed": lambda x, k: [*joined(handle := pushed(x, k)), raw.TensorListLength(input_handle=handle)],
    "early end": early_end,
    "nested": nested,
    "nested, of one size": nested_of_one_size,
    "of a growing state": of_a_growing_state,
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_sizes(name: str, version: int) -> None:
    if name == "replaced element" and version == 1:
        pytest.skip("an array of version 1 is written once")
    said = {"x": [None, 4]} if "growing" in name else None
    check(CASES[name], {"x": X, "k": COUNT}, forms=("static", "dynamic"), said=said)


@pytest.mark.parametrize("use", ["concat", "read"])
def test_split(use: str) -> None:
    def function(x: Any, lengths: Any) -> Any:
        made = array(2, grows=False).split(x, lengths)
        return made.concat() if use == "concat" else made.read(1)

    check(function, {"x": X, "lengths": np.array([1, 2], np.int32)}, forms=("static", "dynamic"))


def test_ranks_that_differ_are_refused() -> None:
    def function(x: Any, k: Any) -> Any:
        return looped(x, k, array(shape=None), lambda x, i: tf.cond(tf.equal(i, 0), lambda: x[0], lambda: x)).size()

    with pytest.raises(ConversionError, match=r"collects values of 1 dimensions and of 2"):
        check(function, {"x": X, "k": COUNT}, forms=("static",), expected=[])


def test_a_list_that_another_loop_gets_is_refused() -> None:
    def function(x: Any, k: Any) -> Any:
        return looped(x, k + 2, looped(x, k, array()), start=k).concat()

    with pytest.raises(ConversionError, match=r"hands on a list whose elements differ in their sizes"):
        check(function, {"x": X, "k": COUNT}, forms=("static",), expected=[])
