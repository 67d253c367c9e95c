"""TensorFlow models, cut and frozen, against TensorFlow at the same tensors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openvino
import pytest
import tensorflow as tf

import moir
from moir.errors import ConversionError
from tests.numerical.passes.interface.test_onnx_models import assert_close, results
from tests.numerical.runtime import Array

FIXTURES = Path(__file__).parents[3] / "fixtures" / "tensorflow"
X = np.random.default_rng(3).standard_normal((2, 6, 6, 3)).astype(np.float32)
FILTER = np.random.default_rng(4).standard_normal((3, 3, 3, 4)).astype(np.float32)


def graph() -> tf.Graph:
    """A convolution with a switch, two halves of its channels, and an operation that only TensorFlow has after them."""
    made = tf.Graph()
    with made.as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None, 6, 6, 3], "x")
        keep = tf.compat.v1.placeholder_with_default(tf.constant(1.0), [], "keep")
        training = tf.compat.v1.placeholder(tf.bool, [], "training")
        with tf.control_dependencies([tf.no_op("nothing")]):
            conv = tf.nn.conv2d(x, tf.constant(FILTER), 1, "SAME", name="block/conv")
        scaled = tf.multiply(conv, keep, name="block/scaled")
        first, second = tf.split(scaled, 2, axis=3, name="halves")
        total = tf.add(tf.nn.relu(first, name="act"), second, name="total")
        tf.raw_ops.Print(input=total, data=[total], name="printed")
        tf.identity(tf.cond(training, lambda: total * 2, lambda: total + 1), name="y")
    return made


def values(inputs: dict[str, Any], names: list[str]) -> list[Array]:
    with tf.compat.v1.Session(graph=graph()) as session:
        return session.run(names, {f"{name}:0": value for name, value in inputs.items()})


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "frozen.pb"
    path.write_bytes(graph().as_graph_def().SerializeToString())
    return path


def converted(path: Any, **arguments: Any) -> openvino.Model:
    return moir.to_openvino(moir.convert_model(path, **arguments))


@pytest.mark.parametrize(
    ("name", "tensor"),
    [
        ("block/conv", "block/conv:0"),
        ("block/conv:0", "block/conv:0"),
        ("halves", "halves:0"),
        ("halves:1", "halves:1"),
        ("1:total", "halves:1"),
        ("total", "total:0"),
    ],
)
def test_outputs(frozen: Path, name: str, tensor: str) -> None:
    model = converted(frozen, output=name)
    assert name in model.output(0).get_names()
    (reference,) = values({"x": X, "training": False}, [tensor])
    assert_close(results(model, X)[0], reference)


@pytest.mark.parametrize(
    ("text", "tensors", "names"),
    [
        ("block/scaled:0", ["block/scaled:0"], ["block/scaled/placeholder_out_port_0"]),
        ("halves[?,6,6,4]", ["block/scaled:0"], ["halves/placeholder_port_1"]),
        ("1:halves", ["block/scaled:0"], ["halves/placeholder_port_1"]),
        ("halves:1,act", ["halves:1", "halves:0"], ["halves/placeholder_out_port_1", "act/placeholder_port_0"]),
        ("0:total,1:total[2,6,6,2]", ["act:0", "halves:1"], ["total/placeholder_port_0", "total/placeholder_port_1"]),
    ],
)
def test_inputs(frozen: Path, text: str, tensors: list[str], names: list[str]) -> None:
    model = converted(frozen, input=text, output="total")
    assert [each.get_node().get_friendly_name() for each in model.inputs] == names
    *given, reference = values({"x": X, "training": False}, [*tensors, "total:0"])
    assert_close(results(model, *given)[0], reference)


def test_placeholders_with_values(frozen: Path) -> None:
    for training in (False, True):
        (reference,) = values({"x": X, "training": training, "keep": 0.5}, ["y:0"])
        for arguments in (
            {"input": f"x,training->{training},keep->0.5"},
            {"freeze_placeholder_with_value": f"training->{training},keep->0.5"},
            {"input": {"x": [2, 6, 6, 3], "training": training, "keep": 0.5}},
        ):
            model = converted(frozen, output="y", **arguments)
            assert [each.get_node().get_friendly_name() for each in model.inputs] == ["x"]
            assert_close(results(model, X)[0], reference)


def test_names_that_do_not_exist(frozen: Path) -> None:
    with pytest.raises(ConversionError, match=r"there is no node and no tensor 'conv'; did you mean block/conv or block/conv:0\?"):
        converted(frozen, output="conv")
    with pytest.raises(ConversionError, match=r"tf.AddV2 'total': it has 2 inputs; say which: 0:total or 1:total; total:0 is its output"):
        converted(frozen, input="total", output="total")
    with pytest.raises(ConversionError, match=r"tf.Split 'halves': it has no output port 2; its output ports are 0 to 1"):
        converted(frozen, output="halves:2")


def test_saved_models() -> None:
    loaded = tf.saved_model.load(FIXTURES / "keras_3").signatures["serving_default"]
    a, b = (np.random.default_rng(seed).standard_normal((2, 4)).astype(np.float32) for seed in (5, 6))
    reference = loaded(a=tf.constant(a), b=tf.constant(b))
    model = converted(FIXTURES / "keras_3", input="b,a", output="output_1,output_0")
    for actual, name in zip(results(model, b, a), ("output_1", "output_0"), strict=True):
        assert_close(actual, reference[name].numpy())
    inner = "StatefulPartitionedCall_1/StatefulPartitionedCall/functional_1/add_1/Add"
    assert_close(results(converted(FIXTURES / "keras_3", output=inner), a, b)[0], reference["output_0"].numpy())
    with pytest.raises(ConversionError, match=f"did you mean {inner}"):
        converted(FIXTURES / "keras_3", output="functional_1/add_1/Add")


def test_models_in_memory() -> None:
    class Scale(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.factor = tf.Variable([[2.0, 3.0]])

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, "x")])
        def __call__(self, x: Any) -> Any:
            return x * self.factor

    scale = Scale()
    x = np.float32([[1, 2], [3, 4]])
    keras = tf.keras.Sequential([tf.keras.Input((2,), name="x"), tf.keras.layers.Dense(3)])
    untraced = tf.function(lambda x: x * scale.factor)
    for given, reference in (
        (scale, x * [[2.0, 3.0]]),
        (scale.__call__, x * [[2.0, 3.0]]),
        (untraced.get_concrete_function(tf.TensorSpec([None, 2], tf.float32, "x")), x * [[2.0, 3.0]]),
        (keras, keras(x).numpy()),
    ):
        assert_close(results(converted(given, batch=2), x)[0], reference)
    assert_close(
        results(converted(graph().as_graph_def(), output="block/conv"), X)[0], values({"x": X, "training": True}, ["block/conv:0"])[0]
    )
    with pytest.raises(moir.errors.ArgumentError, match=r"cannot be written to a file: .*; give a tf.function with an input_signature"):
        converted(tf.function(lambda x: x))
