"""Keras as the reference: outputs and inner tensors of a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import moir
from moir.errors import ExecutionError
from moir.execution.keras_runtime import KerasRunner
from tests.numerical.keras.models import keras, randomize

layers = keras.layers


def test_outputs_and_inner_tensors(tmp_path: Path) -> None:
    a, b = keras.Input((3,), name="a"), keras.Input((3,), name="b")
    shared = layers.Dense(4, name="shared")
    hidden = layers.Dense(4, activation="relu", name="hidden")(a)
    model = keras.Model({"b": b, "a": a}, {"z": shared(hidden), "c": layers.Add(name="sum")([hidden, layers.Dense(4)(b)])})
    randomize(model)
    path = tmp_path / "model.keras"
    model.save(path)
    runner = KerasRunner(path, moir.read_model(path), {})
    inputs = {name: np.random.default_rng(seed).normal(size=(2, 3)).astype(np.float32) for seed, name in enumerate("ab")}
    results = runner.run(inputs, ["hidden", "shared"])
    expected = model(inputs)
    assert results.keys() == {"z", "c", "hidden"} | (results.keys() & {"shared"})
    for name in ("z", "c"):
        np.testing.assert_allclose(results[name], np.asarray(expected[name]), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        results["hidden"],
        np.maximum(inputs["a"] @ model.get_layer("hidden").kernel + model.get_layer("hidden").bias, 0),
        rtol=1e-4,
        atol=1e-5,
    )
    assert runner.title.startswith("Keras 3")


def test_what_keras_does_not_load_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    keras.Sequential([keras.Input((3,)), layers.Dense(2)]).save(path)
    module = moir.read_model(path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ExecutionError, match="Keras cannot run the model"):
        KerasRunner(path, module, {}).run({"input_layer": np.zeros((1, 3), np.float32)})
