"""More functions of networkx, for the case that it is not installed: orders, components, trees of searches,
predicates, attributes.

A graph of moir has the methods of a networkx graph. Nodes are given by their ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any

from moir.model_optimizer.api.graph.networkx_functions import (
    NetworkXUnfeasible,
    ancestors,
    bfs_edges,
    descendants,
    dfs_edges,
    is_directed_acyclic_graph,
)
from moir.model_optimizer.graph.graph import Graph


def lexicographical_topological_sort(G: Graph, key: Callable[[str], Any] | None = None) -> Iterator[str]:
    """The ids of the nodes in topological order; of the nodes that could follow, the one with the least key comes
    first.

    Raises NetworkXUnfeasible if the graph has a cycle.
    """
    ordered = {node: index for index, node in enumerate(G)}
    pending = {node: len(list(G.predecessors(node))) for node in G}
    ready = [(node if key is None else key(node), ordered[node], node) for node, count in pending.items() if count == 0]
    heapify(ready)
    sorted_count = 0
    while ready:
        node = heappop(ready)[-1]
        sorted_count += 1
        yield node
        for each in G.successors(node):
            pending[each] -= 1
            if pending[each] == 0:
                heappush(ready, (each if key is None else key(each), ordered[each], each))
    if sorted_count < len(ordered):
        raise NetworkXUnfeasible("the graph has a cycle")


def topological_generations(G: Graph) -> Iterator[list[str]]:
    """Lists of nodes: first those without predecessors, then those whose predecessors are in the lists before."""
    level: dict[str, int] = {}
    for node in lexicographical_topological_sort(G):
        level[node] = 1 + max((level[each] for each in G.predecessors(node)), default=-1)
    return iter([[node for node in level if level[node] == number] for number in range(1 + max(level.values(), default=-1))])


def dag_longest_path(G: Graph) -> list[str]:
    """The nodes of a longest path. Raises NetworkXUnfeasible if the graph has a cycle."""
    best: dict[str, list[str]] = {}
    for node in lexicographical_topological_sort(G):
        best[node] = [*max((best[each] for each in G.predecessors(node)), key=len, default=list[str]()), node]
    return max(best.values(), key=len, default=list[str]())


def dag_longest_path_length(G: Graph) -> int:
    """The number of edges of a longest path."""
    return max(len(dag_longest_path(G)) - 1, 0)


def weakly_connected_components(G: Graph) -> Iterator[set[str]]:
    """The sets of nodes that are connected, whatever the direction of the edges."""
    left = dict.fromkeys(G)
    while left:
        component, pending = set[str](), [next(iter(left))]
        while pending:
            node = pending.pop()
            if node not in component:
                component.add(node)
                del left[node]
                pending.extend((*G.successors(node), *G.predecessors(node)))
        yield component


def number_weakly_connected_components(G: Graph) -> int:
    """The number of weakly connected components."""
    return sum(1 for _ in weakly_connected_components(G))


def is_weakly_connected(G: Graph) -> bool:
    """Whether the graph has only one weakly connected component."""
    return number_weakly_connected_components(G) == 1


def strongly_connected_components(G: Graph) -> Iterator[set[str]]:
    """The sets of nodes that can be reached from each other."""
    seen = set[str]()
    for node in G:
        if node not in seen:
            component = {node} | (descendants(G, node) & ancestors(G, node))
            seen |= component
            yield component


def _children(edges: Iterator[tuple[str, str]]) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {}
    for parent, child in edges:
        children.setdefault(parent, []).append(child)
    return children


def bfs_successors(G: Graph, source: str) -> Iterator[tuple[str, list[str]]]:
    """The nodes that a breadth-first search finds from each node."""
    return iter(_children(bfs_edges(G, source)).items())


def bfs_predecessors(G: Graph, source: str) -> Iterator[tuple[str, str]]:
    """The nodes that a breadth-first search finds, each with the node from which it is found."""
    return ((child, parent) for parent, child in bfs_edges(G, source))


def dfs_successors(G: Graph, source: str) -> dict[str, list[str]]:
    """The nodes that a depth-first search finds from each node."""
    return _children(dfs_edges(G, source))


def dfs_predecessors(G: Graph, source: str) -> dict[str, str]:
    """The nodes that a depth-first search finds, each with the node from which it is found."""
    return {child: parent for parent, child in dfs_edges(G, source)}


def descendants_at_distance(G: Graph, source: str, distance: int) -> set[str]:
    """The nodes whose shortest path from a node has `distance` edges."""
    lengths = {source: 0}
    for parent, child in bfs_edges(G, source):
        lengths[child] = lengths[parent] + 1
    return {node for node, length in lengths.items() if length == distance}


def is_directed(G: Graph) -> bool:
    """Whether edges have a direction."""
    return G.is_directed()


def is_empty(G: Graph) -> bool:
    """Whether there is no edge."""
    return G.number_of_edges() == 0


def is_path(G: Graph, path: list[str]) -> bool:
    """Whether an edge leads from each node of a list to the next."""
    return all(G.has_edge(start, end) for start, end in pairwise(path))


def is_simple_path(G: Graph, nodes: list[str]) -> bool:
    """Whether a list of nodes is a path without a repeated node."""
    return bool(nodes) and len(set(nodes)) == len(nodes) and all(node in G for node in nodes) and is_path(G, nodes)


def is_isolate(G: Graph, n: str) -> bool:
    """Whether a node has no edge."""
    return G.degree[n] == 0


def isolates(G: Graph) -> Iterator[str]:
    """The nodes without an edge."""
    return (node for node in G if is_isolate(G, node))


def is_tree(G: Graph) -> bool:
    """Whether the graph is connected, and has one edge less than nodes."""
    return is_weakly_connected(G) and G.number_of_edges() == len(G) - 1


def is_arborescence(G: Graph) -> bool:
    """Whether the graph is a tree in which each node has one predecessor at most."""
    return is_tree(G) and is_directed_acyclic_graph(G) and all(count <= 1 for _, count in G.in_degree)


def neighbors(G: Graph, n: str) -> Iterator[str]:
    """The nodes after a node."""
    return G.neighbors(n)


def all_neighbors(G: Graph, node: str) -> Iterator[str]:
    """The nodes before a node, then those after it."""
    return iter([*G.predecessors(node), *G.successors(node)])


def number_of_nodes(G: Graph) -> int:
    """How many nodes there are."""
    return G.number_of_nodes()


def number_of_edges(G: Graph) -> int:
    """How many edges there are."""
    return G.number_of_edges()


def nodes(G: Graph) -> Any:
    """The nodes."""
    return G.nodes


def edges(G: Graph, nbunch: Any = None) -> Any:
    """The edges, or those that begin in some nodes."""
    return G.edges if nbunch is None else G.edges(nbunch)


def get_edge_attributes(G: Graph, name: str) -> dict[tuple[str, str, int], Any]:
    """An attribute of all edges that have it, by the ids of their ends and their number."""
    values: dict[tuple[str, str, int], Any] = {}
    for start, neighbours in G.adj.items():
        for end, between in neighbours.items():
            values.update({(start, end, number): attributes[name] for number, attributes in between.items() if name in attributes})
    return values
