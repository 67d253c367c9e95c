"""Small graphs of TensorFlow: the patterns of passes with near misses, and control flow in both of its forms."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from fnmatch import fnmatch
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import control_flow_util

from tests.fuzz.case import Case
from tests.fuzz.draw import Array, Draw
from tests.fuzz.tensorflow.graph_model import Build, graph_case

Sketch = Callable[[Draw], tuple[Build, dict[str, Array]]]

GRAPHS: dict[str, Sketch] = {}
LOOPS: dict[str, Sketch] = {}

FLOAT = np.dtype(np.float32)


def sketch(table: dict[str, Sketch]) -> Callable[[Sketch], Sketch]:
    """Registers a graph by the name of its function."""

    def register(function: Sketch) -> Sketch:
        table[function.__name__.replace("_", "-")] = function
        return function

    return register


def numbers(draw: Draw, *shape: int) -> Array:
    return draw.array(FLOAT, shape, special=0.0)


def image(draw: Draw) -> Array:
    return numbers(draw, draw.integer(1, 2), draw.integer(3, 7), draw.integer(3, 7), draw.integer(1, 3))


@sketch(GRAPHS)
def convolution_and_scale(draw: Draw) -> tuple[Build, dict[str, Array]]:
    x = image(draw)
    filters, scale = numbers(draw, 3, 3, x.shape[-1], 2), numbers(draw, *draw.one_of(((2,), (1,), (1, 1, 2))))
    further = draw.chance(0.3)

    def build(x: Any) -> Any:
        result = tf.nn.conv2d(x, filters, 1, draw_padding)
        scaled = result * scale + scale
        return [tf.nn.relu(scaled), result] if further else tf.nn.relu(scaled)

    draw_padding = draw.one_of(("SAME", "VALID"))
    return build, {"x": x}


@sketch(GRAPHS)
def dilated_convolution(draw: Draw) -> tuple[Build, dict[str, Array]]:
    x, rate = image(draw), draw.integer(2, 3)
    filters = numbers(draw, 2, 2, x.shape[-1], 2)
    return lambda x: tf.nn.convolution(x, filters, padding="SAME", dilations=rate), {"x": x}


@sketch(GRAPHS)
def normalization(draw: Draw) -> tuple[Build, dict[str, Array]]:
    x, axis = numbers(draw, *draw.filled(2, 4)), draw.one_of((-1, -1, 0, 1))

    def build(x: Any) -> Any:
        mean = tf.reduce_mean(x, axis, keepdims=True)
        variance = tf.reduce_mean(tf.math.squared_difference(x, mean), axis, keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-3)

    return build, {"x": x}


@sketch(GRAPHS)
def gelu(draw: Draw) -> tuple[Build, dict[str, Array]]:
    approximate, factor = draw.chance(0.5), draw.one_of((0.5, 0.5, 0.25))

    def build(x: Any) -> Any:
        return tf.nn.gelu(x, approximate=True) if approximate else factor * x * (1.0 + tf.math.erf(x / np.float32(np.sqrt(2))))

    return build, {"x": numbers(draw, *draw.shape(0, 3))}


@sketch(GRAPHS)
def attention(draw: Draw) -> tuple[Build, dict[str, Array]]:
    batch, heads, steps, size = (draw.integer(1, 3) for _ in range(4))
    shape = (batch, heads, steps, size)
    masked = draw.chance(0.5)

    def build(q: Any, k: Any, v: Any) -> Any:
        scores = tf.matmul(q, k, transpose_b=True) * np.float32(size**-0.5)
        if masked:
            scores += np.triu(np.full((steps, steps), -1e9, np.float32), 1)
        return tf.matmul(tf.nn.softmax(scores), v)

    return build, {name: numbers(draw, *shape) for name in "qkv"}


@sketch(GRAPHS)
def moved_transpositions(draw: Draw) -> tuple[Build, dict[str, Array]]:
    x, order = image(draw), draw.permutation(4)
    axis = draw.axis(4)

    def build(x: Any) -> Any:
        y = tf.nn.relu(tf.transpose(x, order)) + 1.0
        return tf.transpose(tf.concat([y, y], axis), np.argsort(order))

    return build, {"x": x}


@sketch(GRAPHS)
def computed_reshape(draw: Draw) -> tuple[Build, dict[str, Array]]:
    def build(x: Any) -> Any:
        shape = tf.shape(x)
        return tf.reshape(x, tf.stack([shape[1] * shape[2], shape[0]])) if draws else tf.reshape(x, [shape[0], -1])

    draws = draw.chance(0.5)
    return build, {"x": numbers(draw, *draw.filled(3, 3))}


@sketch(LOOPS)
def counted_loop(draw: Draw) -> tuple[Build, dict[str, Array]]:
    count, factor = draw.integer(0, 4), np.float32(1.5)

    def build(x: Any, n: Any) -> Any:
        return tf.while_loop(lambda i, _: i < n, lambda i, value: (i + 1, value * factor + tf.cast(i, tf.float32)), (0, x))

    return build, {"x": numbers(draw, *draw.shape(0, 2)), "n": np.array(count, np.int32)}


@sketch(LOOPS)
def growing_state(draw: Draw) -> tuple[Build, dict[str, Array]]:
    count = draw.integer(0, 3)

    def build(x: Any, n: Any) -> Any:
        invariants = (tf.TensorShape([]), tf.TensorShape([None, *x.shape[1:]] if x.shape.rank is not None else None))
        return tf.while_loop(lambda i, _: i < n, lambda i, value: (i + 1, tf.concat([value, x], 0)), (0, x), invariants)[1]

    return build, {"x": numbers(draw, *draw.filled(1, 2)), "n": np.array(count, np.int32)}


@sketch(LOOPS)
def rows_of_a_loop(draw: Draw) -> tuple[Build, dict[str, Array]]:
    x = numbers(draw, *draw.filled(2, 3))
    size = x.shape[0]

    def build(x: Any) -> Any:
        rows = tf.TensorArray(tf.float32, size).unstack(x)
        result = tf.TensorArray(tf.float32, size)

        def body(i: Any, state: Any, result: Any) -> Any:
            state = tf.tanh(state + rows.read(i))
            return i + 1, state, result.write(i, state * 2.0)

        _, last, result = tf.while_loop(lambda i, *_: i < size, body, (0, tf.zeros(x.shape[1:]), result))
        return [last, result.stack()]

    return build, {"x": x}


@sketch(LOOPS)
def branches(draw: Draw) -> tuple[Build, dict[str, Array]]:
    limit = np.float32(draw.integer(-3, 3))

    def build(x: Any, y: Any) -> Any:
        return tf.cond(tf.reduce_sum(x) > limit, lambda: [x + y, y * 2.0], lambda: [x - y, tf.abs(y)])

    shape = draw.shape(0, 2)
    return build, {"x": numbers(draw, *shape), "y": numbers(draw, *shape)}


@contextmanager
def first_version() -> Generator[None]:
    """Control flow of the first version: Switch, Merge, Enter, Exit."""
    before = control_flow_util.ENABLE_CONTROL_FLOW_V2
    control_flow_util.ENABLE_CONTROL_FLOW_V2 = False
    try:
        yield
    finally:
        control_flow_util.ENABLE_CONTROL_FLOW_V2 = before


def drawn(draw: Draw, only: str, table: dict[str, Sketch], *, old: bool) -> Case:
    """A graph of a table; with `old` its control flow is of the first version."""
    name = draw.subject([each for each in table if fnmatch(each, only)])
    function, inputs = table[name](draw)
    with first_version() if old else nullcontext():
        return graph_case(draw, name, function, inputs)


def small_graph(draw: Draw, only: str) -> Case:
    """A graph around the pattern of a pass."""
    return drawn(draw, only, GRAPHS, old=False)


def control_flow(draw: Draw, only: str) -> Case:
    """A graph with loops or branches."""
    return drawn(draw, only, LOOPS, old=draw.chance(0.5))
