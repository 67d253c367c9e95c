"""Op: making nodes, and what they write to the IR."""

from __future__ import annotations

import numpy as np
import pytest

from moir.errors import ConversionError
from moir.model_optimizer.graph.operation import Op, create_op_node_with_second_input, create_op_with_const_inputs, registration
from moir.model_optimizer.graph.session import edit
from moir.model_optimizer.graph.xml_records import xml_attributes, xml_text
from tests.unit.model_optimizer.graph.texts import FRONT, MIDDLE


class Scale(Op):
    op = "Scale_of_tests"

    def __init__(self, graph, attrs=None):
        super().__init__(
            graph,
            {
                "type": "Scale",
                "op": self.op,
                "version": "opset1",
                "infer": Scale.infer,
                "factor": 2.0,
                "in_ports_count": 2,
                "out_ports_count": 1,
            },
            attrs,
        )

    def backend_attrs(self):
        return [
            ("strides", lambda node: ",".join(map(str, node["stride"]))),
            ("pool-method", "pool_method"),
            ("nothing", lambda _: None),
            "factor",
            "absent",
            "flag",
        ]

    @staticmethod
    def infer(node):
        node.out_port(0).data.set_shape(node.in_port(0).data.get_shape())


def test_merging_of_attributes(graph_of):
    graph = graph_of(FRONT)
    assert Scale(graph, {"factor": 3.0}).attrs["factor"] == 3.0
    assert Op(graph, {"a": 1, "b": 1}, {"b": 2}).attrs == {"kind": "op", "a": 1, "b": 2}
    assert Scale(graph).get_opset() == "opset1"
    assert Op(graph).get_opset() == "experimental"


def test_registry():
    assert Op.get_op_class_by_name("Scale_of_tests") is Scale
    with registration():

        class Passing(Op):
            op = "Passing_of_tests"

        assert Op.get_op_class_by_name("Passing_of_tests") is Passing
    with pytest.raises(ConversionError, match="no Op class for 'Passing_of_tests'"):
        Op.get_op_class_by_name("Passing_of_tests")


def test_excluded_classes_leave_their_place_to_the_class_before():
    with registration():

        class Example(Op):
            op = "Scale_of_tests"

        class New(Op):
            op = "New_of_tests"

        Op.excluded_classes.append(Example)
        Op.excluded_classes.append(New)
        assert Op.get_op_class_by_name("Scale_of_tests") is Scale
        with pytest.raises(ConversionError, match="no Op class for 'New_of_tests'"):
            Op.get_op_class_by_name("New_of_tests")
    assert not Op.excluded_classes


def test_create_node(ports_graph, node):
    op1, op4 = node(ports_graph, "op1"), node(ports_graph, "op4")
    with edit(ports_graph):
        scale = Scale(ports_graph, {"name": "op1"}).create_node([(op1, 0), op4], {"factor": 5.0})
        assert (scale.name, scale.id, scale.factor, scale.op, scale.type) == ("op10", "op10", 5.0, "Scale_of_tests", "Scale")
        assert scale.in_port(0).get_source() == op1.out_port(0)
        assert scale.in_port(1).get_source() == op4.out_port(0)
        node(ports_graph, "r2").in_port(0).connect(scale.out_port(0))
    if ports_graph.stage != "front":
        assert scale.out_port(0).data.get_shape().tolist() == [2, 3]
        assert scale.out_port(0).get_data_type() is np.float32
    assert ports_graph.get_op_nodes(op="Scale_of_tests") == [scale]


def test_ambiguous_and_impossible_inputs(graph_of, node):
    graph = graph_of(FRONT)
    with pytest.raises(ConversionError, match=r"'op1': its output ports \[0, 1\] are in use"):
        Scale(graph).create_node([node(graph, "op1")])
    with pytest.raises(ConversionError, match="no output"):
        Scale(graph).create_node([node(graph, "r1")])
    with pytest.raises(ConversionError, match="it is not a node"):
        Scale(graph).create_node(["op1"])
    with pytest.raises(ConversionError, match="needs an attribute op"):
        Op(graph).create_node()
    with pytest.raises(ConversionError, match="not a number of ports"):
        Op(graph, {"op": "A", "in_ports_count": -1}).create_node()


