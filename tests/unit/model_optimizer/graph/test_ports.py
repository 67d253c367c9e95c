"""Ports and connections: the examples of the documents, in every phase."""

from __future__ import annotations

import pytest

from moir.errors import ConversionError
from moir.model_optimizer.graph.session import edit


def names(ports) -> list[tuple[str, int]]:
    return [(port.node.name, port.idx) for port in ports]


def test_source_and_destinations(ports_graph, node):
    op1, op2, op4 = (node(ports_graph, name) for name in ("op1", "op2", "op4"))
    assert op2.in_port(0).get_source() == op4.in_port(1).get_source() == op1.out_port(0)
    assert names(op1.out_port(0).get_destinations()) == [("op2", 0), ("op3", 0), ("op4", 1)]
    assert op2.out_port(0).get_destination().node.name == "r1"
    with pytest.raises(ConversionError, match="3 destinations"):
        op1.out_port(0).get_destination()
    assert (op4.in_port(1).idx, op4.in_port(1).type, op4.in_port(1).node) == (1, "in", op4)


def test_source_of_an_output_and_destination_of_an_input_are_errors(ports_graph, node):
    op1 = node(ports_graph, "op1")
    with pytest.raises(ConversionError, match="'op1' has no source"):
        op1.out_port(0).get_source()
    with pytest.raises(ConversionError, match="has no destinations"):
        op1.in_port(0).get_destinations()
    with pytest.raises(ConversionError, match="both are output ports"):
        op1.out_port(0).connect(op1.out_port(0))
    with pytest.raises(ConversionError, match="to a port only"):
        op1.out_port(0).connect(op1)


def test_documented_example_of_disconnect_and_connect(ports_graph, node):
    op1, op3, op4 = (node(ports_graph, name) for name in ("op1", "op3", "op4"))
    with edit(ports_graph):
        op4.in_port(1).disconnect()
        assert op4.in_port(1).disconnected()
        assert op4.in_port(1).get_source() is None
        assert op4.in_port(1).get_connection().get_source() is None
        assert op4.in_port(1).data.get_shape() is None
        op3.out_port(0).connect(op4.in_port(1))
    assert names(op3.out_port(0).get_destinations()) == [("op4", 0), ("op4", 1)]
    assert names(op1.out_port(0).get_destinations()) == [("op2", 0), ("op3", 0)]
    ports_graph.module.verify()


def test_documented_example_of_set_source(ports_graph, node):
    op1, op3, op4 = (node(ports_graph, name) for name in ("op1", "op3", "op4"))
    with edit(ports_graph):
        op3.out_port(0).get_connection().set_source(op1.out_port(0))
    assert op4.in_port(0).get_source() == op4.in_port(1).get_source() == op1.out_port(0)
    assert op3.out_port(0).disconnected()
    assert op1.out_port(0).get_tensor_names() == ["t10", "t30"]


def test_documented_example_of_set_destination(ports_graph, node):
    op1, op2, op3, op4 = (node(ports_graph, name) for name in ("op1", "op2", "op3", "op4"))
    with edit(ports_graph):
        op1.out_port(0).get_connection().set_destination(op4.in_port(0))
        assert names(op1.out_port(0).get_destinations()) == [("op4", 0)]
        assert op2.in_port(0).disconnected()
        assert op4.in_port(1).disconnected()
        for port in (op2.in_port(0), op3.in_port(0), op4.in_port(1)):
            port.connect(op1.out_port(0))


def test_connecting_a_busy_input_replaces_its_source(ports_graph, node):
    op2, op4 = node(ports_graph, "op2"), node(ports_graph, "op4")
    with edit(ports_graph):
        op2.out_port(0).connect(op4.in_port(0))
        assert op4.in_port(0).get_source() == op2.out_port(0)
        op4.in_port(1).connect(op2.out_port(0))
    assert names(op2.out_port(0).get_destinations()) == [("op4", 0), ("op4", 1), ("r1", 0)]


def test_output_disconnect_with_parallel_edges(ports_graph, node):
    op1, op3, op4 = (node(ports_graph, name) for name in ("op1", "op3", "op4"))
    op4.in_port(0).connect(op1.out_port(0))
    assert op3.out_port(0).disconnected()
    op1.out_port(0).disconnect()
    assert op1.out_port(0).disconnected()
    assert op1.out_port(0).get_destinations() == []
    assert op4.in_port(0).disconnected()
    assert op4.in_port(1).disconnected()


