"""`node.pb` of ONNX and TensorFlow."""

from __future__ import annotations

import numpy as np
from onnx import helper, numpy_helper

TF = """
%x = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [1.0, 2.0]>, name = "x"} : tensor<2x1xf32>
%a = tf.Foo(%x) {i = 3, f = 0.5, s = "text", b = true, T = si64, shape = [1, -1], axes = [1, 2], names = ["a", "b"],
  t = #moir.data<tensor<2xsi32>, [7, 8]>, types = [f32, si32], name = "foo"} : ?
opset1.Result(%a) {name = "r"}
"""

ONNX = """
%x = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 2.0]>, name = "x", tensor_names = ["tx"]} : tensor<2xf32>
%n = moir.none
%a, %b = onnx.com.acme.Foo(%x, %n, %x) {alpha = 0.5, axes = [1, 2], mode = "fast", count = 3,
  t = #moir.data<tensor<2xsi64>, [7, 8]>, name = "foo", tensor_names = ["t1", "t2"]} : ?, ?
opset1.Result(%a) {name = "r"}
"""


def test_tensorflow(graph_of, node):
    graph = graph_of(TF)
    pb = node(graph, "foo").pb
    assert (pb.op, pb.name) == ("Foo", "foo")
    attr = pb.attr
    assert (attr["i"].i, attr["f"].f, attr["s"].s, attr["b"].b, attr["T"].type) == (3, 0.5, b"text", True, 9)
    assert [dim.size for dim in attr["shape"].shape.dim] == [1, -1]
    assert attr["absent"].shape.unknown_rank
    assert attr["axes"].list.i == [1, 2]
    assert attr["names"].list.s == [b"a", b"b"]
    assert attr["types"].list.type == [1, 3]
    tensor = attr["t"].tensor
    assert (tensor.dtype, [dim.size for dim in tensor.tensor_shape.dim]) == (3, [2])
    assert np.frombuffer(tensor.tensor_content, np.int32).tolist() == [7, 8]
    assert (attr["absent"].i, attr["absent"].f, attr["absent"].s, attr["absent"].b, attr["absent"].type) == (0, 0.0, b"", False, 0)
    assert "i" in attr
    assert "absent" not in attr
    assert "i" in list(attr)
    assert attr["b"].HasField("b")
    assert not attr["i"].HasField("s")


PRODUCERS = """
%x = opset1.Parameter() {name = "x", tensor_names = ["x,x:0"]} : tensor<2xf32>
%a, %b = tf.Foo(%x) {name = "scope/foo", tensor_names = ["scope/foo,scope/foo:0", "scope/foo:1"]} : ?, ?
%y = tf.Bar(%a, %b, %x) {name = "bar"} : ?
opset1.Result(%y) {name = "r"}
"""


def test_inputs_of_tensorflow(graph_of, node):
    graph = graph_of(PRODUCERS, "tf")
    assert node(graph, "bar").pb.input == ["scope/foo", "scope/foo:1", "x"]
    assert node(graph, "scope/foo").pb.input == ["x"]
    assert node(graph, "bar").pb.device == ""


def test_constant_of_tensorflow(graph_of, node):
    pb = node(graph_of(TF), "x").pb
    assert (pb.op, pb.attr["dtype"].type) == ("Const", 1)
    assert [dim.size for dim in pb.attr["value"].tensor.tensor_shape.dim] == [2, 1]


def test_onnx(graph_of, node):
    pb = node(graph_of(ONNX), "foo").pb
    assert (pb.op_type, pb.domain, pb.name) == ("Foo", "com.acme", "foo")
    assert list(pb.input) == ["tx", "", "tx"]
    assert list(pb.output) == ["t1", "t2"]
    attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in pb.attribute}
    assert (attributes["alpha"], attributes["axes"], attributes["mode"], attributes["count"]) == (0.5, [1, 2], b"fast", 3)
    assert numpy_helper.to_array(attributes["t"]).tolist() == [7, 8]


def test_constant_of_onnx(graph_of, node):
    pb = node(graph_of(ONNX), "x").pb
    assert pb.op_type == "Constant"
    assert numpy_helper.to_array(pb.attribute[0].t).tolist() == [1.0, 2.0]
    # As an initializer it has the message of its tensor.
    assert (list(pb.dims), pb.data_type, pb.name) == (list(pb.attribute[0].t.dims), 1, "x")
    assert numpy_helper.to_array(pb).tolist() == [1.0, 2.0]


def test_operations_of_no_model_have_none(graph_of, node):
    assert not node(graph_of(ONNX), "r").has("pb")
