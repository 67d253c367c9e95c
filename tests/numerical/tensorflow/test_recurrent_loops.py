"""Recurrent layers of Keras, which are loops over lists of tensors, frozen in both versions of control flow; cells written by hand."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import openvino
import pytest
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

from moir.conversion import save_model
from moir.interface import convert_model
from tests.numerical.tensorflow.conversion import check, compare, core, run

keras = tf.keras
random = np.random.default_rng(7)
X = random.standard_normal((2, 6, 3)).astype(np.float32)


def convert(layer: Callable[..., Any], directory: Path, shape: Sequence[int | None], *, lowered: bool) -> openvino.Model:
    """The IR of a frozen layer; `lowered` control flow is that of version 1."""
    function = tf.function(lambda x: tf.nest.flatten(layer(x))).get_concrete_function(tf.TensorSpec(shape, tf.float32, "x"))
    frozen = convert_variables_to_constants_v2(function, lower_control_flow=lowered)
    source = directory / "model.pb"
    source.write_bytes(frozen.graph.as_graph_def().SerializeToString())
    save_model(convert_model(source), directory / "model.xml")
    return core().read_model(directory / "model.xml")


def kinds(model: openvino.Model) -> Counter[str]:
    return Counter(op.get_type_name() for op in model.get_ordered_ops())


def layer(kind: str, **options: Any) -> Any:
    keras.utils.set_random_seed(1)
    built = getattr(keras.layers, kind)(4, bias_initializer="random_normal", **options)
    built(X)
    return built


LAYERS: dict[str, tuple[Any, str]] = {
    "LSTM, last state": (lambda: layer("LSTM"), "LSTMSequence"),
    "LSTM, all states": (lambda: layer("LSTM", return_sequences=True, return_state=True), "LSTMSequence"),
    "LSTM, backwards": (lambda: layer("LSTM", go_backwards=True, return_sequences=True), "LSTMSequence"),
    "LSTM, relu": (lambda: layer("LSTM", activation="relu"), "LSTMSequence"),
    "LSTM, other activations": (lambda: layer("LSTM", activation="softsign", return_sequences=True), ""),
    "GRU, reset after": (lambda: layer("GRU", return_sequences=True, return_state=True), "GRUSequence"),
    "GRU, reset before": (lambda: layer("GRU", reset_after=False, return_sequences=True), "GRUSequence"),
    "GRU, without bias": (lambda: layer("GRU", use_bias=False), "GRUSequence"),
    "plain": (lambda: layer("SimpleRNN", return_sequences=True), "RNNSequence"),
    "plain, relu": (lambda: layer("SimpleRNN", activation="relu"), "RNNSequence"),
    "both directions": (
        lambda: keras.layers.Bidirectional(layer("LSTM", return_sequences=True)),
        "LSTMSequence",
    ),
    "stacked cells": (lambda: keras.layers.RNN([keras.layers.LSTMCell(4), keras.layers.GRUCell(3)], return_sequences=True), ""),
}


@pytest.mark.parametrize("shape", [(2, 6, 3), (None, None, 3)], ids=["static", "dynamic"])
@pytest.mark.parametrize("lowered", [True, False], ids=["v1", "v2"])
@pytest.mark.parametrize("name", LAYERS)
def test_layer(name: str, lowered: bool, shape: tuple[int | None, ...], tmp_path: Path) -> None:
    make, kind = LAYERS[name]
    built = make()
    expected = [np.asarray(each) for each in tf.nest.flatten(built(X))]
    model = convert(built, tmp_path, shape, lowered=lowered)
    compare(run(model, {"x": X}), expected, 1e-4, 1e-5)
    actual = kinds(model)
    if kind:
        assert actual[kind] == (2 if "both" in name else 1)
        assert not actual["Loop"] + actual["TensorIterator"]
    else:
        assert actual["Loop"] + actual["TensorIterator"] == 1


def test_masked_sequences_stay_a_loop(tmp_path: Path) -> None:
    lstm = layer("LSTM", return_sequences=True)
    data = np.where(np.arange(6)[None, :, None] < np.array([4, 6])[:, None, None], X, 0.0).astype(np.float32)

    def masked(x: Any) -> Any:
        return lstm(x, mask=tf.reduce_any(tf.not_equal(x, 0.0), axis=-1))

    model = convert(masked, tmp_path, (2, 6, 3), lowered=False)
    compare(run(model, {"x": data}), [np.asarray(masked(data))], 1e-4, 1e-5)
    assert not kinds(model)["LSTMSequence"]


def test_convolutional_cell(tmp_path: Path) -> None:
    keras.utils.set_random_seed(1)
    data = random.standard_normal((1, 3, 5, 5, 2)).astype(np.float32)
    built = keras.layers.ConvLSTM2D(3, 3, padding="same", return_sequences=True)
    expected = np.asarray(built(data))
    model = convert(built, tmp_path, (1, 3, 5, 5, 2), lowered=False)
    compare(run(model, {"x": data}), [expected], 1e-4, 1e-5)


W = random.standard_normal((7, 16)).astype(np.float32) * 0.5
B = random.standard_normal(16).astype(np.float32)


def joined_weights(x: Any, h: Any, c: Any) -> tuple[Any, Any]:
    """The LSTM of TensorFlow 1: one matrix for [x, h], gates i, j, f, o, the third with a bias of 1."""
    i, j, f, o = tf.split(tf.nn.bias_add(tf.matmul(tf.concat([x, h], 1), W), B), 4, axis=1)
    new = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(j)
    return tf.sigmoid(o) * tf.tanh(new), new


def not_quite(x: Any, h: Any, c: Any) -> tuple[Any, Any]:
    """Gate f looks at the cell state, which the runtime's LSTM does not."""
    i, j, f, o = tf.split(tf.matmul(tf.concat([x, h], 1), W) + B, 4, axis=1)
    new = tf.sigmoid(f + c) * c + tf.sigmoid(i) * tf.tanh(j)
    return tf.sigmoid(o) * tf.tanh(new), new


def dynamic_rnn(cell: Callable[..., Any], x: Any, lengths: Any = None) -> Any:
    """A loop as `dynamic_rnn` made it; after its length a sequence has zeros, and keeps its state."""
    rows = tf.transpose(x, [1, 0, 2])
    steps = tf.shape(rows)[0]
    zero = tf.zeros([tf.shape(rows)[1], 4])
    array = tf.TensorArray(tf.float32, steps, element_shape=[None, 4])
    data = tf.TensorArray(tf.float32, steps).unstack(rows)

    def body(time: Any, array: Any, h: Any, c: Any) -> Any:
        new_h, new_c = cell(data.read(time), h, c)
        written = new_h
        if lengths is not None:
            done = (time >= lengths)[:, tf.newaxis]
            written, new_h, new_c = tf.where(done, zero, new_h), tf.where(done, h, new_h), tf.where(done, c, new_c)
        return time + 1, array.write(time, written), new_h, new_c

    _, array, h, _ = tf.while_loop(lambda time, *_: time < steps, body, (tf.constant(0), array, zero, zero))
    return tf.transpose(array.stack(), [1, 0, 2]), h


@pytest.mark.parametrize("cell", [joined_weights, not_quite])
def test_cell(cell: Callable[..., Any]) -> None:
    check(lambda x: dynamic_rnn(cell, x), {"x": X}, forms=("static", "dynamic"))


def test_lengths() -> None:
    check(
        lambda x, n: dynamic_rnn(joined_weights, x, n), {"x": X, "n": np.array([3, 5], np.int32)}, forms=("static", "dynamic"), fixed=("n",)
    )
