"""Models of all forms: masks, states, attention, merging, nesting, structures of inputs and outputs, precision."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from moir.errors import ConversionError
from tests.numerical.keras.models import differences, inputs_of, keras, randomize
from tests.numerical.runtime import core

layers = keras.layers
CustomScaleLayer: Any = sys.modules[keras.applications.InceptionResNetV2.__module__].CustomScaleLayer


def masked() -> Any:
    """Recurrent layers with the mask of an embedding, whose zeros are anywhere."""
    ids = keras.Input((8,), dtype="int32", name="ids")
    x = layers.Embedding(6, 5, mask_zero=True)(ids)
    states = layers.LSTM(4, return_sequences=True, return_state=True)(x)
    outputs = [
        *states,
        layers.GRU(3, go_backwards=True)(x),
        layers.GRU(3, return_sequences=True, zero_output_for_mask=True)(x),
        layers.SimpleRNN(3, zero_output_for_mask=True)(x),
        layers.Bidirectional(layers.LSTM(3, return_sequences=True))(x),
        layers.GlobalAveragePooling1D()(x),
        layers.TimeDistributed(layers.Dense(2))(x),
        layers.MultiHeadAttention(2, 3)(x, x),
        layers.Attention()([x, x]),
        layers.LSTM(4)(layers.Masking()(x), initial_state=states[1:]),
    ]
    return keras.Model(ids, outputs)


def masked_with_states() -> Any:
    """Recurrent layers with given states, for which Keras 3 looks for no mask, but passes it on."""
    ids, state = keras.Input((6,), dtype="int32", name="ids"), keras.Input((4,), name="state")
    x = layers.Embedding(5, 5, mask_zero=True)(ids)
    y = layers.GRU(4, return_sequences=True)(x, initial_state=state)
    both = layers.Bidirectional(layers.SimpleRNN(4))(x, initial_state=[state, state])
    return keras.Model([ids, state], [y, both, layers.LSTM(3)(y)])


def convolved_steps() -> Any:
    """A convolution of volumes after a loop of convolutions of images."""
    x = keras.Input((4, 7, 6, 2), name="x")
    y = layers.ConvLSTM2D(5, 3, padding="same", return_sequences=True)(x)
    y = layers.Conv3D(4, (2, 3, 3), activation="elu")(y)
    return keras.Model(x, [y, layers.TimeDistributed(layers.GlobalMaxPooling2D())(y)])


def sequential_with_mask() -> Any:
    """A Sequential model, in which masks are not arguments of calls."""
    return keras.Sequential([keras.Input((8,), dtype="int32"), layers.Embedding(6, 5, mask_zero=True), layers.Dropout(0.1), layers.LSTM(4)])


def attention() -> Any:
    """Attention layers with all of their arguments."""
    q, v, m = keras.Input((5, 8), name="q"), keras.Input((7, 8), name="v"), keras.Input((5, 7), dtype="int32", name="m")
    scored = layers.MultiHeadAttention(2, 4, value_dim=3, output_shape=6)(q, v, attention_mask=m, return_attention_scores=True)
    return keras.Model(
        [q, v, m],
        [
            *scored,
            layers.MultiHeadAttention(2, 4, use_bias=False)(q, q, use_causal_mask=True),
            layers.GroupQueryAttention(4, 4, 2)(q, v),
            layers.Attention(use_scale=True, score_mode="concat")([q, v]),
            layers.Attention()([q, q], use_causal_mask=True),
            layers.AdditiveAttention(use_scale=False)([q, v]),
        ],
    )


def attention_over_axes() -> Any:
    """Attention over some of several axes; the others are batches."""
    q, v, u = keras.Input((3, 4, 5), name="q"), keras.Input((3, 6, 5), name="v"), keras.Input((None, None, 5), name="u")
    return keras.Model(
        [q, v, u],
        [
            *layers.MultiHeadAttention(2, 4, value_dim=3, attention_axes=(2,))(q, v, return_attention_scores=True),
            *layers.MultiHeadAttention(2, 4, attention_axes=(1, 2))(q, v, return_attention_scores=True),
            layers.MultiHeadAttention(3, 2, attention_axes=(1,), use_bias=False)(q, q),
            layers.MultiHeadAttention(2, 3)(u, u),
            layers.MultiHeadAttention(2, 3, attention_axes=(2, 1), use_gate=True)(q, u),
        ],
    )


def merging() -> Any:
    """Layers that join tensors, of different ranks too."""
    a, b, c = keras.Input((4, 6), name="a"), keras.Input((4, 6), name="b"), keras.Input((6,), name="c")
    joins = [getattr(layers, name)() for name in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum")]
    return keras.Model(
        [a, b, c],
        [
            *(join([a, b]) for join in joins),
            layers.Add()([a, c]),
            CustomScaleLayer(0.2)([a, b]),
            layers.Concatenate(axis=1)([a, b]),
            layers.Dot(axes=2)([a, b]),
            layers.Dot(axes=(2, 1), normalize=True)([a, c]),
        ],
    )


def nested() -> Any:
    """A model within a model within a model, each called twice; layers that are called alike."""
    x = keras.Input((4,), name="inner")
    inner = keras.Model(x, layers.Dense(4, name="dense")(layers.BatchNormalization()(x)), name="tower")
    y = keras.Input((4,), name="outer")
    outer = keras.Model(y, layers.Dense(4, name="dense")(inner(inner(y))), name="outer")
    z = keras.Input((4,), name="x")
    head = keras.Sequential([layers.Dense(3, activation=layers.LeakyReLU()), layers.BatchNormalization()], name="head")
    return keras.Model(z, {"a": head(outer(z)), "b": outer(head(z)[:, :1] + z)})


def stacked_states() -> Any:
    """Bidirectional layers whose states are handed on."""
    x = keras.Input((6, 3), name="x")
    y, *states = layers.Bidirectional(layers.LSTM(4, return_sequences=True, return_state=True))(x)
    return keras.Model(x, [layers.Bidirectional(layers.LSTM(4))(y, initial_state=states), *states])


EVERY_MODEL = (
    *(masked, masked_with_states, convolved_steps, sequential_with_mask, attention, attention_over_axes, merging, nested),
    stacked_states,
)
MODELS = {each.__name__: each for each in EVERY_MODEL}


@pytest.mark.parametrize("name", MODELS)
def test_models(name: str, tmp_path: Path) -> None:
    model = MODELS[name]()
    randomize(model)
    assert not differences(model, tmp_path / "model.keras")


def test_mixed_precision(tmp_path: Path) -> None:
    x = keras.Input((6,), name="x")
    y = layers.Dense(5, dtype="mixed_float16", activation="relu")(x)
    model = keras.Model(x, layers.Dense(3, dtype="float32")(layers.BatchNormalization(dtype="mixed_float16")(y)))
    randomize(model)
    expected, path = np.asarray(model(inputs_of(model)[0])), tmp_path / "model.keras"
    model.save(path)
    module = moir.convert_model(path)
    assert "f16" in str(module)
    result = core().compile_model(moir.to_openvino(module), "CPU")(inputs_of(model)[0])[0]
    assert np.abs(result - expected).max() < 1e-2


@keras.saving.register_keras_serializable("zoo")
class Gate(layers.Layer):
    """A layer of a user."""

    def build(self, input_shape: Any) -> None:
        self.scale = self.add_weight(shape=(input_shape[-1],), name="scale")

    def call(self, x: Any) -> Any:
        return x * self.scale


class Bare(keras.Model):
    """A model whose layers only its program knows."""

    def call(self, x: Any) -> Any:
        return x


def refused(kind: str, path: Path) -> None:
    """Save a model that cannot be converted."""
    x = keras.Input((4,), name="x")
    if kind == "subclass":
        model: Any = Bare()
        model(np.ones((1, 4), np.float32))
    elif kind == "custom":
        model = keras.Model(x, Gate(name="gate")(x))
    elif kind == "custom within":
        model = keras.Model(x, layers.Conv1D(2, 1)(Gate(name="gate")(layers.Reshape((4, 1))(x))))
    elif kind == "lambda":
        model = keras.Model(x, layers.Lambda(lambda y: y + 1, name="plus")(x))
    else:
        model = keras.Model(x, layers.Dense(2)(x))
        model.save_weights(path)
        return
    model.save(path)


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        ("subclass", "m.keras", "no graph of the model"),
        ("custom", "m.keras", "zoo>Gate"),
        ("custom within", "m.keras", r"no lowering for 1 kind of operation: keras\.zoo>Gate \('gate'\)"),
        ("lambda", "m.keras", "is a Lambda"),
        ("weights", "m.weights.h5", "without its layers"),
    ],
)
def test_what_is_refused(kind: str, name: str, expected: str, tmp_path: Path) -> None:
    refused(kind, tmp_path / name)
    with pytest.raises(ConversionError, match=expected):
        moir.convert_model(tmp_path / name)
