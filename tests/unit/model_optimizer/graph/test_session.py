"""The end of a transformation: ports, order, inference."""

from __future__ import annotations

import numpy as np
import pytest

from moir.errors import ConversionError
from moir.model_optimizer.graph.editing import rename_nodes
from moir.model_optimizer.graph.operation import Op
from moir.model_optimizer.graph.session import check_connected, edit
from moir.model_optimizer.values.shapes import dynamic_dimension, shape_array
from tests.unit.model_optimizer.graph.texts import FRONT, MIDDLE


def copy_shape(node):
    node.out_port(0).data.set_shape(node.in_port(0).data.get_shape())


def test_nothing_changes_without_an_edit(graph_of):
    graph = graph_of(FRONT)
    before = str(graph.module)
    with edit(graph):
        assert graph.get_op_nodes(op="ReLU")[0].in_port(0).get_source() is not None
    assert str(graph.module) == before


def test_block_is_sorted_and_without_sentinels(ports_graph, node):
    with edit(ports_graph):
        new = Op(ports_graph, {"op": "New", "infer": copy_shape, "in_ports_count": 3}).create_node([node(ports_graph, "op2")])
        node(ports_graph, "op4").in_port(1).connect(new.out_port(0))
    kinds = [op.name for op in ports_graph.block.ops]
    assert kinds.index("mo.New") < kinds.index(node(ports_graph, "op4").ir_operation.name)
    assert not any("disconnected" in kind or "absent" in kind for kind in kinds)
    assert len(new.ir_operation.operands) == 1
    assert ports_graph.inputs_order == ["x", "w"]


def test_disconnected_port_in_the_middle_is_an_error(ports_graph, node):
    with pytest.raises(ConversionError, match="'op4': its input port 0 is disconnected"), edit(ports_graph):
        node(ports_graph, "op4").in_port(0).disconnect()


def test_a_later_transformation_may_remove_an_incomplete_node(graph_of, node):
    graph = graph_of(FRONT)
    with edit(graph, by="First"):
        node(graph, "op4").in_port(0).disconnect()
    with pytest.raises(ConversionError, match="'op4': its input port 0 is disconnected, since First ran"):
        check_connected(graph)
    with edit(graph, by="Second"):
        node(graph, "r2").in_port(0).connect(node(graph, "op2").out_port(0))
        graph.remove_node("op4")
    check_connected(graph)
    assert not any("disconnected" in op.name for op in graph.block.ops)


def test_port_the_operation_needs_is_an_error(ports_graph, node):
    with pytest.raises(ConversionError, match="'r1': its input port 0 is disconnected"), edit(ports_graph):
        node(ports_graph, "r1").in_port(0).disconnect()


def test_number_without_a_port_is_an_absent_operand(ports_graph, node):
    with edit(ports_graph):
        new = Op(ports_graph, {"op": "New", "infer": copy_shape}).create_node([node(ports_graph, "op2")])
        new.add_input_port(2)
        new.in_port(2).connect(node(ports_graph, "op3").out_port(0))
        with pytest.raises(ConversionError, match="no input port 1"):
            new.in_port(1)
        node(ports_graph, "op4").in_port(1).connect(new.out_port(0))
    assert new.ir_operation.operands[1].owner.name == "moir.none"
    assert new.in_port(1).disconnected()


def test_dead_operations_with_open_ports_are_removed(ports_graph, node):
    with edit(ports_graph):
        node(ports_graph, "r1").in_port(0).connect(node(ports_graph, "op1").out_port(0))
        node(ports_graph, "op2").in_port(0).disconnect()
    assert not ports_graph.has_node("op2")


def test_other_dead_operations_stay_without_clean_up(ports_graph, node):
    with edit(ports_graph):
        node(ports_graph, "r1").in_port(0).connect(node(ports_graph, "op1").out_port(0))
    assert ports_graph.has_node("op2")
    with edit(ports_graph, clean_up=True):
        pass
    assert not ports_graph.has_node("op2")


def test_consumers_are_inferred_again(graph_of, node):
    graph = graph_of(MIDDLE, "middle")
    with edit(graph):
        widened = Op(graph, {"op": "Widen", "infer": lambda each: each.out_port(0).data.set_shape([1, 3])}).create_node([node(graph, "x")])
        node(graph, "op1").in_port(0).connect(widened.out_port(0))
    assert node(graph, "op2").out_port(0).data.get_shape().tolist() == [1, 3]
    assert node(graph, "op4").out_port(0).data.get_shape().tolist() == [2, 3]


def test_dynamic_shapes_and_values_of_infer(graph_of, node):
    def infer(each):
        each.out_port(0).data.set_value(shape_array([dynamic_dimension, 6]))

    graph = graph_of(MIDDLE, "middle")
    with edit(graph):
        target = Op(graph, {"op": "Target", "infer": infer, "data_type": np.int64}).create_node([node(graph, "x")])
        reshape = node(graph, "op1").copy_node({"name": "extra"})
        reshape.in_port(0).connect(node(graph, "x").out_port(0))
        Op(graph, {"op": "Result"}).create_node([target])
    value = target.out_port(0).data.get_value()
    assert np.ma.getmaskarray(value).tolist() == [True, False]
    assert target.out_port(0).get_data_type() is np.int64
    assert target.out_port(0).data.get_shape().tolist() == [2]
    with edit(graph):
        target.out_port(0).data.set_value(None)
    assert target.out_port(0).data.get_value() is None or target.out_port(0).data.get_shape().tolist() == [2]


