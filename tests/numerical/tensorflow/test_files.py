"""Models in the file formats of TensorFlow, converted from the command line: the runtime computes what TensorFlow does from the same file.

The models are those of `tests/fixtures/tensorflow`; graphs that need a checkpoint are `y = x · weights · rows + bias`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from moir.tools.convert import main
from tests.numerical.tensorflow.conversion import core

FIXTURES = Path(__file__).parents[2] / "fixtures" / "tensorflow"
X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


def convert(tmp_path: Path, *arguments: str) -> object:
    """The compiled IR of a model."""
    assert main([*arguments, "-o", str(tmp_path / "model.xml"), "--silent"]) == 0
    return core().compile_model(core().read_model(tmp_path / "model.xml"), "CPU")


def ramp(shape: tuple[int, ...], start: float = 0.0) -> np.ndarray:
    """The weights of the models."""
    return (start + np.arange(np.prod(shape)).reshape(shape) / 8).astype(np.float32)


@pytest.mark.parametrize(
    "arguments",
    [
        [str(FIXTURES / "checkpoint" / "model.meta")],
        [str(FIXTURES / "checkpoint" / "inference.pbtxt"), "--checkpoint", str(FIXTURES / "checkpoint" / "model")],
        [str(FIXTURES / "checkpoint" / "with_saver.pbtxt"), "--checkpoint", str(FIXTURES / "checkpoint" / "model")],
        [str(FIXTURES / "saved_model_v1"), "--signature", "dense"],
        [str(FIXTURES / "saved_model_v1"), "--saved-model-tags", "serve,tpu"],
    ],
)
def test_variables_from_a_checkpoint(arguments: list[str], tmp_path: Path) -> None:
    compiled = convert(tmp_path, *arguments)
    expected = X @ ramp((4, 6)) @ ramp((6, 3), 1.0) + ramp((3,), 2.0)
    np.testing.assert_allclose(compiled([X])[0], expected, rtol=1e-5)


def test_keras_3(tmp_path: Path) -> None:
    compiled = convert(tmp_path, str(FIXTURES / "keras_3"))
    model = tf.saved_model.load(str(FIXTURES / "keras_3")).signatures["serving_default"]
    inputs = {"a": X, "b": 2 * X + 1}
    expected = model(**{name: tf.constant(array) for name, array in inputs.items()})
    results = compiled(inputs)
    assert {name for port in compiled.outputs for name in port.names} >= set(expected)
    for name, array in expected.items():
        np.testing.assert_allclose(results[name], array, rtol=1e-5)


def test_tables_of_a_saved_model(tmp_path: Path) -> None:
    compiled = convert(tmp_path, str(FIXTURES / "saved_model_v2"))
    model = tf.saved_model.load(str(FIXTURES / "saved_model_v2")).signatures["serving_default"]
    words, sizes = np.array(["fern", "unknown", "reed", "moss", ""], object), np.array([10, 20, 30, 10, 20])
    expected = model(words=tf.constant(words), sizes=tf.constant(sizes))
    results = compiled({"words": np.asarray(words, dtype=np.str_), "sizes": sizes})
    for name, array in expected.items():
        np.testing.assert_allclose(results[name], array, rtol=1e-3)


def test_a_table_of_tensorflow_1(tmp_path: Path) -> None:
    compiled = convert(tmp_path, str(FIXTURES / "saved_model_v1"), "--signature", "lookup")
    assert compiled([np.array(["reed", "mos", "moss", "fern"])])[0].tolist() == [2, -1, 0, 1]
