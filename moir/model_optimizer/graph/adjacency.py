"""The interface of a graph that functions of networkx use, and the class by which they recognize it.

    isinstance(graph, networkx.MultiDiGraph)        list(networkx.topological_sort(graph))

networkx need not be installed, and is not imported here. If an extension has imported it, the class of a graph appears
to derive from its MultiDiGraph, and nodes, neighbours, edges and degrees have the same interface.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

from moir.errors import ConversionError
from moir.model_optimizer.block.view import BlockView

Edges: TypeAlias = dict[int, dict[str, Any]]
"""The attributes of the edges between two nodes, by their numbers."""


def networkx_class() -> type[Any] | None:
    """The MultiDiGraph of networkx, if it has been imported; None otherwise."""
    class_: Any = getattr(sys.modules.get("networkx"), "MultiDiGraph", BlockView)
    return None if issubclass(class_, BlockView) else class_


@cache
def _joined(graph: type, networkx: type) -> type:
    # It has no instances, and only serves `issubclass`.
    return type(graph.__name__, (graph, networkx), {"__module__": graph.__module__})


class Adjacency(Mapping[str, dict[str, Edges]]):
    """The neighbours of nodes by id: `graph.adj[node][other][0]` are the attributes of an edge.

    Args:
        graph: the graph.
        of: the function that returns the edges of a node with their attributes.
        place: which end of an edge the neighbour is, 0 or 1.
    """

    def __init__(self, graph: Mapping[str, Any] | Any, of: Callable[[str], Iterable[tuple[Any, ...]]], place: int) -> None:
        self._graph, self._of, self._place = graph, of, place

    def __getitem__(self, node_id: str) -> dict[str, Edges]:
        if node_id not in self._graph:
            raise KeyError(node_id)
        neighbours: dict[str, Edges] = {}
        for edge in self._of(node_id):
            edges = neighbours.setdefault(edge[self._place], {})
            edges[len(edges)] = edge[2]
        return neighbours

    def __iter__(self) -> Iterator[str]:
        return iter(self._graph)

    def __len__(self) -> int:
        return len(self._graph)


class Degrees:
    """The numbers of edges of nodes: `graph.in_degree[node]`, `graph.in_degree(node)`, pairs when iterated."""

    def __init__(self, *sides: Adjacency) -> None:
        self._sides = sides

    def __getitem__(self, node_id: str) -> int:
        return sum(len(edges) for side in self._sides for edges in side[node_id].values())

    def __call__(self, nodes: str | Iterable[str] | None = None, weight: object = None) -> Any:
        """The number of edges of one node, or pairs of id and number for several nodes."""
        if isinstance(nodes, str):
            return self[nodes]
        return self if nodes is None else [(node, self[node]) for node in nodes]

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return ((node, self[node]) for node in self._sides[0])

    def __len__(self) -> int:
        return len(self._sides[0])


class AdjacencyGraph(BlockView):
    """A view of a block with the interface that functions of networkx use."""

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The class of the graph; if networkx has been imported, a class derived from its MultiDiGraph, for
        `isinstance`.
        """
        networkx = networkx_class()
        return type(self) if networkx is None else _joined(type(self), networkx)

    @__class__.setter
    def __class__(self, value: type) -> None:
        raise TypeError("the class of a graph cannot be changed")

    @property
    def nodes(self) -> Mapping[str, Any]:
        """The attributes of the nodes by id."""
        raise NotImplementedError

    def in_edges(self, node_id: Any = None, data: bool = False, keys: bool = False) -> list[Any]:
        """The edges that end in a node, or all."""
        raise NotImplementedError

    def out_edges(self, node_id: Any = None, data: bool = False, keys: bool = False) -> list[Any]:
        """The edges that begin in a node, or all."""
        raise NotImplementedError

    @staticmethod
    def is_directed() -> bool:
        """True: edges have a direction."""
        return True

    @staticmethod
    def is_multigraph() -> bool:
        """True: several edges may connect two nodes."""
        return True

    @property
    def adj(self) -> Adjacency:
        """The nodes after each node (its consumers), by id."""
        return Adjacency(self, lambda node: self.out_edges(node, data=True), 1)

    succ = _adj = _succ = adj

    @property
    def pred(self) -> Adjacency:
        """The nodes before each node (its producers), by id."""
        return Adjacency(self, lambda node: self.in_edges(node, data=True), 0)

    _pred = pred

    def __getitem__(self, node_id: str) -> dict[str, Edges]:
        return self.adj[node_id]

    def neighbors(self, node_id: str) -> Iterator[str]:
        """The ids of the nodes after a node, each once."""
        return iter(self.adj[node_id])

    @property
    def in_degree(self) -> Degrees:
        """The numbers of edges that end in nodes."""
        return Degrees(self.pred)

    @property
    def out_degree(self) -> Degrees:
        """The numbers of edges that begin in nodes."""
        return Degrees(self.adj)

    @property
    def degree(self) -> Degrees:
        """The numbers of edges of nodes."""
        return Degrees(self.adj, self.pred)

    def nbunch_iter(self, nbunch: str | Iterable[str] | None = None) -> Iterator[str]:
        """The given ids that are ids of nodes; all ids by default."""
        known = list(self.adj)
        if nbunch is None:
            return iter(known)
        return iter([node for node in ([nbunch] if isinstance(nbunch, str) else nbunch) if node in set(known)])

    def order(self) -> int:
        """How many nodes there are."""
        return len(self.adj)

    def number_of_edges(self, u: str | None = None, v: str | None = None) -> int:
        """The number of all edges, or of those between two nodes."""
        return len(self.out_edges()) if u is None or v is None else len(self.adj[u].get(v, {}))

    size = number_of_edges

    def copied(self, nodes: Iterable[str] | None = None) -> Any:
        """A graph of networkx of these nodes, by default all, with copies of their attributes.

        Raises ConversionError if networkx has not been imported.
        """
        networkx = networkx_class()
        if networkx is None:
            raise ConversionError("a copy of a graph is one of networkx, which is not installed", hint="install networkx")
        kept = list(self.nbunch_iter(nodes))
        made: Any = networkx()
        made.graph.update(self.graph)
        made.add_nodes_from((node, dict(self.nodes[node])) for node in kept)
        made.add_edges_from(edge for edge in self.out_edges(data=True) if edge[0] in set(kept) and edge[1] in set(kept))
        return made

    def subgraph(self, nodes: Iterable[str]) -> Any:
        """A graph of networkx of some nodes, see `copied`."""
        return self.copied(nodes)

    def reverse(self, copy: bool = True) -> Any:
        """A graph of networkx whose edges have the other direction."""
        return self.copied().reverse(copy)

    def to_undirected(self, **options: Any) -> Any:
        """A graph of networkx whose edges have no direction."""
        return self.copied().to_undirected(**options)

    def to_directed(self, **options: Any) -> Any:
        """The same as `copied`, as a graph of networkx."""
        return self.copied().to_directed(**options)
