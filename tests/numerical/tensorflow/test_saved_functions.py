"""SavedModels of TensorFlow 2 without signatures: the functions of the saved object are what can be converted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from google.protobuf import text_format
from tensorflow.core.protobuf import saved_model_pb2

import moir
from moir.errors import ModelFileError, UsageError
from tests.numerical.runtime import Array, core

RNG = np.random.default_rng(6)
ROWS = RNG.normal(size=(2, 4)).astype(np.float32)


class Network(tf.Module):
    """A layer with two traces, one of them for training, and a function with two results."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = tf.Variable(RNG.normal(size=(4, 3)).astype(np.float32))
        self.bias = tf.Variable(RNG.normal(size=3).astype(np.float32))
        self.scale = tf.constant(RNG.normal(size=40).astype(np.float32)[:3])

    @tf.function
    def __call__(self, x: Any, training: bool = False) -> Any:
        y = x @ self.weights + self.bias
        return tf.nn.relu(y) if training else tf.nn.tanh(y) * self.scale

    @tf.function
    def pair(self, x: Any, y: Any) -> Any:
        return {"sum": x + y, "product": x * y}


@pytest.fixture(scope="module")
def network() -> Network:
    network = Network()
    network(tf.constant(ROWS), training=True)
    network(tf.constant(ROWS))
    network.pair(tf.zeros([3]), tf.zeros([3]))
    return network


@pytest.fixture(scope="module")
def folder(network: Network, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    tf.saved_model.save(network, str(folder))
    return folder


def results(folder: Path, inputs: dict[str, Array], **options: Any) -> dict[str, Array]:
    compiled = core().compile_model(moir.to_openvino(moir.convert_model(folder, **options)), "CPU")
    return {port.get_any_name(): array for port, array in compiled(inputs).items()}


def test_the_call_without_training_is_the_model(network: Network, folder: Path) -> None:
    (output,) = results(folder, {"x": ROWS}).values()
    np.testing.assert_allclose(output, network(tf.constant(ROWS)).numpy(), rtol=1e-4, atol=1e-5)


def test_a_function_is_named_as_a_signature_is(network: Network, folder: Path) -> None:
    a, b = RNG.normal(size=(2, 3)).astype(np.float32)
    outputs = results(folder, {"x": a, "y": b}, signature="pair")
    np.testing.assert_allclose(outputs["sum"], a + b, rtol=1e-5)
    np.testing.assert_allclose(outputs["product"], a * b, rtol=1e-5)
    (trained,) = results(folder, {"x": ROWS}, signature="__call__").values()
    np.testing.assert_allclose(trained, network(tf.constant(ROWS), training=True).numpy(), rtol=1e-4, atol=1e-5)


def test_the_file_as_text(network: Network, folder: Path, tmp_path: Path) -> None:
    message = saved_model_pb2.SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    (tmp_path / "saved_model.pbtxt").write_text(text_format.MessageToString(message))
    (tmp_path / "variables").mkdir()
    for path in (folder / "variables").iterdir():
        (tmp_path / "variables" / path.name).write_bytes(path.read_bytes())
    (output,) = results(tmp_path, {"x": ROWS}).values()
    np.testing.assert_allclose(output, network(tf.constant(ROWS)).numpy(), rtol=1e-4, atol=1e-5)


def test_functions_that_are_not_clear(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the model has no function 'pairs'; did you mean pair"):
        moir.convert_model(folder, signature="pairs")
    module = tf.Module()
    module.first, module.second = tf.function(lambda x: x + 1), tf.function(lambda x: x * 2)
    module.first(tf.zeros([2]))
    module.second(tf.zeros([2]))
    tf.saved_model.save(module, str(tmp_path / "two"))
    with pytest.raises(ModelFileError, match="no signature, but several functions; --signature NAME; its functions: first, second"):
        moir.convert_model(tmp_path / "two")
    (output,) = results(tmp_path / "two", {"x": np.float32([1, 2])}, signature="second").values()
    np.testing.assert_allclose(output, [2, 4])


def test_no_function(tmp_path: Path) -> None:
    module = tf.Module()
    module.variable = tf.Variable(1.0)
    tf.saved_model.save(module, str(tmp_path))
    with pytest.raises(ModelFileError, match="signature"):
        moir.convert_model(tmp_path)
