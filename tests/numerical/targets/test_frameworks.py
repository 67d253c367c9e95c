"""A form of the target serves every framework that can express what it is for, and operations that extensions build."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import tensorflow as tf

import moir
from moir.dialects.element_types import from_numpy
from tests.numerical.caffe import networks as caffe
from tests.numerical.mxnet import models as mxnet
from tests.numerical.onnx.conversion import build, node
from tests.numerical.runtime import Array, core, run
from tests.numerical.tensorflow import conversion as tensorflow

U8 = {"x": np.array([200, 20], np.uint8), "y": np.array([100, 20], np.uint8)}
I8 = {"x": np.array([-128, 5], np.int8)}
LARGE = {"x": np.array([2**24 + 1, -3], np.int32)}
EMPTY = {"x": np.zeros((0, 2), np.float32)}
MATRICES = {"x": np.ones((1, 2, 3), np.float32)}
IMAGES = {"x": np.ones((2, 2, 4, 4), np.float32), "w": np.ones((3, 2, 2, 2), np.float32)}
PARTS = {"x": np.array([-1, -2], np.float32), "y": np.array([3, -4], np.float32)}
BEYOND = {"x": np.array([-9, -0.25, 7], np.float32), "y": np.array([1, 0.25, 1], np.float32)}
THREE = np.arange(18, dtype=np.float32).reshape(3, 3, 2)
NOTHING = np.zeros((0, 3), np.float32)

MxnetNode = tuple[str, str, dict[str, str], Sequence[str]]
"""Name, kind, attributes and operands of a node of MXNet."""


@dataclass
class Case:
    """A fault in every framework that can express it.

    Args:
        inputs: the inputs.
        expected: what is right.
        onnx: nodes of ONNX, of the inputs and constants.
        tf: the same in TensorFlow.
        mxnet: the same in MXNet; empty if it has no such operation.
        constants: the constants of ONNX and MXNet.
        opset: the opset of ONNX.
    """

    inputs: Mapping[str, Array]
    expected: Array
    onnx: Sequence[onnx.NodeProto]
    tf: Callable[..., Any]
    mxnet: Sequence[MxnetNode] = ()
    constants: Mapping[str, Array] = field(default_factory=dict[str, Array])
    opset: int = 17


def convolution(x: Any, w: Any) -> Any:
    """A convolution with the layouts of the case, in TensorFlow."""
    first = tf.nn.conv2d(tf.transpose(x, [0, 2, 3, 1]), tf.transpose(w, [2, 3, 1, 0]), 1, "VALID")
    return tf.transpose(first, [0, 3, 1, 2])


def joined_twice(x: Any, y: Any) -> Any:
    """x, y and x with other signs, and the absolute values of x and y, in TensorFlow."""
    inner = tf.concat([x, y], 0)
    outer = tf.concat([inner, x], 0)
    return tf.concat([-outer, tf.abs(inner)], 0)


JOINED_TWICE = [
    node("Concat", ["x", "y"], ["inner"], axis=0),
    node("Concat", ["inner", "x"], ["outer"], axis=0),
    node("Neg", ["outer"], ["signs"]),
    node("Abs", ["inner"], ["sizes"]),
    node("Concat", ["signs", "sizes"], ["out"], axis=0),
]
JOINED_TWICE_IN_MXNET: list[MxnetNode] = [
    ("inner", "Concat", {"num_args": "2", "dim": "0"}, ["x", "y"]),
    ("outer", "Concat", {"num_args": "2", "dim": "0"}, ["inner", "x"]),
    ("signs", "negative", {}, ["outer"]),
    ("sizes", "abs", {}, ["inner"]),
    ("out", "Concat", {"num_args": "2", "dim": "0"}, ["signs", "sizes"]),
]
JOINED = np.array([1, 2, -3, 4, 1, 2, 1, 2, 3, 4], np.float32)

QUANTIZED = [
    node("Add", ["x", "y"], ["sum"]),
    node("QuantizeLinear", ["sum", "scale", "zero"], ["levels"]),
    node("DequantizeLinear", ["levels", "scale", "zero"], ["out"]),
]
SCALE = {"scale": np.array(2 / 65535, np.float32), "zero": np.array(32768, np.uint16)}

CASES = {
    "sum of ui8": Case(U8, np.array([44, 40], np.uint8), [node("Add", ["x", "y"], ["out"])], lambda x, y: tf.raw_ops.AddV2(x=x, y=y),
                       [("out", "elemwise_add", {}, ["x", "y"])]),
    "product of ui8": Case(U8, np.array([32, 144], np.uint8), [node("Mul", ["x", "y"], ["out"])], lambda x, y: x * y,
                           [("out", "elemwise_mul", {}, ["x", "y"])]),
    "magnitude of si8": Case(I8, np.array([-128, 5], np.int8), [node("Abs", ["x"], ["out"])], lambda x: tf.abs(x),
                             [("out", "abs", {}, ["x"])]),
    "relu of si32": Case(LARGE, np.array([2**24 + 1, 0], np.int32), [node("Relu", ["x"], ["out"])], lambda x: tf.nn.relu(x),
                         [("out", "relu", {}, ["x"])]),
    "empty part": Case(EMPTY, np.zeros((0, 5), np.float32), [node("Concat", ["x", "c"], ["out"], axis=1)],
                       lambda x: tf.concat([x, NOTHING], 1), [("out", "Concat", {"num_args": "2", "dim": "1"}, ["x", "c"])],
                       {"c": NOTHING}),
    "one matrix": Case(MATRICES, np.matmul(MATRICES["x"], THREE), [node("MatMul", ["x", "c"], ["out"])],
                       lambda x: tf.raw_ops.BatchMatMulV2(x=x, y=THREE), [("out", "_npi_matmul", {}, ["x", "c"])], {"c": THREE}),
    "filters": Case(IMAGES, np.full((2, 3, 3, 3), 8, np.float32), [node("Conv", ["x", "w"], ["out"])], convolution),
    "joined twice": Case(PARTS, JOINED, JOINED_TWICE, joined_twice, JOINED_TWICE_IN_MXNET),
    "65536 levels": Case(BEYOND, np.array([-1, 0, 1], np.float32), QUANTIZED,
                         lambda x, y: tf.quantization.fake_quant_with_min_max_args(x + y, -1, 1, 16), constants=SCALE, opset=21),
}  # fmt: skip

TOLERANCE = {"65536 levels": 1e-4}
"""The ranges of ONNX and TensorFlow differ by a level."""


def check(name: str, actual: Array) -> None:
    """Compare a result with that of the case."""
    np.testing.assert_allclose(actual, CASES[name].expected, rtol=0, atol=TOLERANCE.get(name, 1e-5), strict=True)


def written(name: str, folder: Path, **options: Any) -> Path:
    """The IR of a case in ONNX."""
    case = CASES[name]
    onnx.save(build(case.onnx, case.inputs, constants=case.constants, form="dynamic", opset=case.opset), folder / "model.onnx")
    moir.save_model(moir.convert_model(folder / "model.onnx", **options), folder / "model.xml")
    return folder / "model.xml"


@pytest.mark.parametrize("name", CASES)
def test_onnx(name: str, tmp_path: Path) -> None:
    (actual,) = run(core().read_model(written(name, tmp_path)), CASES[name].inputs)
    check(name, actual)


@pytest.mark.parametrize("name", CASES)
def test_ir(name: str, tmp_path: Path) -> None:
    """An IR that was written for no target gets the forms of the target when it is converted."""
    plain = written(name, tmp_path, target="none")
    moir.save_model(moir.convert_model(plain), tmp_path / "again.xml")
    (actual,) = run(core().read_model(tmp_path / "again.xml"), CASES[name].inputs)
    check(name, actual)


@pytest.mark.parametrize("name", CASES)
def test_tensorflow(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    graph, names = tensorflow.build(case.tf, case.inputs, form="dynamic")
    (actual,) = tensorflow.ordered_results(tensorflow.convert_graph(graph, tmp_path), names, case.inputs)
    check(name, actual)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.mxnet])
def test_mxnet(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    arrays = {**case.inputs, **case.constants}
    places = {each: index for index, each in enumerate([*arrays, *(result for result, *_ in case.mxnet)])}
    nodes: list[dict[str, Any]] = [
        {"op": "null", "name": each, "attrs": {"__dtype__": str(mxnet.NUMBERS[from_numpy(array.dtype)])}, "inputs": []}
        for each, array in arrays.items()
    ]
    nodes += [
        {"op": kind, "name": result, "attrs": attributes, "inputs": [[places[each], 0, 0] for each in operands]}
        for result, kind, attributes, operands in case.mxnet
    ]
    symbol = {"nodes": nodes, "arg_nodes": list(range(len(arrays))), "heads": [[len(nodes) - 1, 0, 0]]}
    path = mxnet.write(tmp_path, symbol, case.constants)
    given = {each: [-1] * array.ndim for each, array in case.inputs.items()}
    model = moir.to_openvino(moir.convert_model(path, input=given))
    (actual,) = core().compile_model(model, "CPU")(dict(case.inputs)).values()
    check(name, actual)


def test_caffe(tmp_path: Path) -> None:
    """Of the cases Caffe can express one: it computes with floats, and knows all sizes."""
    axis = "concat_param { axis: 0 }"
    text = "".join([
        caffe.input_layer(x=[2], y=[2]),
        caffe.layer("Concat", axis, ["x", "y"], ["inner"], "inner"),
        caffe.layer("Concat", axis, ["inner", "x"], ["outer"], "outer"),
        caffe.layer("Power", "power_param { scale: -1 }", ["outer"], ["signs"], "signs"),
        caffe.layer("AbsVal", "", ["inner"], ["sizes"], "sizes"),
        caffe.layer("Concat", axis, ["signs", "sizes"], ["out"], "out"),
    ])  # fmt: skip
    model = caffe.converted(caffe.write(tmp_path, text, {"inner": []}))
    check("joined twice", caffe.results(model, PARTS)["out"])


EXTENSION = """
from moir.lowering.onnx.table import onnx


