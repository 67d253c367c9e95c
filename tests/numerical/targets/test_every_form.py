"""Each fault that a form avoids, in a model whose operations an extension builds, and in frameworks that have them.

The extension builds the operations of the smallest model of the fault; for the frameworks a table says which of their
kinds are the operations, so that a fault which is added is tested in each framework that can express it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import openvino
import pytest
import tensorflow as tf

import moir
from moir.dialects.element_types import from_numpy
from tests.numerical.mxnet import models as mxnet
from tests.numerical.onnx.conversion import build, node
from tests.numerical.runtime import Array
from tests.numerical.targets.models import EVERY_PROOF, PROOFS_OF_FORMS, UNKNOWN_SIZES, is_right, model_of
from tests.numerical.tensorflow import conversion as tensorflow

EXTENSION = """
import moir
from moir.lowering.onnx.table import onnx


@onnx.lowers("com.example.Given")
def given(node, op):
    [model] = moir.read_model({path!r}).body.block.ops
    values, count = {{}}, 0
    for each in model.body.block.ops:
        operands = [values[operand] for operand in each.operands]
        if each.name == "opset1.Result":
            return operands[0]
        if each.name == "opset1.Parameter":
            values[each.results[0]], count = node.operand(count), count + 1
            continue
        if each.regions:
            built = each.clone(values)
            op.insert(built)
        else:
            built = op.create(type(each), operands, dict(each.properties), len(each.results))
        values.update(zip(each.results, built.results))
"""


def inputs_of(name: str) -> dict[str, Array]:
    """The inputs of the smallest model of a fault, by names."""
    return {f"x{index}": np.asarray(each) for index, each in enumerate(EVERY_PROOF[name][1])}


@pytest.mark.parametrize("name", PROOFS_OF_FORMS)
def test_operations_of_an_extension(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "extension" / "front" / "onnx"
    folder.mkdir(parents=True)
    openvino.save_model(model_of(name), tmp_path / "given.xml", compress_to_fp16=False)
    (folder / "lowerings.py").write_text(EXTENSION.format(path=str(tmp_path / "given.xml")))
    inputs = inputs_of(name)
    form = "dynamic" if name in UNKNOWN_SIZES else "static"
    onnx.save(build([node("Given", [*inputs], ["out"], domain="com.example")], inputs, form=form), tmp_path / "model.onnx")
    moir.save_model(moir.convert_model(tmp_path / "model.onnx", extensions=tmp_path / "extension"), tmp_path / "model.xml")
    assert is_right(name, tmp_path / "model.xml")


ONNX_KINDS: Mapping[str, str] = {
    "Abs": "Abs",
    "Add": "Add",
    "Concat": "Concat",
    "Divide": "Div",
    "Equal": "Equal",
    "Floor": "Floor",
    "Greater": "Greater",
    "MatMul": "MatMul",
    "Maximum": "Max",
    "Minimum": "Min",
    "Multiply": "Mul",
    "Negative": "Neg",
    "NonZero": "NonZero",
    "ReduceSum": "ReduceSum",
    "Relu": "Relu",
    "Select": "Where",
}
"""The kinds of ONNX that are operations of the same operands."""

MXNET_KINDS: Mapping[str, str] = {
    "Abs": "abs",
    "Add": "broadcast_add",
    "Concat": "Concat",
    "Divide": "broadcast_div",
    "Equal": "broadcast_equal",
    "Greater": "broadcast_greater",
    "MatMul": "_npi_matmul",
    "Maximum": "broadcast_maximum",
    "Minimum": "broadcast_minimum",
    "Multiply": "broadcast_mul",
    "Negative": "negative",
    "Relu": "relu",
    "Select": "where",
}
"""The same for MXNet."""


OWN_FLAGS = {"MatMul": ("transpose_a", "transpose_b")}
"""Flags of operations that the kinds of frameworks do not have."""


def operations(name: str) -> list[openvino.Node]:
    """The operations of the smallest model of a fault in their order, without inputs and constants."""
    return [op for op in model_of(name).get_ordered_ops() if op.get_type_name() not in ("Parameter", "Constant", "Result")]


def are_in(kinds: Mapping[str, Any], name: str) -> bool:
    """Whether a framework has all operations of the smallest model of a fault, without flags."""
    return all(
        op.get_type_name() in kinds and not any(op.get_attributes().get(flag) for flag in OWN_FLAGS.get(op.get_type_name(), ()))
        for op in operations(name)
    )


def parts(name: str) -> tuple[list[tuple[str, list[str], str, dict[str, Any]]], dict[str, Array]]:
    """The operations as kind, operands, result and attributes, and the constants."""
    model = model_of(name)
    names = {each.get_friendly_name(): f"x{index}" for index, each in enumerate(model.get_parameters())}
    constants: dict[str, Array] = {}
    results: list[tuple[str, list[str], str, dict[str, Any]]] = []
    for op in model.get_ordered_ops():
        if op.get_type_name() == "Constant":
            names[op.get_friendly_name()] = key = f"w{len(constants)}"
            constants[key] = np.array(op.data)
        elif op.get_type_name() not in ("Parameter", "Result"):
            names[op.get_friendly_name()] = f"y{len(results)}"
            operands = [names[value.get_source_output().get_node().get_friendly_name()] for value in op.inputs()]
            results.append((op.get_type_name(), operands, f"y{len(results)}", dict(op.get_attributes())))
    return results, constants


def onnx_attributes(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a node of ONNX."""
    if kind == "Concat":
        return {"axis": given["axis"]}
    return {"keepdims": int(given["keep_dims"])} if kind == "ReduceSum" else {}


