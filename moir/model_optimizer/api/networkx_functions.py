"""The functions of networkx that old extensions use, where networkx is not installed.

A graph of moir has the methods of a networkx graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from moir.model_optimizer.graph.graph import Graph

MultiDiGraph = Graph
DiGraph = Graph


def get_node_attributes(graph: Graph, name: str) -> dict[str, Any]:
    """An attribute of all nodes that have it, by id."""
    return {node_id: attributes[name] for node_id, attributes in graph.nodes(data=True) if name in attributes}


def set_node_attributes(graph: Graph, values: Mapping[str, Any], name: str | None = None) -> None:
    """Set an attribute of nodes given by id; without a name, each value is a dictionary of attributes."""
    for node_id, value in values.items():
        graph.node[node_id].update(value if name is None else {name: value})


def topological_sort(graph: Graph) -> Iterator[str]:
    """The ids of the nodes, each behind those in front of it."""
    return iter([node.id for node in graph.topological_sort()])


def has_path(graph: Graph, source: str, target: str) -> bool:
    """Whether a node can be reached from another along edges."""
    return target in graph.dfs(source)
