"""Functions of Model Optimizer that find patterns and visit bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from moir.model_optimizer.api.transformations.endpoints import consumers
from moir.model_optimizer.api.transformations.replacement import apply_to_matches
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.matching import find_subgraph_matches
from moir.model_optimizer.graph.node import GraphNode


def apply_pattern(
    graph: Graph,
    nodes: Iterable[Any],
    edges: Iterable[Any],
    action: Callable[[Graph, dict[str, GraphNode]], None],
    **_ignored: Any,
) -> None:
    """Find all matches of a pattern, then run an action on each match whose nodes all still exist.

    `node_attrs` and `edge_attrs` are accepted and have no effect.
    """
    apply_to_matches(graph, {"nodes": nodes, "edges": edges}, action, getattr(action, "__qualname__", "an action"))


def find_pattern_matches(graph: Graph, nodes: Iterable[Any], edges: Iterable[Any], **_ignored: Any) -> Iterator[dict[str, str]]:
    """The matches of a pattern, as mappings from ids of nodes to aliases."""
    for match in find_subgraph_matches(graph, nodes, edges):
        yield {node.id: alias for alias, node in match.items()}


def inverse_dict(mapping: Mapping[Any, Any]) -> dict[Any, Any]:
    """The inverse of a mapping: from its values to its keys."""
    return {value: key for key, value in mapping.items()}


def for_each_sub_graph(graph: Graph, func: Callable[[Graph], Any]) -> None:
    """Call a function with the graph of each body of an operation in a graph."""
    for body in graph.body_graphs():
        func(body)


def for_each_sub_graph_recursively(graph: Graph, func: Callable[[Graph], Any]) -> None:
    """Call a function with the graph of each body in a graph, and of the bodies in bodies."""
    for body in graph.body_graphs():
        func(body)
        for_each_sub_graph_recursively(body, func)


def for_graph_and_each_sub_graph_recursively(graph: Graph, func: Callable[[Graph], Any]) -> None:
    """Call a function with a graph, then with the graphs of all bodies in it."""
    func(graph)
    for_each_sub_graph_recursively(graph, func)


def check_node_usages_out_of_match(match: Mapping[str, GraphNode], node_name_in_match_group: str) -> bool:
    """Whether all consumers of a matched node are matched nodes."""
    node = match[node_name_in_match_group]
    users = node.out_nodes() if node.is_data else consumers(node)
    return set(users) <= set(match.values())


def find_isomorphisms(graph: Graph, nodes: Iterable[Any], edges: Iterable[Any]) -> list[dict[str, GraphNode]]:
    """The matches of a pattern that has all nodes of a graph, as mappings from aliases to nodes."""
    entries = list(nodes)
    return find_subgraph_matches(graph, entries, edges) if len(graph) == len(entries) else []


def check_value(v: Any, check: Callable[[Any], Any]) -> bool:
    """Whether `v` is not None, has no complex numbers, and fulfils the condition `check`."""
    return v is not None and not np.iscomplex(np.asarray(v)).any() and bool(check(v))
