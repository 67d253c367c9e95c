"""Outputs that the model does not name are ports of the front phase, and can be connected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.unit.frontends.tensorflow.samples import FLOAT, constant, graph, node, placeholder
from tests.unit.model_optimizer.conversions import converted, results

EXTENSION = """
from mo.front.common.replacement import FrontReplacementPattern
from mo.ops.result import Result

class TakeIndices(FrontReplacementPattern):
    enabled = True

    def find_and_replace_pattern(self, graph):
        (top,) = graph.get_op_nodes(op="TopK")
        assert sorted(top.out_ports()) == [0, 1]
        assert [port.disconnected() for port in top.out_ports().values()] == [False, True]
        if connects:
            top.out_port(1).connect(Result(graph, {"name": "indices"}).create_node().in_port(0))
"""

X = np.array([[3, 1, 2, 5], [4, 9, 8, 7]], np.float32)


def _onnx(folder: Path) -> Path:
    actual = helper.make_graph(
        [helper.make_node("TopK", ["x", "k"], ["y"], "top")],
        "m",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(np.array([2]), "k")],
    )
    path = folder / "model.onnx"
    path.write_bytes(helper.make_model(actual, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString())
    return path


def _tensorflow(folder: Path) -> Path:
    nodes = [
        placeholder("x", (2, 4)),
        constant("k", 2, np.int32),
        node("top", "TopKV2", "x k", T=FLOAT),
        node("y", "Identity", "top", T=FLOAT),
    ]
    path = folder / "model.pb"
    path.write_bytes(graph(*nodes).SerializeToString())
    return path


@pytest.mark.parametrize("connects", [False, True])
@pytest.mark.parametrize("make", [_onnx, _tensorflow])
def test_output_that_the_model_does_not_name(make: Callable[[Path], Path], connects: bool, tmp_path: Path) -> None:
    (tmp_path / "extension" / "front").mkdir(parents=True)
    (tmp_path / "extension" / "front" / "take.py").write_text(f"connects = {connects}\n{EXTENSION}")
    kinds, path = converted(make(tmp_path), tmp_path / "extension")
    assert kinds.split().count("TopK") == 1
    actual = results(path, x=X)
    np.testing.assert_array_equal(actual[0], -np.sort(-X, axis=1)[:, :2])
    if connects:
        np.testing.assert_array_equal(actual[1], np.argsort(-X, axis=1)[:, :2])
    assert len(actual) == 1 + connects
