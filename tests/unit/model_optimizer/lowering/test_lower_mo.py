"""What becomes of the operations extensions make: standard ones, those of the dialect `extension`, those without a type."""

from __future__ import annotations

from typing import Any

import numpy as np
import openvino
import pytest
from xdsl.parser import Parser

from moir.analysis.known_values import KnownValues
from moir.dialects.context import MoirContext
from moir.dialects.extension import ExtensionOp
from moir.dialects.inference import infer_block
from moir.emit.in_memory import serialize
from moir.errors import ConversionError, EmissionError, UnsupportedOperationError
from moir.model_optimizer.api import operations
from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.operation import Op
from moir.model_optimizer.lowering.versions import standard_operation
from moir.model_optimizer.lowering.xml_properties import properties_of
from moir.model_optimizer.values.shapes import int64_array
from moir.passes.check.check_lowered import CheckLoweredPass
from moir.passes.check.check_types import CheckTypesPass
from tests.unit.model_optimizer.operation_graphs import kinds, lowered, run

X = np.arange(6, dtype=np.float32).reshape(2, 3)


class ScaleBy(Op):
    """An operation no operation set has."""

    op = "ScaleBy"

    def __init__(self, graph: Graph, attrs: dict[str, Any]) -> None:
        super().__init__(
            graph, {"type": "ScaleBy", "op": "ScaleBy", "infer": ScaleBy.infer, "in_ports_count": 1, "out_ports_count": 1}, attrs
        )

    def backend_attrs(self) -> list[Any]:
        return ["factor", ("mode", lambda node: "fast" if node.is_fast else None), ("sizes", "window"), "absent"]

    @staticmethod
    def infer(node: GraphNode) -> None:
        node.out_port(0).data.set_shape(node.in_port(0).data.get_shape())


def scale_by(graph: Graph, inputs: list[GraphNode]) -> GraphNode:
    return ScaleBy(graph, {"name": "s", "factor": 3.0, "is_fast": True, "window": int64_array([1, 2])}).create_node(inputs)


def extension_of(build: Any, **options: Any) -> ExtensionOp:
    (extension,) = [op for op in lowered(build, [X], **options).walk() if isinstance(op, ExtensionOp)]
    return extension


@pytest.mark.parametrize("stage", ["front", "middle", "back"])
def test_the_three_forms_of_records(stage: str) -> None:
    op = extension_of(scale_by, stage=stage)
    assert {name: value.data for name, value in op.properties.items()} == {"factor": "3.0", "mode": "fast", "sizes": "1,2"}
    assert str(op.results[0].type) == "tensor<2x3xf32>"
    assert op.version == "extension"


class RuntimeScaleBy(openvino.Op):
    """The same operation for the runtime, which knows it by the name of the class."""

    def __init__(self, inputs: Any = None) -> None:
        super().__init__(self, inputs)
        self.factor = 0.0

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

    def clone_with_new_inputs(self, new_inputs: Any) -> openvino.Op:
        clone = type(self)(new_inputs)
        clone.factor = self.factor
        return clone

    def evaluate(self, outputs: Any, inputs: Any) -> bool:
        outputs[0].data[...] = inputs[0].data * self.factor
        return True

    def has_evaluate(self) -> bool:
        return True

    def visit_attributes(self, visitor: Any) -> bool:
        attributes = {"factor": self.factor}
        visitor.on_attributes(attributes)
        self.factor = attributes["factor"]
        return True


RuntimeScaleBy.__name__ = "ScaleBy"


def test_the_runtime_computes_an_operation_it_was_given() -> None:
    core = openvino.Core()
    core.add_extension(RuntimeScaleBy)
    (actual,) = run(scale_by, X, core=core)
    np.testing.assert_array_equal(actual, X * 3)


def test_text_reads_back() -> None:
    module = lowered(scale_by, [X])
    text = str(module)
    again = Parser(MoirContext(), text).parse_module()
    again.verify()
    assert serialize(again)[0] == serialize(module)[0]
    assert b'<data factor="3.0" mode="fast" sizes="1,2"/>' in serialize(again)[0]


def test_an_operation_keeps_the_version_it_was_given() -> None:
    def build(graph: Graph, inputs: list[GraphNode]) -> GraphNode:
        return Op(
            graph, {"op": "CubicConvolution", "type": "CubicConvolution", "version": "mine", "IE": None, "infer": ScaleBy.infer}
        ).create_node(inputs)

    module = lowered(build, [X])
    assert b'type="CubicConvolution" version="mine"' in serialize(module)[0]
    again = Parser(MoirContext(), str(module)).parse_module()
    assert b'type="CubicConvolution" version="mine"' in serialize(again)[0]


def test_a_type_that_is_no_identifier() -> None:
    def build(graph: Graph, inputs: list[GraphNode]) -> GraphNode:
        return Op(graph, {"op": "My Op/2", "type": "My Op/2", "infer": ScaleBy.infer}).create_node(inputs)

    module = lowered(build, [X])
    assert b'type="My Op/2" version="extension"' in serialize(module)[0]
    assert serialize(Parser(MoirContext(), str(module)).parse_module())[0] == serialize(module)[0]


