"""Recurrent layers that keep their states, spectrograms, functions of TensorFlow: what few models have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from moir.errors import ModelFileError
from tests.numerical.keras.models import differences, keras, randomize
from tests.numerical.runtime import core

layers = keras.layers


def test_states_remain_between_inferences(tmp_path: Path) -> None:
    """Three inferences of stateful layers, each of which begins with the states of the one before."""
    x = keras.Input(batch_shape=(2, 3, 4))
    stacked = layers.Bidirectional(layers.GRU(2, stateful=True))(x)
    model = keras.Model(x, [layers.LSTM(3, stateful=True, return_sequences=True)(x), stacked])
    randomize(model)
    model.save(tmp_path / "model.keras")
    compiled = core().compile_model(moir.to_openvino(moir.convert_model(tmp_path / "model.keras")), "CPU")
    request = compiled.create_infer_request()
    for seed in range(3):
        data = np.random.default_rng(seed).normal(size=(2, 3, 4)).astype(np.float32)
        expected = [np.asarray(each) for each in model(data, training=False)]
        results = request.infer([data])
        for index, reference in enumerate(expected):
            np.testing.assert_allclose(results[compiled.outputs[index]], reference, rtol=1e-4, atol=1e-5)


def test_two_calls_of_a_layer_with_states_are_refused(tmp_path: Path) -> None:
    """Both calls would write one state."""
    x = keras.Input(batch_shape=(2, 3, 4))
    layer = layers.LSTM(4, stateful=True, return_sequences=True)
    keras.Model(x, layer(layer(x))).save(tmp_path / "model.keras")
    with pytest.raises(ModelFileError, match="called more than once"):
        moir.convert_model(tmp_path / "model.keras")


MODES = ("log", "magnitude", "psd", "real", "imag", "angle", "stft")


@pytest.mark.parametrize("mode", MODES)
def test_spectrograms(mode: str, tmp_path: Path) -> None:
    """The modes of STFTSpectrogram, of two channels."""
    x = keras.Input((20, 2))
    options: dict[str, Any] = {"mode": mode, "frame_length": 8, "frame_step": 3, "padding": "same", "window": None}
    plain, expanded = layers.STFTSpectrogram(**options), layers.STFTSpectrogram(**options, expand_dims=True)
    assert not differences(keras.Model(x, [plain(x), expanded(x)]), tmp_path / "model.keras")


FUNCTIONS: dict[str, Any] = {
    "diff": lambda x: keras.ops.diff(x, n=2),
    "diagonal": lambda x: keras.ops.diagonal(x, offset=1, axis1=1, axis2=2),
    "heaviside": lambda x: keras.ops.heaviside(x, x),
    "imag": keras.ops.imag,
    "isclose": lambda x: keras.ops.isclose(x, x + 1e-9),
    "median": lambda x: keras.ops.median(x, axis=1, keepdims=True),
    "nanmax": lambda x: keras.ops.nanmax(keras.ops.where(x > 0, x, np.nan), axis=2) if hasattr(keras.ops, "nanmax") else x,
    "nanmean": lambda x: keras.ops.nanmean(keras.ops.where(x > -9, x, np.nan), axis=1) if hasattr(keras.ops, "nanmean") else x,
    "sinc": lambda x: keras.ops.sinc(x) if hasattr(keras.ops, "sinc") else x,
    "trace": lambda x: keras.ops.trace(x, axis1=1, axis2=2),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, tmp_path: Path) -> None:
    """Functions of `keras.ops`."""
    x = keras.Input(batch_shape=(2, 4, 5))
    assert not differences(keras.Model(x, FUNCTIONS[name](x)), tmp_path / "model.keras")


def test_names_of_outputs_are_names_of_tensors(tmp_path: Path) -> None:
    """The keys of a dictionary of outputs are found in the runtime."""
    x = keras.Input((3,), name="x")
    keras.Model(x, {"double": x * 2.0, "more": x + 1.0}).save(tmp_path / "model.keras")
    model = moir.to_openvino(moir.convert_model(tmp_path / "model.keras"))
    assert [("double" in port.names, "more" in port.names) for port in model.outputs] == [(True, False), (False, True)]


def test_limited_logits(tmp_path: Path) -> None:
    """A table used in reverse, with a limit of its logits."""
    x = keras.Input((4, 3))
    model = keras.Model(x, layers.ReversibleEmbedding(6, 3, logit_soft_cap=2.0)(x, reverse=True))
    randomize(model)
    assert not differences(model, tmp_path / "model.keras")
