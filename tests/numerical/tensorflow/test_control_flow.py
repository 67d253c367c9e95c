"""Conditionals and loops of TensorFlow, as functions (version 2) and spread over the graph (version 1)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir import convert_model, to_openvino
from tests.numerical.runtime import compare
from tests.numerical.tensorflow.conversion import build, check, convert_graph, expected_results, ordered_results

random = np.random.default_rng(3)
X = random.standard_normal((3, 4)).astype(np.float32)
IMAGE = random.standard_normal((1, 5, 5, 3)).astype(np.float32)
FILTER = random.standard_normal((3, 3, 3, 3)).astype(np.float32)
MATRIX = random.standard_normal((4, 4)).astype(np.float32) * 0.5
TRUE, FALSE = np.array(True), np.array(False)


@contextmanager
def control_flow(version: int) -> Iterator[None]:
    """Build conditionals and loops in the form of a version."""
    (tf.compat.v1.enable_control_flow_v2 if version == 2 else tf.compat.v1.disable_control_flow_v2)()
    try:
        yield
    finally:
        tf.compat.v1.enable_control_flow_v2()


@pytest.fixture(params=[1, 2], ids=["v1", "v2"], autouse=True)
def version(request: pytest.FixtureRequest) -> Iterator[int]:
    with control_flow(request.param):
        yield request.param


def convolved(x: Any) -> Any:
    return tf.nn.relu(tf.nn.conv2d(x, FILTER, 1, "SAME"))


CONDITIONALS: dict[str, Callable[..., Any]] = {
    "one output": lambda p, x: tf.cond(p, lambda: tf.abs(x), lambda: -x),
    "two outputs": lambda p, x: tf.cond(p, lambda: (x + 1.0, tf.reduce_sum(x)), lambda: (x * 2.0, tf.reduce_max(x))),
    "constant in a branch": lambda p, x: tf.cond(p, lambda: tf.constant([[1.0, 2.0, 3.0, 4.0]]), lambda: x[:1]),
    "constants in both branches": lambda p, x: x * tf.cond(p, lambda: tf.constant(2.0), lambda: tf.constant(3.0)),
    "nested constants": lambda p, x: x * tf.cond(p, lambda: tf.cond(x[0, 0] > 0.0, lambda: 2.0, lambda: 3.0), lambda: tf.constant(5.0)),
    "computed constants": lambda p, x: x + tf.cond(p, lambda: tf.zeros([4]) + 1.0, lambda: tf.exp(tf.constant(2.0)) * tf.ones([4])),
    "input in a branch": lambda p, x: tf.cond(p, lambda: x, lambda: x * 3.0),
    "nested": lambda p, x: tf.cond(
        p, lambda: tf.cond(tf.reduce_sum(x) > 0.0, lambda: x + 1.0, lambda: x - 1.0), lambda: tf.cond(p, lambda: x, lambda: x * 5.0)
    ),
    "one after the other": lambda p, x: tf.cond(p, lambda: tf.cond(p, lambda: x, lambda: -x) * 2.0, lambda: tf.exp(x)) + 1.0,
    "same predicate twice": lambda p, x: tf.cond(p, lambda: x + 1.0, lambda: x) * tf.cond(p, lambda: x * 3.0, lambda: x),
    "chained": lambda p, x: (
        tf.cond(p, lambda: tf.abs(x), lambda: x) + tf.cond(p, lambda: tf.cond(p, lambda: x, lambda: -x) + 2.0, lambda: x)
    ),
    "loop in a branch": lambda p, x: tf.cond(
        p, lambda: tf.while_loop(lambda i, *_: i < 3, lambda i, v: (i + 1, v * 0.5), (tf.constant(0), x))[1], lambda: x
    ),
}


@pytest.mark.parametrize("predicate", [TRUE, FALSE], ids=["true", "false"])
@pytest.mark.parametrize("name", CONDITIONALS)
def test_conditional(name: str, predicate: np.ndarray) -> None:
    check(CONDITIONALS[name], {"p": predicate, "x": X}, forms=("static", "dynamic"), fixed=("p",))


@pytest.mark.parametrize("predicate", [TRUE, FALSE], ids=["true", "false"])
def test_convolution_in_a_branch(predicate: np.ndarray) -> None:
    check(lambda p, x: tf.cond(p, lambda: convolved(x), lambda: x * 2.0), {"p": predicate, "x": IMAGE}, forms=("static",), fixed=("p",))


@pytest.mark.parametrize("index", [-1, 0, 1, 2, 7])
def test_case(index: int) -> None:
    def function(i: Any, x: Any) -> Any:
        return tf.switch_case(i, [lambda: x + 1.0, lambda: x * 2.0, lambda: tf.reduce_sum(x, keepdims=True) - x])

    check(function, {"i": np.array(index, np.int32), "x": X}, forms=("static", "dynamic"), fixed=("i",))


def counted(x: Any, n: Any) -> Any:
    return tf.while_loop(lambda i, *_: i < n, lambda i, v: (i + 1, tf.tanh(tf.matmul(v, MATRIX) + x)), (tf.constant(0), x))


def counted_from(x: Any, n: Any) -> Any:
    return tf.while_loop(lambda i, *_: i <= n, lambda i, v: (i + 1, v + tf.cast(i, tf.float32)), (tf.constant(2), x))


def until_large(x: Any, n: Any) -> Any:
    def condition(i: Any, v: Any) -> Any:
        return tf.logical_and(i < n, tf.reduce_sum(tf.abs(v)) < 100.0)

    return tf.while_loop(condition, lambda i, v: (i + 1, v * 2.0), (tf.constant(0), x))


def growing(x: Any, n: Any) -> Any:
    return tf.while_loop(
        lambda i, *_: i < n,
        lambda i, v: (i + 1, tf.concat([v, x], 0)),
        (tf.constant(0), x),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, None])),
    )[1]


def nested(x: Any, n: Any) -> Any:
    def inner(v: Any, i: Any) -> Any:
        return tf.while_loop(lambda j, *_: j < i, lambda j, w: (j + 1, w * 0.5 + x), (tf.constant(0), v))[1]

    return tf.while_loop(lambda i, *_: i < n, lambda i, v: (i + 1, inner(v, i) + 1.0), (tf.constant(0), x))


def constant_inner(x: Any, n: Any) -> Any:
    def inner() -> Any:
        return tf.while_loop(lambda j, *_: j < 3, lambda j, w: (j + 1, w * 2.0), (tf.constant(0), tf.constant(1.0)))[1]

    return tf.while_loop(lambda i, *_: i < n, lambda i, v: (i + 1, v + inner()), (tf.constant(0), x))[1]


def conditional_inside(x: Any, n: Any) -> Any:
    return tf.while_loop(
        lambda i, *_: i < n, lambda i, v: (i + 1, tf.cond(tf.equal(i % 2, 0), lambda: v + 1.0, lambda: v * 2.0)), (tf.constant(0), x)
    )[1]


def swapped(x: Any, n: Any) -> Any:
    return tf.while_loop(lambda i, *_: i < n, lambda i, a, b: (i + 1, b, a + b), (tf.constant(0), x, x * 2.0))[1:]


LOOPS = (counted, counted_from, until_large, growing, nested, constant_inner, conditional_inside, swapped)


@pytest.mark.parametrize("count", [0, 1, 4])
@pytest.mark.parametrize("function", LOOPS)
def test_loop(function: Callable[..., Any], count: int) -> None:
    check(function, {"x": X, "n": np.array(count, np.int32)}, forms=("static", "dynamic"), fixed=("n",))


def test_loop_with_convolution() -> None:
    def function(x: Any) -> Any:
        return tf.while_loop(lambda i, *_: i < 3, lambda i, v: (i + 1, convolved(v) * 0.1 + x), (tf.constant(0), x))[1]

    check(function, {"x": IMAGE}, forms=("static", "dynamic"))


def test_convolutions_around_a_loop() -> None:
    def function(x: Any) -> Any:
        first = convolved(x)
        return convolved(tf.while_loop(lambda i, *_: i < 2, lambda i, v: (i + 1, tf.tanh(v)), (tf.constant(0), first))[1])

    check(function, {"x": IMAGE}, forms=("static",))


def test_constants_in_a_condition_in_a_loop() -> None:
    def function(x: Any) -> Any:
        factor = [lambda: tf.constant(2.0), lambda: tf.constant(3.0)]
        return tf.while_loop(lambda i, _: i < 4, lambda i, y: (i + 1, y * tf.cond(tf.equal(i % 2, 0), *factor)), (tf.constant(0), x))[1]

    check(function, {"x": X}, forms=("static", "dynamic"))


def test_loops_of_one_name(version: int, tmp_path: Path) -> None:
    """A graph that is imported twice: the frames of its loops have the same names, which TensorFlow itself does not run."""
    if version == 2:
        return
    graph, _ = build(lambda x: nested(x, 3)[1], {"x": X})
    [loop] = expected_results(graph, ["out_0"], {"x": X})
    [twice] = expected_results(graph, ["out_0"], {"x": loop})
    with tf.Graph().as_default() as both:
        x = tf.compat.v1.placeholder(tf.float32, X.shape, "x")
        [first] = tf.import_graph_def(graph.as_graph_def(), {"x:0": x}, ["out_0:0"], name="first")
        [second] = tf.import_graph_def(graph.as_graph_def(), {"x:0": first}, ["out_0:0"], name="second")
        tf.add(first, second, name="sum")
    model = convert_graph(both, tmp_path)
    compare(ordered_results(model, ["sum"], {"x": X}), [loop + twice], 1e-4, 1e-5)


def test_loop_of_maximum_iterations() -> None:
    def function(x: Any) -> Any:
        return tf.while_loop(lambda v: tf.reduce_sum(v) < 1e6, lambda v: (v + 1.0,), (x,), maximum_iterations=3)

    check(function, {"x": X}, forms=("static", "dynamic"))


def test_only_a_counter_of_a_loop() -> None:
    check(
        lambda x: tf.while_loop(lambda _, v: tf.reduce_sum(v) < 50.0, lambda i, v: (i + 1, v + 3.0), (tf.constant(0), x))[0],
        {"x": X},
        forms=("static", "dynamic"),
    )


def test_input_of_a_loop_gets_a_shape(tmp_path: Path) -> None:
    graph, names = build(
        lambda x: tf.while_loop(lambda i, _: i < 3, lambda i, v: (i + 1, v * 2.0), (tf.constant(0), tf.abs(x)))[1], {"x": X}, form="dynamic"
    )
    expected = expected_results(graph, names, {"x": X})
    for place in ("x", "Abs"):
        file = tmp_path / "model.pb"
        file.write_bytes(graph.as_graph_def().SerializeToString())
        model = to_openvino(convert_model(file, input=f"{place}[3,4]"))
        assert list(model.inputs[0].get_shape()) == [3, 4]
        [parameter] = model.inputs
        inputs = {parameter.get_node().get_friendly_name(): X if place == "x" else np.abs(X)}
        compare(ordered_results(model, names, inputs), expected, 1e-4, 1e-5)


@pytest.mark.parametrize("function", ["constant", "computed", "case"])
def test_branches_with_values_for_their_gradients(function: str, tmp_path: Path) -> None:
    """A gradient adds Optional outputs to the branches, which the model does not use."""
    with control_flow(2), tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, X.shape, "x")
        w = tf.constant(MATRIX)
        first, second = lambda: tf.tanh(x @ w) * x, lambda: tf.sin(x @ w)
        index = tf.cast(tf.reduce_sum(x) > 0, tf.int32)
        condition = tf.compat.v1.placeholder_with_default(False, []) if function == "constant" else index > 0
        chosen = tf.switch_case(index, [first, second]) if function == "case" else tf.cond(condition, first, second)
        y = tf.identity(chosen, "y")
        assert tf.gradients(tf.reduce_sum(y**2), x)[0] is not None
        assert any("OptionalFromValue" in {node.op for node in each.node_def} for each in graph.as_graph_def().library.function)
        expected = session.run(y, {x: X})
        tf.io.write_graph(graph.as_graph_def(), str(tmp_path), "model.pb", as_text=False)
    compiled = to_openvino(convert_model(tmp_path / "model.pb", output="y"))
    compare(ordered_results(compiled, ["y"], {"x": X}), [expected], 1e-4, 1e-5)
