"""The base classes of Model Optimizer's transformations.

    class Pack(FrontReplacementOp):
        op = "Pack"

        def replace_op(self, graph, node):
            ...
            return [new_node.id]

A class declares what it matches (a pattern, the `op` of nodes, or nothing) and how it edits the graph. To run it, one
instance is made and its `find_and_replace_pattern(graph)` is called. The base classes of transformations that a JSON
configuration file enables are in `configured_replacement`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from moir.errors import ConversionError
from moir.model_optimizer.api.transformations.anchors import BackFinish, BackStart, FrontFinish, FrontStart, MiddleFinish, MiddleStart
from moir.model_optimizer.api.transformations.endpoints import endpoint, replace_inputs, replace_output, replace_outputs, unneeded
from moir.model_optimizer.api.transformations.no_match import report_no_match, report_no_node
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.matching import find_subgraph_matches
from moir.model_optimizer.graph.node import GraphNode

logger = logging.getLogger("moir")

PatternDescription = dict[str, Any]
"""A pattern: its `nodes`, tuples (alias, attributes), and its `edges`, tuples (alias, alias) or (alias, alias,
attributes).
"""


class ReplacementPattern:
    """A transformation of a graph. Its attributes say where, when and on what it runs."""

    phase: ClassVar[Literal["front", "middle", "back"]] = "front"
    enabled: bool = True
    id: str | None = None
    run_not_recursively: bool = True
    force_clean_up: bool = False
    force_shape_inference: bool = False
    graph_condition: Sequence[Callable[[Graph], bool]] = ()

    def run_after(self) -> list[type]:
        """The transformations this one runs after."""
        return []

    def run_before(self) -> list[type]:
        """The transformations this one runs before."""
        return []

    def pattern(self) -> PatternDescription:
        """The pattern to find: its `nodes` and `edges`."""
        raise self._incomplete("pattern")

    def replace_pattern(self, graph: Graph, match: dict[str, GraphNode]) -> None:
        """Edit the graph for a match, which maps aliases to nodes."""
        raise self._incomplete("replace_pattern")

    def find_and_replace_pattern(self, graph: Graph) -> None:
        """Run the transformation: find all matches of the pattern, then replace each match whose nodes still exist."""
        apply_to_matches(graph, self.pattern(), self.replace_pattern, type(self).__name__)

    @classmethod
    def missing_member(cls) -> str | None:
        """The member that a class must define and does not; None if it is complete."""
        return _first_missing(
            cls, ReplacementPattern, (("find_and_replace_pattern",), ("pattern",)), (("find_and_replace_pattern",), ("replace_pattern",))
        )

    @classmethod
    def _incomplete(cls, member: str) -> ConversionError:
        return ConversionError(f"the class {cls.__name__} does not define {member}")


def _first_missing(cls: type, base: type, *required: tuple[tuple[str, ...], ...]) -> str | None:
    """The name of a member that a class has to override and does not; None if it meets all requirements.

    A requirement is a tuple of alternatives, tuples of members; it is met if all members of one are overridden.
    """
    for alternatives in required:
        if not any(all(getattr(cls, member) is not getattr(base, member) for member in members) for members in alternatives):
            return alternatives[-1][-1]
    return None


class FrontReplacementPattern(ReplacementPattern):
    """A transformation of the front phase, on operations of the framework.

    Define one of these: `find_and_replace_pattern`; a `pattern` and `replace_sub_graph` (or `replace_pattern`), which
    edits the graph for a match; a `pattern`, `generate_sub_graph`, which makes new nodes, and `input_edges_match` and
    `output_edges_match`, which map ports of matched nodes to those of new ones. `nodes_to_remove` may be overridden.
    """

    phase = "front"
    replacement_id: str = "REPLACEMENT_ID"

    def run_after(self) -> list[type]:
        return [FrontStart]

    def run_before(self) -> list[type]:
        return [FrontFinish]

    def replace_pattern(self, graph: Graph, match: Any) -> None:
        self.replace_sub_graph(graph, match)

    def replace_sub_graph(self, graph: Graph, match: Any) -> None:
        """Replace a match, by default by the nodes that `generate_sub_graph` makes."""
        new_sub_graph = self.generate_sub_graph(graph, match)
        self.replace_input_edges(graph, self.input_edges_match(graph, match, new_sub_graph))
        self.replace_output_edges(graph, self.output_edges_match(graph, match, new_sub_graph))
        graph.remove_nodes_from(self.nodes_to_remove(graph, match))

    def generate_sub_graph(self, graph: Graph, match: Any) -> dict[str, GraphNode]:
        """Make the new nodes for a match, by the names that `input_edges_match` and `output_edges_match` use."""
        raise self._incomplete("replace_sub_graph")

    def input_edges_match(self, graph: Graph, match: Any, new_sub_graph: dict[str, GraphNode]) -> Mapping[Any, Any]:
        """The input ports of old nodes, and those of new nodes that take their tensors.

        The form is `{(old id, port): (new id, port)}`.
        """
        return {}

    def output_edges_match(self, graph: Graph, match: Any, new_sub_graph: dict[str, GraphNode]) -> Mapping[Any, Any]:
        """The output ports of old nodes, and those of new nodes that replace them.

        The form is `{(old id, port): (new id, port)}`.
        """
        return {}

    def nodes_to_remove(self, graph: Graph, match: Any) -> list[str]:
        """The ids of the old nodes to remove: by default the matched ones that no other node depends on."""
        return [node.id for node in unneeded(graph, match.values())]

    @staticmethod
    def replace_input_edges(graph: Graph, input_edges_match: Mapping[Any, Any]) -> None:
        """Connect input ports of new nodes to the sources of those of old nodes."""
        replace_inputs(graph, input_edges_match)

    @staticmethod
    def replace_output_edges(graph: Graph, output_edges_match: Mapping[Any, Any]) -> None:
        """Let the consumers of old nodes take the tensors of new nodes instead."""
        replace_outputs(graph, output_edges_match)

    @classmethod
    def missing_member(cls) -> str | None:
        replaces = (("find_and_replace_pattern",), ("replace_pattern",), ("generate_sub_graph",), ("replace_sub_graph",))
        return _first_missing(cls, FrontReplacementPattern, (("find_and_replace_pattern",), ("pattern",)), replaces)


class FrontReplacementSubgraph(FrontReplacementPattern):
    """A transformation of the front phase that replaces each match; the same as `FrontReplacementPattern`."""


class FrontReplacementOp(FrontReplacementSubgraph):
    """A transformation of the front phase that replaces each node whose `op` is that of the class.

    Define `op` and `replace_op`, which returns the replacement of each output; or `replace_sub_graph`, which gets the
    node as `match["op"]`.
    """

    op: str | None = None

    def pattern(self) -> PatternDescription:
        return {"nodes": [("op", {"op": self.op})], "edges": []}

    def find_and_replace_pattern(self, graph: Graph) -> None:
        if not isinstance(self.op, str):
            raise self._incomplete("op")
        nodes = graph.get_op_nodes(op=self.op)
        graph.count_matches(len(nodes))
        if not nodes:
            report_no_node(graph, self.op, type(self).__name__)
        for node in nodes:
            if graph.is_present(node.subject):
                self.replace_sub_graph(graph, {"op": node})

    def replace_op(self, graph: Graph, node: GraphNode) -> Any:
        """Replace a node, which is removed afterwards.

        Returns a list whose element i replaces output i of the node: the id of a node, of which output 0 is meant, or
        a tuple of an id and the index of an output. An empty list means that the consumers are connected already. The
        node stays if `nodes_to_remove` does not list it.
        """
        raise self._incomplete("replace_op")

    def replace_sub_graph(self, graph: Graph, match: dict[str, GraphNode]) -> None:
        node = match["op"]
        given = self.replace_op(graph, node)
        outputs = [] if given is None else [given] if isinstance(given, str | GraphNode) else list(given)
        if not graph.is_present(node.subject):
            return
        for index, output in enumerate(outputs):
            new = endpoint(graph, output, f"what {type(self).__name__}.replace_op returns for output {index} of {node.id!r}")
            if new[0] == node:
                raise ConversionError(f"replace_op returns the node it replaces for its output {index}", node=node.id)
            if not node.has_port("out", index):
                raise ConversionError(f"replace_op returns {len(outputs)} outputs, the node has {len(node.out_ports())}", node=node.id)
            replace_output((node, index), new)
        overrides = type(self).nodes_to_remove is not FrontReplacementPattern.nodes_to_remove
        if overrides and node.id not in self.nodes_to_remove(graph, match):
            return
        for index, port in node.out_ports().items():
            if not port.disconnected():
                takers = ", ".join(sorted({destination.node.id for destination in port.get_destinations()}))
                raise ConversionError(f"replace_op returns nothing for its output {index}, which {takers} takes", node=node.id)
        graph.remove_node(node.id)

    @classmethod
    def missing_member(cls) -> str | None:
        base = FrontReplacementOp
        if not isinstance(cls.op, str) and cls.find_and_replace_pattern is base.find_and_replace_pattern:
            return "op"
        members = ("find_and_replace_pattern", "replace_sub_graph", "replace_op")
        return _first_missing(cls, base, tuple((member,) for member in members))


class MiddleReplacementPattern(ReplacementPattern):
    """A transformation of the middle phase, on typed operations with data nodes between them."""

    phase = "middle"

    def run_after(self) -> list[type]:
        return [MiddleStart]

    def run_before(self) -> list[type]:
        return [MiddleFinish]


class BackReplacementPattern(ReplacementPattern):
    """A transformation of the back phase, after the layout change."""

    phase = "back"

    def run_after(self) -> list[type]:
        return [BackStart]

    def run_before(self) -> list[type]:
        return [BackFinish]


BASE_CLASSES: set[type[ReplacementPattern]] = {
    ReplacementPattern,
    FrontReplacementPattern,
    FrontReplacementSubgraph,
    FrontReplacementOp,
    MiddleReplacementPattern,
    BackReplacementPattern,
}
"""The classes of this module and of `configured_replacement`, which are not transformations themselves."""


def apply_to_matches(graph: Graph, pattern: Mapping[str, Any], action: Callable[[Graph, dict[str, GraphNode]], None], name: str) -> None:
    """Find all matches of a pattern, then run an action on each match whose nodes all still exist.

    Args:
        graph: the graph.
        pattern: its `nodes` and `edges`; the keys `node_attrs` and `edge_attrs` of old extensions have no effect.
        action: function of the graph and a match, which maps aliases to nodes.
        name: the name of the transformation, for messages.
    """
    if not isinstance(pattern, Mapping) or "nodes" not in pattern:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ConversionError(f"the pattern of {name} is {pattern!r}", hint="a pattern is a dictionary with the keys nodes and edges")
    unknown = pattern.keys() - {"nodes", "edges", "node_attrs", "edge_attrs"}
    if unknown:
        raise ConversionError(f"the pattern of {name} has the key {min(unknown)!r}", hint="a pattern has the keys nodes and edges")
    matches = find_subgraph_matches(graph, pattern["nodes"], pattern.get("edges", []))
    graph.count_matches(len(matches))
    if not matches:
        report_no_match(graph, pattern["nodes"], pattern.get("edges", []), name)
    for match in matches:
        gone = [alias for alias, node in match.items() if not graph.is_present(node.subject)]
        if gone:
            logger.warning("%s: a match is passed over, the node of %r was removed with a match before it", name, gone[0])
        else:
            action(graph, match)
