"""Products by a square matrix as it is and transposed, through the whole pipeline, against numpy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import moir
from tests.numerical.runtime import core

SIZE = 6
NODES = {
    "Gemm": [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Gemm", ["a", "w"], ["y"], transB=1)],
    "Gemm first": [helper.make_node("Gemm", ["x", "w"], ["a"], transB=1), helper.make_node("MatMul", ["a", "w"], ["y"])],
    "Transpose": [
        helper.make_node("Transpose", ["w"], ["v"], perm=[1, 0]),
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("MatMul", ["a", "v"], ["y"]),
    ],
}


@pytest.mark.parametrize("name", NODES)
def test_a_matrix_and_its_transpose(name: str, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    x, w = (random.standard_normal((rows, SIZE)).astype(np.float32) for rows in (2, SIZE))
    tensors = [helper.make_tensor_value_info(each, TensorProto.FLOAT, ["n", SIZE]) for each in "xy"]
    graph = helper.make_graph(NODES[name], "tied", tensors[:1], tensors[1:], [numpy_helper.from_array(w, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), tmp_path / "tied.onnx")
    moir.save_model(moir.convert_model(tmp_path / "tied.onnx"), tmp_path / "tied.xml")
    compiled = core().compile_model(tmp_path / "tied.xml", "CPU")
    expected = x @ w.T @ w if name == "Gemm first" else x @ w @ w.T
    np.testing.assert_allclose(compiled({"x": x})["y"], expected, rtol=1e-4, atol=1e-4)
