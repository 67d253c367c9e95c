"""Methods of the graph, by nodes and by ids."""

from __future__ import annotations

import numpy as np
import pytest

from moir.errors import ConversionError
from moir.model_optimizer.graph.editing import remove_nodes, rename_node, rename_nodes, replace_node
from moir.model_optimizer.graph.session import edit
from tests.unit.model_optimizer.graph.texts import FRONT, MIDDLE


def names(nodes) -> list[str]:
    return [each.name for each in nodes]


def test_finding_nodes(graph_of, node):
    graph = graph_of(FRONT)
    assert names(graph.get_op_nodes(op="ReLU")) == names(graph.get_op_nodes(op="Relu")) == ["op2"]
    assert names(graph.get_op_nodes()) == ["x", "w", "op1", "op2", "op3", "op4", "r1", "r2", "r3"]
    assert names(graph.get_op_nodes(kind="op", name="op3")) == ["op3"]
    assert graph.get_op_nodes(op="ReLU", name="op3") == []
    assert graph.get_nodes_with_attributes(op="Parameter") == ["x", "w"]
    assert graph.get_nodes_with_attributes(name="op4") == ["op4"]
    assert graph.get_data_nodes() == []
    assert graph.get_node_id_by_name("op1") == "op1"
    node(graph, "op2")["name"] = "op1"
    with pytest.raises(ConversionError, match="2 nodes have the name 'op1'"):
        graph.get_node_id_by_name("op1")
    with pytest.raises(ConversionError, match="no node has the name 'zero'"):
        graph.get_node_id_by_name("zero")
    assert graph.has_tensor_name("t11")
    assert not graph.has_tensor_name("t12")
    assert (graph.inputs_order, graph.outputs_order) == (["x", "w"], ["r1", "r2", "r3"])
    assert graph.unique_id("op1") == "op10"
    assert graph.unique_id("new") == "new"
    assert (graph.graph["fw"], graph.graph["stage"], graph.stage, graph.name) == ("onnx", "front", "front", "model")


def test_data_nodes(graph_of):
    graph = graph_of(MIDDLE, "middle")
    assert len(graph.get_data_nodes()) == 8
    assert [each.value.tolist() for each in graph.get_data_nodes(has_value=True)] == [[0, 1]]
    assert len(graph.get_data_nodes(has_value=False)) == 7
    assert len(graph.get_nodes_with_attributes(kind="data")) == 8
    assert len(graph.nodes()) == len(graph) == graph.number_of_nodes() == 18


def test_nodes_by_id(graph_of):
    graph = graph_of(FRONT)
    assert [key for key, data in graph.nodes(data=True) if "op" in data and data["op"] == "Result"] == ["r1", "r2", "r3"]
    assert graph.node["op2"]["op"] == graph.nodes["op2"]["op"] == "ReLU"
    assert "op2" in graph
    assert graph.has_node("op2")
    assert not graph.has_node("op9")
    assert list(graph)[:2] == ["x", "w"]


def test_edges_by_id(graph_of):
    graph = graph_of(FRONT)
    assert graph.in_edges("op3") == [("op1", "op3"), ("w", "op3")]
    assert graph.in_edges("op3", data=True)[1] == ("w", "op3", {"in": 1, "out": 0})
    assert graph.out_edges("op1", data=True, keys=True)[-1] == ("op1", "r3", 0, {"in": 0, "out": 1})
    assert len(graph.in_edges()) == len(graph.out_edges()) == len(graph.edges()) == 10
    assert graph.has_edge("op3", "op4")
    assert not graph.has_edge("op4", "op3")
    assert list(graph.predecessors("op4")) == ["op3", "op1"]
    assert list(graph.successors("op1")) == ["op2", "op3", "op4", "r3"]
    with edit(graph):
        graph.remove_edge("op3", "op4")
        with pytest.raises(ConversionError, match="no edge from 'op3' to 'op4'"):
            graph.remove_edge("op3", "op4")
        graph.add_edge("op2", "op4")
        graph.add_edges_from([("op3", "op2", {"in": 0})])
    assert graph.has_edge("op2", "op4")
    assert list(graph.predecessors("op2")) == ["op3"]


def test_edges_of_data_nodes(graph_of, node):
    graph = graph_of(MIDDLE, "middle")
    data = node(graph, "op5").in_node(1)
    assert graph.in_edges("op5")[1] == (data.id, "op5")
    with edit(graph):
        graph.remove_edge(data.id, "op5")
        assert node(graph, "op5").in_port(1).disconnected()
        graph.add_edge(data.id, "op5", **{"in": 1})
    assert node(graph, "op5").in_node(1) == data
    data = node(graph, "op5").in_node(0)
    with edit(graph):
        graph.remove_edge("op4", data.id)
        assert node(graph, "op5").in_port(0).disconnected()
        graph.add_edge("op2", data.id)
    assert node(graph, "op5").in_port(0).get_source().node.id == "op2"


def test_adding_and_removing_nodes(graph_of, node):
    graph = graph_of(FRONT)
    with edit(graph):
        graph.add_node("new", op="Fresh", type="Fresh", out_ports_count=1)
        with pytest.raises(ConversionError, match="has a node 'new' already"):
            graph.add_node("new", op="Fresh")
        with pytest.raises(ConversionError, match="data node cannot be added"):
            graph.add_node("datum", kind="data")
        graph.create_edge(node(graph, "op3"), node(graph, "new"), 0, 0)
        graph.remove_node("r2")
        graph.add_nodes_from([("result", {"op": "Result"})])
        graph.add_edge("new", "result")
        graph.remove_nodes_from(["op4", "nowhere"])
    assert graph.outputs_order == ["r1", "r3", "result"]
    assert node(graph, "new").in_node(0).name == "op3"
    assert not graph.has_node("op4")


