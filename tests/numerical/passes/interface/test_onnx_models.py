"""A real ONNX model, cut, reshaped and frozen, against ONNX Runtime at the same tensors."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import openvino
import pytest
from onnx import TensorProto, helper

import moir
from moir.errors import ConversionError
from tests.numerical.runtime import Array, core

MODEL = Path(__file__).parents[4] / "examples" / "digits" / "digits.onnx"
IMAGES = np.random.default_rng(1).random((3, 1, 8, 8), np.float32)

TENSORS = (
    *(
        "/stem/stem.0/Conv_output_0",
        "/stem/stem.1/BatchNormalization_output_0",
        "/stem/stem.2/Mul_output_0",
        "/widen/widen.2/HardSwish_output_0",
    ),
    *("/MaxPool_output_0", "/depthwise/depthwise.2/Sigmoid_output_0", "/Add_output_0", "/Mul_output_0", "/Concat_output_0", "logits"),
)


@cache
def expected(count: int = 3) -> dict[str, Array]:
    """The values of the tensors for the first images."""
    model = onnx.load(MODEL)
    model.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in TENSORS if name != "logits")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, map(np.asarray, session.run(None, {"image": IMAGES[:count]})), strict=True))


def converted(**arguments: Any) -> openvino.Model:
    return moir.to_openvino(moir.convert_model(MODEL, **arguments))


def results(model: openvino.Model, *inputs: Array) -> list[Array]:
    compiled = core().compile_model(model, "CPU")
    result = compiled(list(inputs))
    return [np.array(result[each]) for each in compiled.outputs]


def assert_close(actual: Array, reference: Array) -> None:
    assert actual.shape == reference.shape
    assert np.max(np.abs(actual - reference)) <= 1e-4 * np.max(np.abs(reference))


@pytest.mark.parametrize("tensor", TENSORS)
def test_outputs(tensor: str) -> None:
    model = converted(output=[tensor])
    assert tensor in model.output(0).get_names()
    assert_close(results(model, IMAGES)[0], expected()[tensor])


def test_order_of_outputs() -> None:
    model = converted(output="logits,/MaxPool:0,0:/Flatten")
    for actual, name in zip(results(model, IMAGES), ("logits", "/MaxPool_output_0", "/Concat_output_0"), strict=True):
        assert_close(actual, expected()[name])
    assert ["0:/Flatten" in each.get_names() for each in model.outputs] == [False, False, True]


INPUTS = [
    ("/MaxPool_output_0", "/MaxPool_output_0", "/MaxPool/placeholder_out_port_0"),
    ("/MaxPool:0", "/MaxPool_output_0", "/MaxPool/placeholder_out_port_0"),
    ("/MaxPool", "/widen/widen.2/HardSwish_output_0", "/MaxPool/placeholder_port_0"),
    ("0:/MaxPool", "/widen/widen.2/HardSwish_output_0", "/MaxPool/placeholder_port_0"),
    ("0:/widen/widen.0/Conv", "/stem/stem.2/Mul_output_0", "/widen/widen.0/Conv/placeholder_port_0"),
    ("/Concat_output_0[?,64,1,1]", "/Concat_output_0", "/Concat/placeholder_out_port_0"),
    ("/Add:0[1..8,32,4,4]{f32}", "/Add_output_0", "/Add/placeholder_out_port_0"),
]


@pytest.mark.parametrize(("text", "tensor", "name"), INPUTS, ids=[text for text, _, _ in INPUTS])
def test_inputs(text: str, tensor: str, name: str) -> None:
    model = converted(input=text)
    assert [each.get_node().get_friendly_name() for each in model.inputs] == [name]
    assert model.input(0).get_partial_shape().rank == 4
    assert_close(results(model, expected()[tensor])[0], expected()["logits"])


def test_both_ends() -> None:
    model = converted(input="/MaxPool_output_0", output="/Mul_output_0")
    assert_close(results(model, expected()["/MaxPool_output_0"])[0], expected()["/Mul_output_0"])


def test_a_cut_that_needs_another_input() -> None:
    with pytest.raises(ConversionError, match=r"^the outputs also need the input 'image'; list all inputs"):
        converted(input="/depthwise/depthwise.2/Sigmoid_output_0")
    model = converted(input=["image", "/depthwise/depthwise.2/Sigmoid_output_0"])
    assert_close(results(model, IMAGES, expected()["/depthwise/depthwise.2/Sigmoid_output_0"])[0], expected()["logits"])


@pytest.mark.parametrize(
    ("arguments", "shape"),
    [
        ({"input": [2, 1, 8, 8]}, "[2,1,8,8]"),
        ({"input": {"image": (1, 1, 8, 8)}}, "[1,1,8,8]"),
        ({"input": "image[1..3,1,8,8]"}, "[1..3,1,8,8]"),
        ({"input_shape": "[2,1,8,8]"}, "[2,1,8,8]"),
        ({"input_shape": openvino.PartialShape([-1, 1, 8, 8])}, "[?,1,8,8]"),
        ({"batch": 3}, "[3,1,8,8]"),
        ({"batch": 3, "static_shape": True}, "[3,1,8,8]"),
    ],
    ids=str,
)
def test_shapes(arguments: dict[str, Any], shape: str) -> None:
    model = converted(**arguments)
    assert str(model.input(0).get_partial_shape()) == shape
    count = max(1, int(shape[1])) if shape[1].isdigit() else 2
    assert_close(results(model, IMAGES[:count])[0], expected(count)["logits"])


def test_element_type() -> None:
    model = converted(input=moir.Input("image", type=np.uint8))
    pixels = np.round(IMAGES * 4).astype(np.uint8)
    reference = results(converted(), pixels.astype(np.float32))[0]
    assert_close(results(model, pixels)[0], reference)


def test_frozen_input() -> None:
    reference = expected(1)["logits"]
    model = converted(input={"image": IMAGES[:1]})
    assert not model.inputs
    assert_close(results(model)[0], reference)
    cut = converted(input=[moir.Input("/Concat_output_0", value=expected(1)["/Concat_output_0"])])
    assert_close(results(cut)[0], reference)


def two_inputs() -> onnx.ModelProto:
    """y = relu(x) · scale, z = mystery(y): of the two outputs, one cannot be converted."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a.b(c)|d"], name="act+"),
        helper.make_node("Mul", ["a.b(c)|d", "scale"], ["y"], name="node"),
        helper.make_node("Mystery", ["y"], ["m"], name="other", domain="com.acme"),
        helper.make_node("Exp", ["m"], ["z"], name="node2"),
    ]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (("x", ["n", 4]), ("scale", [1]))]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("y", "z")]
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("com.acme", 1)]
    return helper.make_model(helper.make_graph(nodes, "g", inputs, outputs), opset_imports=imports, ir_version=9)


