"""Finds the sub-graphs that an entry of a configuration file describes, by scopes or between points."""

from __future__ import annotations

import logging
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence

from moir.errors import ConversionError
from moir.model_optimizer.api.configuration.json_configuration import CustomReplacementDescriptor, NodePort
from moir.model_optimizer.api.transformations.endpoints import consumers, producers
from moir.model_optimizer.api.transformations.subgraph_match import NumberedPort, SubgraphMatch, in_scope
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode
from moir.support.suggestions import did_you_mean

logger = logging.getLogger("moir")


class NamedNodes:
    """The operation nodes of a graph by name."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.nodes = [(node.name, node) for node in graph.get_op_nodes()]
        self.by_name = dict(reversed(self.nodes))

    def matching(self, expression: str) -> list[GraphNode]:
        """The nodes whose names a regular expression matches from the beginning.

        Inputs and outputs of the model are in no scope.
        """
        compiled = re.compile(expression)
        return [node for name, node in self.nodes if compiled.match(name) and node.op not in ("Parameter", "Result")]

    def nearest_names(self, name: str) -> str:
        """The names nearest to a name that no node has, for a hint."""
        return _nearest(name, list(self.by_name))

    def nearest_scopes(self, expression: str) -> str:
        """The scopes nearest to a regular expression that no name matches, for a hint."""
        scopes: dict[str, None] = {}
        for name in self.by_name:
            parts = name.split("/")
            scopes.update(dict.fromkeys("/".join(parts[:end]) for end in range(1, len(parts) + 1)))
        return _nearest(re.sub(r"[\\^$*+?()\[\]{}|]|\.[*+]", "", expression).strip("/"), list(scopes))


def _nearest(name: str, names: Sequence[str]) -> str:
    # Names of nodes are long paths with numbers.
    return did_you_mean(name, names, similarity=0.4) or "no name in the model is like it"


def find_instances(graph: Graph, descriptor: CustomReplacementDescriptor) -> list[SubgraphMatch]:
    """The sub-graphs an entry describes, all found before any is changed.

    Raises ConversionError, with the place in the file: if there is none, with the nearest names; for points that do
    not exist; and if the sub-graph between points depends on an input of the model by a path without a start point.
    """
    nodes = NamedNodes(graph)
    if descriptor.match_kind == "points":
        return [_between_points(nodes, descriptor)]
    return _in_scopes(nodes, descriptor)


# Scopes.


def _in_scopes(nodes: NamedNodes, descriptor: CustomReplacementDescriptor) -> list[SubgraphMatch]:
    """The sub-graph of each scope of an entry that the model has.

    Missing scopes are reported as warnings, or as an error if all are missing.
    """
    matches: list[SubgraphMatch] = []
    problems: list[ConversionError] = []
    for index, scope in enumerate(descriptor.scopes):
        matched = nodes.matching(scope)
        if not matched:
            reason = f"no node of the model is in the scope {scope!r}"
            problems.append(descriptor.fail(reason, "instances", index, hint=nodes.nearest_scopes(scope)))
            continue
        described = _DescribedBorder(descriptor, scope, matched)
        if described.missing is None:
            matches.append(SubgraphMatch(nodes.graph, descriptor, matched, described.inputs, described.outputs, scope))
        else:
            reason = f"the scope {scope!r} has no node {described.missing!r}, which the entry says is at its border"
            problems.append(descriptor.fail(reason, "instances", index, hint=_nearest(described.missing, described.names())))
    if not matches:
        raise problems[0]
    for problem in problems:
        logger.warning("%s", problem)
    return matches


class _DescribedBorder:
    """The inputs and outputs of one scope, as an entry of a configuration lists them.

    Where the entry lists none, they are the edges into and out of the nodes of the scope. `missing` is the first
    expression in the entry that matches no node of the scope; None if there is none. Raises ConversionError for an
    expression that matches several nodes.
    """

    def __init__(self, descriptor: CustomReplacementDescriptor, scope: str, matched: Sequence[GraphNode]) -> None:
        self.missing: str | None = None
        self.matched = matched
        self._descriptor = descriptor
        self._scope = scope
        self._members = [(node.name, node) for node in matched]
        self.inputs = border(matched)[0] if descriptor.inputs is None else [self._ports(group) for group in descriptor.inputs]
        self.outputs = border(matched)[1] if descriptor.outputs is None else self._ports(descriptor.outputs)

    def names(self) -> list[str]:
        """The names in the scope, without its own name."""
        prefix = re.compile(in_scope(self._scope, ""))
        return [name[match.end() :] for name, _ in self._members if (match := prefix.match(name))]

    def _ports(self, group: Sequence[NodePort]) -> list[NumberedPort]:
        ports: list[NumberedPort] = []
        for described in group:
            expression = re.compile(in_scope(self._scope, described.node))
            members = [node for name, node in self._members if expression.match(name)]
            if len(members) > 1:
                names = ", ".join(node.name for node in members[:5])
                reason = f"{len(members)} nodes of the scope {self._scope!r} match {described.node!r}: {names}"
                raise self._descriptor.fail(reason, hint="end it with $")
            if members:
                ports.append((members[0], described.port))
            else:
                self.missing = self.missing or described.node
        return ports


def border(matched: Iterable[GraphNode]) -> tuple[list[list[NumberedPort]], list[NumberedPort]]:
    """The inputs and outputs of a sub-graph, sorted by names.

    An input is a tensor from outside, given by the input ports that take it; an output is an output port whose tensor
    is taken outside, or not at all. A constant outside is not an input if only the sub-graph takes it, or if its name
    has no scope, as those of ONNX initializers.
    """
    members = set(matched)
    inputs: dict[NumberedPort, list[NumberedPort]] = {}
    outputs: list[NumberedPort] = []
    for node in members:
        for number, port in node.in_ports().items():
            source = port.get_source()
            if source is not None and source.node not in members and not _belongs_to(source.node, members):
                inputs.setdefault((source.node, source.idx), []).append((node, number))
        for number, port in node.out_ports().items():
            takers = [destination.node for destination in port.get_destinations()]
            if any(taker not in members for taker in takers) or (not takers and number == 0):
                outputs.append((node, number))
    groups = [sorted(ports, key=_by_name) for ports in inputs.values()]
    return sorted(groups, key=lambda ports: _by_name(ports[0])), sorted(outputs, key=_by_name)


def _belongs_to(node: GraphNode, members: set[GraphNode]) -> bool:
    if node.soft_get("op") != "Const":
        return False
    return "/" not in node.name or all(destination.node in members for destination in node.out_port(0).get_destinations())


def _by_name(port: NumberedPort) -> tuple[str, int]:
    return port[0].name, port[1]


# Points.


def _between_points(nodes: NamedNodes, descriptor: CustomReplacementDescriptor) -> SubgraphMatch:
    starts = _points(nodes, descriptor, "start_points", descriptor.start_points)
    ends = _points(nodes, descriptor, "end_points", descriptor.end_points)
    reached = _reached(starts, consumers)
    for index, end in enumerate(ends):
        if end not in reached:
            raise descriptor.fail(f"the end point {end.name!r} cannot be reached from a start point", "instances", "end_points", index)
    first, last = set(starts), set(ends)
    members = _reached(starts, lambda node: [*(() if node in last else consumers(node)), *(() if node in first else producers(node))])
    for node in members:
        if node.soft_get("op") in ("Parameter", "Placeholder") and node not in first:
            path = " -> ".join(step.name for step in _path_to(node, members))
            raise descriptor.fail(
                f"the sub-graph depends on the input {node.name!r} of the model, not by a start point but by {path}",
                "instances",
                "start_points",
                hint="add a start point on this path",
            )
    excluded: set[GraphNode] = set()
    if not descriptor.include_inputs_to_sub_graph:
        excluded.update(starts)
    if not descriptor.include_outputs_to_sub_graph:
        excluded.update(ends)
    matched = [node for _, node in nodes.nodes if node in members and node not in excluded]
    return SubgraphMatch(nodes.graph, descriptor, matched, [[(start, 0)] for start in starts], [(end, 0) for end in ends])


def _points(nodes: NamedNodes, descriptor: CustomReplacementDescriptor, key: str, names: Sequence[str]) -> list[GraphNode]:
    for index, name in enumerate(names):
        if name not in nodes.by_name:
            raise descriptor.fail(f"the model has no node {name!r}", "instances", key, index, hint=nodes.nearest_names(name))
    return [nodes.by_name[name] for name in names]


def _reached(roots: Iterable[GraphNode], neighbours: Callable[[GraphNode], Iterable[GraphNode]]) -> dict[GraphNode, GraphNode | None]:
    """The nodes that can be reached from `roots` by the function `neighbours`, each with the node before it on its path
    (None for a root).
    """
    predecessors: dict[GraphNode, GraphNode | None] = dict.fromkeys(roots)
    pending = deque(predecessors)
    while pending:
        node = pending.popleft()
        for other in neighbours(node):
            if other not in predecessors:
                predecessors[other] = node
                pending.append(other)
    return predecessors


def _path_to(node: GraphNode, reached: Mapping[GraphNode, GraphNode | None]) -> list[GraphNode]:
    """The path on which a node was reached, backwards."""
    path = [node]
    while (following := reached[path[-1]]) is not None:
        path.append(following)
    return path
