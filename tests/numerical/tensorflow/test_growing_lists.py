"""Arrays and lists of TensorFlow that grow: writes beyond the end, in loops and conditionals, in both versions of control flow."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir import convert_model, to_openvino
from moir.errors import ConversionError
from tests.numerical.runtime import compare
from tests.numerical.tensorflow.conversion import check, ordered_results

random = np.random.default_rng(5)
X = random.standard_normal((5, 2, 3)).astype(np.float32)


@pytest.fixture(params=[1, 2], ids=["v1", "v2"], autouse=True)
def version(request: pytest.FixtureRequest) -> Iterator[int]:
    (tf.compat.v1.enable_control_flow_v2 if request.param == 2 else tf.compat.v1.disable_control_flow_v2)()
    (tf.compat.v1.enable_tensor_equality if request.param == 2 else lambda: None)()
    yield request.param
    tf.compat.v1.enable_control_flow_v2()


def array(size: int = 0, **options: Any) -> Any:
    return tf.TensorArray(tf.float32, size, dynamic_size=True, **options)


def with_length(made: Any) -> Any:
    return made.stack(), made.size()


def number(value: int) -> np.ndarray[Any, Any]:
    return np.array(value, np.int32)


OUTSIDE: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "two writes": (lambda x: with_length(array().write(0, x[0]).write(1, x[1])), {}),
    "a gap": (lambda x: with_length(array(1, element_shape=[2, 3]).write(2, x[0])), {}),
    "a gap, read": (lambda x: array(1).write(0, x[1]).write(3, x[0]).read(3), {}),
    "a computed index beyond": (lambda x, k: with_length(array(1, element_shape=[2, 3]).write(k, x[0])), {"k": number(3)}),
    "a computed index within": (lambda x, k: with_length(array(2, element_shape=[2, 3]).write(k, x[0])), {"k": number(0)}),
    "at the length": (lambda x: with_length((made := array(1).write(0, x[2])).write(made.size(), x[1])), {}),
    "scattered": (lambda x, k: with_length(array().scatter(k, x[:3])), {"k": np.array([2, 0, 1], np.int32)}),
    "scattered at constants": (lambda x: with_length(array(1).scatter([1, 0, 2], x[:3])), {}),
    "part of it scattered": (lambda x: array(5).scatter([0, 1], x[:2]).size(), {}),
    "unstacked": (lambda x: with_length(array().unstack(x)), {}),
    "concatenated": (lambda x: array().write(0, x[0]).write(1, x[1]).concat(), {}),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_outside_of_loops(name: str) -> None:
    function, inputs = OUTSIDE[name]
    check(function, {"x": X, **inputs}, forms=("static", "dynamic"))


def looped(x: Any, count: Any, made: Any, start: Any = 0, shift: int = 0) -> Any:
    def body(i: Any, made: Any) -> Any:
        return i + 1, made.write(i + shift, x[0] * tf.cast(i + 1, tf.float32))

    return tf.while_loop(lambda i, _: i < count, body, [tf.constant(start) if isinstance(start, int) else start, made])[1]


@pytest.mark.parametrize("count", [0, 1, 3])
@pytest.mark.parametrize("size", [0, 1, 2, 7])
@pytest.mark.parametrize("is_known", [True, False])
def test_loop(size: int, count: int, is_known: bool) -> None:
    made = {"size": size, "element_shape": [2, 3]}
    if is_known:
        check(lambda x: with_length(looped(x, count, array(**made))), {"x": X}, forms=("static", "dynamic"))
    else:
        check(lambda x, k: with_length(looped(x, k, array(**made))), {"x": X, "k": number(count)}, forms=("static", "dynamic"))


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("size", [0, 1])
def test_loop_that_says_the_shape(size: int, count: int) -> None:
    check(lambda x, k: with_length(looped(x, k, array(size))), {"x": X, "k": number(count)}, forms=("static", "dynamic"))


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("size", [0, 1, 3, 7])
@pytest.mark.parametrize("shift", [-2, 0, 1])
def test_loop_from_a_later_element(size: int, count: int, shift: int) -> None:
    check(
        lambda x, k: with_length(looped(x, k, array(size, element_shape=[2, 3]), start=2, shift=shift)),
        {"x": X, "k": number(count)},
        forms=("static", "dynamic"),
    )


def another_loop(x: Any, k: Any) -> Any:
    return looped(x, k + 2, looped(x, k, array()), k).stack()


def another_write(x: Any, k: Any) -> Any:
    return looped(x, k, array()).write(k, x[3]).stack()


def at_the_length(x: Any, k: Any) -> Any:
    return tf.while_loop(lambda i, _: i < k, lambda i, made: (i + 1, made.write(made.size(), x[i])), [0, array()])[1].stack()


def early_end(x: Any, k: Any) -> Any:
    def body(i: Any, made: Any, total: Any) -> Any:
        return i + 1, made.write(i, x[0] + total), total * 3 + tf.reduce_sum(tf.abs(x[0]))

    _, made, total = tf.while_loop(lambda i, _, total: tf.logical_and(i < k, total < 20.0), body, [0, array(), 0.0])
    return with_length(made), total


def some_rows(x: Any, k: Any) -> Any:
    """The index is a state of its own, so that the list is one, too."""

    def body(i: Any, written: Any, made: Any) -> Any:
        return i + 1, *tf.cond(tf.reduce_sum(x[i]) > 0, lambda: (written + 1, made.write(written, x[i])), lambda: (written, made))

    _, written, made = tf.while_loop(lambda i, *_: i < k, body, [0, 0, array(element_shape=[2, 3])])
    return made.stack(), written


def nested(x: Any, k: Any) -> Any:
    def body(i: Any, made: Any) -> Any:
        def inner(j: Any, made: Any) -> Any:
            return j + 1, made.write(i * 2 + j, x[j] * tf.cast(i, tf.float32))

        return i + 1, tf.while_loop(lambda j, _: j < 2, inner, [0, made])[1]

    return tf.while_loop(lambda i, _: i < k, body, [0, array(element_shape=[2, 3])])[1].stack()


def nested_lists(x: Any, k: Any) -> Any:
    def body(i: Any, made: Any) -> Any:
        return i + 1, made.write(i, looped(x * tf.cast(i, tf.float32), k, array()).stack())

    return tf.while_loop(lambda i, _: i < k, body, [0, array()])[1].stack()


LOOPS = (another_loop, another_write, at_the_length, early_end, some_rows, nested, nested_lists)


@pytest.mark.parametrize("function", LOOPS)
def test_loops(function: Callable[..., Any]) -> None:
    check(function, {"x": X, "k": number(3)}, forms=("static", "dynamic"))


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("size", [0, 1])
def test_conditional(taken: bool, size: int) -> None:
    def function(x: Any, taken: Any) -> Any:
        made = array(size, element_shape=[2, 3])
        made = made.write(0, x[1]) if size else made
        return tf.cond(taken, lambda: made.write(2, x[0]), lambda: made).stack()

    check(function, {"x": X, "taken": np.array(taken)}, forms=("static", "dynamic"))


def sometimes_in_a_loop(x: Any, k: Any) -> Any:
    def body(i: Any, written: Any, made: Any) -> Any:
        return i + 1, *tf.cond(tf.reduce_sum(x[i]) > 0, lambda: (written + 1, made.write(written, x[i])), lambda: (written, made))

    return tf.while_loop(lambda i, *_: i < k, body, [0, 0, array()])[2].stack()


def by_branches(x: Any, k: Any) -> Any:
    made = array()
    return tf.cond(k > 3, lambda: made.write(0, x[0]).write(1, x[1]), lambda: made.write(0, x[1])).stack()


def every_other(x: Any, k: Any) -> Any:
    return tf.while_loop(lambda i, _: i < k, lambda i, made: (i + 2, made.write(i, x[i])), [0, array()])[1].stack()


@pytest.mark.parametrize("function", [sometimes_in_a_loop, by_branches, every_other])
def test_a_list_whose_readers_state_the_shape(function: Callable[..., Any]) -> None:
    """TensorFlow infers the shape of elements from what is written, where shapes are static."""
    check(function, {"x": X, "k": number(4)}, forms=("static",))


@pytest.mark.parametrize("function", [sometimes_in_a_loop, by_branches, every_other])
def test_a_list_of_unknown_shape_that_is_handed_on(function: Callable[..., Any]) -> None:
    with pytest.raises(ConversionError, match=r"elements have a dynamic shape.*element_shape"):
        check(function, {"x": X, "k": number(4)}, forms=("dynamic",), expected=[])


def for_range(x: Any, k: Any) -> Any:
    made = array()
    for i in tf.range(k):
        made = made.write(i, x[0] + tf.cast(i, tf.float32))
    return with_length(made)


def for_range_from_one(x: Any, k: Any) -> Any:
    made = array()
    for i in tf.range(1, k):
        made = made.write(i - 1, x[0] + tf.cast(i, tf.float32))
    return with_length(made)


def for_rows(x: Any, k: Any) -> Any:
    made, i = array(), 0
    for row in x[:k]:
        made = made.write(i, row * 2.0)
        i = i + 1
    return with_length(made)


def while_small(x: Any, k: Any) -> Any:
    made, state, i = array(), x[0], 0
    while i < k and tf.reduce_sum(state) < 50.0:
        made = made.write(i, state)
        state = state * 1.5 + 1.0
        i += 1
    return with_length(made), state


@pytest.mark.parametrize("function", [for_range, for_range_from_one, for_rows, while_small])
def test_autograph(function: Callable[..., Any]) -> None:
    check(lambda x, k: tf.function(function)(x, k), {"x": X, "k": number(4)}, forms=("static", "dynamic"))


RAW: dict[str, Callable[..., Any]] = {
    "scatter into an empty list": lambda x, k, shape: tf.raw_ops.TensorListScatterIntoExistingList(
        input_handle=tf.raw_ops.EmptyTensorList(element_shape=shape, max_num_elements=-1, element_dtype=tf.float32), tensor=x[:3], indices=k
    ),
    "scatter without a length": lambda x, k, shape: tf.raw_ops.TensorListScatterV2(
        tensor=x[:3], indices=k, element_shape=shape, num_elements=-1
    ),
    "scatter": lambda x, k, shape: tf.raw_ops.TensorListScatter(tensor=x[:3], indices=k, element_shape=shape),
    "lists joined": lambda x, _, shape: tf.raw_ops.TensorListConcatLists(
        input_a=tf.raw_ops.TensorListReserve(element_shape=shape, num_elements=2, element_dtype=tf.float32),
        input_b=tf.raw_ops.TensorListFromTensor(tensor=x, element_shape=shape),
        element_dtype=tf.float32,
    ),
    "a reserved list extended": lambda x, k, _: tf.raw_ops.TensorListPushBack(
        input_handle=tf.raw_ops.TensorListReserve(element_shape=-1, num_elements=k[0], element_dtype=tf.float32), tensor=x[0]
    ),
}


@pytest.mark.parametrize("name", RAW)
def test_node(name: str) -> None:
    def function(x: Any, k: Any) -> Any:
        shape = tf.constant([2, 3])
        handle = RAW[name](x, k, shape)
        stacked = tf.raw_ops.TensorListStack(input_handle=handle, element_shape=shape, element_dtype=tf.float32)
        return stacked, tf.raw_ops.TensorListLength(input_handle=handle)

    check(function, {"x": X, "k": np.array([2, 0, 1], np.int32)}, forms=("static", "dynamic"))


@pytest.mark.parametrize("given", [False, True])
def test_the_declared_shape_of_elements(given: bool, tmp_path: Path) -> None:
    """A graph without a version does not say that a placeholder is a scalar; the array says what its elements are."""
    with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        x, scale = tf.compat.v1.placeholder(tf.float32, [None, 2], "x"), tf.compat.v1.placeholder(tf.float32, [], "scale")
        made = array(element_shape=[None, 2], infer_shape=False)
        loop = tf.while_loop(lambda i, *_: i < 3, lambda i, t, s: (i + 1, t.write(i, x / s), s * 2), [0, made, scale])
        tf.identity(loop[1].concat(), "y")
        inputs = {"x": np.arange(6, dtype=np.float32).reshape(3, 2), "scale": np.array(2, np.float32)}
        expected = session.run("y:0", {f"{name}:0": value for name, value in inputs.items()})
    definition = graph.as_graph_def()
    definition.ClearField("versions")
    (tmp_path / "model.pb").write_bytes(definition.SerializeToString())
    if given:
        compiled = to_openvino(convert_model(tmp_path / "model.pb", output="y", input="x,scale[]"))
        compare(ordered_results(compiled, ["y"], inputs), [expected], 1e-4, 1e-5)
    else:
        assert "scale[] if it is a scalar" in str(convert_model(tmp_path / "model.pb", output="y"))
