"""Ends of edges as extensions write them: a node, its id, or one of these with the number of a port; and neighbours of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from xdsl.ir import Operation

from moir.errors import ConversionError
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode


def endpoint(graph: Graph, given: Any, meaning: str) -> tuple[GraphNode, int]:
    """The node and the number of the port; without a number it is port 0.

    Raises ConversionError if it is no end of an edge, or there is no such node; `meaning` says what it was given for.
    """
    pair = cast("Sequence[Any]", given) if isinstance(given, tuple | list) else (given, 0)
    node, port = pair if len(pair) == 2 else (None, None)
    if isinstance(node, str):
        node = GraphNode(graph, node)
    if not isinstance(node, GraphNode) or isinstance(port, bool) or not isinstance(port, int):
        raise ConversionError(f"{meaning} is {given!r}", hint="it must be the id of a node, or a tuple of an id and the number of a port")
    return node, port


def replace_inputs(graph: Graph, edges: Mapping[Any, Any]) -> None:
    """Give the tensors at input ports of old nodes to input ports of new ones. The old nodes keep them."""
    for old, new in edges.items():
        old_node, old_port = endpoint(graph, old, "a key of the edges of inputs")
        new_node, new_port = endpoint(graph, new, "a value of the edges of inputs")
        source = old_node.in_port(old_port).get_source()
        if source is None:
            raise ConversionError(f"its input port {old_port} is not connected, so it has no edge that could be replaced", node=old_node.id)
        new_node.add_input_port(new_port, skip_if_exist=True)
        new_node.in_port(new_port).connect(source)


def replace_output(old: tuple[GraphNode, int], new: tuple[GraphNode, int]) -> None:
    """Let everything that takes the tensor of an output port of an old node take that of a new one."""
    new_node, new_port = new
    new_node.add_output_port(new_port, skip_if_exist=True)
    connection = old[0].out_port(old[1]).get_connection()
    if connection is not None:
        connection.set_source(new_node.out_port(new_port))


def replace_outputs(graph: Graph, edges: Mapping[Any, Any]) -> None:
    """The same for several ports, as a mapping from old to new ones."""
    for old, new in edges.items():
        replace_output(endpoint(graph, old, "a key of the edges of outputs"), endpoint(graph, new, "a value of the edges of outputs"))


def is_present(graph: Graph, node: GraphNode) -> bool:
    """Whether a node is still in its graph."""
    subject = node.subject
    op = subject if isinstance(subject, Operation) else subject.owner
    return isinstance(op, Operation) and op.parent is graph.block


def unneeded(graph: Graph, nodes: Iterable[GraphNode]) -> list[GraphNode]:
    """Those of some nodes that are still in the graph and that nothing else depends on."""
    members = dict.fromkeys(node for node in nodes if is_present(graph, node))
    needed: set[GraphNode] = set()
    pending = [node for node in members if any(taker not in members for taker in consumers(node))]
    while pending:
        node = pending.pop()
        if node in members and node not in needed:
            needed.add(node)
            pending.extend(producers(node))
    return [node for node in members if node not in needed]


def consumers(node: GraphNode) -> Iterator[GraphNode]:
    """The nodes that take tensors of a node."""
    for port in node.out_ports().values():
        yield from (destination.node for destination in port.get_destinations())


def producers(node: GraphNode) -> Iterator[GraphNode]:
    """The nodes that a node takes tensors of."""
    for port in node.in_ports().values():
        source = port.get_source()
        if source is not None:
            yield source.node
