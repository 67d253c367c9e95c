"""Functions of Model Optimizer that rename, replace, connect and remove nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Result
from moir.dialects.properties import string_attribute
from moir.errors import ConversionError
from moir.model_optimizer.graph.sentinels import nodes_of

if TYPE_CHECKING:
    from moir.model_optimizer.graph.graph import Graph
    from moir.model_optimizer.graph.node import Node


def rename_nodes(nodes: Iterable[tuple[Node, str]]) -> None:
    """Give nodes other names, all at once, so names can be exchanged. Ids stay.

    A node that is not in the list and has one of the names gets another one, with `/replaced` at its end. An output of the model keeps its
    name: it is called as the node whose tensor it is.
    """
    pairs = list(nodes)
    if not pairs:
        return
    names = {str(name) for _, name in pairs}
    if len(names) != len(pairs):
        raise ConversionError(f"nodes cannot be renamed to {[str(name) for _, name in pairs]}: a name occurs twice")
    graph = pairs[0][0].graph
    renamed = {node.operation for node, _ in pairs}
    for op in nodes_of(graph.block):
        if op not in renamed and name_of(op) in names and not isinstance(op, Result):
            op.attributes["name"] = string_attribute(graph.unique_id(f"{name_of(op)}/replaced"))
    for node, name in pairs:
        node["name"] = str(name)


def rename_node(node: Node, name: str) -> None:
    """Give a node another name."""
    rename_nodes([(node, name)])


def replace_node(old_node: Node, new_node: Node, new_node_out_port: int | None = None) -> None:
    """Let the consumers of a node take their tensors from another node, and remove it.

    Output port k is replaced by output port k of the new node, or by the one given. Input ports of the new node that are disconnected
    get the tensors of the old node's input ports of the same number.
    """
    if old_node.graph.block is not new_node.graph.block:
        raise ConversionError(f"node {old_node.id!r} and node {new_node.id!r} are in different graphs", node=old_node.name)
    for number, port in old_node.in_ports().items():
        source = port.get_source()
        taken = new_node.in_ports().get(number)
        if source is not None and taken is not None and taken.disconnected():
            taken.connect(source)
    for number, port in old_node.out_ports().items():
        connection = port.get_connection()
        if connection is not None and connection.get_destinations():
            connection.set_source(new_node.out_port(number if new_node_out_port is None else new_node_out_port))
    old_node.graph.remove_operations([old_node.operation])


def remove_nodes(nodes: Sequence[Node]) -> None:
    """Remove operation nodes of one graph; what took their tensors is disconnected."""
    if nodes:
        nodes[0].graph.remove_operations([node.operation for node in nodes])


def create_edge(src_node: Node, dst_node: Node, out_port: int = 0, in_port: int = 0, edge_attrs: Mapping[str, Any] | None = None) -> None:
    """Connect an output port of a node and an input port of another."""
    src_node.graph.create_edge(src_node, dst_node, out_port, in_port, edge_attrs)


def erase_node(node: Node) -> None:
    """Remove a node with one connected input and one output; its consumers take its input instead."""
    node.graph.erase_node(node)


def unique_id(graph: Graph, prefix: str = "") -> str:
    """An id no node has: the prefix, with a number behind it if need be."""
    return graph.unique_id(prefix)


def add_opoutput(graph: Graph, node_name: str, port: int, cut: bool = True) -> str:
    """Make an output port of a node an output of the model; returns the id of the new node. With `cut` nothing else takes the tensor."""
    source = graph.node_of(graph.subject(node_name)).out_port(port)
    if cut:
        source.disconnect()
    result = graph.create({"op": "Result", "name": f"{node_name}/sink_port_{port}"})
    result.in_port(0).connect(source)
    return result.id
