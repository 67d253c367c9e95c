"""Networks with weights as integers: the runtime computes with the integers, and results are nearly what they were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import openvino
import pytest

import moir
from tests.numerical.onnx.conversion import build, node
from tests.numerical.onnx.test_networks import NETWORKS, samples
from tests.numerical.runtime import Array, core

INTEGERS = ("u8", "i8", "u4", "i4")
TRANSFORMERS = ("bert", "gpt", "llama", "t5", "torch_encoder", "vision_transformer", "swin")
LIMITS = {"int8": 0.02, "int8_sym": 0.02, "int8_asym:16": 0.02, "int4": 0.1, "int4_sym": 0.1, "int4:32:1": 0.1, "int4_sym:32:1": 0.1}
"""Largest errors of outputs, relative to their norms."""


def executed(model: openvino.Model) -> tuple[openvino.CompiledModel, Counter[tuple[str, str]]]:
    """A compiled model, and the kinds of its executed operations that have weights, with the types of these.

    Only weights of at least 1024 values count.
    """
    compiled = core().compile_model(model, "CPU")
    results: Counter[tuple[str, str]] = Counter()
    for each in compiled.get_runtime_model().get_ordered_ops():
        position = {"FullyConnected": 1, "MatMul": 1, "Gather": 0, "Convolution": 1}.get(layer_type(each))
        if position is None:
            continue
        weights = each.input(position)
        # A transposed matrix is a computed operand: the runtime transposes it when it loads the model.
        is_weight = layer_type(weights.get_source_output().get_node()) == "Const" or layer_type(each) == "FullyConnected"
        if is_weight and np.prod(list(weights.get_partial_shape().to_shape())) >= 1024:
            results[layer_type(each), weights.get_element_type().to_string()] += 1
    return compiled, results


def layer_type(op: openvino.Node) -> str:
    """The kind of an operation of the execution graph."""
    information = op.get_rt_info()["layerType"]
    return information if isinstance(information, str) else information.astype(str)


def error(result: Array, expected: Array) -> float:
    """The norm of the difference, relative to that of what is expected."""
    return float(np.linalg.norm(result.astype(np.float64) - expected) / np.linalg.norm(expected.astype(np.float64)))


@pytest.mark.parametrize("codes", LIMITS)
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_networks_run_compressed(name: str, codes: str) -> None:
    compiled, kinds = executed(moir.to_openvino(moir.convert_model(NETWORKS / f"{name}.onnx", compress_weights=codes)))
    _, before = executed(moir.to_openvino(moir.convert_model(NETWORKS / f"{name}.onnx")))
    products = [type_ for (kind, type_), count in kinds.items() if kind == "FullyConnected" for _ in range(count)]
    assert len(products) == sum(count for (kind, _), count in before.items() if kind == "FullyConnected") > 0
    assert all(type_ in INTEGERS for type_ in products)
    # Embeddings are the tables that a Gather reads.
    assert all(type_ in INTEGERS for (kind, type_), _ in kinds.items() if kind == "Gather")
    for inputs, outputs in samples(name):
        present = {port.any_name for port in compiled.inputs}
        results = compiled({key: np.array(value, order="C") for key, value in inputs.items() if key in present})
        for key, expected in outputs.items():
            assert error(results[key], expected) <= LIMITS[codes]


def product(tmp_path: Path, weights: Array, **options: object) -> tuple[openvino.CompiledModel, Counter[tuple[str, str]]]:
    """A matrix product with constant weights, converted and compiled."""
    x = np.zeros((2, weights.shape[0]), weights.dtype)
    onnx.save(build([node("MatMul", ["x", "w"], ["y"])], {"x": x}, constants={"w": weights}), tmp_path / "m.onnx")
    moir.save_model(moir.convert_model(tmp_path / "m.onnx", **options), tmp_path / "m.xml")
    return executed(core().read_model(tmp_path / "m.xml"))


@pytest.mark.parametrize("codes", ["int8", "int8_sym", "int8:16", "int4:16:1", "int4_sym:32:1", "int4:channel:1"])
@pytest.mark.parametrize("shape", [(64, 96), (48, 34), (48, 35), (32, 32)])
@pytest.mark.parametrize("element", [np.float32, np.float16])
def test_shapes_and_element_types(tmp_path: Path, codes: str, shape: tuple[int, int], element: type) -> None:
    random = np.random.default_rng(0)
    # The codes of a second matrix, the last one of the model, always have 8 bits.
    first, second = random.standard_normal(shape).astype(element), random.standard_normal((shape[1], 32)).astype(element)
    nodes = [node("MatMul", ["x", "v"], ["z"]), node("MatMul", ["z", "w"], ["y"])]
    x = random.standard_normal((3, shape[0])).astype(element)
    onnx.save(build(nodes, {"x": x}, constants={"v": first, "w": second}), tmp_path / "m.onnx")
    moir.save_model(moir.convert_model(tmp_path / "m.onnx", compress_weights=codes), tmp_path / "m.xml")
    compiled, kinds = executed(core().read_model(tmp_path / "m.xml"))
    expected = x.astype(np.float32) @ first.astype(np.float32) @ second.astype(np.float32)
    assert error(compiled({"x": x})[0], expected) < (0.02 if "int8" in codes else 0.16)
    assert sum(kinds.values()) == sum(count for (_, type_), count in kinds.items() if type_ in INTEGERS) == 2


@pytest.mark.parametrize("options", [{}, {"compress_to_fp16": True}])
@pytest.mark.parametrize("factor", [1.0, 1e-6, 1e6])
def test_small_and_large_weights(tmp_path: Path, factor: float, options: Mapping[str, object]) -> None:
    random = np.random.default_rng(0)
    weights = (random.standard_normal((64, 48)) * factor).astype(np.float32)
    compiled, kinds = product(tmp_path, weights, compress_weights="int8", **options)
    x = random.standard_normal((2, 64)).astype(np.float32)
    assert kinds == {("FullyConnected", "u8"): 1}
    assert error(compiled({"x": x})[0], x @ weights) < 0.01


def test_an_embedding_that_is_the_last_matrix_as_well_is_stored_once(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    table = random.standard_normal((200, 32)).astype(np.float32)
    nodes = [node("Gather", ["w", "x"], ["z"]), node("Transpose", ["w"], ["t"]), node("MatMul", ["z", "t"], ["y"])]
    indices = np.array([3, 0, 199], np.int64)
    onnx.save(build(nodes, {"x": indices}, constants={"w": table}), tmp_path / "m.onnx")
    written = moir.save_model(moir.convert_model(tmp_path / "m.onnx", compress_weights="int8"), tmp_path / "m.xml")
    assert written.weights_bytes < 1.2 * table.size
    compiled, kinds = executed(core().read_model(tmp_path / "m.xml"))
    assert kinds == {("Gather", "u8"): 1, ("FullyConnected", "u8"): 1}
    assert error(compiled({"x": indices})[0], table[indices] @ table.T) < 0.01


def test_convolutions_are_left_alone(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    weights = random.standard_normal((16, 8, 3, 3)).astype(np.float32)
    x = random.standard_normal((1, 8, 5, 5)).astype(np.float32)
    onnx.save(build([node("Conv", ["x", "w"], ["y"])], {"x": x}, constants={"w": weights}), tmp_path / "m.onnx")
    plain = moir.save_model(moir.convert_model(tmp_path / "m.onnx"), tmp_path / "plain.xml")
    compressed = moir.save_model(moir.convert_model(tmp_path / "m.onnx", compress_weights="int8"), tmp_path / "m.xml")
    assert plain.bin_path.read_bytes() == compressed.bin_path.read_bytes()