def test_an_attribute_that_xml_has_no_name_for() -> None:
    def build(graph: Graph, inputs: list[GraphNode]) -> GraphNode:
        return Op(
            graph, {"op": "A", "type": "A", "infer": ScaleBy.infer, "IE": [("layer", [], [("data", [("a b", lambda _: "1")], [])])]}
        ).create_node(inputs)

    with pytest.raises(EmissionError, match="'a b' cannot be the name of an attribute"):
        serialize(lowered(build, [X]))


def test_an_extension_is_inferred_again_when_its_operands_change() -> None:
    op = extension_of(scale_by)
    producer = op.operands[0]
    from moir.dialects.inference import set_type
    from moir.dialects.shapes import element_of, tensor

    set_type(producer, tensor((7, -1), element_of(producer)))
    assert op.parent is not None
    infer_block(op.parent, KnownValues())
    assert str(op.results[0].type) == "tensor<7x?xf32>"
    assert [type(each).__name__ for each in op.parent.ops] == ["Parameter", "ScaleBy", "Result"]


def test_an_operation_of_a_set_is_built_from_its_records() -> None:
    class Own(Op):
        op = "OwnSoftmax"

        def __init__(self, graph: Graph, attrs: dict[str, Any]) -> None:
            super().__init__(graph, {"type": "SoftMax", "op": "OwnSoftmax", "version": "opset1", "axis": 0}, attrs)

        def backend_attrs(self) -> list[str]:
            return ["axis"]

    (actual,) = run(lambda graph, inputs: Own(graph, {}).create_node(inputs), X)
    np.testing.assert_allclose(actual, np.exp(X) / np.exp(X).sum(0), rtol=1e-5)


def test_a_type_without_version_is_that_of_the_first_set() -> None:
    module = lowered(lambda graph, inputs: Op(graph, {"op": "O", "type": "Sigmoid"}).create_node(inputs), [X])
    assert kinds(module) == ["opset1.Parameter", "opset1.Sigmoid", "opset1.Result"]


def test_a_value_that_infer_sets_becomes_a_constant() -> None:
    def infer(node: GraphNode) -> None:
        node.out_port(0).data.set_value(np.array(node.in_port(0).data.get_shape()) * 2)

    (actual,) = run(lambda graph, inputs: Op(graph, {"op": "Twice", "type": "Twice", "infer": infer}).create_node(inputs), X)
    np.testing.assert_array_equal(actual, [4, 6])


def test_type_infer_says_the_element_type() -> None:
    def type_infer(node: GraphNode) -> None:
        node.out_port(0).set_data_type(np.int64)

    def build(graph: Graph, inputs: list[GraphNode]) -> GraphNode:
        return ScaleBy(graph, {"name": "s", "is_fast": False, "type_infer": type_infer}).create_node(inputs)

    assert str(extension_of(build).results[0].type) == "tensor<2x3xsi64>"


def test_the_infer_of_the_documentation_for_mvn_removes_edges() -> None:
    """As in the documentation of sub-graph replacement: axes are checked, then they are an attribute."""
    data = np.random.default_rng(3).normal(size=(2, 4, 5, 3)).astype(np.float32)

    def infer(node: GraphNode) -> None:
        for index in (1, 2):
            assert node.in_node(index).has_valid("value")
            assert all(node.in_node(index).value == node.required_reduction_indices)
        node.graph.remove_edge(node.in_node(1).id, node.id)
        node.graph.remove_edge(node.in_node(2).id, node.id)
        node.old_infer(node)

    def build(graph: Graph, inputs: list[GraphNode]) -> GraphNode:
        operations.register_all()
        mvn = Op.get_op_class_by_name("MVN")(graph, {"name": "bn/MVN_", "eps": 1e-3, "required_reduction_indices": [1, 2]})
        mvn.attrs["old_infer"] = mvn.attrs["infer"]
        mvn.attrs["infer"] = infer
        axes = operations.Const(graph, {"value": int64_array([1, 2])}).create_node()
        return mvn.create_node([inputs[0], axes, axes])

    (actual,) = run(build, data, framework="tf")
    expected = (data - data.mean((1, 2), keepdims=True)) / np.sqrt(data.var((1, 2), keepdims=True) + 1e-3)
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


def internal(infer: Any = ScaleBy.infer) -> Any:
    return lambda graph, inputs: Op(graph, {"op": "Internal", "name": "i", "infer": infer}).create_node(inputs)