def test_inputs_in_other_forms(graph_of, node):
    graph = graph_of(MIDDLE, "middle")
    op1 = node(graph, "op1")
    with edit(graph):
        scale = Scale(graph).create_node([op1.out_node(0), op1.out_port(0)])
        assert scale.in_port(0).get_source() == scale.in_port(1).get_source() == op1.out_port(0)
        other = Scale(graph).create_node([None, scale])
        assert other.in_port(0).disconnected()
        third = Scale(graph).create_node_on_port(op1, 0)
        assert third.in_port(0).get_source() == op1.out_port(0)
        fourth = Scale(graph).create_node([op1], edge_attrs={"in": 1})
        assert fourth.in_port(1).get_source() == op1.out_port(0)
        assert list(Scale(graph).add_node().in_ports()) == [0, 1]
    assert not graph.has_node(other.id)


def test_constants_parameters_and_results(graph_of):
    graph = graph_of(FRONT)
    with edit(graph):
        constant = Op(graph, {"op": "Const", "value": np.array([1.5], np.float32), "name": "c"}).create_node()
        parameter = Op(graph, {"op": "Parameter", "shape": [1, -1], "data_type": np.int64, "name": "p"}).create_node()
        Op(graph, {"op": "Result", "name": "out"}).create_node([constant])
        Op(graph, {"op": "Result", "name": "out"}).create_node([parameter])
        with pytest.raises(ConversionError, match="'c2': a Const needs a value"):
            Op(graph, {"op": "Const", "name": "c2"}).create_node()
    assert constant.ir_operation.name == "opset1.Constant"
    assert constant.value.tolist() == [1.5]
    assert str(parameter.ir_operation.results[0].type) == "tensor<1x?xsi64>"
    assert graph.outputs_order == ["r1", "r2", "r3", "out", "out0"]
    graph.module.verify()


def test_create_node_with_data(graph_of, node):
    graph = graph_of(MIDDLE, "middle")
    op1, op4 = node(graph, "op1"), node(graph, "op4")
    with edit(graph):
        data = Scale(graph).create_node_with_data([op1.out_node(0)], {"name": "scale"}, op4.out_node(0))
    assert data.is_data
    assert data.shape.tolist() == [2, 3]
    assert data.in_node(0).name == "scale"
    assert node(graph, "op5").in_node(0) == data
    with pytest.raises(ConversionError, match="cannot take the place"):
        Scale(graph).create_node_with_data([op1.out_node(0)], None, node(graph, "axis").out_node(0))


def test_data_nodes(graph_of, node):
    graph = graph_of(MIDDLE, "middle")
    with edit(graph):
        scale = Op(graph, {"op": "Two", "infer": Scale.infer}).create_node([node(graph, "op1")])
        data = Op.create_data_node(graph, scale, {"shape": np.array([4]), "mark": 1}, {"out": 0})
        assert (data.shape.tolist(), data.mark) == ([4], 1)
        constant = Op.create_input_data_node(graph, "value", np.array([7]))
        assert constant.value.tolist() == [7]
        second = Op.create_and_connect_input_data_node(graph, scale, {"value": np.array([8])}, {"in": 1})
        assert scale.in_node(1) == second
        scale["out_ports_count"] = 2
        Op.normalize_outputs(scale)
        assert list(scale.out_ports()) == [0, 1]
        graph.remove_node(scale.id)


def test_update_node_stat_of_an_unknown_kind(graph_of, node):
    graph = graph_of(FRONT)
    custom = node(graph, "op1")
    with edit(graph):
        Scale.update_node_stat(custom, {"factor": 7.0, "stride": [1, 2]})
    assert custom.ir_operation.name == "mo.Scale_of_tests"
    assert (custom.op, custom.type, custom.factor, custom.infer) == ("Scale_of_tests", "Scale", 7.0, Scale.infer)
    assert custom.pb.op_type == "Custom"
    assert xml_attributes(custom) == {"strides": "1,2", "factor": "7.0"}


def test_update_node_stat_of_a_known_kind_makes_it_what_the_class_says(graph_of, node):
    class Activation(Op):
        op = "ReLU"

        def __init__(self, graph, attrs):
            super().__init__(graph, {"op": "ReLU", "type": "ReLU", "version": "opset1"}, attrs)

    graph = graph_of(FRONT)
    with registration():
        Activation.update_node_stat(node(graph, "op2"), {"extra": 1})
    Op.registered_ops.pop("ReLU", None)
    assert node(graph, "op2").ir_operation.name == "mo.ReLU"
    assert node(graph, "op2").extra == 1
    assert node(graph, "op2").pb.op_type == "Relu"