NOT_OF_ONNX = frozenset(("floored-quotient",))
"""Faults of operations that mean something else than ONNX's: its quotients of integers are rounded towards zero."""


@pytest.mark.parametrize("name", [name for name in PROOFS_OF_FORMS if are_in(ONNX_KINDS, name) and name not in NOT_OF_ONNX])
def test_operations_of_onnx(name: str, tmp_path: Path) -> None:
    actual, constants = parts(name)
    nodes = [node(ONNX_KINDS[kind], operands, [result], **onnx_attributes(kind, given)) for kind, operands, result, given in actual]
    form = "dynamic" if name in UNKNOWN_SIZES else "static"
    onnx.save(build(nodes, inputs_of(name), constants=constants, form=form), tmp_path / "model.onnx")
    moir.save_model(moir.convert_model(tmp_path / "model.onnx"), tmp_path / "model.xml")
    assert is_right(name, tmp_path / "model.xml")


@pytest.mark.parametrize("name", [name for name in PROOFS_OF_FORMS if are_in(MXNET_KINDS, name)])
def test_operations_of_mxnet(name: str, tmp_path: Path) -> None:
    actual, constants = parts(name)
    arrays = {**inputs_of(name), **constants}
    places = {each: index for index, each in enumerate([*arrays, *(result for _, _, result, _ in actual)])}
    nodes: list[dict[str, Any]] = [
        {"op": "null", "name": each, "attrs": {"__dtype__": str(mxnet.NUMBERS[from_numpy(array.dtype)])}, "inputs": []}
        for each, array in arrays.items()
    ]
    for kind, operands, result, given in actual:
        attributes = {"num_args": str(len(operands)), "dim": str(given["axis"])} if kind == "Concat" else {}
        inputs = [[places[each], 0, 0] for each in operands]
        nodes.append({"op": MXNET_KINDS[kind], "name": result, "attrs": attributes, "inputs": inputs})
    symbol = {"nodes": nodes, "arg_nodes": list(range(len(arrays))), "heads": [[len(nodes) - 1, 0, 0]]}
    path = mxnet.write(tmp_path, symbol, constants)
    shapes = {each: [-1 if name in UNKNOWN_SIZES else size for size in array.shape] for each, array in inputs_of(name).items()}
    moir.save_model(moir.convert_model(path, input=shapes), tmp_path / "model.xml")
    _, _, wanted = EVERY_PROOF[name]
    (result_found,) = openvino.Core().compile_model(tmp_path / "model.xml", "CPU")(inputs_of(name)).values()
    # The comparisons of MXNet are floats.
    np.testing.assert_array_equal(result_found, np.asarray(wanted).astype(result_found.dtype))


TENSORFLOW_KINDS: Mapping[str, Callable[..., Any]] = {
    "Abs": tf.abs,
    "Add": lambda x, y: tf.raw_ops.AddV2(x=x, y=y),
    "Equal": lambda x, y: tf.raw_ops.Equal(x=x, y=y),
    "Floor": tf.floor,
    "Greater": tf.greater,
    "MatMul": lambda x, y: tf.raw_ops.BatchMatMulV2(x=x, y=y),
    "Maximum": tf.maximum,
    "Minimum": tf.minimum,
    "Multiply": lambda x, y: tf.raw_ops.Mul(x=x, y=y),
    "Negative": tf.negative,
    "Relu": tf.nn.relu,
    "Select": lambda condition, x, y: tf.raw_ops.SelectV2(condition=condition, t=x, e=y),
}
"""The same for TensorFlow, as functions of the operands; Concat has its axis besides."""


def is_in_tensorflow(name: str) -> bool:
    """Whether TensorFlow has the operations of a fault, of the element types of the inputs."""
    # Floor is of floats only, Negative of no unsigned integers, and products of matrices have at least two dimensions.
    is_integer = any(array.dtype.kind == "i" for array in inputs_of(name).values())
    kinds = {op.get_type_name() for op in operations(name)}
    has_elements = not (is_integer and "Floor" in kinds) and name not in ("vector-product", "unsigned-negative")
    return are_in({**TENSORFLOW_KINDS, "Concat": ""}, name) and has_elements


@pytest.mark.parametrize("name", [name for name in PROOFS_OF_FORMS if is_in_tensorflow(name)])
def test_operations_of_tensorflow(name: str, tmp_path: Path) -> None:
    actual, constants = parts(name)

    def function(**inputs: Any) -> Any:
        values = inputs | {each: tf.constant(array) for each, array in constants.items()}
        for kind, operands, result, given in actual:
            taken = [values[each] for each in operands]
            values[result] = tf.concat(taken, given["axis"]) if kind == "Concat" else TENSORFLOW_KINDS[kind](*taken)
        return values[actual[-1][2]]

    form = "dynamic" if name in UNKNOWN_SIZES else "static"
    graph, _ = tensorflow.build(function, inputs_of(name), form=form)
    (tmp_path / "model.pb").write_bytes(graph.as_graph_def().SerializeToString())
    moir.save_model(moir.convert_model(tmp_path / "model.pb"), tmp_path / "model.xml")
    assert is_right(name, tmp_path / "model.xml")