def test_connection_methods(ports_graph, node):
    op1, op2, op3, op4 = (node(ports_graph, name) for name in ("op1", "op2", "op3", "op4"))
    with edit(ports_graph):
        connection = op4.in_port(1).get_connection()
        assert connection.get_source() == op1.out_port(0)
        assert connection.get_destination() == op4.in_port(1)
        connection.add_destination(op4.in_port(0))
        assert op4.in_port(0).get_source() == op1.out_port(0)
        connection.remove()
        assert connection.get_destinations() == []
        assert op4.in_port(0).disconnected()
        op4.in_port(0).connect(op3.out_port(0))
        op4.in_port(1).connect(op2.out_port(0))
        with pytest.raises(ConversionError, match="2 destinations"):
            op1.out_port(0).get_connection().get_destination()
        for method, port in (("set_source", op1.in_port(0)), ("set_destination", op1.out_port(0)), ("add_destination", op1.out_port(0))):
            with pytest.raises(ConversionError, match="of a connection"):
                getattr(op1.out_port(0).get_connection(), method)(port)


def test_output_without_consumers_has_an_empty_connection(ports_graph, node):
    op2, r1 = node(ports_graph, "op2"), node(ports_graph, "r1")
    r1.in_port(0).disconnect()
    assert op2.out_port(0).get_connection().get_destinations() == []
    assert op2.out_port(0).get_connection().get_destination() is None


@pytest.mark.parametrize(("mode", "expected"), [("merge", ["t10", "t30"]), ("source", ["t10"]), ("dest", ["t30"])])
def test_names_of_tensors_when_the_source_changes(ports_graph, node, mode, expected):
    op1, op3 = node(ports_graph, "op1"), node(ports_graph, "op3")
    with edit(ports_graph):
        op3.out_port(0).get_connection().set_source(op1.out_port(0), mode)
    assert op1.out_port(0).get_tensor_names() == expected


def test_unknown_mode(ports_graph, node):
    op1, op3 = node(ports_graph, "op1"), node(ports_graph, "op3")
    with pytest.raises(ConversionError, match="no mode 'both'"):
        op3.out_port(0).get_connection().set_source(op1.out_port(0), "both")


def test_names_of_a_parameter_stay(graph_of, node):
    graph = graph_of("""
        %x = opset1.Parameter() {name = "x", tensor_names = ["x"]} : tensor<2xf32>
        %y = opset1.Relu(%x) {name = "relu"} : tensor<2xf32>
        opset1.Result(%y) {name = "r"}
    """)
    x, relu = node(graph, "x"), node(graph, "relu")
    x.out_port(0).get_connection().set_source(relu.out_port(0))
    assert x.out_port(0).get_tensor_names() == ["x"]
    assert relu.out_port(0).get_tensor_names() == []


def test_tensor_names(ports_graph, node):
    port = node(ports_graph, "op2").out_port(0)
    port.add_tensor_names("a,b")
    port.add_tensor_names(["c"])
    assert port.get_tensor_names() == ["a,b", "c", "t20"]
    assert ("op2", 0, "c") in port.get_tensor_debug_info()
    assert node(ports_graph, "r1").in_port(0).get_tensor_names() == ["a,b", "c", "t20"]
    port.set_tensor_debug_info([("op2", 0, "d")])
    assert port.get_tensor_names() == ["d"]
    port.set_tensor_debug_info([("op2", 0, "e")], merge=True)
    assert port.get_tensor_names() == ["d", "e"]
    port.remove_tensor_names()
    assert port.get_tensor_names() == []


def test_insert_before_affects_one_input_and_after_all(ports_graph, node):
    op1, op4 = node(ports_graph, "op1"), node(ports_graph, "op4")
    copy = node(ports_graph, "op2").copy_node({"name": "before"})
    after = node(ports_graph, "op2").copy_node({"name": "after"})
    with edit(ports_graph):
        op4.in_port(1).get_connection().insert_node(copy)
        assert names(op1.out_port(0).get_destinations()) == [("op2", 0), ("op3", 0), ("before", 0)]
        assert op4.in_port(1).get_source().node == copy
        op1.out_port(0).get_connection().insert_node(after)
    assert names(op1.out_port(0).get_destinations()) == [("after", 0)]
    assert sorted(names(after.out_port(0).get_destinations())) == [("before", 0), ("op2", 0), ("op3", 0)]
    assert "t10" in after.out_port(0).get_tensor_names()
    ports_graph.module.verify()