@onnx.lowers("com.example.Sum")
def total(node, op):
    return op.Add(node.operand(0), node.operand(1))


@onnx.lowers("com.example.Part")
def part(node, op):
    return op.Concat(node.operand(0), node.operand(1), axis=1)


@onnx.lowers("com.example.Product")
def product(node, op):
    return op.MatMul(node.operand(0), node.operand(1))


@onnx.lowers("com.example.JoinedTwice")
def joined_twice(node, op):
    inner = op.Concat(node.operand(0), node.operand(1), axis=0)
    outer = op.Concat(inner, node.operand(0), axis=0)
    return op.Concat(op.Negative(outer), op.Abs(inner), axis=0)


@onnx.lowers("com.example.Relu")
def relu(node, op):
    return op.Relu(node.operand(0))
"""


KINDS = {"sum of ui8": "Sum", "empty part": "Part", "one matrix": "Product", "joined twice": "JoinedTwice", "relu of si32": "Relu"}
"""The kinds of the extension, by the cases that they are."""


@pytest.mark.parametrize("name", KINDS)
def test_operations_of_an_extension(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    folder = tmp_path / "extension" / "front" / "onnx"
    folder.mkdir(parents=True)
    (folder / "lowerings.py").write_text(EXTENSION)
    given = node(KINDS[name], [*case.inputs, *case.constants], ["out"], domain="com.example")
    onnx.save(build([given], case.inputs, constants=case.constants, form="dynamic"), tmp_path / "model.onnx")
    moir.save_model(moir.convert_model(tmp_path / "model.onnx", extensions=tmp_path / "extension"), tmp_path / "model.xml")
    (actual,) = run(core().read_model(tmp_path / "model.xml"), case.inputs)
    check(name, actual)