def test_an_operation_without_a_type_stays_with_its_types_until_the_end() -> None:
    module = lowered(internal(), [X])
    assert kinds(module)[1] == "mo.Internal"
    (left,) = [op for op in module.walk() if op.name == "mo.Internal"]
    assert str(left.results[0].type) == "tensor<2x3xf32>"
    CheckLoweredPass().apply(MoirContext(), module)
    with pytest.raises(EmissionError, match=r"without a type are left.*mo\.Internal \('i'\)"):
        CheckTypesPass().apply(MoirContext(), module)
    with pytest.raises(EmissionError, match=r"mo\.Internal \('i'\)"):
        serialize(module)


def test_an_operation_without_type_and_infer_is_reported_at_once() -> None:
    module = lowered(internal(None), [X])
    with pytest.raises(UnsupportedOperationError, match=r"mo\.Internal \('i'\)"):
        CheckLoweredPass().apply(MoirContext(), module)


def fails(_node: GraphNode) -> None:
    raise ZeroDivisionError("oh")


def refuses(node: GraphNode) -> None:
    raise Error("node {} is not for {}", node.name, "us")


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"infer": fails}, "infer.*ZeroDivisionError: oh"),
        ({"infer": refuses}, "node n is not for us"),
        ({"infer": lambda _: None}, "shape of output 0 undefined"),
        ({"infer": ScaleBy.infer, "type_infer": fails}, "type_infer.*ZeroDivisionError: oh"),
        ({"infer": ScaleBy.infer, "IE": [("layer", [], [("data", [("a", fails)], [])])]}, "'a' cannot be computed.*oh"),
    ],
)
def test_functions_that_fail_name_the_node(attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConversionError, match=message) as error:
        lowered(lambda graph, inputs: Op(graph, {"op": "N", "type": "N", "name": "n", **attributes}).create_node(inputs), [X])
    assert error.value.node == "n"


@pytest.mark.parametrize(
    ("type_", "attributes", "message"),
    [
        ("Pad", {"pad_mode": "sideways"}, "sideways"),
        ("Softmax", {"axis": "first"}, "axis cannot be 'first'"),
        ("MVN", {"version": "opset6"}, "no attribute"),
        ("Relu", {"both": True}, "2 inputs are connected"),
    ],
)
def test_attributes_that_do_not_fit_name_the_node(type_: str, attributes: dict[str, Any], message: str) -> None:
    def build(graph: Graph, inputs: list[GraphNode]) -> GraphNode:
        attrs = {"op": "Own", "type": type_, "version": "opset12", "name": "n", **attributes}
        attrs["IE"] = [("layer", [], [("data", list(attributes), [])])]
        return Op(graph, attrs).create_node(inputs * (2 if "both" in attributes else 1))

    with pytest.raises(ConversionError, match=message) as error:
        lowered(build, [X])
    assert error.value.node == "n"


@pytest.mark.parametrize(
    ("type_", "version", "expected"),
    [
        ("Softmax", "opset5", "opset1.Softmax"),
        ("Softmax", "opset8", "opset8.Softmax"),
        ("SoftMax", "opset13", "opset8.Softmax"),
        ("ReLU", None, "opset1.Relu"),
        ("Const", "experimental", "opset1.Constant"),
        ("Gather", "opset1", "opset8.Gather"),
        ("Gather", "opset8", "opset8.Gather"),
        ("AvgPool", "opset1", "opset14.AvgPool"),
        ("TopK", "opset3", "opset11.TopK"),
        ("NonMaxSuppression", "opset5", "opset9.NonMaxSuppression"),
        ("NonMaxSuppression", "opset4", "opset4.NonMaxSuppression"),
        ("NonMaxSuppression", None, "opset9.NonMaxSuppression"),
        ("MulticlassNms", "opset9", "opset9.MulticlassNms"),
        ("Interpolate", "opset1", "opset1.Interpolate"),
        ("Interpolate", None, "opset4.Interpolate"),
        ("Interpolate", "opset4", "opset4.Interpolate"),
        ("Mish", "extension", None),
        ("Mish", "opset²", None),
        ("BinaryConvolution", "opset1", "opset1.BinaryConvolution"),
        ("CubicConvolution", "opset1", None),
    ],
)
def test_the_operation_of_a_type_and_version(type_: str, version: str | None, expected: str | None) -> None:
    actual = standard_operation(type_, version)
    assert (actual.name if actual is not None else None) == expected


def test_texts_of_all_forms_become_properties() -> None:
    operation = standard_operation("AvgPool", "opset1")
    assert operation is not None
    texts = {"kernel": "2,3", "strides": "[1, 1]", "exclude-pad": "1", "auto_pad": "SAME_UPPER", "rounding_type": "ceil", "unknown": "x"}
    actual = properties_of(operation, texts)
    op = operation.create(properties=actual)
    assert (op.integers("kernel"), op.integers("strides")) == ((2, 3), (1, 1))
    assert op.flag("exclude-pad")
    assert op.text("auto_pad") == "same_upper"
    assert "unknown" not in actual
    convert = standard_operation("Convert", None)
    assert convert is not None
    assert str(properties_of(convert, {"destination_type": "i32"})["destination_type"]) == "si32"