def test_data_in_the_front_phase(graph_of, node):
    from tests.unit.model_optimizer.graph.texts import FRONT

    graph = graph_of(FRONT)
    port = node(graph, "op3").in_port(1)
    assert port.data.get_shape() is None
    assert port.data.get_value() is None
    assert not port.data.has_valid("shape")
    with pytest.raises(ConversionError, match="no data in the front phase"):
        port.data.set_shape([1])
    with pytest.raises(ConversionError, match="no data in the front phase"):
        port.data.set_value([1])


def test_a_value_set_over_a_computed_one(graph_of, node):
    import numpy as np

    from tests.unit.model_optimizer.graph.texts import MIDDLE

    graph = graph_of(MIDDLE, "middle")
    op4, op5 = node(graph, "op4"), node(graph, "op5")
    assert op5.in_port(0).get_source().node == op4
    with edit(graph):
        op4.out_port(0).data.set_value(np.arange(8.0).reshape(4, 2))
    assert op5.in_port(0).get_source().node.op == "Const"
    assert op5.in_node(0).value.dtype == np.float32
    assert op5.out_port(0).data.get_shape().tolist() == [4, 2]


def test_entries_of_a_shape_are_assigned(graph_of):
    from tests.unit.model_optimizer.graph.texts import MIDDLE

    graph = graph_of(MIDDLE, "middle")
    parameter = next(iter(graph.get_op_nodes(op="Parameter")))
    copy = parameter.shape.copy()
    copy[0] = 9
    assert parameter.shape.tolist() == [2, 3]
    with edit(graph):
        parameter.shape[0] = -1
    assert parameter.shape.tolist() == [None, 3]
    assert parameter.out_node(0).shape.tolist() == [None, 3]


def test_data_in_the_middle_phase(graph_of, node):
    import numpy as np

    from tests.unit.model_optimizer.graph.texts import MIDDLE

    graph = graph_of(MIDDLE, "middle")
    op4, op5, axis = node(graph, "op4"), node(graph, "op5"), node(graph, "axis")
    assert op4.in_port(0).data.get_shape().tolist() == [2, 3]
    assert op4.in_port(0).data.get_value() is None
    assert op5.in_port(1).data.get_value().tolist() == [0, 1]
    assert op5.in_port(1).get_connection().data.get_value().tolist() == [0, 1]
    assert op4.out_port(0).get_data_type() is np.float32
    assert op4.out_port(0).is_data_type_defined()
    with pytest.raises(ConversionError, match="element type f32 already"):
        op4.out_port(0).set_data_type(np.int64)
    with pytest.raises(ConversionError, match="its shape cannot be set"):
        axis.out_port(0).data.set_shape([3])
    with pytest.raises(ConversionError, match="follows from its operands"):
        op4.out_port(0).data.set_value(np.ma.masked_equal([[1, -1]], -1))
    with edit(graph):
        op5.in_port(1).data.set_value(np.array([1, 0], dtype=np.int64))
    assert axis.value.tolist() == [1, 0]
    assert op5.out_port(0).data.get_shape().tolist() == [3, 2]
    op5.out_port(0).data.set_attr("mark", 5)
    assert op5.out_port(0).data.get_attr("mark") == 5
    assert op5.out_port(0).data.get_attr("other") is None
    assert op5.out_port(0).data.has_valid("mark")


def test_masked_shapes_and_values(graph_of, node):
    import numpy as np

    graph = graph_of(
        """
        %x = opset1.Parameter() {name = "x"} : tensor<?x3xf32>
        %s = opset3.ShapeOf(%x) {name = "shape"} : tensor<2xsi64>
        opset1.Result(%s) {name = "r"}
    """,
        "middle",
    )
    shape = node(graph, "shape").in_port(0).data.get_shape()
    assert np.ma.getmaskarray(shape).tolist() == [True, False]
    assert shape.data[0] == -1000000007
    value = node(graph, "shape").out_port(0).data.get_value()
    assert np.ma.getmaskarray(value).tolist() == [True, False]
    assert value[1] == 3


def test_attributes_of_ports_are_those_of_their_edges(ports_graph, node):
    port = node(ports_graph, "op4").in_port(1)
    port.note = "mine"
    assert node(ports_graph, "op4").in_port(1).note == node(ports_graph, "op4").in_edge(1)["note"] == "mine"
    assert "note" not in node(ports_graph, "op4").in_edge(0)
    with pytest.raises(AttributeError, match="the edge at input port 0 of node 'op4' has no attribute 'note'"):
        _ = node(ports_graph, "op4").in_port(0).note
    edge = node(ports_graph, "op4").in_edge(1)
    edge["data_attrs"].append("note")
    assert node(ports_graph, "op4").in_edge(1)["data_attrs"] == ["note"]
    with pytest.raises(KeyError):
        _ = edge["other"]
