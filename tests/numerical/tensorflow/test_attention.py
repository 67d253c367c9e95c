"""Attention as Keras writes it, in sums of Einstein, is one operation of the IR."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from moir.tools.convert import main
from tests.numerical.runtime import core

import keras  # isort: skip
from keras import layers  # isort: skip

LENGTH, WIDTH = 6, 12


def masked(x: keras.KerasTensor) -> keras.KerasTensor:
    """Attention over the keys whose first number is positive."""
    return layers.MultiHeadAttention(3, 4)(x, x, attention_mask=keras.ops.expand_dims(x[:, :, 0] > 0, 1))


def nothing_allowed(x: keras.KerasTensor) -> keras.KerasTensor:
    """Attention in which the first query may attend to no key, and then does to all of them alike."""
    position = keras.ops.cumsum(keras.ops.ones_like(x[:, :, :1]), 1)
    return layers.MultiHeadAttention(3, 4)(x, x, attention_mask=(position > 1) & keras.ops.transpose(position > 0, (0, 2, 1)))


def block(x: keras.KerasTensor) -> keras.KerasTensor:
    """A block of a transformer."""
    value = layers.LayerNormalization()(x + layers.MultiHeadAttention(3, 4)(x, x))
    return layers.LayerNormalization()(value + layers.Dense(WIDTH)(layers.Dense(20, activation="gelu")(value)))


Layers = Callable[[keras.KerasTensor], keras.KerasTensor]

BLOCKS: dict[str, tuple[Layers, dict[str, int]]] = {
    "plain": (lambda x: layers.MultiHeadAttention(3, 4)(x, x), {"ScaledDotProductAttention": 1, "Einsum": 0}),
    "causal": (lambda x: layers.MultiHeadAttention(3, 4)(x, x, use_causal_mask=True), {"ScaledDotProductAttention": 1, "Einsum": 0}),
    "masked": (masked, {"ScaledDotProductAttention": 1, "Einsum": 0, "Softmax": 0}),
    "no key allowed": (nothing_allowed, {"ScaledDotProductAttention": 1, "Softmax": 0}),
    "fewer keys": (lambda x: layers.MultiHeadAttention(3, 4)(x, layers.MaxPooling1D(2)(x)), {"ScaledDotProductAttention": 1}),
    "other width": (lambda x: layers.MultiHeadAttention(2, 4, value_dim=6)(x, x), {"ScaledDotProductAttention": 1}),
    "grouped": (lambda x: layers.GroupQueryAttention(4, 4, 2)(x, x), {"Einsum": 0}),
    "block": (block, {"ScaledDotProductAttention": 1, "MVN": 2, "Gelu": 1, "Negative": 0}),
}
"""What is built, and how often kinds of operations are in the IR."""

OF_KNOWN_LENGTH = {"grouped": {"ScaledDotProductAttention": 1}}
"""What else is in the IR if the length is known."""


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("length", [None, LENGTH])
def test_attention(name: str, length: int | None, tmp_path: Path) -> None:
    build, kinds = BLOCKS[name]
    kinds = kinds | (OF_KNOWN_LENGTH.get(name, {}) if length else {})
    given = keras.Input((length, WIDTH), name="x")
    model = keras.Model(given, build(given))
    random = np.random.default_rng(4)
    for variable in model.variables:
        variable.assign(random.normal(0, 0.3, variable.shape))
    x = random.normal(size=(2, LENGTH, WIDTH)).astype(np.float32)
    model.export(tmp_path / "model", format="tf_saved_model", verbose=False)

    assert main([str(tmp_path / "model"), "-o", str(tmp_path / "network.xml"), "--silent"]) == 0

    network = core().read_model(tmp_path / "network.xml")
    actual = Counter(op.get_type_name() for op in network.get_ops())
    assert {kind: actual[kind] for kind in kinds} == kinds
    result = core().compile_model(network, "CPU")([x])[0]
    np.testing.assert_allclose(result, np.asarray(model(x)), rtol=1e-4, atol=1e-5)
