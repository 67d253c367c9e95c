"""Functions on data nodes of the middle and back phases (Model Optimizer's `middle.passes.eliminate`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.node_inference import infer_node


def remove_op_node_with_data_node(graph: Graph, node_to_remove: GraphNode, input_data_node: GraphNode | None = None) -> None:
    """Remove an operation with one output, whose consumers take one of its inputs instead.

    Args:
        graph: the graph.
        node_to_remove: the node of the operation.
        input_data_node: the data node, or the node of the front phase, that they take; by default that at input port 0.

    Raises Error for a node with several outputs, and for a data node.
    """
    if node_to_remove.is_data or len(node_to_remove.out_ports()) != 1:
        raise Error("node {!r} cannot be removed: it is not an operation with one output", node_to_remove.id)
    ports = [
        port
        for number, port in node_to_remove.in_ports().items()
        if not port.disconnected() and (input_data_node is None or node_to_remove.in_node(number) == input_data_node)
    ]
    source = ports[0].get_source() if ports else None
    if source is None:
        raise Error("node {!r} cannot be removed: it does not take the tensor that its consumers are to take", node_to_remove.name)
    connection = node_to_remove.out_port(0).get_connection()
    assert connection is not None
    if connection.get_destinations():
        connection.set_source(source)
    graph.remove_node(node_to_remove.id)


def remove_op_nodes(graph: Graph, attrs: Mapping[str, Any]) -> None:
    """Remove the operations with these values of attributes; see `remove_op_node_with_data_node`."""
    for node in graph.get_op_nodes(**attrs):
        remove_op_node_with_data_node(graph, node)


def merge_data_nodes(graph: Graph, survived: GraphNode, removed: GraphNode) -> None:
    """Let the consumers of the data node `removed` take the tensor of `survived`, which also gets its names.

    Raises Error if one of them is not a data node.
    """
    for other in (survived, removed):
        if not other.is_data:
            raise Error("node {!r} is not a data node", other.id)
    assert isinstance(survived.subject, SSAValue)
    assert isinstance(removed.subject, SSAValue)
    connection = graph.out_port_of(removed.subject).get_connection()
    assert connection is not None
    connection.set_source(graph.out_port_of(survived.subject))


def reverse_dfs(graph: Graph, node_name: str, update_func: Callable[[Graph, str], Any], visited: set[str] | None = None) -> None:
    """Call a function for a node and for all that it depends on, each once; nodes in `visited` are skipped."""
    seen = set[str]() if visited is None else visited
    seen.add(node_name)
    pending = [node_name]
    while pending:
        current = pending.pop()
        update_func(graph, current)
        for start, _ in graph.in_edges(current):
            if start not in seen:
                seen.add(start)
                pending.append(start)


def get_nodes_with_attributes(graph: Graph, **attrs: Any) -> list[str]:
    """The ids of the nodes with these values of attributes."""
    return graph.get_nodes_with_attributes(**attrs)


def set_reshape_new_output_shape(reshape_node: GraphNode, new_output_shape: Any) -> None:
    """Give a Reshape another shape: that of its output, and the constant at its input 1 if it has one."""
    reshape_node.out_port(0).data.set_shape(new_output_shape)
    if reshape_node.is_in_port_connected(1):
        reshape_node.in_port(1).data.set_value(np.asarray(new_output_shape, dtype=np.int64))


def delete_selects_from(graph: Graph, node_idxs: Iterable[str]) -> None:
    """Remove each Select whose condition is one of the given nodes: its consumers take its input 2 instead."""
    for node_id in node_idxs:
        for destination in GraphNode(graph, node_id).out_port(0).get_destinations():
            select = destination.node
            if select.soft_get("op") == "Select":
                source = select.in_port(2).get_source()
                if source is not None:
                    select.out_port(0).get_connection().set_source(source)
                graph.remove_node(select.id)


def shape_inference(graph: Graph) -> None:
    """Infer the operations marked by `need_shape_inference`, in topological order."""
    for node in graph.topological_sort():
        if not node.is_data and node.has_and_set("need_shape_inference"):
            infer_node(node)
            node["need_shape_inference"] = False


def graph_clean_up(graph: Graph, undead_node_types: Iterable[str] | None = None) -> None:
    """Fold constants and remove nodes that no output depends on, except those whose `type` is in
    `undead_node_types`.
    """
    graph.clean_up(undead_node_types)


graph_clean_up_tf = graph_clean_up
graph_clean_up_onnx = graph_clean_up
