"""Functions of networkx that extensions use, for the case that networkx is not installed.

A graph of moir has the methods of a networkx graph. Nodes are given by their ids.
"""

from __future__ import annotations

from collections import deque
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
    """The ids of the nodes in topological order."""
    return iter([node.id for node in G.topological_sort()])


def has_path(G: Graph, source: str, target: str) -> bool:
    """Whether a node can be reached from another along edges."""
    return target in G.dfs(source)


class NetworkXException(Exception):
    """The base class of networkx' exceptions."""


class NetworkXError(NetworkXException):
    """A node is not in the graph."""


class NetworkXNoPath(NetworkXException):
    """There is no path between two nodes."""


class NetworkXNoCycle(NetworkXException):
    """There is no cycle."""


class NetworkXUnfeasible(NetworkXException):
    """There is a cycle."""


def _neighbours(G: Graph, node: str, *, reverse: bool = False) -> list[str]:
    """The nodes after a node, or before it, each once."""
    return list(dict.fromkeys(G.predecessors(node) if reverse else G.successors(node)))


def _check(G: Graph, *nodes: str) -> None:
    for node in nodes:
        if node not in G:
            raise NetworkXError(f"the graph has no node {node!r}")


def bfs_edges(G: Graph, source: str, reverse: bool = False) -> Iterator[tuple[str, str]]:
    """The edges by which a breadth-first search from a node finds the others; with `reverse` against the edges.

    Raises NetworkXError for a node that is not in the graph.
    """
    _check(G, source)
    reached, pending = {source}, deque((source,))
    while pending:
        node = pending.popleft()
        for each in _neighbours(G, node, reverse=reverse):
            if each not in reached:
                reached.add(each)
                pending.append(each)
                yield node, each


def descendants(G: Graph, source: str) -> set[str]:
    """The nodes that can be reached from a node. Raises NetworkXError for a node that is not in the graph."""
    return {node for _, node in bfs_edges(G, source)}


def ancestors(G: Graph, source: str) -> set[str]:
    """The nodes from which a node can be reached. Raises NetworkXError for a node that is not in the graph."""
    return {node for _, node in bfs_edges(G, source, reverse=True)}


def shortest_path(G: Graph, source: str, target: str) -> list[str]:
    """The nodes of a shortest path from one node to another.

    Raises NetworkXError for a node that is not in the graph, NetworkXNoPath if there is no path.
    """
    _check(G, source, target)
    before = {node: previous for previous, node in bfs_edges(G, source)}
    path = [target]
    while path[-1] != source:
        if path[-1] not in before:
            raise NetworkXNoPath(f"no path leads from {source!r} to {target!r}")
        path.append(before[path[-1]])
    return path[::-1]


def shortest_path_length(G: Graph, source: str, target: str) -> int:
    """The number of edges of a shortest path. Raises the errors of `shortest_path`."""
    return len(shortest_path(G, source, target)) - 1


def all_simple_paths(G: Graph, source: str, target: str, cutoff: int | None = None) -> Iterator[list[str]]:
    """The paths from one node to another without a repeated node, of at most `cutoff` edges.

    Raises NetworkXError for a node that is not in the graph.
    """
    _check(G, source, target)
    longest = len(G) - 1 if cutoff is None else cutoff
    path: dict[str, Iterator[str]] = {source: iter(_neighbours(G, source))}
    while path and source != target:
        following = next(next(reversed(path.values())), None)
        if following is None:
            path.popitem()
        elif following in path or len(path) > longest:
            continue
        elif following == target:
            yield [*path, target]
        else:
            path[following] = iter(_neighbours(G, following))


def dfs_edges(G: Graph, source: str) -> Iterator[tuple[str, str]]:
    """The edges by which a depth-first search from a node finds the others.

    Raises NetworkXError for a node that is not in the graph.
    """
    _check(G, source)
    reached = {source}
    path: dict[str, Iterator[str]] = {source: iter(_neighbours(G, source))}
    while path:
        node = next(reversed(path))
        following = next((each for each in path[node] if each not in reached), None)
        if following is None:
            del path[node]
            continue
        reached.add(following)
        path[following] = iter(_neighbours(G, following))
        yield node, following


def dfs_preorder_nodes(G: Graph, source: str) -> Iterator[str]:
    """The nodes that a depth-first search from a node finds, that node first. Raises the errors of `dfs_edges`."""
    _check(G, source)
    return iter([source, *(node for _, node in dfs_edges(G, source))])


def dfs_postorder_nodes(G: Graph, source: str) -> Iterator[str]:
    """The nodes that a depth-first search from a node finds, each after those found from it."""
    path, reached = [source], list[str]()
    for previous, node in dfs_edges(G, source):
        while path[-1] != previous:
            reached.append(path.pop())
        path.append(node)
    return iter([*reached, *reversed(path)])


def is_directed_acyclic_graph(G: Graph) -> bool:
    """Whether the graph has no cycle."""
    try:
        G.topological_sort()
    except ConversionError:
        return False
    return True


def find_cycle(G: Graph, source: str | None = None) -> list[tuple[str, str]]:
    """The edges of a cycle, as pairs of ids; if `source` is given, of a cycle that can be reached from it.

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
