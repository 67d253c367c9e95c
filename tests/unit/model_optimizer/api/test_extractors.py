"""What extractors read from messages, functions for `infer`, short edits of graphs, errors."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from xdsl.parser import Parser

from moir.dialects.context import MoirContext
from moir.errors import ConversionError
from moir.model_optimizer.api import operations
from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.api.extraction.extractors import (
    attr_getter,
    bool_to_str,
    get_backend_pad,
    get_onnx_autopad,
    kernel_getter,
    onnx_attr,
    onnx_get_num_outputs,
    onnx_node_has_attr,
    spatial_getter,
    tf_data_format_batch,
    tf_data_format_channel,
    tf_data_format_spatial,
    tf_dtype_extractor,
    tf_int_list,
    tf_tensor_content,
    tf_tensor_shape,
)
from moir.model_optimizer.api.graph.graph_utilities import add_activation_function_after_node, add_constant_to_negative_values
from moir.model_optimizer.api.inference.partial_inference import copy_shape_infer, copy_value, eltwise_infer, single_output_infer
from moir.model_optimizer.frameworks.tensorflow.node_def import Dimension, ShapeMessage, TensorMessage
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.operation import Op
from moir.model_optimizer.graph.session import edit
from moir.model_optimizer.values.shapes import is_fully_defined
from moir.pipeline import load_pass
from tests.unit.model_optimizer.operation_graphs import kinds, lowered, run

X = np.array([[-1.0, 2.0, -3.0]], np.float32)


@pytest.mark.parametrize(("number", "expected"), [(1, np.float32), (3, np.int32), (9, np.int64), (10, np.bool_), (None, "d"), (99, "d")])
def test_types_of_tensorflow(number: int | None, expected: Any) -> None:
    assert tf_dtype_extractor(number, "d") is expected or tf_dtype_extractor(number, "d") == expected


def test_shapes_of_tensorflow() -> None:
    assert tf_tensor_shape(ShapeMessage([Dimension(2), Dimension(3)])).tolist() == [2, 3]
    unknown = tf_tensor_shape(ShapeMessage([Dimension(-1), Dimension(3)]))
    assert not is_fully_defined(unknown)
    assert unknown[1] == 3
    with pytest.raises(Error, match="rank"):
        tf_tensor_shape(ShapeMessage(unknown_rank=True))


def test_values_of_tensorflow() -> None:
    array = np.arange(6, dtype=np.int32).reshape(2, 3)
    message = TensorMessage(array)
    np.testing.assert_array_equal(tf_tensor_content(message.dtype, [2, 3], message), array)
    filled = tf_tensor_content(1, [4], TensorMessage(np.array([1, 2], np.float32)))
    assert filled.tolist() == [1, 2, 2, 2]
    assert tf_tensor_content(1, [], TensorMessage(np.array(7, np.float32))) == 7
    texts = tf_tensor_content(7, [2], TensorMessage(np.array(["a", "b"], dtype=object)))
    assert texts.tolist() == [b"a", b"b"]
    with pytest.raises(Error, match="has 6 values"):
        tf_tensor_content(3, [2, 2], message)
    with pytest.raises(Error, match="has 0 values"):
        tf_tensor_content(1, [2], TensorMessage(np.zeros(0, np.float32)))


@pytest.mark.parametrize("given", ["NHWC", b"NHWC", SimpleNamespace(s=b"NHWC")])
def test_data_formats(given: Any) -> None:
    assert tf_data_format_spatial(given) == [1, 2]
    assert tf_data_format_channel(given).tolist() == [3]
    assert tf_data_format_batch(given).tolist() == [0]
    with pytest.raises(Error, match="'HW' is not a data format"):
        tf_data_format_channel("HW")
    assert tf_int_list(SimpleNamespace(i=[1, 2])).dtype == np.int64


MODEL = """
builtin.module {
  moir.model @m {
    %x = opset1.Parameter() {name = "x"} : tensor<1x3xf32>
    %r = onnx.Relu(%x) {name = "r"} : tensor<*x!moir.dynamic>
    %y = onnx.com.acme.Steep(%r) {name = "steep", slope = 2.0, sizes = [1, 2], auto_pad = "SAME_UPPER"} : tensor<*x!moir.dynamic>
    %z = onnx.Neg(%y) {name = "z"} : tensor<*x!moir.dynamic>
    opset1.Result(%z) {name = "out"}
  }
}
"""


def steep() -> tuple[Any, Graph, GraphNode]:
    module = Parser(MoirContext(), MODEL).parse_module()
    graph = Graph(next(iter(module.ops)).block, "front", "onnx")
    return module, graph, GraphNode(graph, "steep")


def test_attributes_of_onnx() -> None:
    _, _, node = steep()
    assert onnx_attr(node, "slope", "f", 1.0) == 2.0
    assert onnx_attr(node, "slope", "f", dst_type=int) == 2
    assert onnx_attr(node, "sizes", "ints", dst_type=list) == [1, 2]
    assert onnx_attr(node, "absent", "i", 5) == 5
    assert onnx_node_has_attr(node, "slope")
    assert not onnx_node_has_attr(node, "absent")
    assert get_onnx_autopad(onnx_attr(node, "auto_pad", "s")) == "same_upper"
    assert get_onnx_autopad("NOTSET") == "explicit"
    assert onnx_get_num_outputs(node) == 1


def test_an_extractor_makes_a_node_one_of_an_operation() -> None:
    """The operation of a framework is lowered with its neighbours, as what the extractor says."""
    module, graph, node = steep()
    with edit(graph):
        operations.Power.update_node_stat(node, {"scale": onnx_attr(node, "slope", "f")})
    assert node.op == "Power"
    load_pass("lower-onnx")().apply(MoirContext(), module)
    module.verify()
    names = [name for name in kinds(module) if name != "opset1.Constant"]
    assert names == ["opset1.Parameter", "opset1.Relu", "opset1.Multiply", "opset1.Negative", "opset1.Result"]
    assert [op.attributes["name"].data for op in module.walk() if op.name == "opset1.Multiply"] == ["steep"]


def test_records_that_read_attributes() -> None:
    class Windowed(Op):
        op = "Windowed"

        def backend_attrs(self) -> list[Any]:
            return [
                spatial_getter("strides", "stride"),
                ("kernel", kernel_getter),
                ("exclude", lambda node: bool_to_str(node, "exclude")),
                ("order", lambda node: attr_getter(node, "order")),
                ("none", lambda node: attr_getter(node, "no_such")),
                ("begin", lambda node: ",".join(map(str, get_backend_pad(node.pad, node.spatial_dims, 0)))),
                spatial_getter("missing", "no_such"),
            ]

    attrs = {
        "type": "Windowed",
        "infer": copy_shape_infer,
        "stride": np.array([1, 1, 2, 3]),
        "spatial_dims": np.array([2, 3]),
        "kernel_spatial": [5, 6],
        "exclude": True,
        "order": [0, 1],
        "pad": [[0, 0], [0, 0], [1, 2], [3, 4]],
    }
    module = lowered(lambda graph, inputs: Windowed(graph, attrs).create_node(inputs), [X])
    (op,) = [op for op in module.walk() if op.name == "extension.Windowed"]
    written = {name: value.data for name, value in op.properties.items()}
    assert written == {"strides": "2,3", "kernel": "5,6", "exclude": "true", "order": "0,1", "begin": "1,3"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("RELU", np.maximum(X, 0)),
        ("RELU_6", np.clip(X, 0, 6)),
        ("TANH", np.tanh(X)),
        ("SOFTMAX", np.exp(X) / np.exp(X).sum()),
        ("SIGMOID", 1 / (1 + np.exp(-X))),
        ("IDENTITY", X),
    ],
)
def test_activations_after_a_node(name: str, expected: np.ndarray) -> None:
    (actual,) = run(lambda graph, inputs: add_activation_function_after_node(graph, inputs[0], name), X)
    np.testing.assert_allclose(actual, expected, rtol=1e-5)


def test_an_unknown_activation() -> None:
    with pytest.raises(Error, match="'STEP'; there are SIGMOID"):
        lowered(lambda graph, inputs: add_activation_function_after_node(graph, inputs[0], "STEP"), [X])


def test_a_constant_is_added_to_negative_values() -> None:
    def build(graph: Graph, inputs: list[GraphNode]) -> GraphNode:
        node = operations.Abs(graph, {"name": "abs"}).create_node(inputs)
        add_constant_to_negative_values(node, 0, np.float32(10))
        return node

    (actual,) = run(build, X)
    np.testing.assert_array_equal(actual, [[9, 2, 7]])


def own(infer: Any) -> Any:
    return lambda graph, inputs: Op(graph, {"op": "Own", "type": "Own", "name": "own", "infer": infer}).create_node(inputs)


def own_type(infer: Any, *inputs: np.ndarray, **options: Any) -> str:
    (op,) = [op for op in lowered(own(infer), inputs, **options).walk() if op.name == "extension.Own"]
    return str(op.results[0].type)


def test_shapes_of_the_first_input() -> None:
    assert own_type(copy_shape_infer, X, shapes=[(-1, 3)]) == "tensor<?x3xf32>"
    assert own_type(lambda node: single_output_infer(node, lambda n: n.in_port(0).data.get_shape()[:1], copy_value), X) == "tensor<1xf32>"
    with pytest.raises(ConversionError, match="no input is connected"):
        own_type(copy_shape_infer)


def test_shapes_that_broadcast() -> None:
    assert own_type(eltwise_infer, X, np.zeros((4, 1), np.float32)) == "tensor<4x3xf32>"
    assert own_type(eltwise_infer, X, X, shapes=[(-1, 3), (1, 3)]) == "tensor<?x3xf32>"
    with pytest.raises(ConversionError, match="do not broadcast"):
        own_type(eltwise_infer, X, np.zeros((1, 2), np.float32))


def test_values_of_known_inputs_are_computed() -> None:
    def build(graph: Graph, _: list[GraphNode]) -> GraphNode:
        constants = [operations.Const(graph, {"value": np.float32([1, value])}).create_node() for value in (2, 3)]
        return Op(graph, {"op": "Own", "type": "Own", "infer": lambda node: eltwise_infer(node, np.multiply)}).create_node(constants)

    (actual,) = run(build, X)
    np.testing.assert_array_equal(actual, [1, 6])


def test_errors_put_values_into_their_text() -> None:
    assert str(Error("node {} has {} inputs", "a", 2)) == "node a has 2 inputs"
    assert str(Error("a {} stays without values")) == "a {} stays without values"
    with pytest.raises(ConversionError, match="gone"):
        raise Error("gone", node="n")
