"""The layout change on TensorFlow graphs, from the graph to the IR: cases in which converters that permute tensors globally go wrong.

Every case is converted with static shapes, with unknown dimensions and with unknown rank, through the whole pipeline, and says how many
transpositions are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.forms import Form
from tests.numerical.runtime import Array, compare
from tests.numerical.tensorflow.conversion import FORMS, Build, build, convert_graph, expected_results, ordered_results

X = np.random.default_rng(3).standard_normal((1, 8, 6, 4)).astype(np.float32)


def numbers(*shape: int) -> Array:
    """Weights."""
    return np.random.default_rng(sum(shape)).uniform(-0.5, 0.5, shape).astype(np.float32)


def conv(x: Any, inputs: int = 4, outputs: int = 4) -> Any:
    """A convolution."""
    return tf.nn.conv2d(x, numbers(3, 3, inputs, outputs), 1, "SAME")


def kinds_of(model: Any) -> list[str]:
    """Kinds of the operations of a model and of the bodies in it."""
    kinds: list[str] = []
    for op in model.get_ordered_ops():
        kinds.append(op.get_type_name())
        if kinds[-1] in ("Loop", "TensorIterator"):
            kinds.extend(kinds_of(op.get_function()))
        elif kinds[-1] == "If":
            kinds.extend(kind for branch in (0, 1) for kind in kinds_of(op.get_function(branch)))
    return kinds


def check(directory: Path, function: Build, inputs: dict[str, Array], transposes: int, *, forms: Sequence[Form] = FORMS) -> None:
    """The converted graph computes what TensorFlow does, with so many transpositions."""
    graph, names = build(function, inputs)
    expected = expected_results(graph, names, inputs)
    for form in forms:
        graph, names = build(function, inputs, form=form)
        (directory / form).mkdir()
        model = convert_graph(graph, directory / form)
        compare(ordered_results(model, names, inputs), expected, 1e-4, 1e-5)
        kinds = [kind for kind in kinds_of(model) if kind not in ("Constant", "Parameter", "Result")]
        assert kinds.count("Transpose") == transposes, kinds


def matmul(x: Any) -> Any:
    y = conv(x)
    return tf.matmul(y, y, transpose_b=True)


def matmul_of_weights(x: Any) -> Any:
    return tf.matmul(conv(x), numbers(1, 8, 4, 3))


def gather_nd(x: Any) -> Any:
    return tf.gather_nd(x, [[0, 1, 2], [0, 7, 5]])


def gather_nd_after(x: Any) -> Any:
    return tf.gather_nd(conv(x), [[0, 1, 2], [0, 7, 5]])


def where(x: Any) -> Any:
    return tf.where(conv(x) > 0.1)


def scatter_nd(x: Any) -> Any:
    y = conv(x)
    return tf.tensor_scatter_nd_update(y, [[0, 1, 2], [0, 7, 5]], numbers(2, 4)), tf.nn.relu(y)


def cumsum(x: Any) -> Any:
    return [tf.cumsum(conv(x), axis) for axis in (1, 2, -1)]


def tile(x: Any) -> Any:
    return conv(tf.tile(conv(x), [1, 2, 1, 3]), 12)


def lrn(x: Any) -> Any:
    return conv(tf.nn.local_response_normalization(conv(x), depth_radius=1, alpha=0.3, beta=0.6))


def batched_gather(x: Any) -> Any:
    return tf.gather(conv(x), [[3, 1]], axis=1, batch_dims=1)


def outputs(x: Any) -> Any:
    parts = tf.split(conv(x), 4, axis=-1)
    return [*parts, tf.nn.relu(x)]


def einsum(x: Any) -> Any:
    return tf.einsum("nhwc,cd->nhwd", conv(x), numbers(4, 3))


def einsum_of_the_rest(x: Any) -> Any:
    return tf.einsum("...c,cd->...d", conv(x), numbers(4, 3))


def channels(x: Any) -> Any:
    return conv(tf.stack(tf.unstack(conv(x), axis=-1)[::-1], axis=-1))


def resize(x: Any) -> Any:
    y = conv(x)
    size = tf.shape(y)[1:3] * 2
    return conv(tf.image.resize(y, size, method="bilinear"))


def strided_slice(x: Any) -> Any:
    y = conv(x)
    return conv(y[:, 1:-1, ::2, :]), y[..., 1], y[:, tf.newaxis, 2], y[0, :, :, ::-1]


def reduction(x: Any) -> Any:
    y = conv(x)
    return tf.reduce_mean(y, [1, 2]), tf.reduce_max(y, -1), conv(y * tf.nn.sigmoid(tf.reduce_mean(y, [1, 2], keepdims=True)))


def flatten(x: Any) -> Any:
    y = tf.nn.avg_pool2d(conv(x), 2, 2, "VALID")
    return tf.matmul(tf.reshape(y, [-1, 48]), numbers(48, 3))


def loop(x: Any) -> Any:
    def step(index: Any, state: Any) -> Any:
        return index + 1, tf.nn.relu(conv(state))

    _, state = tf.while_loop(lambda index, _: index < 3, step, [tf.constant(0), conv(x)], shape_invariants=[tf.TensorShape([]), x.shape])
    return conv(state)


def condition(x: Any) -> Any:
    y = conv(x)
    return conv(tf.cond(tf.reduce_sum(y) > 0, lambda: tf.nn.relu(conv(y)), lambda: y * 2.0))


def depthwise(x: Any) -> Any:
    y = tf.nn.depthwise_conv2d(conv(x), numbers(3, 3, 4, 2), [1, 1, 1, 1], "SAME")
    return tf.nn.bias_add(y, numbers(8)) + tf.concat([x, x], 3)


def sequence(x: Any) -> Any:
    y = tf.reshape(x, [1, 48, 4])
    for _ in range(2):
        y = tf.nn.relu(tf.nn.conv1d(y, numbers(3, 4, 4), 1, "SAME")) + y
    return y


def blocks(x: Any) -> Any:
    y = tf.nn.depth_to_space(conv(x), 2)
    return tf.nn.space_to_depth(tf.nn.relu(y), 2), conv(y, 1)


CASES: dict[Build, int] = {
    matmul: 2,
    matmul_of_weights: 2,
    gather_nd: 0,
    gather_nd_after: 2,
    where: 3,
    scatter_nd: 2,
    cumsum: 2,
    tile: 2,
    lrn: 2,
    batched_gather: 2,
    outputs: 2,
    einsum: 1,
    einsum_of_the_rest: 2,
    channels: 2,
    resize: 2,
    strided_slice: 3,
    reduction: 2,
    flatten: 2,
    loop: 2,
    condition: 2,
    depthwise: 2,
    sequence: 2,
    blocks: 3,
}
"""Transpositions left, by graph."""


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_case(function: Build, tmp_path: Path) -> None:
    check(tmp_path, function, {"x": X}, CASES[function])