def test_update_node_stat_to_a_constant(graph_of, node):
    graph = graph_of(FRONT)
    constant = Op(graph, {"op": "Const", "type": "Const", "version": "opset1", "value": np.array([5, 6], np.float32), "infer": len})
    with edit(graph):
        constant.update_node(node(graph, "op3"))
    assert node(graph, "op3").ir_operation.name == "opset1.Constant"
    assert not node(graph, "op3").ir_operation.operands
    assert (node(graph, "op3").value.tolist(), node(graph, "op3").shape.tolist()) == ([5, 6], [2])
    assert not node(graph, "op3").has("infer")
    with pytest.raises(ConversionError, match="a Const needs a value"):
        Op(graph, {"op": "Const"}).update_node(node(graph, "op2"))


def test_update_node_stat_of_a_constant(graph_of, node):
    graph = graph_of(MIDDLE)
    Op(graph, {"op": "Const", "type": "Const", "version": "opset1", "value": np.array([5, 6, 7])}).update_node(node(graph, "axis"))
    assert node(graph, "axis").ir_operation.name == "opset1.Constant"
    assert node(graph, "axis").value.tolist() == [5, 6, 7]


def test_records_of_three_forms(graph_of, node):
    graph = graph_of(FRONT)
    scale = Scale(graph, {"stride": np.array([1, 2]), "pool_method": "max", "flag": True}).create_node()
    assert xml_attributes(scale) == {"strides": "1,2", "pool-method": "max", "factor": "2.0", "flag": "true"}
    del scale["stride"]
    with pytest.raises(ConversionError, match=r"Scale_of_tests 'Scale_of_tests': its attribute 'strides' cannot be computed: MissingAttr"):
        xml_attributes(scale)

    class Wrong(Op):
        def backend_attrs(self):
            return [("a", "b", "c")]

    with pytest.raises(ConversionError, match="not a record of backend_attrs"):
        xml_attributes(Wrong(graph, {"op": "Wrong"}).create_node())

    class Supported(Op):
        def supported_attrs(self):
            return ["axis"]

    assert xml_attributes(Supported(graph, {"op": "Supported", "axis": 3}).create_node()) == {"axis": "3"}
    assert xml_attributes(node(graph, "op3")) == {}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (np.bool_(False), "false"),
        (np.int64(3), "3"),
        (0.1, "0.1"),
        ([1, 2], "1,2"),
        (np.array([[1, 2], [3, 4]]), "1,2,3,4"),
        (b"NHWC", "NHWC"),
        (np.float32, "f32"),
        ("a", "a"),
    ],
)
def test_text_of_values(value, text):
    assert xml_text(value) == text


def test_operations_with_constant_inputs(ports_graph, node):
    op1 = node(ports_graph, "op1")
    source = node(ports_graph, "op2")
    with edit(ports_graph):
        second = create_op_node_with_second_input(ports_graph, Scale, np.array([3]), {"name": "second"}, source)
        assert second.in_port(0).get_source() == source.out_port(0)
        assert second.in_port(1).get_source().node.value.tolist() == [3]
        many = create_op_with_const_inputs(ports_graph, Scale, {0: np.array([1]), 1: np.array([2])})
        assert [port.get_source().node.value.tolist() for port in many.in_ports().values()] == [[1], [2]]
        inserted = op1.insert_op_on_input_port(0, Scale, {"name": "inserted"}, np.array([9]))
        assert op1.in_port(0).get_source().node == inserted
        node(ports_graph, "r1").in_port(0).connect(second.out_port(0))
        node(ports_graph, "r2").in_port(0).connect(many.out_port(0))
    assert inserted.in_port(1).get_source().node.value.tolist() == [9]


def test_older_insertions_with_data(graph_of, node):
    graph = graph_of(MIDDLE, "middle")
    op4 = node(graph, "op4")
    with edit(graph):
        before = op4.insert_node_with_data_before(op4.in_node(0), Scale, {"name": "before"})
        after = op4.insert_node_with_data_after(op4.out_node(0), Scale, {"name": "after"})
        op4.bracket_op_with_another_op(op4.in_node(1), op4.out_node(0), Scale, {"name": "b"}, {"name": "a"})
        op4.bracket_with_different_nodes_with_data(op4.in_node(1), op4.out_node(0), Scale, Scale, {"name": "b2"}, {"name": "a2"})
    assert op4.in_port(0).get_source().node == before
    assert node(graph, "op5").in_port(0).get_source().node == after
    assert [op4.in_port(1).get_source().node.name, op4.out_port(0).get_destination().node.name] == ["b2", "a2"]
