"""A user's code takes the first name of each input and output, and finds the names that the model declares."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import openvino
import tensorflow as tf
from onnx import TensorProto, helper

import moir
from tests.numerical.onnx.conversion import node
from tests.numerical.runtime import core


def first_names(compiled: openvino.CompiledModel) -> tuple[list[str], list[str]]:
    return [port.any_name for port in compiled.inputs], [port.any_name for port in compiled.outputs]


def converted(source: Path, folder: Path, **options: Any) -> openvino.CompiledModel:
    moir.save_model(moir.convert_model(source, **options), folder / "ir.xml")
    return core().compile_model(folder / "ir.xml", "CPU")


def onnx_model(folder: Path) -> Path:
    """Two outputs are one tensor, another one is the input, the last has names of tensors before its own."""
    nodes = [
        node("Sigmoid", ["images"], ["s"]),
        node("Identity", ["s"], ["y2"]),
        node("Identity", ["s"], ["y1"]),
        node("Identity", ["images"], ["echo"]),
        node("Exp", ["images"], ["a"]),
        node("Identity", ["a"], ["z"]),
    ]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["b", 3]) for name in ("images", "y2", "y1", "echo", "z")]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "m.onnx")
    return folder / "m.onnx"


def test_outputs_that_are_one_tensor(tmp_path: Path) -> None:
    compiled = converted(onnx_model(tmp_path), tmp_path)
    assert first_names(compiled) == (["images"], ["y2", "y1", "echo", "z"])
    x = np.random.default_rng(0).uniform(-1, 1, (2, 3)).astype(np.float32)
    actual = compiled({"images": x})
    sigmoid = 1 / (1 + np.exp(-x))
    for name, wanted in {"y1": sigmoid, "y2": sigmoid, "echo": x, "z": np.exp(x)}.items():
        np.testing.assert_allclose(actual[name], wanted, rtol=1e-5)


def test_the_ir_is_converted_again(tmp_path: Path) -> None:
    converted(onnx_model(tmp_path), tmp_path)
    (tmp_path / "again").mkdir()
    compiled = converted(tmp_path / "ir.xml", tmp_path / "again")
    assert first_names(compiled) == (["images"], ["y2", "y1", "echo", "z"])


class Module(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec((None, 3), tf.float32, name="images"), tf.TensorSpec((None, 3), tf.float32, name="zoom")])
    def __call__(self, images: Any, zoom: Any) -> Any:
        result = tf.sigmoid(images)
        return {"y1": result, "y2": tf.identity(result), "echo": images, "product": zoom * result}


def test_signatures(tmp_path: Path) -> None:
    module = Module()
    tf.saved_model.save(module, tmp_path / "model", signatures=module.__call__)
    inputs, outputs = first_names(converted(tmp_path / "model", tmp_path))
    assert inputs == ["images", "zoom"]
    assert sorted(outputs) == ["echo", "product", "y1", "y2"]


def test_models_of_keras(tmp_path: Path) -> None:
    inputs = tf.keras.Input((4,), name="frames")
    tf.keras.Model(inputs, tf.keras.layers.Dense(3)(inputs)).export(tmp_path / "model", verbose=False)
    compiled = converted(tmp_path / "model", tmp_path)
    assert first_names(compiled) == (["frames"], ["output_0"])


def test_bytes_in_memory(tmp_path: Path) -> None:
    compiled = core().compile_model(moir.to_openvino(moir.convert_model(onnx_model(tmp_path))), "CPU")
    assert first_names(compiled) == (["images"], ["y2", "y1", "echo", "z"])
