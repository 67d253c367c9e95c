"""A user's model resizes by a ratio that is an input, or by the quotient of two sizes, in one operation of the IR."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import moir
from tests.numerical.onnx.conversion import expected_results, node
from tests.numerical.runtime import Array, compare, core, run

FLOAT = TensorProto.FLOAT
RATIOS = (0.25, 0.3, 0.377, 0.51, 0.0999, 1.0, 1.3, 1.7, 2.0)


def model(nodes: Sequence[onnx.NodeProto], inputs: Mapping[str, Sequence[int | str]], opset: int) -> onnx.ModelProto:
    values = [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in inputs.items()]
    constants = {"ones": np.ones(2, np.float32), "spatial": np.array([2, 3])}
    tensors = [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "g", values, [helper.make_tensor_value_info("y", FLOAT, None)], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def check(source: onnx.ModelProto, inputs: Sequence[Mapping[str, Array]], folder: Path, atol: float = 1e-5) -> None:
    """Compare, and see that nothing but one Interpolate is computed from the data."""
    onnx.save(source, folder / "m.onnx")
    moir.save_model(moir.convert_model(folder / "m.onnx"), folder / "m.xml")
    converted = core().read_model(folder / "m.xml")
    kinds = Counter(op.get_type_name() for op in converted.get_ordered_ops())
    assert kinds["Interpolate"] == 1
    assert not kinds["MatMul"]
    for given in inputs:
        compare(run(converted, given), expected_results(source, given, "onnxruntime"), atol=atol)


@pytest.mark.parametrize(
    ("mode", "coordinates"),
    [*(("linear", each) for each in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")), ("nearest", "asymmetric")],
)
def test_a_ratio_that_is_an_input(tmp_path: Path, coordinates: str, mode: str) -> None:
    nodes = [
        node("Concat", ["ones", "ratio", "ratio"], ["scales"], axis=0),
        node("Resize", ["x", "", "scales"], ["y"], mode=mode, coordinate_transformation_mode=coordinates),
    ]
    x = np.random.default_rng(0).random((1, 2, 72, 40)).astype(np.float32)
    inputs = [{"x": x, "ratio": np.array([ratio], np.float32)} for ratio in RATIOS]
    check(model(nodes, {"x": ["b", 2, "h", "w"], "ratio": [1]}, 13), inputs, tmp_path, atol=1e-3)


@pytest.mark.parametrize("height", [720, 90, 1000])
def test_sizes_are_those_of_onnx(tmp_path: Path, height: int) -> None:
    """1.3 · 720 is 935.99997: ONNX has 935 rows."""
    nodes = [node("Concat", ["ones", "ratio", "ratio"], ["scales"], axis=0), node("Resize", ["x", "", "scales"], ["y"], mode="linear")]
    x = np.random.default_rng(0).random((1, 1, height, 40)).astype(np.float32)
    inputs = [{"x": x, "ratio": np.array([ratio], np.float32)} for ratio in (*RATIOS, 0.7, 0.9, 1.1, 1.9)]
    check(model(nodes, {"x": ["b", 1, "h", "w"], "ratio": [1]}, 13), inputs, tmp_path, atol=2e-3)


@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_the_quotient_of_two_sizes(tmp_path: Path, mode: str) -> None:
    """`F.interpolate(x, size=other.shape[2:])` of operation set 10."""
    nodes = [
        node("Shape", ["x"], ["own"]),
        node("Shape", ["other"], ["wanted"]),
        node("Gather", ["own", "spatial"], ["own_hw"], axis=0),
        node("Gather", ["wanted", "spatial"], ["wanted_hw"], axis=0),
        node("Cast", ["own_hw"], ["own_f"], to=FLOAT),
        node("Cast", ["wanted_hw"], ["wanted_f"], to=FLOAT),
        node("Div", ["wanted_f", "own_f"], ["quotient"]),
        node("Concat", ["ones", "quotient"], ["scales"], axis=0),
        node("Resize", ["x", "scales"], ["y"], mode=mode),
    ]
    random = np.random.default_rng(0)
    shapes = [((1, 2, 8, 6), (1, 2, 16, 12)), ((2, 2, 5, 5), (2, 2, 10, 20)), ((1, 2, 8, 8), (1, 2, 4, 2))]
    inputs = [{"x": random.random(own).astype(np.float32), "other": random.random(other).astype(np.float32)} for own, other in shapes]
    check(model(nodes, {"x": ["b", 2, "h", "w"], "other": ["b", 2, "h2", "w2"]}, 10), inputs, tmp_path)
