"""Layers that Keras quantized, in both kinds of files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from tests.numerical.keras.models import keras, randomize
from tests.numerical.runtime import core

layers = keras.layers
# Keras collects once for each layer that it quantizes.
pytestmark = pytest.mark.usefixtures("frozen_objects")


def products() -> Any:
    """Products of all kinds, also within an attention layer."""
    x = keras.Input((5, 16), name="x")
    y = layers.Dense(13, activation="relu")(x)
    y = layers.EinsumDense("abc,cde->abde", (None, 4, 6), bias_axes="de")(y)
    y = layers.MultiHeadAttention(2, 8, value_dim=3)(layers.Reshape((5, 24))(y), layers.Reshape((5, 24))(y))
    return keras.Model(x, layers.Dense(3, use_bias=False)(layers.Flatten()(y)))


def tables() -> Any:
    """Rows of tables, and the product with one."""
    i = keras.Input((5,), dtype="int32", name="i")
    table = layers.ReversibleEmbedding(20, 15)
    return keras.Model(i, table(layers.Embedding(20, 15)(i) + table(i), reverse=True))


@pytest.mark.parametrize(("suffix", "mode"), [("keras", "int8"), ("h5", "int4")])
@pytest.mark.parametrize("build", [products, tables])
def test_quantized_layers(build: Any, mode: str, suffix: str, tmp_path: Path) -> None:
    model = build()
    randomize(model)
    model.quantize(mode)
    path = tmp_path / f"model.{suffix}"
    model.save(path)
    random = np.random.default_rng(3)
    x = random.normal(size=(2, 5, 16)).astype(np.float32) if build is products else random.integers(0, 20, (2, 5)).astype(np.int32)
    compiled = core().compile_model(moir.to_openvino(moir.convert_model(path)), "CPU")
    np.testing.assert_allclose(compiled(x)[0], np.asarray(model(x)), rtol=1e-4, atol=1e-4)


def test_float8(tmp_path: Path) -> None:
    """Powers of 2 and their sums are numbers of f8, others are rounded to three bits after the first one."""
    model = keras.Sequential([keras.Input((4,)), layers.Dense(2)])
    model.quantize("float8")
    kernel = np.array([[1.0, 1.03], [-2.0, 0.5], [0.26, 3.1], [500.0, 0.001]], np.float32)
    model.layers[0].kernel.assign(kernel)
    path = tmp_path / "model.keras"
    model.save(path)
    x = np.array([[1.0, 1.07, -0.3, 600.0], [0.002, 0.5, 0.0, -1.0]], np.float32)
    rounded = np.array([[1.0, 1.125, -0.3125, 448.0], [2.0**-9, 0.5, 0.0, -1.0]])
    expected = rounded @ np.array([[1.0, 1.0], [-2.0, 0.5], [0.25, 3.0], [448.0, 2.0**-9]])
    compiled = core().compile_model(moir.to_openvino(moir.convert_model(path)), "CPU")
    np.testing.assert_allclose(compiled(x)[0], expected, rtol=1e-5, atol=1e-5)
