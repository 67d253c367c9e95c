"""A user exports Keras models with layers that converters stumble over, and they convert."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from moir.conversion import save_model
from moir.dialects.moir import ModuleLevel, models_of
from moir.dialects.properties import value_of
from moir.interface import convert_model
from tests.numerical.runtime import Array, compare, core

RANDOM = np.random.default_rng(0)


def random(*shape: int) -> Array:
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def sequential(shape: tuple[int | None, ...], *members: Any, dtype: str = "float32") -> Any:
    return keras.Sequential([keras.Input(shape, dtype=dtype), *members])


def masked_attention() -> Any:
    """The mask of an Embedding reaches recurrent layers and an attention."""
    tokens = keras.Input((None,), dtype="int32")
    value = layers.Embedding(20, 6, mask_zero=True)(tokens)
    value = layers.Bidirectional(layers.LSTM(4, return_sequences=True))(value)
    value = layers.MultiHeadAttention(2, 4)(value, value)
    return keras.Model(tokens, layers.Dense(2)(layers.GlobalAveragePooling1D()(value)))


MODELS: dict[str, tuple[Callable[[], Any], list[Array]]] = {
    "recurrent images": (
        lambda: sequential(
            (4, 6, 5, 2),
            layers.Bidirectional(layers.ConvLSTM2D(3, 3, padding="same", return_sequences=True)),
            layers.ConvLSTM2D(2, 3),
        ),
        [random(1, 4, 6, 5, 2), random(2, 4, 6, 5, 2)],
    ),
    "masks": (masked_attention, [np.array([[1, 2, 3, 0, 0], [4, 5, 6, 7, 0]], np.int32)]),
    "categories": (
        lambda: sequential(
            (1,),
            layers.IntegerLookup(vocabulary=[3, 5, 9]),
            layers.CategoryEncoding(num_tokens=5, output_mode="one_hot"),
            layers.Dense(2),
            dtype="int64",
        ),
        [np.array([[3], [9], [7]])],
    ),
    "stacked cells": (
        lambda: sequential((None, 3), layers.RNN(layers.StackedRNNCells([layers.GRUCell(4), layers.LSTMCell(3)]), return_sequences=True)),
        [random(2, 5, 3)],
    ),
    "video": (
        lambda: sequential(
            (None, 6, 5, 2),
            layers.TimeDistributed(layers.Conv2D(3, 3, padding="same")),
            layers.TimeDistributed(layers.GlobalMaxPooling2D()),
            layers.GRU(4, reset_after=False, go_backwards=True),
        ),
        [random(1, 3, 6, 5, 2), random(2, 2, 6, 5, 2)],
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_layers(tmp_path: Path, name: str) -> None:
    make, inputs = MODELS[name]
    signature, results = exported(make(), tmp_path)
    assert results == ()
    network = core().compile_model(tmp_path / "m.xml", "CPU")
    for each in inputs:
        [expected] = [value.numpy() for value in signature(tf.constant(each)).values()]
        compare([np.array(network([each])[0])], [expected], atol=1e-5)


def test_augmented_images(tmp_path: Path) -> None:
    """Keras exports layers that flip images at random, as they are: TensorFlow, too, flips them in each run."""
    images = random(3, 8, 8, 3)
    signature, notes = exported(sequential((8, 8, 3), layers.RandomFlip("horizontal"), layers.Conv2D(2, 3)), tmp_path)
    assert any("it draws other random numbers in each run" in note for note in notes)
    runs = [next(iter(signature(tf.constant(images)).values())).numpy() for _ in range(40)]
    expected = [np.stack(each) for each in zip(*runs, strict=True)]
    network = core().compile_model(tmp_path / "m.xml", "CPU")
    augmented = [np.array(network([images])[0]) for _ in range(40)]
    for image in range(3):
        distances = [np.abs(expected[image] - each[image]).max(axis=(1, 2, 3)).min() for each in augmented]
        assert max(distances) < 1e-5
        assert len({each[image].tobytes() for each in augmented}) == 2


def exported(model: Any, folder: Path) -> tuple[Any, tuple[str, ...]]:
    """The signature of a model that is exported, and the notes of its conversion to m.xml."""
    model.export(folder / "m", verbose=False)
    module = convert_model(folder / "m")
    save_model(module, folder / "m.xml")
    [converted] = models_of(module)
    notes = converted.attributes.get(ModuleLevel.NOTES)
    signature = tf.saved_model.load(folder / "m").signatures["serving_default"]
    return signature, () if notes is None else tuple(value_of(notes))
