"""Ends of edges as extensions write them, and the producers and consumers of nodes.

An end is a node or its id, or a tuple of one of these and the index of a port.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from moir.errors import ConversionError
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode


def endpoint(graph: Graph, end: Any, meaning: str) -> tuple[GraphNode, int]:
    """The node and the index of the port that an end of an edge, `end`, stands for; port 0 if it names none.

    Raises ConversionError if there is no such node, or the end has another form; `meaning` names the end in the
    message.
    """
    pair = cast("Sequence[Any]", end) if isinstance(end, tuple | list) else (end, 0)
    node, port = pair if len(pair) == 2 else (None, None)
    if isinstance(node, str):
        node = GraphNode(graph, node)
    if not isinstance(node, GraphNode) or isinstance(port, bool) or not isinstance(port, int):
        raise ConversionError(f"{meaning} is {end!r}", hint="it must be the id of a node, or a tuple of an id and the index of a port")
    return node, port


def replace_inputs(graph: Graph, edges: Mapping[Any, Any]) -> None:
    """For each pair of an old and a new input port, connect the new one to the source of the old one, which stays
    connected.
    """
    for old, new in edges.items():
        old_node, old_port = endpoint(graph, old, "a key of the edges of inputs")
        new_node, new_port = endpoint(graph, new, "a value of the edges of inputs")
        source = old_node.in_port(old_port).get_source()
        if source is None:
            raise ConversionError(f"its input port {old_port} is not connected, so it has no edge that could be replaced", node=old_node.id)
        new_node.add_input_port(new_port, skip_if_exist=True)
        new_node.in_port(new_port).connect(source)


def replace_output(old: tuple[GraphNode, int], new: tuple[GraphNode, int]) -> None:
    """Let the consumers of an output port of an old node take the tensor of a new one instead."""
    new_node, new_port = new
    new_node.add_output_port(new_port, skip_if_exist=True)
    old[0].out_port(old[1]).get_connection().set_source(new_node.out_port(new_port))


def replace_outputs(graph: Graph, edges: Mapping[Any, Any]) -> None:
    """For each pair of an old and a new output port in `edges`, let the consumers of the old one take the tensor of the
    new one.
    """
    for old, new in edges.items():
        replace_output(endpoint(graph, old, "a key of the edges of outputs"), endpoint(graph, new, "a value of the edges of outputs"))


def unneeded(graph: Graph, nodes: Iterable[GraphNode], *, with_outputs: bool = False) -> list[GraphNode]:
    """The nodes among `nodes` that are still in the graph and on which no other node depends.

    Args:
        graph: the graph.
        nodes: the nodes.
        with_outputs: whether to include nodes on which only outputs of the model depend.
    """
    members = dict.fromkeys(node for node in nodes if graph.is_present(node.subject))
    needed: set[GraphNode] = set()
    pending = [
        node
        for node in members
        if any(taker not in members and not (with_outputs and taker.soft_get("op") == "Result") for taker in consumers(node))
    ]
    while pending:
        node = pending.pop()
        if node in members and node not in needed:
            needed.add(node)
            pending.extend(producers(node))
    return [node for node in members if node not in needed]


def consumers(node: GraphNode) -> Iterator[GraphNode]:
    """The consumers of the tensors of a node."""
    for port in node.out_ports().values():
        yield from (destination.node for destination in port.get_destinations())


def producers(node: GraphNode) -> Iterator[GraphNode]:
    """The producers of the tensors a node takes."""
    for port in node.in_ports().values():
        source = port.get_source()
        if source is not None:
            yield source.node
