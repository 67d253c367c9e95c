"""Functions of Model Optimizer before 2020 that became methods of a node or a graph (`graph.graph`, `utils.graph`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from moir.model_optimizer.block.edges import EdgeAttributes
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode


def insert_node_after(node: GraphNode, new_node: GraphNode, node_out_port: int = 0) -> None:
    """Insert a node with one input and one output between an output port and all its consumers."""
    node.insert_node_after(new_node, node_out_port)


def copy_node(src_node: GraphNode, new_attrs: Mapping[str, Any] | None = None, dst_graph: Graph | None = None) -> GraphNode:
    """A copy of a node without connections; `new_attrs` override its attributes."""
    return src_node.copy_node(new_attrs, dst_graph)


def get_inputs(graph: Graph, node: str, edge_attr: Mapping[str, int] | None = None) -> list[tuple[str, EdgeAttributes]]:
    """For each edge that ends in a node and has the given attributes: the id of the producer, the attributes."""
    wanted = (edge_attr or {}).items()
    return [entry for entry in GraphNode(graph, node).get_inputs() if wanted <= entry[1].items()]


def get_outputs(graph: Graph, node: str, edge_attr: Mapping[str, int] | None = None) -> list[tuple[str, EdgeAttributes]]:
    """For each edge that begins in a node and has the given attributes: the id of the consumer, the attributes."""
    return GraphNode(graph, node).get_outputs(edge_attr)


def get_sorted_inputs(node: GraphNode) -> list[tuple[str, EdgeAttributes]]:
    """The ids of the producers and the attributes of the edges, in the order of the input ports."""
    return node.get_sorted_inputs()


def get_sorted_outputs(node: GraphNode) -> list[tuple[str, EdgeAttributes]]:
    """The ids of the consumers and the attributes of the edges, in the order of the output ports."""
    return sorted(node.get_outputs(), key=lambda entry: entry[1].get("out", 0))


def get_inputs_with_ports(
    graph: Graph, match: Mapping[str, GraphNode], pattern_edges: Iterable[Sequence[Any]], input_names_in_pattern: Iterable[str]
) -> list[tuple[GraphNode, int]]:
    """For each of the named nodes of a match: the node, and the output port at which an edge of the pattern
    leaves it.
    """
    return graph.get_inputs_with_ports(match, pattern_edges, input_names_in_pattern)


def pseudo_topological_sort(graph: Graph, reverse: bool = False) -> list[GraphNode]:
    """The nodes in topological order, or in the opposite order with `reverse`."""
    return graph.topological_sort(reverse)
