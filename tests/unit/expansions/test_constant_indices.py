"""A note about constant indices that no element has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from moir import convert_model
from tests.unit.frontends.tensorflow.samples import constant, graph, node, notes, placeholder

OUTSIDE = "is outside of the 4 elements of dimension 1: the IR has zeros there"


def onnx_model(kind: str, indices: Any) -> bytes:
    made = helper.make_node(kind, ["x", "i"], ["y"], name="y", axis=1)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])
    result = helper.make_graph([made], "m", [x], [helper.make_empty_tensor_value_info("y")], [numpy_helper.from_array(indices, "i")])
    return helper.make_model(result, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString()


@pytest.mark.parametrize("kind", ["Gather", "GatherElements"])
@pytest.mark.parametrize(("index", "is_outside"), [(4, True), (-5, True), (3, False), (-4, False)])
def test_onnx(kind: str, index: int, is_outside: bool, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx_model(kind, np.array([[0, index]])))
    assert notes(convert_model(path)) == ([f"onnx.{kind} 'y': index {index} {OUTSIDE}"] if is_outside else [])


@pytest.mark.parametrize(("index", "is_outside"), [(4, True), (3, False)])
def test_tensorflow(index: int, is_outside: bool, tmp_path: Path) -> None:
    path = tmp_path / "g.pb"
    nodes = [placeholder("x", (1, 4)), constant("i", [0, index], np.int32), constant("a", 1, np.int32), node("y", "GatherV2", "x i a")]
    path.write_bytes(graph(*nodes).SerializeToString())
    assert notes(convert_model(path)) == ([f"tf.GatherV2 'y': index {index} {OUTSIDE}"] if is_outside else [])