X = np.random.default_rng(2).standard_normal((2, 4)).astype(np.float32)


def test_the_other_half_is_not_supported() -> None:
    with pytest.raises(ConversionError, match="Mystery"):
        moir.convert_model(two_inputs())
    first = moir.to_openvino(moir.convert_model(two_inputs(), output="y"))
    assert_close(results(first, X, np.float32([3]))[0], np.maximum(X, 0) * 3)
    last = moir.to_openvino(moir.convert_model(two_inputs(), input="m[?,4]", output=["z"]))
    assert_close(results(last, X)[0], np.exp(X))


def test_names_with_the_characters_of_patterns() -> None:
    model = moir.to_openvino(moir.convert_model(two_inputs(), output="a.b(c)|d"))
    assert_close(results(model, X)[0], np.maximum(X, 0))
    model = moir.to_openvino(moir.convert_model(two_inputs(), input="0:act+[2,4],scale", output="y"))
    assert_close(results(model, X, np.float32([2]))[0], np.maximum(X, 0) * 2)
    with pytest.raises(ConversionError, match=r"there is no node and no tensor 'a.b\(c\)\|e'; did you mean a.b\(c\)\|d\?"):
        moir.convert_model(two_inputs(), output="a.b(c)|e")


@pytest.mark.parametrize(
    "arguments",
    [{"input": "scale->2.5,x"}, {"input": "x,scale[1]->[2.5]"}, {"freeze_placeholder_with_value": "scale->2.5"}, {"input": {"scale": 2.5}}],
    ids=str,
)
def test_frozen_values(arguments: dict[str, Any]) -> None:
    model = moir.to_openvino(moir.convert_model(two_inputs(), output="y", **arguments))
    assert [each.get_any_name() for each in model.inputs] == ["x"]
    assert_close(results(model, X)[0], np.maximum(X, 0) * 2.5)


def test_order_of_inputs() -> None:
    model = moir.to_openvino(moir.convert_model(two_inputs(), output="y", input="scale,x[2,4]"))
    assert [each.get_any_name() for each in model.inputs] == ["scale", "x"]
    assert_close(results(model, np.float32([2]), X)[0], np.maximum(X, 0) * 2)


def test_sizes_that_the_file_declares_are_forgotten() -> None:
    nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Exp", ["a"], ["y"])]
    shapes = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in ("x", "a", "y")}
    graph = helper.make_graph(nodes, "g", [shapes["x"]], [shapes["y"]], value_info=[shapes["a"]])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    actual = moir.to_openvino(moir.convert_model(model, batch=2))
    assert str(actual.output(0).get_partial_shape()) == "[2,4]"
    assert_close(results(actual, X)[0], np.exp(np.maximum(X, 0)))
