"""Small ONNX models for tests of the tools."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ONES = np.ones((8, 8), np.float32)


def loop_model() -> onnx.ModelProto:
    """Two matrix products and a swish, then a loop that adds rows; weights beyond 64 bytes, names beyond ASCII."""
    random = np.random.default_rng(7)
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["again"], ["again_out"], name="again"),
            helper.make_node("Add", ["state", "offset"], ["shifted"], name="shift"),
            helper.make_node("MatMul", ["shifted", "outer_weight"], ["next"], name="step"),
            helper.make_node("Identity", ["next"], ["scan"], name="scan"),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("again", TensorProto.BOOL, []),
            helper.make_tensor_value_info("state", TensorProto.FLOAT, [None, 8]),
        ],
        [
            helper.make_tensor_value_info("again_out", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, [None, 8]),
            helper.make_tensor_value_info("scan", TensorProto.FLOAT, [None, 8]),
        ],
        initializer=[numpy_helper.from_array(random.standard_normal(8).astype(np.float32) * 0.1, "offset")],
    )
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "w"], ["a"], name="乘"),
            helper.make_node("Sigmoid", ["a"], ["s"], name="sigmoid"),
            helper.make_node("Mul", ["a", "s"], ["swish"], name="swish"),
            helper.make_node("Shape", ["swish"], ["shape"], name="shape"),
            helper.make_node("Reshape", ["swish", "shape"], ["b"], name="größe"),
            helper.make_node("Loop", ["count", "", "b"], ["last", "all"], name="loop", body=body),
            helper.make_node("Transpose", ["outer_weight"], ["turned"], name="turn", perm=[1, 0]),
            helper.make_node("MatMul", ["last", "turned"], ["y"], name="final"),
        ],
        "ein Modell",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])],
        [
            helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 8]),
            helper.make_tensor_value_info("all", TensorProto.FLOAT, [3, "n", 8]),
        ],
        initializer=[
            numpy_helper.from_array(random.standard_normal((4, 8)).astype(np.float32), "w"),
            numpy_helper.from_array(random.standard_normal((8, 8)).astype(np.float32) * 0.3, "outer_weight"),
            numpy_helper.from_array(np.array(3, np.int64), "count"),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def save(model: onnx.ModelProto, path: Path) -> Path:
    """Write a model; returns the path."""
    onnx.save(model, path)
    return path


def matmul_model(kind: str = "MatMul", domain: str = "") -> onnx.ModelProto:
    """One node with a constant operand."""
    graph = helper.make_graph(
        [helper.make_node(kind, ["x", "w"], ["y"], name="the node", domain=domain)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 8])],
        initializer=[numpy_helper.from_array(ONES, "w")],
    )
    imports = [helper.make_opsetid("", 17), *([helper.make_opsetid(domain, 1)] if domain else [])]
    return helper.make_model(graph, opset_imports=imports, ir_version=9)