def test_removing_a_node_disconnects_its_consumers(graph_of, node):
    graph = graph_of(FRONT)
    graph.remove_node("op3")
    assert node(graph, "op4").in_port(0).disconnected()
    assert not graph.has_node("op3")
    assert graph.unique_id("op3") == "op3"


def test_erase_node(graph_of, node):
    for stage, text in (("front", FRONT), ("middle", MIDDLE)):
        graph = graph_of(text, stage)
        with edit(graph):
            graph.erase_node(node(graph, "op2"))
            with pytest.raises(ConversionError, match="2 inputs and 1 outputs cannot be erased"):
                graph.erase_node(node(graph, "op3"))
        assert node(graph, "r1").in_port(0).get_source().node.name == "op1"
        assert "t20" in node(graph, "op1").out_port(0).get_tensor_names()


def test_clean_up(graph_of, node):
    graph = graph_of(FRONT)
    with edit(graph, clean_up=True):
        node(graph, "r2").in_port(0).connect(node(graph, "op2").out_port(0))
    assert names(graph.get_op_nodes()) == ["x", "w", "op1", "op2", "r1", "r2", "r3"]


def test_clean_up_keeps_types(graph_of, node):
    graph = graph_of(MIDDLE, "middle")
    with edit(graph):
        node(graph, "r2").in_port(0).connect(node(graph, "op2").out_port(0))
        graph.clean_up(["Multiply"])
    assert "op4" in names(graph.get_op_nodes())
    assert "op5" not in names(graph.get_op_nodes())


def test_orders(graph_of, node):
    graph = graph_of(FRONT)
    order = names(graph.topological_sort())
    assert order.index("op1") < order.index("op3") < order.index("op4") < order.index("r2")
    assert names(graph.topological_sort(reverse=True)) == order[::-1]
    assert names(graph.pseudo_topological_sort()) == order
    assert names(graph.pseudo_topological_sort_with_start_node(node(graph, "op3"))) == ["op3", "op4", "r2"]
    assert graph.dfs("op3") == ["r2", "op4", "op3"]
    assert graph.dfs("op3", {"op4"}) == ["op3"]
    middle = graph_of(MIDDLE, "middle")
    assert [each.kind for each in middle.topological_sort()][:4] == ["op", "data", "op", "data"]


def test_cycles_are_reported_by_name(graph_of, node):
    graph = graph_of(FRONT)
    with pytest.raises(ConversionError, match=r"the graph has a cycle: op\d -> op\d -> op\d"), edit(graph):
        node(graph, "op3").in_port(0).connect(node(graph, "op4").out_port(0))
    with pytest.raises(ConversionError, match="cycle"):
        graph.topological_sort()


def test_renaming(graph_of, node):
    graph = graph_of(FRONT)
    op2, op3, op4 = node(graph, "op2"), node(graph, "op3"), node(graph, "op4")
    rename_nodes([(op2, "op2/TBR"), (op3, "op2")])
    assert (op2.name, op3.name, op3.id) == ("op2/TBR", "op2", "op3")
    rename_node(op2, "op4")
    assert (op2.name, op4.name) == ("op4", "op4/replaced")
    with pytest.raises(ConversionError, match="occurs twice"):
        rename_nodes([(op2, "a"), (op3, "a")])
    rename_nodes([])


def test_replace_node(ports_graph, node):
    op2, op3 = node(ports_graph, "op2"), node(ports_graph, "op3")
    with edit(ports_graph):
        replace_node(op3, op2)
    assert node(ports_graph, "op4").in_port(0).get_source() == op2.out_port(0)
    assert not ports_graph.has_node("op3")
    assert op2.out_port(0).get_tensor_names() == ["t20", "t30"]


def test_replace_node_connects_free_inputs(ports_graph, node):
    copy = node(ports_graph, "op2").copy_node({"name": "copy"})
    with edit(ports_graph):
        node(ports_graph, "op2").replace_node(copy)
    assert copy.in_port(0).get_source().node.name == "op1"
    assert node(ports_graph, "r1").in_port(0).get_source().node == copy


def test_remove_nodes(graph_of, node):
    graph = graph_of(FRONT)
    remove_nodes([node(graph, "r1"), node(graph, "op2")])
    assert not graph.has_node("op2")
    remove_nodes([])


def test_text_of_foreign_operations_reads_back(graph_of, node):
    graph = graph_of(FRONT)
    with edit(graph):
        relu = node(graph, "op2")
        relu["op"] = "In$ception Block"
        relu["axes"] = [1, 2.5, "x", None]
        relu["infer"] = lambda _: None
        relu["array"] = np.ones(3)
    text = str(graph.module)
    body = text[text.index("@model {") + 8 : text.rindex("}", 0, text.rindex("}"))]
    again = graph_of(body)
    assert node(again, "op2").op == "In$ception Block"
    assert node(again, "op2").axes == [1, 2.5, "x", None]
    assert not node(again, "op2").has("infer")
    assert not node(again, "op2").has("array")
    assert node(again, "op2").pb.op_type == "Relu"
