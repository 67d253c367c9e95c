"""Subgraph isomorphism: the matches of a pattern of nodes and edges in a graph.

    nodes = [("mul", {"op": "Mul"}), ("tanh", {"op": "Tanh"}), ("softplus", {"op": "SoftPlus"})]
    edges = [("softplus", "tanh"), ("tanh", "mul", {"in": 1})]
    for match in find_subgraph_matches(graph, nodes, edges):
        match["mul"]

A value in a pattern is compared with the attribute of the node (arrays element by element, a missing attribute as
None), or it is a predicate of the attribute. The matched nodes have between them the edges of the pattern and no
others.

The search starts at the node of the pattern with the fewest candidates by name, and goes on along edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.ir import Operation

from moir.dialects.python_object import python_entries
from moir.errors import ConversionError
from moir.model_optimizer.block.edges import EdgeAttributes, Vertex
from moir.model_optimizer.block.operation_names import op_names
from moir.model_optimizer.block.sentinels import nodes_of
from moir.model_optimizer.block.view import BlockView
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.normal_inputs import normalise

Alias: TypeAlias = str
NodeMatch: TypeAlias = dict[Alias, GraphNode]
Edge: TypeAlias = tuple[Alias, Alias, Mapping[str, Any]]


def equal(value: Any, expected: Any) -> bool:
    """Whether the value of an attribute equals `expected` or, if that is a predicate, fulfils it."""
    if callable(expected) and not isinstance(expected, type):
        return bool(expected(value))
    if isinstance(value, np.ndarray) or isinstance(expected, np.ndarray):
        if value is None or expected is None:
            return False
        a, b = np.asarray(cast(Any, value)), np.asarray(cast(Any, expected))
        return a.shape == b.shape and bool(np.all(a == b))
    if isinstance(value, bytes) and isinstance(expected, str):
        return value == expected.encode()
    return bool(value == expected)


def value_matches(node: GraphNode, key: str, expected: Any) -> bool:
    """Whether an attribute of a node has the expected value; for the attribute `op`, any of the operation's `op_names`
    may be expected.
    """
    if key == "op" and isinstance(node.subject, Operation):
        names = op_names(node.subject, python_entries(node.subject))
        return any(equal(name, expected) for name in names)
    return equal(node.soft_get(key, None), expected)


@dataclass
class SubgraphPattern:
    """A pattern: the attributes of each of its nodes, by alias, and its edges.

    Raises ConversionError for an alias that occurs twice, or that only an edge has.
    """

    nodes: Sequence[tuple[Alias, Mapping[str, Any]]]
    edges: Sequence[Edge]
    attributes: dict[Alias, Mapping[str, Any]] = field(init=False)
    by_alias: dict[Alias, list[Edge]] = field(init=False)
    between: dict[tuple[Alias, Alias], list[Mapping[str, Any]]] = field(init=False)

    def __post_init__(self) -> None:
        self.attributes = dict(self.nodes)
        if len(self.attributes) != len(self.nodes) or not self.nodes:
            raise ConversionError("a pattern has at least one node, and each of its nodes another alias")
        self.by_alias = {alias: [] for alias in self.attributes}
        self.between = {}
        for edge in self.edges:
            for alias in edge[:2]:
                if alias not in self.attributes:
                    raise ConversionError(f"an edge of the pattern refers to a node {alias!r} that the pattern does not have")
            self.by_alias[edge[0]].append(edge)
            self.between.setdefault(edge[:2], []).append(edge[2])
            if edge[1] != edge[0]:
                self.by_alias[edge[1]].append(edge)

    def classes(self) -> dict[Alias, int]:
        """A number for each alias. Aliases of equal attributes have equal numbers."""
        distinct: list[Mapping[str, Any]] = []
        numbers: dict[Alias, int] = {}
        for alias, attributes in self.attributes.items():
            number = next((index for index, other in enumerate(distinct) if _same_attributes(attributes, other)), len(distinct))
            if number == len(distinct):
                distinct.append(attributes)
            numbers[alias] = number
        return numbers


def _same_attributes(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    return a.keys() == b.keys() and all(
        a[key] is b[key] or (not callable(a[key]) and not callable(b[key]) and equal(a[key], b[key])) for key in a
    )


def pattern_of(nodes: Iterable[Any], edges: Iterable[Any]) -> SubgraphPattern:
    """The pattern that an extension's `pattern()` returns.

    Raises ConversionError for entries of another form.
    """
    try:
        parsed_nodes: list[tuple[Alias, Mapping[str, Any]]] = [
            (entry, dict[str, Any]()) if isinstance(entry, str) else (entry[0], dict(entry[1])) for entry in nodes
        ]
        parsed_edges = [(edge[0], edge[1], dict(edge[2]) if len(edge) > 2 else {}) for edge in edges]
    except (TypeError, ValueError, IndexError, KeyError) as error:
        raise ConversionError(
            "a pattern is made of nodes (alias, attributes) and edges (alias, alias) or (alias, alias, attributes)"
        ) from error
    return SubgraphPattern(parsed_nodes, parsed_edges)


class Search:
    """The search for one pattern in one graph.

    Args:
        graph: the graph, which must not change during the search.
        pattern: the pattern.
        induced: whether edges between matched nodes that are not in the pattern prevent a match.
    """

    def __init__(self, graph: BlockView, pattern: SubgraphPattern, induced: bool) -> None:
        self.graph = graph
        self.pattern = pattern
        self.induced = induced
        self.with_data = graph.has_data_nodes
        self._fits: dict[tuple[Alias, Vertex], bool] = {}
        self._edges: dict[Vertex, dict[Vertex, list[EdgeAttributes]]] = {}

    def matches(self) -> Iterator[dict[Alias, Vertex]]:
        """All matches, without those that only exchange nodes of equal attributes."""
        self._normalise_inputs()
        candidates = {alias: self._roots(alias) for alias in self.pattern.attributes}
        if not all(candidates.values()):
            return
        order = self._search_order(candidates)
        classes = self.pattern.classes()
        seen: set[frozenset[tuple[int, Vertex]]] = set()
        for match in self._extend({}, order, candidates):
            key = frozenset((classes[alias], vertex) for alias, vertex in match.items())
            if key not in seen:
                seen.add(key)
                yield {alias: match[alias] for alias in self.pattern.attributes}

    def _normalise_inputs(self) -> None:
        """Turn attributes of operations of older operation sets into inputs, if edges of the pattern end at such
        inputs.
        """
        if self.graph.stage != "front":
            return
        for _, alias, wanted in self.pattern.edges:
            if wanted.get("in") and isinstance(self.pattern.attributes[alias].get("op"), str):
                for vertex in list(self._roots(alias)):
                    if isinstance(vertex, Operation):
                        normalise(self.graph, vertex)

    def _roots(self, alias: Alias) -> Sequence[Vertex]:
        """The operations and tensors that have the kind and the `op` of a node of the pattern; other attributes are not
        compared.
        """
        attributes = self.pattern.attributes[alias]
        if attributes.get("kind") == "data":
            return [result for op in nodes_of(self.graph.block) for result in op.results] if self.with_data else []
        name = attributes.get("op")
        if isinstance(name, str):
            return self.graph.operations_named(name)
        operations: list[Vertex] = list(nodes_of(self.graph.block))
        if self.with_data and "kind" not in attributes:
            operations += [result for op in nodes_of(self.graph.block) for result in op.results]
        return operations

    def _search_order(self, candidates: Mapping[Alias, Sequence[Vertex]]) -> list[Alias]:
        """The aliases in the order they are matched: fewest candidates first, then along edges, producers first."""
        remaining = list(self.pattern.attributes)
        order: list[Alias] = []
        while remaining:
            backwards = [
                alias for alias in remaining if any(edge[0] == alias and edge[1] in order for edge in self.pattern.by_alias[alias])
            ]
            forwards = [alias for alias in remaining if any(edge[0] in order for edge in self.pattern.by_alias[alias])]
            chosen = min(backwards or forwards or remaining, key=lambda alias: len(candidates[alias]))
            order.append(chosen)
            remaining.remove(chosen)
        return order

    def _extend(
        self, match: dict[Alias, Vertex], order: Sequence[Alias], candidates: Mapping[Alias, Sequence[Vertex]]
    ) -> Iterator[dict[Alias, Vertex]]:
        """All matches that extend a partial match, found depth first."""
        stack = [iter(self._choices(order[0], match, candidates))]
        while stack:
            alias = order[len(stack) - 1]
            match.pop(alias, None)
            vertex = next(stack[-1], None)
            if vertex is None:
                stack.pop()
                continue
            if not self._is_possible(alias, vertex, match):
                continue
            match[alias] = vertex
            if len(match) == len(order):
                yield dict(match)
            else:
                stack.append(iter(self._choices(order[len(stack)], match, candidates)))

    def _choices(self, alias: Alias, match: Mapping[Alias, Vertex], candidates: Mapping[Alias, Sequence[Vertex]]) -> Sequence[Vertex]:
        """The candidates for the next alias in `order`: if the pattern has an edge between it and a matched node,
        neighbours of that node.
        """
        for source, destination, wanted in self.pattern.by_alias[alias]:
            if source == alias and destination in match:
                sources = self._sources(match[destination])
                return [vertex for vertex, edges in sources.items() if any(_edge_fits(edge, wanted) for edge in edges)]
        for source, _, wanted in self.pattern.by_alias[alias]:
            if source in match:
                return list(dict.fromkeys(vertex for vertex, edge in self.graph.outgoing(match[source]) if _edge_fits(edge, wanted)))
        return candidates[alias]

    def _sources(self, vertex: Vertex) -> dict[Vertex, list[EdgeAttributes]]:
        """The attributes of the edges that end in a node, by their producer, in the order of the input ports."""
        edges = self._edges.get(vertex)
        if edges is None:
            edges = self._edges[vertex] = {}
            for source, edge in self.graph.incoming(vertex):
                edges.setdefault(source, []).append(edge)
        return edges

    def _is_possible(self, alias: Alias, vertex: Vertex, match: Mapping[Alias, Vertex]) -> bool:
        if any(vertex is other for other in match.values()) or not self._fits_alias(alias, vertex):
            return False
        if not self._edges_fit(alias, alias, vertex, vertex):
            return False
        for other_alias, other in match.items():
            if not self._edges_fit(alias, other_alias, vertex, other) or not self._edges_fit(other_alias, alias, other, vertex):
                return False
        return True

    def _edges_fit(self, source_alias: Alias, destination_alias: Alias, source: Vertex, destination: Vertex) -> bool:
        """Whether the graph has the edges between two nodes that the pattern requires; for an induced match, it must
        have no other edges.
        """
        wanted = self.pattern.between.get((source_alias, destination_alias))
        if wanted is None and not self.induced:
            return True
        present = self._sources(destination).get(source)
        if wanted is None or present is None:
            return wanted is present
        if len(present) < len(wanted) or (self.induced and len(present) > len(wanted)):
            return False
        return _assignable(wanted, present)

    def _fits_alias(self, alias: Alias, vertex: Vertex) -> bool:
        key = (alias, vertex)
        fits = self._fits.get(key)
        if fits is None:
            node = GraphNode.of(self.graph, vertex)
            # Predicates are called with values of the kind of node they are meant for: names are compared first.
            attributes = sorted(self.pattern.attributes[alias].items(), key=lambda entry: (entry[0] != "kind", callable(entry[1])))
            fits = self._fits[key] = all(value_matches(node, name, expected) for name, expected in attributes)
        return fits


def _edge_fits(edge: EdgeAttributes, wanted: Mapping[str, Any]) -> bool:
    return all(equal(edge.get(key), expected) for key, expected in wanted.items())


def _assignable(wanted: Sequence[Mapping[str, Any]], present: Sequence[EdgeAttributes]) -> bool:
    """Whether the edges of the pattern can be assigned to different edges present, by bipartite matching."""
    if len(wanted) == len(present) == 1:
        return _edge_fits(present[0], wanted[0])
    holder: dict[int, int] = {}

    def place(index: int, tried: set[int]) -> bool:
        for number, edge in enumerate(present):
            if number not in tried and _edge_fits(edge, wanted[index]):
                tried.add(number)
                if number not in holder or place(holder[number], tried):
                    holder[number] = index
                    return True
        return False

    return all(place(index, set()) for index in range(len(wanted)))


def find_subgraph_matches(graph: BlockView, nodes: Iterable[Any], edges: Iterable[Any], *, induced: bool = True) -> list[NodeMatch]:
    """The matches of a pattern, in the order of the block of the node that is matched first.

    Args:
        graph: the graph.
        nodes: `(alias, attributes)` each.
        edges: `(alias, alias)` or `(alias, alias, attributes)` each, from the node that computes a tensor to the node
            that takes it.
        induced: edges between matched nodes that the pattern does not have prevent a match.

    Raises ConversionError if that is not a pattern. Matches may overlap; of those that only exchange nodes of equal
    attributes one is reported.
    """
    search = Search(graph, pattern_of(nodes, edges), induced)
    return [{alias: GraphNode.of(graph, vertex) for alias, vertex in match.items()} for match in search.matches()]
