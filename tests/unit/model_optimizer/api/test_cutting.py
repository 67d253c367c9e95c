"""New inputs and outputs of a graph, walks along its edges, and requests of a user by names."""

from __future__ import annotations

import numpy as np
import pytest

from moir.errors import ConversionError
from moir.model_optimizer.api.graph import constant_inputs, cutting, data_node_functions, graph_walks, node_functions, user_requests
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode
from moir.testing import build_graph, connect_front, regular_op, regular_op_with_shaped_data, result, shaped_parameter
from moir.testing.descriptions import connect, connect_data, valued_const_with_data


def front_graph() -> Graph:
    """`x` -> `a` -> `b` -> `c`, which also takes `a`; `c` is the output."""
    nodes = {**regular_op("x", {"op": "Parameter"}), **result("out")}
    for name in "abc":
        nodes.update(regular_op(name, {"op": name.upper()}))
    edges = [*connect_front("x", "a"), *connect_front("a", "b"), *connect_front("b", "c"), *connect_front("a", "1:c")]
    return build_graph(nodes, [*edges, *connect_front("c", "out")])


def middle_graph() -> Graph:
    """`x` and a constant `k` -> `add` -> `relu` -> the output."""
    nodes = {
        **shaped_parameter("x", [1, 3]),
        **valued_const_with_data("k", np.array([2.0])),
        **regular_op_with_shaped_data("add", [1, 3], {"op": "Add", "type": "Add"}),
        **regular_op_with_shaped_data("relu", [1, 3], {"op": "ReLU", "type": "ReLU"}),
        **result("out"),
    }
    return build_graph(nodes, [*connect("x", "add"), *connect("k", "1:add"), *connect("add", "relu"), *connect("relu", "out")])


def source_names(graph: Graph) -> list[str]:
    """The ids of the nodes whose tensors are outputs of the model."""
    return [node.in_port(0).get_source().node.id for node in graph.get_op_nodes(op="Result")]  # pyright: ignore[reportOptionalMemberAccess]


def test_outputs() -> None:
    graph = front_graph()
    made = cutting.add_output_ops(graph, {"b": [{}], "c": [{"in": 1}]})
    assert source_names(graph) == ["b", "a"]
    assert [GraphNode(graph, each).soft_get("op") for each in made] == ["Result", "Result"]
    cutting.add_output_ops(graph, None)
    assert source_names(graph) == ["b", "a", "c"]
    with pytest.raises(ConversionError, match="has 1 output ports, there is no 3"):
        cutting.add_output_ops(graph, {"b": [{"out": 3}]})


def test_inputs() -> None:
    graph = front_graph()
    request = {"b": [{"shape": [1, -1]}], "c": [{"in": 1, "shape": [2]}], "x": [{"shape": [4]}]}
    made = [GraphNode(graph, each) for each in cutting.add_input_ops(graph, request, True)]
    assert [node.name for node in made] == ["b/placeholder_port_0", "c/placeholder_port_1", "x"]
    assert GraphNode(graph, "c").in_port(1).get_source() == made[1].out_port(0)
    assert [list(node.shape.filled(-1)) for node in made] == [[1, -1], [2], [4]]
    assert made[0].out_port(0).get_tensor_names() == ["0:b", "b"]
    assert cutting.add_input_ops(graph, request, True) == []
    with pytest.raises(ConversionError, match="has 2 inputs"):
        cutting.add_input_ops(graph, {"c": [{"shape": [1]}]}, True)
    made = cutting.add_input_ops(graph, {"a": [{"out": 0, "shape": [3]}]}, True)
    assert [port.node.id for port in GraphNode(graph, made[0]).out_port(0).get_destinations()] == []


def test_an_input_after_inference_has_the_type_of_what_it_replaces() -> None:
    graph = middle_graph()
    (made,) = cutting.add_input_ops(graph, {"relu": [{"in": 0}]}, False)
    assert list(GraphNode(graph, made).out_port(0).data.get_shape()) == [1, 3]  # pyright: ignore[reportArgumentType]


def test_walks() -> None:
    graph = front_graph()
    assert graph_walks.bfs_search(graph, ["a"]) == ["a", "b", "c", "out"]
    assert graph_walks.bfs_search(graph)[0] == "x"
    assert graph_walks.nodes_matching_name_pattern(graph, "[ab]") == ["a", "b"]
    assert graph_walks.is_connected_component(graph, ["a", "b"])
    assert not graph_walks.is_connected_component(graph, ["x", "b"])
    assert graph_walks.sub_graph_between_nodes(graph, ["a"], ["c"]) == ["a", "b", "c"]
    with pytest.raises(ConversionError, match="'x' cannot be reached"):
        graph_walks.sub_graph_between_nodes(graph, ["b"], ["x"])
    with pytest.raises(ConversionError, match="the input 'x' of the model is in the sub-graph"):
        graph_walks.sub_graph_between_nodes(graph, ["b"], ["c"])
    members, extra = graph_walks.sub_graph_between_nodes(graph, ["b"], ["c"], lambda node: node.id == "c")
    assert (members, extra) == (["b", "c"], ["c"])
    assert graph_walks.invert_sub_graph_between_nodes(graph, ["c"], ["a"]) == ["c", "b", "a"]
    assert [node.id for node in graph_walks.backward_bfs_for_operation(GraphNode(graph, "c"), ["A"])] == ["a"]
    assert graph_walks.backward_bfs_for_operation(GraphNode(graph, "c"), ["X"], ["A", "B"]) == []
    assert graph_walks.node_incoming_neighbourhood(graph, "c", 1) == ["c", "b", "a"]
    assert graph_walks.node_outcoming_neighbourhood(graph, "a", 1) == ["a", "b", "c"]
    assert graph_walks.skip_nodes_by_condition(GraphNode(graph, "c"), lambda node: node.op != "A").id == "a"
    assert graph_walks.skip_nodes_by_condition(GraphNode(graph, "b"), lambda node: node.op == "B", True).id == "c"


