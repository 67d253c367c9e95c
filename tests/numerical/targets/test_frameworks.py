"""A form of the target serves every framework that can express what it is for, and operations that extensions build."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import tensorflow as tf

import moir
from moir.dialects.element_types import from_numpy
from tests.numerical.mxnet import models as mxnet
from tests.numerical.onnx.conversion import build, node
from tests.numerical.runtime import Array, compare, core, run
from tests.numerical.tensorflow import conversion as tensorflow

U8 = {"x": np.array([200, 20], np.uint8), "y": np.array([100, 20], np.uint8)}
I8 = {"x": np.array([-128, 5], np.int8)}
LARGE = {"x": np.array([2**24 + 1, -3], np.int32)}
EMPTY = {"x": np.zeros((0, 2), np.float32)}
MATRICES = {"x": np.ones((1, 2, 3), np.float32)}
IMAGES = {"x": np.ones((2, 2, 4, 4), np.float32), "w": np.ones((3, 2, 2, 2), np.float32)}
THREE = np.arange(18, dtype=np.float32).reshape(3, 3, 2)
NOTHING = np.zeros((0, 3), np.float32)


@dataclass
class Case:
    """A fault in every framework that can express it.

    Args:
        inputs: the inputs.
        expected: what is right.
        onnx: a node of ONNX, of inputs x, y, w and a constant c.
        tf: the same in TensorFlow.
        mxnet: kind and attributes of a node of MXNet; None if it has no such operation.
        constant: the constant c.
    """

    inputs: dict[str, Array]
    expected: Array
    onnx: onnx.NodeProto
    tf: Callable[..., Any]
    mxnet: tuple[str, dict[str, str]] | None
    constant: Array | None = None

    @property
    def constants(self) -> dict[str, Array]:
        """The constants by name."""
        return {} if self.constant is None else {"c": self.constant}


def convolution(x: Any, w: Any) -> Any:
    """A convolution with the layouts of the case, in TensorFlow."""
    first = tf.nn.conv2d(tf.transpose(x, [0, 2, 3, 1]), tf.transpose(w, [2, 3, 1, 0]), 1, "VALID")
    return tf.transpose(first, [0, 3, 1, 2])


CASES = {
    "sum of ui8": Case(U8, np.array([44, 40], np.uint8), node("Add", ["x", "y"], ["out"]), lambda x, y: tf.raw_ops.AddV2(x=x, y=y),
                       ("elemwise_add", {})),
    "product of ui8": Case(U8, np.array([32, 144], np.uint8), node("Mul", ["x", "y"], ["out"]), lambda x, y: x * y, ("elemwise_mul", {})),
    "magnitude of si8": Case(I8, np.array([-128, 5], np.int8), node("Abs", ["x"], ["out"]), lambda x: tf.abs(x), ("abs", {})),
    "relu of si32": Case(LARGE, np.array([2**24 + 1, 0], np.int32), node("Relu", ["x"], ["out"]), lambda x: tf.nn.relu(x), ("relu", {})),
    "empty part": Case(EMPTY, np.zeros((0, 5), np.float32), node("Concat", ["x", "c"], ["out"], axis=1),
                       lambda x: tf.concat([x, NOTHING], 1), ("Concat", {"num_args": "2", "dim": "1"}), NOTHING),
    "one matrix": Case(MATRICES, np.matmul(MATRICES["x"], THREE), node("MatMul", ["x", "c"], ["out"]),
                       lambda x: tf.raw_ops.BatchMatMulV2(x=x, y=THREE), ("_npi_matmul", {}), THREE),
    "filters": Case(IMAGES, np.full((2, 3, 3, 3), 8, np.float32), node("Conv", ["x", "w"], ["out"]), convolution, None),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_onnx(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    model = build([case.onnx], case.inputs, constants=case.constants, form="dynamic")
    onnx.save(model, tmp_path / "model.onnx")
    moir.save_model(moir.convert_model(tmp_path / "model.onnx"), tmp_path / "model.xml")
    compare(run(core().read_model(tmp_path / "model.xml"), case.inputs), [case.expected])


@pytest.mark.parametrize("name", CASES)
def test_tensorflow(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    graph, names = tensorflow.build(case.tf, case.inputs, form="dynamic")
    converted = tensorflow.convert_graph(graph, tmp_path)
    compare(tensorflow.ordered_results(converted, names, case.inputs), [case.expected])


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.mxnet is not None])
def test_mxnet(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    assert case.mxnet is not None
    kind, attributes = case.mxnet
    operands = [*case.inputs, *case.constants]
    types = {each: str(mxnet.NUMBERS[from_numpy(array.dtype)]) for each, array in (case.inputs | case.constants).items()}
    nodes: list[dict[str, Any]] = [{"op": "null", "name": each, "attrs": {"__dtype__": types[each]}, "inputs": []} for each in operands]
    nodes.append({"op": kind, "name": "out", "attrs": attributes, "inputs": [[index, 0, 0] for index in range(len(operands))]})
    symbol = {"nodes": nodes, "arg_nodes": list(range(len(operands))), "heads": [[len(operands), 0, 0]]}
    path = mxnet.write(tmp_path, symbol, case.constants)
    given = {each: [-1] * array.ndim for each, array in case.inputs.items()}
    model = moir.to_openvino(moir.convert_model(path, input=given))
    (found,) = core().compile_model(model, "CPU")(dict(case.inputs)).values()
    compare([found], [case.expected])


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
"""


@pytest.mark.parametrize(("name", "kind"), [("sum of ui8", "Sum"), ("empty part", "Part"), ("one matrix", "Product")])
def test_operations_of_an_extension(name: str, kind: str, tmp_path: Path) -> None:
    case = CASES[name]
    folder = tmp_path / "extension" / "front" / "onnx"
    folder.mkdir(parents=True)
    (folder / "lowerings.py").write_text(EXTENSION)
    given = node(kind, list(case.onnx.input), ["out"], domain="com.example")
    onnx.save(build([given], case.inputs, constants=case.constants, form="dynamic"), tmp_path / "model.onnx")
    moir.save_model(moir.convert_model(tmp_path / "model.onnx", extensions=tmp_path / "extension"), tmp_path / "model.xml")
    compare(run(core().read_model(tmp_path / "model.xml"), case.inputs), [case.expected])