def test_values_of_infer_reach_operations_of_an_operation_set(graph_of, node):
    graph = graph_of(
        """
        %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
        %s = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [6, 1]>, name = "target"} : tensor<2xsi64>
        %y = opset1.Reshape(%x, %s) {special_zero = false, name = "reshape"} : tensor<6x1xf32>
        opset1.Result(%y) {name = "r"}
    """,
        "middle",
    )
    with edit(graph):
        new = Op(
            graph, {"op": "Swap", "infer": lambda each: each.out_port(0).data.set_value(each.in_port(0).data.get_value()[::-1])}
        ).create_node([node(graph, "target")])
        node(graph, "reshape").in_port(1).connect(new.out_port(0))
    assert node(graph, "reshape").out_port(0).data.get_shape().tolist() == [1, 6]


def test_type_infer(graph_of, node):
    graph = graph_of(MIDDLE, "back")
    with edit(graph):
        default = Op(graph, {"op": "A", "infer": copy_shape}).create_node([node(graph, "op1")])
        given = Op(
            graph, {"op": "B", "infer": copy_shape, "type_infer": lambda each: each.out_port(0).set_data_type(np.int32)}
        ).create_node([default])
        fixed = Op(graph, {"op": "C", "infer": copy_shape, "data_type": np.float16}).create_node([given])
        Op(graph, {"op": "Result"}).create_node([fixed])
    assert [each.out_port(0).get_data_type() for each in (default, given, fixed)] == [np.float32, np.int32, np.float16]


@pytest.mark.parametrize(
    ("attrs", "message"),
    [
        ({}, "New 'new': its shapes cannot be inferred: it has no function infer"),
        ({"infer": lambda _: None}, "New 'new': its function infer left the shape of output 0 undefined"),
        ({"infer": lambda node: node.absent}, "New 'new': its function infer failed: MissingAttributeError"),
        ({"infer": lambda _: 1 / 0}, "ZeroDivisionError"),
        ({"infer": lambda node: node.in_port(5)}, "no input port 5"),
        ({"infer": "text"}, "its attribute infer is 'text', not a function"),
    ],
)
def test_what_cannot_be_inferred(graph_of, node, attrs, message):
    graph = graph_of(MIDDLE, "middle")
    with pytest.raises(ConversionError, match=message), edit(graph):
        Op(graph, {"op": "New", "name": "new", **attrs}).create_node([node(graph, "op1")])


def test_infer_may_remove_inputs(graph_of, node):
    """The MVN example of the documents: `infer` removes edges whose values it has read."""

    def infer(each):
        each.graph.remove_edge(each.in_node(1).id, each.id)
        copy_shape(each)

    graph = graph_of(MIDDLE, "middle")
    with edit(graph):
        new = Op(graph, {"op": "MVN", "infer": infer}).create_node([node(graph, "op1"), node(graph, "axis")])
        node(graph, "r1").in_port(0).connect(new.out_port(0))
    assert len(new.ir_operation.operands) == 1
    assert "disconnected" not in str(graph.module)


def test_lowering_gets_new_operations(graph_of, node):
    graph = graph_of(MIDDLE, "middle")

    def lowering(each):
        if each.op != "Twice":
            return False
        value = each.in_port(0).value
        from moir.rewriting.builder import OpBuilder

        result = OpBuilder(each.graph.known, each.graph.block, each.ir_operation).Add(value, value)
        each.ir_operation.results[0].replace_all_uses_with(result)
        each.graph.remove_operations([each.ir_operation])
        return True

    with edit(graph, lower=lowering):
        twice = Op(graph, {"op": "Twice"}).create_node([node(graph, "op1")])
        node(graph, "r1").in_port(0).connect(twice.out_port(0))
    assert node(graph, "r1").in_node(0).in_node(0).type == "Add"
    graph.module.verify()


def test_body_that_changes_changes_the_types_of_its_operation(graph_of, node):
    graph = graph_of(
        """
        %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
        %c = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>, name = "c"} : tensor<i1>
        %y = opset8.If(%c, %x) {then_inputs = [1], else_inputs = [1], name = "if"} ({
          %p = opset1.Parameter() {name = "p"} : tensor<2x3xf32>
          %o = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>, name = "order"} : tensor<2xsi64>
          %q = opset1.Transpose(%p, %o) {name = "transpose"} : tensor<3x2xf32>
          opset1.Result(%q) {name = "q"}
        }, {
          %p = opset1.Parameter() {name = "p"} : tensor<2x3xf32>
          opset1.Result(%p) {name = "q"}
        }) : tensor<?x?xf32>
        opset1.Result(%y) {name = "r"}
    """,
        "back",
    )
    choice = node(graph, "if")
    with edit(graph):
        body = choice.then_graph
        node(body, "q").in_port(0).connect(node(body, "p").out_port(0))
    assert choice.out_port(0).data.get_shape().tolist() == [2, 3]


