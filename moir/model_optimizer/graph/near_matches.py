"""Why a pattern matches nothing: the step at which the best candidate fails.

softmax matches node 'probabilities' and data its output, then log fails: node 'mul' has op 'Mul', not 'Log'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from xdsl.ir import Operation

from moir.dialects.python_object import python_entries
from moir.model_optimizer.block.edges import Vertex
from moir.model_optimizer.block.operation_names import op_names
from moir.model_optimizer.block.sentinels import nodes_of
from moir.model_optimizer.block.view import BlockView
from moir.model_optimizer.graph.matching import Alias, Search, SubgraphPattern, pattern_of, value_matches
from moir.model_optimizer.graph.node import GraphNode
from moir.support.suggestions import did_you_mean


class _FailingSearch(Search):
    """A search that records the largest partial match, and the node at which it failed."""

    def __init__(self, graph: BlockView, pattern: SubgraphPattern) -> None:
        super().__init__(graph, pattern, induced=True)
        self.matched: dict[Alias, Vertex] = {}
        self.failed: tuple[Alias, Vertex | None] | None = None

    def _note(self, alias: Alias, vertex: Vertex | None, match: Mapping[Alias, Vertex]) -> None:
        if self.failed is None or len(match) > len(self.matched):
            self.matched, self.failed = dict(match), (alias, vertex)

    def _is_possible(self, alias: Alias, vertex: Vertex, match: Mapping[Alias, Vertex]) -> bool:
        is_possible = super()._is_possible(alias, vertex, match)
        if not is_possible:
            self._note(alias, vertex, match)
        return is_possible

    def _choices(self, alias: Alias, match: Mapping[Alias, Vertex], candidates: Mapping[Alias, Sequence[Vertex]]) -> Sequence[Vertex]:
        choices = super()._choices(alias, match, candidates)
        if not choices:
            self._note(alias, None, match)
        return choices

    def reason(self, alias: Alias, vertex: Vertex | None) -> str:
        """Why the node `vertex` cannot stand for an alias, given the nodes that are matched already; a clause for a
        message.
        """
        if vertex is None:
            return "nothing is connected there"
        node = GraphNode.of(self.graph, vertex)
        for name, expected in self.pattern.attributes[alias].items():
            if not value_matches(node, name, expected):
                present = node.soft_get(name, None)
                wanted = "which its condition refuses" if callable(expected) and not isinstance(expected, type) else f"not {expected!r}"
                return f"node {node.id!r} has {name} = {present!r}, {wanted}"
        for other, matched in self.matched.items():
            if matched is vertex:
                return f"node {node.id!r} is matched by {other} already"
            for pair, (start, end) in (((alias, other), (vertex, matched)), ((other, alias), (matched, vertex))):
                if not self._edges_fit(*pair, start, end):
                    return self._misfit(pair, start, end)
        return f"node {node.id!r} has other edges"

    def _misfit(self, pair: tuple[Alias, Alias], start: Vertex, end: Vertex) -> str:
        """Why the edges between two nodes differ from those of the pattern between two aliases; a clause for a
        message.
        """
        ends = " from {!r} to {!r}".format(*(GraphNode.of(self.graph, each).id for each in (start, end)))
        listed = self.pattern.between.get(pair)
        if not listed:
            return f"there is an edge that the pattern does not have{ends}"
        edges = [edge for other, edge in self.graph.outgoing(start) if other is end]
        if not edges:
            return f"there is no edge{ends}"
        if len(edges) != len(listed):
            return f"there are {len(edges)} edges{ends}, and {len(listed)} in the pattern, which must list them all"
        return f"the edge{ends} has {_shown(edges)}, not {_shown(listed)}"


def _shown(edges: Iterable[Mapping[str, Any]]) -> str:
    return " and ".join(", ".join(f"{key} = {value}" for key, value in edge.items()) for edge in edges)


def failing_step(graph: BlockView, nodes: Iterable[Any], edges: Iterable[Any]) -> tuple[Operation | None, str] | None:
    """Where the longest partial match of a pattern fails: its first operation, and a clause; None if the pattern
    matches.
    """
    pattern = pattern_of(nodes, edges)
    for alias, attributes in pattern.attributes.items():
        op = attributes.get("op")
        if isinstance(op, str) and not graph.operations_named(op):
            present = {name for each in nodes_of(graph.block) for name in op_names(each, python_entries(each))}
            near = did_you_mean(op, present)
            return None, f"{alias} fails: no node has op {op!r}{f'; {near}' if near else ''}"
    search = _FailingSearch(graph, pattern)
    if next(search.matches(), None) is not None or search.failed is None:
        return None
    alias, vertex = search.failed
    matched = ", ".join(f"{each} matches {GraphNode.of(graph, matched_node).id!r}" for each, matched_node in search.matched.items())
    root = next((matched_node for matched_node in search.matched.values() if isinstance(matched_node, Operation)), None)
    return root, f"{f'{matched}, then ' if matched else ''}{alias} fails: {search.reason(alias, vertex)}"
