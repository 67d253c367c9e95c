"""Arrays and lists of tensors of TensorFlow, in loops and outside, in both versions of control flow; scans and maps built on them."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.tensorflow.conversion import check

random = np.random.default_rng(5)
X = random.standard_normal((5, 2, 3)).astype(np.float32)
MATRIX = random.standard_normal((3, 3)).astype(np.float32) * 0.5


@pytest.fixture(params=[1, 2], ids=["v1", "v2"], autouse=True)
def version(request: pytest.FixtureRequest) -> Iterator[int]:
    (tf.compat.v1.enable_control_flow_v2 if request.param == 2 else tf.compat.v1.disable_control_flow_v2)()
    (tf.compat.v1.enable_tensor_equality if request.param == 2 else lambda: None)()
    yield request.param
    tf.compat.v1.enable_control_flow_v2()


def repeated(x: Any, step: Callable[..., Any], *states: Any, size: Any = None, **options: Any) -> Any:
    """A loop over the rows of x: step(i, row, array to write to, states) -> array, states."""
    length = tf.shape(x)[0]
    rows = tf.TensorArray(tf.float32, length).unstack(x)
    written = tf.TensorArray(tf.float32, length if size is None else size, **options)
    result = tf.while_loop(
        lambda i, *_: i < length, lambda i, array, *old: (i + 1, *step(i, rows.read(i), array, *old)), (tf.constant(0), written, *states)
    )
    return result[1:]


def mapped(x: Any) -> Any:
    return tf.map_fn(lambda row: tf.reduce_sum(row, axis=0) * 2.0, x)


def mapped_to_two(x: Any) -> Any:
    return tf.map_fn(lambda row: (tf.exp(row), tf.reduce_max(row)), x, fn_output_signature=(tf.float32, tf.float32))


def scanned(x: Any) -> Any:
    return tf.scan(lambda state, row: state * 0.5 + row, x)


def scanned_from(x: Any) -> Any:
    return tf.scan(lambda state, row: tf.tanh(state + row), x, initializer=tf.ones([2, 3]))


def scanned_in_reverse(x: Any) -> Any:
    return tf.scan(lambda state, row: state * 0.5 + row, x, reverse=True)


def folded(x: Any) -> Any:
    return tf.foldl(lambda state, row: state * 0.5 + row, x)


def folded_from_the_right(x: Any) -> Any:
    return tf.foldr(lambda state, row: state * 0.5 + row, x)


def stepped(x: Any) -> Any:
    def step(_: Any, row: Any, array: Any, state: Any) -> Any:
        new = tf.tanh(tf.matmul(state, MATRIX) + row)
        return array.write(_, new * 2.0), new

    array, state = repeated(x, step, x[0])
    return array.stack(), state


def read_after(x: Any) -> Any:
    array, state = repeated(x, lambda i, row, array, state: (array.write(i, row + state), state + 1.0), tf.constant(0.0))
    return array.read(2), array.gather([3, 1]), state


def index_used(x: Any) -> Any:
    (array,) = repeated(x, lambda i, row, array: (array.write(i, row * tf.cast(i, tf.float32)),))
    return array.stack()


def concatenated(x: Any) -> Any:
    (array,) = repeated(x, lambda i, row, array: (array.write(i, row),))
    return array.concat()


def sometimes(x: Any) -> Any:
    def step(i: Any, row: Any, array: Any) -> Any:
        return (tf.cond(tf.reduce_sum(row) > 0.0, lambda: array.write(i, row), lambda: array.write(i, -row)),)

    (array,) = repeated(x, step, element_shape=[2, 3])
    return array.stack()


def neighbours(x: Any) -> Any:
    rows = tf.TensorArray(tf.float32, 5, clear_after_read=False).unstack(x)
    return tf.while_loop(lambda i, *_: i < 4, lambda i, v: (i + 1, v + rows.read(i) * rows.read(i + 1)), (tf.constant(0), x[0]))[1]


def nested(x: Any) -> Any:
    return tf.map_fn(lambda rows: tf.map_fn(lambda row: tf.reduce_sum(row) * row, rows), x)


def longer_than_the_loop(x: Any) -> Any:
    array, state = repeated(x, lambda i, row, array, state: (array.write(i, row), state), tf.constant(0.0), size=8, element_shape=[2, 3])
    return array.stack(), state


def while_positive(x: Any) -> Any:
    rows = tf.TensorArray(tf.float32, tf.shape(x)[0]).unstack(x)
    written = tf.TensorArray(tf.float32, tf.shape(x)[0], element_shape=[2, 3])

    def condition(i: Any, _: Any, total: Any) -> Any:
        return tf.logical_and(i < 5, total < 3.0)

    def body(i: Any, array: Any, total: Any) -> Any:
        row = rows.read(i)
        return i + 1, array.write(i, row), total + tf.reduce_sum(tf.abs(row))

    _, array, total = tf.while_loop(condition, body, (tf.constant(0), written, tf.constant(0.0)))
    return array.stack(), total


LOOPS = (
    *(mapped, mapped_to_two, scanned, scanned_from, scanned_in_reverse, folded, folded_from_the_right, stepped, read_after, index_used),
    *(concatenated, sometimes, neighbours, nested, longer_than_the_loop, while_positive),
)


@pytest.mark.parametrize("function", LOOPS)
def test_loop(function: Callable[..., Any]) -> None:
    check(function, {"x": X}, forms=("static", "dynamic"))


def test_no_steps() -> None:
    check(scanned_from, {"x": X[:0]}, forms=("static", "dynamic"))
    check(folded, {"x": X[:1]}, forms=("static", "dynamic"))


def test_one_element() -> None:
    check(scanned_from, {"x": X[:1]}, forms=("static", "dynamic"))


def written_one_by_one(x: Any) -> Any:
    array = tf.TensorArray(tf.float32, 2)
    return array.write(0, x[0]).write(1, x[1] * 2.0).stack()


def written_at(x: Any) -> Any:
    return tf.TensorArray(tf.float32, 4, element_shape=[2, 3]).write(1, x[0]).write(3, x[1]).stack()


def scattered(x: Any) -> Any:
    return tf.TensorArray(tf.float32, 5).scatter([4, 2, 0, 1, 3], x).stack()


def length(x: Any) -> Any:
    return tf.TensorArray(tf.float32, 5).unstack(x).size()


def split(x: Any) -> Any:
    return tf.TensorArray(tf.float32, 2, infer_shape=False).split(x[:4], [2, 2]).read(1)


@pytest.mark.parametrize("function", [written_one_by_one, written_at, scattered, length, split])
def test_outside_of_loops(function: Callable[..., Any]) -> None:
    check(function, {"x": X}, forms=("static", "dynamic"))


def raw(x: Any, use: Callable[[Any], Any]) -> Any:
    return use(tf.raw_ops.TensorListFromTensor(tensor=x, element_shape=tf.constant([2, 3])))


def popped(handle: Any) -> Any:
    rest, last = tf.raw_ops.TensorListPopBack(input_handle=handle, element_shape=[2, 3], element_dtype=tf.float32)
    return tf.raw_ops.TensorListLength(input_handle=rest), last


RAW: dict[str, Callable[[Any], Any]] = {
    "get": lambda handle: tf.raw_ops.TensorListGetItem(input_handle=handle, index=3, element_shape=[2, 3], element_dtype=tf.float32),
    "gather": lambda handle: tf.raw_ops.TensorListGather(
        input_handle=handle, indices=[3, 0], element_shape=[2, 3], element_dtype=tf.float32
    ),
    "pop": popped,
    "push": lambda handle: tf.raw_ops.TensorListStack(
        input_handle=tf.raw_ops.TensorListPushBack(input_handle=handle, tensor=tf.ones([2, 3])),
        element_shape=[2, 3],
        element_dtype=tf.float32,
    ),
    "shrink": lambda handle: tf.raw_ops.TensorListStack(
        input_handle=tf.raw_ops.TensorListResize(input_handle=handle, size=2), element_shape=[2, 3], element_dtype=tf.float32
    ),
    "grow": lambda handle: tf.raw_ops.TensorListStack(
        input_handle=tf.raw_ops.TensorListResize(input_handle=handle, size=7), element_shape=[2, 3], element_dtype=tf.float32
    ),
    "join": lambda handle: tf.raw_ops.TensorListStack(
        input_handle=tf.raw_ops.TensorListConcatLists(input_a=handle, input_b=handle, element_dtype=tf.float32),
        element_shape=[2, 3],
        element_dtype=tf.float32,
    ),
    "concat": lambda handle: tf.raw_ops.TensorListConcatV2(
        input_handle=handle, element_shape=[-1, 3], leading_dims=tf.zeros([0], tf.int64), element_dtype=tf.float32
    ),
}


@pytest.mark.parametrize("name", RAW)
def test_node(name: str) -> None:
    check(lambda x: raw(x, RAW[name]), {"x": X}, forms=("static", "dynamic"))


def test_list_that_grows_in_a_loop() -> None:
    def function(x: Any) -> Any:
        first = tf.raw_ops.EmptyTensorList(element_shape=[2, 3], max_num_elements=-1, element_dtype=tf.float32)

        def body(i: Any, handle: Any) -> Any:
            return i + 1, tf.raw_ops.TensorListPushBack(input_handle=handle, tensor=x[0] * tf.cast(i, tf.float32))

        handle = tf.while_loop(lambda i, _: i < 3, body, (tf.constant(0), first))[1]
        return tf.raw_ops.TensorListStack(input_handle=handle, element_shape=[2, 3], element_dtype=tf.float32)

    check(function, {"x": X}, forms=("static", "dynamic"))


def test_a_list_of_computed_length_is_longer_than_what_is_written() -> None:
    def function(x: tf.Tensor, count: tf.Tensor) -> tf.Tensor:
        raw = tf.raw_ops
        made = raw.TensorListScatterV2(tensor=x[:2], indices=[0, 1], element_shape=[2, 3], num_elements=count)
        return raw.TensorListStack(input_handle=made, element_shape=[2, 3], element_dtype=tf.float32)

    check(function, {"x": X, "count": np.array(4, np.int32)})


def test_the_shape_of_elements() -> None:
    def function(x: tf.Tensor) -> tf.Tensor:
        handle = tf.raw_ops.TensorListFromTensor(tensor=x, element_shape=tf.shape(x)[1:])
        return tf.raw_ops.TensorListElementShape(input_handle=handle, shape_type=tf.int32)

    check(function, {"x": X})
