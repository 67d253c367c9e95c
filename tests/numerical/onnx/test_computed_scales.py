"""A user's model resizes by a ratio that is an input, or, in one operation of the IR, by the quotient of two sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import openvino
import pytest
from onnx import TensorProto, helper
from openvino import opset11 as ops

import moir
from tests.numerical.onnx.conversion import expected_results, node
from tests.numerical.runtime import Array, compare, core, infer

FLOAT = TensorProto.FLOAT
RATIOS = (0.25, 0.3, 0.377, 0.51, 0.0999, 1.0, 1.3, 1.7, 2.0)


def model(nodes: Sequence[onnx.NodeProto], inputs: Mapping[str, Sequence[int | str]], opset: int) -> onnx.ModelProto:
    values = [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in inputs.items()]
    constants = {"ones": np.ones(2, np.float32), "spatial": np.array([2, 3])}
    tensors = [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "g", values, [helper.make_tensor_value_info("y", FLOAT, None)], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def check(source: onnx.ModelProto, inputs: Sequence[Mapping[str, Array]], folder: Path, interpolations: int = 0) -> None:
    """Compare all inferences of one compiled model, and see that no data are multiplied by matrices."""
    onnx.save(source, folder / "m.onnx")
    moir.save_model(moir.convert_model(folder / "m.onnx"), folder / "m.xml")
    converted = core().read_model(folder / "m.xml")
    kinds = Counter(op.get_type_name() for op in converted.get_ordered_ops())
    assert kinds["Interpolate"] == interpolations
    assert not kinds["MatMul"]
    compiled = core().compile_model(converted, "CPU")
    for given in inputs:
        compare(infer(converted, compiled, given), expected_results(source, given, "onnxruntime"), atol=1e-4)


@pytest.mark.parametrize(
    ("mode", "coordinates"),
    [
        *((mode, each) for mode in ("linear", "cubic") for each in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")),
        *(("nearest", each) for each in ("half_pixel", "asymmetric", "align_corners")),
    ],
)
def test_a_ratio_that_is_an_input(tmp_path: Path, coordinates: str, mode: str) -> None:
    nodes = [
        node("Concat", ["ones", "ratio", "ratio"], ["scales"], axis=0),
        node("Resize", ["x", "", "scales"], ["y"], mode=mode, coordinate_transformation_mode=coordinates),
    ]
    x = np.random.default_rng(0).random((1, 2, 72, 40)).astype(np.float32)
    # At 1.3 some places of half pixels are in the middle of two elements, but for the last bit.
    ratios = [ratio for ratio in RATIOS if (mode, coordinates, ratio) != ("nearest", "half_pixel", 1.3)]
    inputs = [{"x": x, "ratio": np.array([ratio], np.float32)} for ratio in ratios]
    check(model(nodes, {"x": ["b", 2, "h", "w"], "ratio": [1]}, 13), inputs, tmp_path)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_ratios_that_give_the_same_size(tmp_path: Path, mode: str) -> None:
    nodes = [node("Concat", ["ones", "ratio", "ratio"], ["scales"], axis=0), node("Resize", ["x", "", "scales"], ["y"], mode=mode)]
    x = np.random.default_rng(0).random((1, 2, 16, 12)).astype(np.float32)
    inputs = [{"x": x, "ratio": np.array([ratio], np.float32)} for ratio in (0.25, 0.3, 1.3, 1.26)]
    check(model(nodes, {"x": ["b", 2, "h", "w"], "ratio": [1]}, 13), inputs, tmp_path)


def test_the_plugin_goes_on_with_former_scales() -> None:
    """The fault `changed-scales`: an Interpolate whose sizes stay as they are."""
    data, scales = ops.parameter([1, 1, 16, 12], np.float32), ops.parameter([2], np.float32)
    image = np.random.default_rng(0).random((1, 1, 16, 12)).astype(np.float32)
    resized = ops.interpolate(data, scales, "linear_onnx", "scales", axes=np.array([2, 3]))
    network = core().compile_model(openvino.Model([resized], [data, scales]), "CPU")
    first, second = (np.array(network([image, np.full(2, scale, np.float32)])[0]) for scale in (0.25, 0.3))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("height", [720, 90, 1000])
def test_sizes_are_those_of_onnx(tmp_path: Path, height: int) -> None:
    """1.3 · 720 is 935.99997: ONNX has 935 rows."""
    nodes = [node("Concat", ["ones", "ratio", "ratio"], ["scales"], axis=0), node("Resize", ["x", "", "scales"], ["y"], mode="linear")]
    x = np.random.default_rng(0).random((1, 1, height, 40)).astype(np.float32)
    inputs = [{"x": x, "ratio": np.array([ratio], np.float32)} for ratio in (*RATIOS, 0.7, 0.9, 1.1, 1.9)]
    check(model(nodes, {"x": ["b", 1, "h", "w"], "ratio": [1]}, 13), inputs, tmp_path)


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
    check(model(nodes, {"x": ["b", 2, "h", "w"], "other": ["b", 2, "h2", "w2"]}, 10), inputs, tmp_path, interpolations=1)
