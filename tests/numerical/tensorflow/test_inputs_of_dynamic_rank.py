"""A user's graph says no shape of some inputs, their use does, and the IR loads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import tensorflow as tf
from onnx import TensorProto, helper

from moir.conversion import save_model
from moir.interface import convert_model
from tests.numerical.onnx.conversion import expected_results, node
from tests.numerical.runtime import Array, compare, core, infer
from tests.numerical.tensorflow.conversion import build
from tests.numerical.tensorflow.conversion import expected_results as tensorflow_results

RANDOM = np.random.default_rng(0)


def random(*shape: int) -> Array:
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


KERNELS, MATRIX = random(3, 3, 3, 4), random(4, 3)


def dropout(x: Any, keep: Any) -> Any:
    """As TensorFlow 1 wrote it; with a probability of 1 nothing is left to chance."""
    draws = tf.floor(keep + tf.raw_ops.RandomUniform(shape=tf.shape(x), dtype=tf.float32))
    return tf.raw_ops.MatMul(a=x / keep * draws, b=MATRIX)


def dropout_by_rate(x: Any, keep: Any) -> Any:
    """As TensorFlow 1.15 did."""
    rate = 1 - keep
    kept = tf.raw_ops.RandomUniform(shape=tf.shape(x), dtype=tf.float32) >= rate
    return tf.raw_ops.MatMul(a=x * (1 / (1 - rate)) * tf.cast(kept, tf.float32), b=MATRIX)


def squeezed(x: Any) -> Any:
    return tf.raw_ops.MatMul(a=tf.cond(tf.equal(tf.shape(x)[1], 1), lambda: tf.squeeze(x, 1), lambda: x), b=MATRIX)


GRAPHS: dict[str, tuple[Callable[..., Any], Mapping[str, Array], list[str]]] = {
    "convolution": (lambda x: tf.nn.conv2d((x - 127) / 127, KERNELS, 1, "SAME"), {"x": random(1, 5, 6, 3)}, []),
    "pads": (
        lambda x: tf.nn.conv2d(tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]]), KERNELS, 2, "VALID"),
        {"x": random(1, 5, 6, 3)},
        [],
    ),
    "image without batch": (lambda x: tf.nn.conv2d(tf.expand_dims(x, 0), KERNELS, 1, "SAME"), {"x": random(5, 6, 3)}, []),
    "equation": (lambda x: tf.einsum("bij,jk->bik", x, MATRIX), {"x": random(2, 5, 4)}, []),
    "resize": (lambda x: tf.raw_ops.ResizeBilinear(images=x, size=[4, 4]), {"x": random(1, 5, 6, 3)}, []),
    "probability of a dropout": (dropout, {"x": random(2, 4), "keep": np.float32(1)}, ["x"]),
    "rate of a dropout": (dropout_by_rate, {"x": random(2, 4), "keep": np.float32(1)}, ["x"]),
    "branch": (squeezed, {"x": random(2, 1, 4)}, ["x"]),
}
"""The function, its inputs, and those whose number of dimensions is said."""


@pytest.mark.parametrize("name", GRAPHS)
def test_tensorflow(tmp_path: Path, name: str) -> None:
    function, inputs, said = GRAPHS[name]
    shapes = {each: [None] * inputs[each].ndim for each in said}
    graph, names = build(function, inputs, form="rank", said=shapes)
    (tmp_path / "m.pb").write_bytes(graph.as_graph_def().SerializeToString())
    check(tmp_path / "m.pb", inputs, tensorflow_results(graph, names, inputs))


def test_noise_says_nothing_of_what_it_is_added_to(tmp_path: Path) -> None:
    """Nor do numbers that are drawn for each element of what they are compared with."""

    def noisy(x: Any, p: Any) -> Any:
        noise = tf.raw_ops.RandomUniform(shape=[2, 4], dtype=tf.float32)
        return x + noise, tf.raw_ops.RandomUniform(shape=tf.shape(p), dtype=tf.float32) < p

    graph, _ = build(noisy, {"x": random(2, 4), "p": random(2, 4)}, form="rank")
    (tmp_path / "m.pb").write_bytes(graph.as_graph_def().SerializeToString())
    save_model(convert_model(tmp_path / "m.pb"), tmp_path / "m.xml")
    assert all(each.get_partial_shape().rank.is_dynamic for each in core().read_model(tmp_path / "m.xml").inputs)


def test_tensorflow_selects_a_branch(tmp_path: Path) -> None:
    """The functions of a Case have other ranks, and a product takes one of them."""

    def cases(x: Any, number: Any) -> Any:
        branches = [lambda: tf.squeeze(x, 1), lambda: tf.reshape(x, [-1, 4]) * 2]
        return tf.raw_ops.MatMul(a=tf.switch_case(number, branches), b=MATRIX)

    inputs = {"x": random(2, 1, 4), "number": np.array(1, np.int32)}
    graph, names = build(cases, inputs, form="rank", said={"x": [None, None, None]})
    (tmp_path / "m.pb").write_bytes(graph.as_graph_def().SerializeToString())
    check(tmp_path / "m.pb", inputs, tensorflow_results(graph, names, inputs))


NODES: dict[str, tuple[onnx.NodeProto, Mapping[str, Array]]] = {
    "Conv": (node("Conv", ["x", "w"], ["y"]), {"x": random(1, 3, 5, 5)}),
    "Gemm": (node("Gemm", ["x", "m"], ["y"]), {"x": random(2, 4)}),
    "LSTM": (node("LSTM", ["x", "g", "r"], ["", "y"], hidden_size=3), {"x": random(5, 2, 4)}),
    "Einsum": (node("Einsum", ["x", "m"], ["y"], equation="bij,jk->bik"), {"x": random(2, 5, 4)}),
    "SpaceToDepth": (node("SpaceToDepth", ["x"], ["y"], blocksize=2), {"x": random(1, 3, 4, 6)}),
}


@pytest.mark.parametrize("kind", NODES)
def test_onnx(tmp_path: Path, kind: str) -> None:
    last, inputs = NODES[kind]
    weights = {"w": random(4, 3, 3, 3), "m": MATRIX, "g": random(1, 12, 4), "r": random(1, 12, 3)}
    tensors = [onnx.numpy_helper.from_array(each, name) for name, each in weights.items() if name in last.input]
    given = [helper.make_tensor_value_info("x", TensorProto.FLOAT, None)]
    declared = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph([last], "g", given, declared, tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "m.onnx")
    check(tmp_path / "m.onnx", inputs, expected_results(model, inputs, "onnxruntime"))


def check(path: Path, inputs: Mapping[str, Array], expected: list[Array]) -> None:
    """The IR loads as it is."""
    save_model(convert_model(path), path.with_suffix(".xml"))
    model = core().read_model(path.with_suffix(".xml"))
    compare(infer(model, core().compile_model(model, "CPU"), inputs), expected, atol=1e-5)