def test_ports_a_node_was_made_with_are_there_in_the_next_transformation(ports_graph, node):
    with edit(ports_graph):
        new = Op(ports_graph, {"op": "New", "infer": copy_shape, "in_ports_count": 3}).create_node([node(ports_graph, "op2")])
        node(ports_graph, "op4").in_port(1).connect(new.out_port(0))
    with edit(ports_graph):
        new.in_port(1).connect(node(ports_graph, "op3").out_port(0))
        new.delete_input_port(2, skip_if_absent=True)
        new.delete_input_port(1)
        with pytest.raises(ConversionError, match="no input port 1"):
            new.in_port(1)
    assert list(new.in_ports()) == [0]


def test_clean_up_folds_constants(graph_of, node):
    graph = graph_of(
        """
        %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
        %a = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 1]>, name = "a"} : tensor<2xsi64>
        %b = opset1.Multiply(%a, %a) {name = "b"} : tensor<2xsi64>
        %s = opset3.ShapeOf(%x) {name = "s"} : tensor<2xsi64>
        %t = opset1.Multiply(%s, %b) {name = "t"} : tensor<2xsi64>
        %y = opset1.Reshape(%x, %t) {special_zero = false, name = "y"} : tensor<?x?xf32>
        opset1.Result(%y) {name = "r"}
    """,
        "middle",
    )
    with edit(graph):
        graph.clean_up(["Multiply"])
        assert node(graph, "b").op == "Mul"
        graph.clean_up()
    assert node(graph, "b").op == "Const"
    assert node(graph, "b").value.tolist() == [4, 1]
    assert [each.name for each in graph.get_op_nodes()] == ["x", "b", "s", "t", "y", "r"]
    assert node(graph, "t").in_port(1).get_source().node == node(graph, "b")


def test_reverse_infer_gives_inputs_a_shape(graph_of, node):
    graph = graph_of(
        """
        %x = opset1.Parameter() {name = "x"} : tensor<*xf32>
        %w = opset1.Parameter() {name = "w"} : tensor<2x?xf32>
        %y = onnx.Custom(%x, %w) {name = "first"} : ?
        %z = onnx.Custom(%y) {name = "second"} : ?
        opset1.Result(%z) {name = "r"}
    """
    )
    calls = []

    def backwards(each):
        calls.append(each.name)
        shape = [1, 3, None] if each.name == "second" else each.out_port(0).data.get_shape()
        each.in_port(0).data.set_shape(np.ma.array([1, 3, 0], mask=[0, 0, 1]) if each.name == "second" else shape)

    with edit(graph):
        for name in ("first", "second"):
            Op(graph, {"op": "Custom", "reverse_infer": backwards}).update_node(node(graph, name))
    assert calls == ["second", "first"]
    assert str(node(graph, "x").shape) == "[1 3 --]"
    assert node(graph, "w").shape.mask.tolist() == [False, True]


def test_an_output_goes_with_the_node_that_made_it(graph_of, node, caplog):
    graph = graph_of(FRONT)
    with edit(graph):
        graph.remove_nodes_from(["op3", "op4"])
    assert graph.outputs_order == ["r1", "r3"]
    assert "the model has no output r2 any more" in caplog.text
    with pytest.raises(ConversionError, match="input port 0 is disconnected"), edit(graph):
        node(graph, "r1").in_port(0).disconnect()
    graph = graph_of(FRONT)
    with pytest.raises(ConversionError, match="input port 0 is disconnected"), edit(graph):
        graph.remove_nodes_from(["op1", "op2", "op3", "op4"])


def test_an_output_keeps_its_name(graph_of, node):
    graph = graph_of(FRONT.replace('"r1"', '"op2"'))
    with edit(graph):
        relu = Op(graph, {"op": "Relu", "name": "new"}).create_node([node(graph, "x")])
        node(graph, "op2").out_port(0).get_connection().set_source(relu.out_port(0))
        rename_nodes([(node(graph, "op2"), "op2/TBR"), (relu, "op2")])
        assert graph.get_node_id_by_name("op2") == relu.id
    assert graph.outputs_order == ["op2", "r2", "r3"]


def test_a_node_with_more_inputs_means_the_newest_operation(graph_of, node):
    text = FRONT.replace("onnx.Relu(%a)", "onnx.Squeeze(%a)")
    graph = graph_of(text)
    with edit(graph):
        node(graph, "w").out_port(0).connect(node(graph, "op2").in_port(1))
    assert "newest_version" in node(graph, "op2").ir_operation.attributes
    assert "newest_version" not in node(graph, "op4").ir_operation.attributes
    graph = graph_of(text.replace("onnx.", "tf."), framework="tf")
    with edit(graph):
        node(graph, "w").out_port(0).connect(node(graph, "op2").in_port(1))
    assert (node(graph, "op2").ir_operation.name, node(graph, "op2").type) == ("mo.Squeeze", "Squeeze")
    assert len(node(graph, "op2").in_ports()) == 2
