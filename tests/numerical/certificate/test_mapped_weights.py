"""ONNX Runtime maps the weights of a large model from the model's own file: the results are those of the model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import moir
from moir.execution import onnx_runtime
from moir.execution.onnx_runtime import OnnxRunner
from moir.execution.onnx_weights import bytes_of_weights, with_weights_in_file


def _model(path: Path) -> tuple[Path, np.ndarray, np.ndarray]:
    """A product with a large weight and a term with a small one."""
    generator = np.random.default_rng(0)
    weight, bias = generator.standard_normal((32, 16), np.float32), generator.standard_normal(16, np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Add", ["m", "b"], ["y"])]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (("x", [2, 32]), ("y", [2, 16])))
    initializers = [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(bias, "b")]
    graph = helper.make_graph(nodes, "graph", [x], [y], initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path, weight, bias


def test_large_weights_are_references_to_the_file(tmp_path: Path) -> None:
    path, weight, bias = _model(tmp_path / "model.onnx")
    large, small = onnx.load_model_from_string(with_weights_in_file(path)).graph.initializer
    entries = {each.key: each.value for each in large.external_data}
    assert entries["location"] == "model.onnx"
    data = path.read_bytes()[int(entries["offset"]) :][: int(entries["length"])]
    assert np.array_equal(np.frombuffer(data, np.float32).reshape(32, 16), weight)
    assert not large.raw_data
    assert np.array_equal(numpy_helper.to_array(small), bias)


def test_model_with_mapped_weights_computes_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, weight, bias = _model(tmp_path / "model.onnx")
    module = moir.read_model(path)
    assert bytes_of_weights(module) == weight.nbytes + bias.nbytes
    monkeypatch.setattr(onnx_runtime, "LARGE_WEIGHTS", 0)
    x = np.random.default_rng(1).standard_normal((2, 32), np.float32)
    results = OnnxRunner(path, module, {}).run({"x": x}, ["m"])
    assert np.allclose(results["m"], x @ weight, atol=1e-5)
    assert np.allclose(results["y"], x @ weight + bias, atol=1e-5)
