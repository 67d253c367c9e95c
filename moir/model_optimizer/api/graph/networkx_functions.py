"""The functions of networkx that old extensions use, where networkx is not installed.

A graph of moir has the methods of a networkx graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from moir.errors import ConversionError
from moir.model_optimizer.graph.graph import Graph

MultiDiGraph = Graph
DiGraph = Graph


def get_node_attributes(G: Graph, name: str) -> dict[str, Any]:
    """An attribute of all nodes that have it, by id."""
    return {node_id: attributes[name] for node_id, attributes in G.nodes(data=True) if name in attributes}


def set_node_attributes(G: Graph, values: Mapping[str, Any], name: str | None = None) -> None:
    """Set an attribute of nodes given by id; without a name, each value is a dictionary of attributes."""
    for node_id, value in values.items():
        G.node[node_id].update(value if name is None else {name: value})


def topological_sort(G: Graph) -> Iterator[str]:
    """The ids of the nodes, each behind those in front of it."""
    return iter([node.id for node in G.topological_sort()])


def has_path(G: Graph, source: str, target: str) -> bool:
    """Whether a node can be reached from another along edges."""
    return target in G.dfs(source)


class NetworkXNoCycle(Exception):
    """There is no cycle."""


class NetworkXUnfeasible(Exception):
    """There is a cycle."""


def is_directed_acyclic_graph(G: Graph) -> bool:
    """Whether the graph has no cycle."""
    try:
        G.topological_sort()
    except ConversionError:
        return False
    return True


def find_cycle(G: Graph, source: str | None = None) -> list[tuple[str, str]]:
    """The edges of a cycle, as pairs of ids; one that can be reached from `source`, if that is given.

    Raises NetworkXNoCycle if there is none.
    """
    finished: set[str] = set()
    for start in list(G) if source is None else [source]:
        path: dict[str, Any] = {start: G.successors(start)}
        while path:
            current = next(reversed(path))
            following = next((each for each in path[current] if each not in finished), None)
            if following is None:
                finished.add(current)
                del path[current]
            elif following in path:
                nodes = list(path)
                cycle = [*nodes[nodes.index(following) :], following]
                return list(pairwise(cycle))
            else:
                path[following] = G.successors(following)
    raise NetworkXNoCycle("the graph has no cycle")