def test_scopes_and_names() -> None:
    nodes = {name: {"kind": "op", "op": name} for name in ("s/a", "s/b", "t")}
    graph = build_graph(nodes, [*connect_front("s/a", "s/b"), *connect_front("s/b", "t")])
    (node,) = graph_walks.scope_output_nodes(graph, "s")
    assert node.id == "s/b"
    node.out_port(0).add_tensor_names("scores")
    graph_walks.clear_tensor_names_info([node])
    assert node.out_port(0).get_tensor_names() == []


def test_requests_of_a_user() -> None:
    graph = front_graph()
    assert user_requests.get_node_id_with_ports(graph, "1:c") == ("c", "in", 1)
    assert user_requests.get_node_id_with_ports(graph, "b:0") == ("b", "out", 0)
    assert [user_requests.split_node_in_port(text) for text in ("1:a/b", "a:b:0", "a:b", "a")] == [
        ("a/b", 1),
        ("a:b", 0),
        ("a:b", None),
        ("a", None),
    ]
    assert user_requests.output_user_data_repack(graph, ["b", "c:0"]) == {"b": [{"port": None}], "c": [{"out": 0}]}
    places, outputs, frozen = user_requests.user_data_repack(graph, {"0:b": [1]}, {"x": np.int32}, None, {"x": 3})
    assert places == {"b": [{"shape": [1], "in": 0}], "x": [{"shape": None, "data_type": np.int32}]}
    assert (outputs, frozen) == (None, {"x": 3})
    assert user_requests.input_user_data_repack(graph, [2, 3], None) == ({"x": [{"shape": [2, 3]}]}, None)
    with pytest.raises(ConversionError, match="there is no node 'bb'"):
        user_requests.get_node_id_with_ports(graph, "bb")


def test_known_and_unknown_inputs() -> None:
    graph = middle_graph()
    add = GraphNode(graph, "add")
    assert constant_inputs.get_value_in_port(add) == add.in_port(1)
    assert constant_inputs.get_tensor_in_port(add) == add.in_port(0)
    assert (constant_inputs.get_value_id(add), constant_inputs.get_tensor_id(add)) == (1, 0)
    assert [node.id for node in constant_inputs.get_next_operation(add)] == ["relu"]
    relu = GraphNode(graph, "relu")
    assert [node.id for node in constant_inputs.backward_bfs(relu, [], ["Add"])] == ["add"]
    assert constant_inputs.backward_bfs(relu, [], ["Parameter"]) == []
    assert [node.id for node in constant_inputs.backward_bfs(relu, ["Add"], ["Parameter"])] == ["x"]
    assert [node.id for node in constant_inputs.forward_bfs(add, [], ["ReLU"])] == ["relu"]


def test_removal_of_operations_between_data_nodes() -> None:
    graph = middle_graph()
    data_node_functions.remove_op_node_with_data_node(graph, GraphNode(graph, "relu"))
    assert source_names(graph) == ["add"]
    data_node_functions.merge_data_nodes(graph, GraphNode(graph, "x_d"), GraphNode(graph, "add_d"))
    assert source_names(graph) == ["x"]
    with pytest.raises(ConversionError, match="not a data node"):
        data_node_functions.merge_data_nodes(graph, GraphNode(graph, "x"), GraphNode(graph, "add_d"))
    visited: list[str] = []
    data_node_functions.reverse_dfs(middle_graph(), "add", lambda _, name: visited.append(name))
    assert sorted(visited) == ["add", "k", "k_d", "x", "x_d"]


def test_edges_as_networkx_has_them() -> None:
    graph = connect_twice()
    assert graph.get_edge_data("x_d", "mul") == {0: {"in": 0}, 1: {"in": 1}}
    assert graph.get_edge_data("x_d", "mul", 1) == {"in": 1}
    assert graph.get_edge_data("mul", "x") is None


def connect_twice() -> Graph:
    """A node that takes one tensor twice."""
    nodes = {**shaped_parameter("x", [2]), **regular_op_with_shaped_data("mul", [2], {"op": "Mul"}), **result("out")}
    return build_graph(nodes, [*connect("x", "mul"), *connect_data("x", "1:mul"), *connect("mul", "out")])


def test_functions_that_became_methods() -> None:
    graph = front_graph()
    node = GraphNode(graph, "c")
    assert node_functions.get_sorted_inputs(node) == [("b", {"in": 0, "out": 0}), ("a", {"in": 1, "out": 0})]
    assert node_functions.get_inputs(graph, "c", {"in": 1}) == [("a", {"in": 1, "out": 0})]
    assert (
        node_functions.get_outputs(graph, "b") == node_functions.get_sorted_outputs(GraphNode(graph, "b")) == [("c", {"in": 0, "out": 0})]
    )
    match = {name: GraphNode(graph, name) for name in "abc"}
    assert node_functions.get_inputs_with_ports(graph, match, [("a", "b"), ("b", "c")], ["b"]) == [(match["b"], 0)]
    copy = node_functions.copy_node(node, {"q": 1})
    assert (copy["op"], copy["q"]) == ("C", 1)
    assert node_functions.pseudo_topological_sort(graph)[0].id in ("x", copy.id)
    new = graph.create({"op": "New", "in_ports_count": 1})
    node_functions.insert_node_after(node, new)
    assert source_names(graph) == [new.id]
