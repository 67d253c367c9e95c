"""Searches along the edges of a graph, by ids of nodes (Model Optimizer's `utils.graph`)."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import overload

from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode

ExtraStart = Callable[[GraphNode], bool]
"""A function that returns whether a node is a further start of a sub-graph, at which the search ends."""


def backward_bfs_for_operation(start_node: GraphNode, op_names: Sequence[str], skip_op_list: Sequence[str] = ()) -> list[GraphNode]:
    """The operations before a node whose `op` is in a list, on each path the nearest one.

    Paths end at an operation of `skip_op_list`, and at tensors whose value is known.
    """
    nearest: dict[str, GraphNode] = {}
    wanted, ends, seen = set(op_names), set(skip_op_list), set[str]()
    pending = deque([start_node])
    while pending:
        for name, _ in pending.popleft().get_sorted_inputs():
            node = GraphNode(start_node.graph, name)
            if node.is_data:
                if node.has_valid("value"):
                    continue
            elif not wanted.isdisjoint(node.graph.names_of(node.ir_operation)):
                nearest.setdefault(node.id, node)
                continue
            elif not ends.isdisjoint(node.graph.names_of(node.ir_operation)):
                continue
            if node.id not in seen:
                seen.add(node.id)
                pending.append(node)
    return list(nearest.values())


def bfs_search(graph: Graph, start_nodes: Sequence[str] = ()) -> list[str]:
    """The ids of the nodes that can be reached from given nodes, breadth first; by default from all nodes without
    inputs.
    """
    starts = list(start_nodes) or [node_id for node_id in graph if not graph.in_edges(node_id)]
    return _reached(starts, lambda node_id: [end for _, end in graph.out_edges(node_id)])


def _reached(starts: Iterable[str], following: Callable[[str], Iterable[str]]) -> list[str]:
    reached = list(dict.fromkeys(starts))
    seen = set(reached)
    for node_id in reached:  # grows meanwhile
        for each in following(node_id):
            if each not in seen:
                seen.add(each)
                reached.append(each)
    return reached


def nodes_matching_name_pattern(graph: Graph, pattern: str) -> list[str]:
    """The ids that a regular expression matches from the beginning."""
    expression = re.compile(pattern)
    return [node_id for node_id in graph if expression.match(node_id)]


def is_connected_component(graph: Graph, node_names: Sequence[str]) -> bool:
    """Whether nodes are connected by edges between them, in either direction."""
    if not node_names:
        return True
    members = set(node_names)

    def neighbours(node_id: str) -> list[str]:
        both = [start for start, _ in graph.in_edges(node_id)] + [end for _, end in graph.out_edges(node_id)]
        return [each for each in both if each in members]

    return members <= set(_reached(node_names[:1], neighbours))


@overload
def sub_graph_between_nodes(
    graph: Graph,
    start_nodes: Sequence[str],
    end_nodes: Sequence[str],
    detect_extra_start_node: None = None,
    include_control_flow: bool = True,
    allow_non_reachable_end_nodes: bool = False,
) -> list[str]: ...
@overload
def sub_graph_between_nodes(
    graph: Graph,
    start_nodes: Sequence[str],
    end_nodes: Sequence[str],
    detect_extra_start_node: ExtraStart,
    include_control_flow: bool = True,
    allow_non_reachable_end_nodes: bool = False,
) -> tuple[list[str], list[str]]: ...
def sub_graph_between_nodes(
    graph: Graph,
    start_nodes: Sequence[str],
    end_nodes: Sequence[str],
    detect_extra_start_node: ExtraStart | None = None,
    include_control_flow: bool = True,  # noqa: ARG001
    allow_non_reachable_end_nodes: bool = False,
) -> list[str] | tuple[list[str], list[str]]:
    """The ids of the nodes on the paths from start nodes to end nodes, and of all nodes on which these depend.

    Args:
        graph: the graph.
        start_nodes: ids of the nodes that the sub-graph begins with.
        end_nodes: ids of the nodes that it ends with.
        detect_extra_start_node: a predicate of further start nodes; the nodes on which these depend are left out. If
            it is given, their ids are returned, too.
        include_control_flow: has no effect, as a graph has no edges for control flow.
        allow_non_reachable_end_nodes: whether an end node need not depend on a start node.

    Raises Error for an end node that cannot be reached, and for an input of the model in the sub-graph.
    """
    extra: dict[str, None] = {}

    def following(node_id: str) -> list[str]:
        successors = [] if node_id in end_nodes else [end for _, end in graph.out_edges(node_id)]
        sources = [start for start, _ in graph.in_edges(node_id)]
        if node_id in start_nodes or not sources:
            return successors
        if detect_extra_start_node is not None and detect_extra_start_node(GraphNode(graph, node_id)):
            extra[node_id] = None
            return successors
        return [*successors, *sources]

    members = _reached(start_nodes, following)
    if not allow_non_reachable_end_nodes:
        reachable: set[str] = set()
        for start in start_nodes:
            graph.dfs(start, reachable)
        for end in end_nodes:
            if end not in reachable:
                raise Error("the end node {!r} cannot be reached from the start nodes {}", end, ", ".join(start_nodes))
    _refuse_inputs(graph, members)
    return members if detect_extra_start_node is None else (members, list(extra))


@overload
def invert_sub_graph_between_nodes(
    graph: Graph, start_nodes: Sequence[str], end_nodes: Sequence[str], detect_extra_start_node: None = None
) -> list[str]: ...
@overload
def invert_sub_graph_between_nodes(
    graph: Graph, start_nodes: Sequence[str], end_nodes: Sequence[str], detect_extra_start_node: ExtraStart
) -> tuple[list[str], list[str]]: ...
def invert_sub_graph_between_nodes(
    graph: Graph, start_nodes: Sequence[str], end_nodes: Sequence[str], detect_extra_start_node: ExtraStart | None = None
) -> list[str] | tuple[list[str], list[str]]:
    """The ids of `start_nodes` and all nodes on which they depend; the search ends at `end_nodes`.

    Raises Error for an input of the model among them. For `detect_extra_start_node` see `sub_graph_between_nodes`.
    """
    extra: dict[str, None] = {}

    def following(node_id: str) -> list[str]:
        if node_id not in start_nodes and detect_extra_start_node is not None and detect_extra_start_node(GraphNode(graph, node_id)):
            extra[node_id] = None
            return []
        return [] if node_id in end_nodes else [start for start, _ in graph.in_edges(node_id)]

    members = _reached(start_nodes, following)
    _refuse_inputs(graph, members)
    return members if detect_extra_start_node is None else (members, list(extra))


def _refuse_inputs(graph: Graph, members: Iterable[str]) -> None:
    for node_id in members:
        node = GraphNode(graph, node_id)
        if not node.is_data and node.soft_get("op") == "Parameter":
            raise Error("the input {!r} of the model is in the sub-graph", node.name)


def node_neighbourhood(node_name: str, depth: int, next_node_fn: Callable[[str], Iterable[str]]) -> list[str]:
    """The ids of the nodes at most `depth` steps from a node; `next_node_fn` returns the nodes at a distance of one
    step.
    """
    distances = {node_name: 0}
    pending = deque([node_name])
    while pending:
        current = pending.popleft()
        if distances[current] < depth:
            for each in next_node_fn(current):
                if each not in distances:
                    distances[each] = distances[current] + 1
                    pending.append(each)
    return list(distances)


def node_incoming_neighbourhood(graph: Graph, node_name: str, depth: int) -> list[str]:
    """The ids of the nodes at most `depth` edges before a node."""
    return node_neighbourhood(node_name, depth, lambda node_id: [start for start, _ in graph.in_edges(node_id)])


def node_outcoming_neighbourhood(graph: Graph, node_name: str, depth: int) -> list[str]:
    """The ids of the nodes at most `depth` edges after a node."""
    return node_neighbourhood(node_name, depth, lambda node_id: [end for _, end in graph.out_edges(node_id)])


def scope_output_nodes(graph: Graph, scope: str, scope_delimiter: str = "/") -> list[GraphNode]:
    """The nodes whose ids begin with a scope and whose tensors a node outside of it takes."""
    prefix = scope if scope.endswith(scope_delimiter) else f"{scope}{scope_delimiter}"
    inside = [node_id for node_id in graph if node_id.startswith(prefix)]
    return [GraphNode(graph, node_id) for node_id in inside if any(not end.startswith(prefix) for _, end in graph.out_edges(node_id))]


def clear_tensor_names_info(nodes: Iterable[GraphNode]) -> None:
    """Remove the framework's names from the tensors of nodes that other nodes replace."""
    for node in nodes:
        for port in node.out_ports().values():
            port.remove_tensor_names()


def skip_nodes_by_condition(current_node: GraphNode, condition: Callable[[GraphNode], bool], forward: bool = False) -> GraphNode:
    """The first node for which a condition does not hold, on the path that begins at a node and follows first inputs.

    With `forward` the path follows the first consumers of first outputs instead. It includes data nodes.
    """
    while condition(current_node):
        current_node = current_node.out_node() if forward else current_node.in_node()
    return current_node
