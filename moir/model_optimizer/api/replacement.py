"""The base classes of Model Optimizer's transformations.

    class Pack(FrontReplacementOp):
        op = "Pack"

        def replace_op(self, graph, node):
            ...
            return [new_node.id]

A class says what it looks for (a pattern, the `op` of nodes, or nothing) and what it does. Whoever runs it makes one object and calls
`find_and_replace_pattern(graph)`. Those that a JSON configuration file enables are in `configured_replacement`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from moir.errors import ConversionError
from moir.model_optimizer.api.anchors import BackFinish, BackStart, FrontFinish, FrontStart, MiddleFinish, MiddleStart
from moir.model_optimizer.api.endpoints import endpoint, is_present, replace_inputs, replace_output, replace_outputs, unneeded
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode

logger = logging.getLogger("moir")

Pattern = dict[str, Any]
"""`nodes`: pairs of an alias and a dictionary of attributes; `edges`: two aliases and perhaps a dictionary of attributes of the edge."""


class ReplacementPattern:
    """A transformation of a graph. What the attributes mean is said in docs/extending.md."""

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

    def pattern(self) -> Pattern:
        """What to look for."""
        raise self._incomplete("pattern")

    def replace_pattern(self, graph: Graph, match: dict[str, GraphNode]) -> None:
        """What to do with a match: the node of each alias."""
        raise self._incomplete("replace_pattern")

    def find_and_replace_pattern(self, graph: Graph) -> None:
        """Run the transformation: find all matches of the pattern, then replace each whose nodes are still there."""
        apply_pattern(graph, self.pattern(), self.replace_pattern, type(self).__name__)

    @classmethod
    def missing_member(cls) -> str | None:
        """What a class must define in order to run and does not; None if nothing is missing."""
        return _first_missing(
            cls, ReplacementPattern, (("find_and_replace_pattern",), ("pattern",)), (("find_and_replace_pattern",), ("replace_pattern",))
        )

    @classmethod
    def _incomplete(cls, member: str) -> ConversionError:
        return ConversionError(f"the class {cls.__name__} does not define {member}")


def _first_missing(cls: type, base: type, *required: tuple[tuple[str, ...], ...]) -> str | None:
    """The last alternative of the first requirement a class does not meet: to define all members of one of its alternatives."""
    for alternatives in required:
        if not any(all(getattr(cls, member) is not getattr(base, member) for member in members) for members in alternatives):
            return alternatives[-1][-1]
    return None


class FrontReplacementPattern(ReplacementPattern):
    """A transformation of the front phase, on operations of the framework.

    Define `find_and_replace_pattern`; or a pattern and `replace_sub_graph` (or `replace_pattern`), which edits the graph for a match; or a
    pattern, `generate_sub_graph` to make new nodes, `input_edges_match` and `output_edges_match` to say how they take the place of the
    matched ones, and `nodes_to_remove` if others are to go than those that nothing needs any longer.
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
        """Replace a match. By default by what `generate_sub_graph` makes."""
        new_sub_graph = self.generate_sub_graph(graph, match)
        self.replace_input_edges(graph, self.input_edges_match(graph, match, new_sub_graph))
        self.replace_output_edges(graph, self.output_edges_match(graph, match, new_sub_graph))
        graph.remove_nodes_from(self.nodes_to_remove(graph, match))

    def generate_sub_graph(self, graph: Graph, match: Any) -> dict[str, GraphNode]:
        """New nodes for a match, by names that `input_edges_match` and `output_edges_match` know."""
        raise self._incomplete("replace_sub_graph")

    def input_edges_match(self, graph: Graph, match: Any, new_sub_graph: dict[str, GraphNode]) -> Mapping[Any, Any]:
        """Which input ports of new nodes take over the tensors at input ports of old ones: `{(old id, port): (new id, port)}`."""
        return {}

    def output_edges_match(self, graph: Graph, match: Any, new_sub_graph: dict[str, GraphNode]) -> Mapping[Any, Any]:
        """Which output ports of new nodes take the place of those of old ones: `{(old id, port): (new id, port)}`."""
        return {}

    def nodes_to_remove(self, graph: Graph, match: Any) -> list[str]:
        """Ids of the old nodes to remove: by default all that matched, but for those whose tensors others still take."""
        return [node.id for node in unneeded(graph, match.values())]

    @staticmethod
    def replace_input_edges(graph: Graph, input_edges_match: Mapping[Any, Any]) -> None:
        """Give the tensors at input ports of old nodes to input ports of new ones."""
        replace_inputs(graph, input_edges_match)

    @staticmethod
    def replace_output_edges(graph: Graph, output_edges_match: Mapping[Any, Any]) -> None:
        """Let everything that takes tensors of old nodes take those of new ones."""
        replace_outputs(graph, output_edges_match)

    @classmethod
    def missing_member(cls) -> str | None:
        replaces = (("find_and_replace_pattern",), ("replace_pattern",), ("generate_sub_graph",), ("replace_sub_graph",))
        return _first_missing(cls, FrontReplacementPattern, (("find_and_replace_pattern",), ("pattern",)), replaces)


class FrontReplacementSubgraph(FrontReplacementPattern):
    """A transformation of the front phase that replaces each match of a pattern. The same as `FrontReplacementPattern`."""


class FrontReplacementOp(FrontReplacementSubgraph):
    """A transformation of the front phase that replaces each node whose `op` is that of the class.

    Define `op` and `replace_op`, which returns what stands for each output of the node; or `replace_sub_graph`, which gets the node as
    `match["op"]`.
    """

    op: str | None = None

    def pattern(self) -> Pattern:
        return {"nodes": [("op", {"op": self.op})], "edges": []}

    def find_and_replace_pattern(self, graph: Graph) -> None:
        if not isinstance(self.op, str):
            raise self._incomplete("op")
        for node in graph.get_op_nodes(op=self.op):
            if is_present(graph, node):
                self.replace_sub_graph(graph, {"op": node})

    def replace_op(self, graph: Graph, node: GraphNode) -> Any:
        """Replace a node.

        Returns a list: element i says what stands for output i of the node, as an id (then output 0 of that node is meant) or as a tuple of
        an id and the number of an output. An empty list says that everything is connected already. The node is removed in any case.
        """
        raise self._incomplete("replace_op")

    def replace_sub_graph(self, graph: Graph, match: dict[str, GraphNode]) -> None:
        node = match["op"]
        given = self.replace_op(graph, node)
        outputs = [] if given is None else [given] if isinstance(given, str | GraphNode) else list(given)
        if not is_present(graph, node):
            return
        for index, output in enumerate(outputs):
            new = endpoint(graph, output, f"what {type(self).__name__}.replace_op returns for output {index} of {node.id!r}")
            if new[0] == node:
                raise ConversionError(f"replace_op returns the node it replaces for its output {index}", node=node.id)
            if not node.has_port("out", index):
                raise ConversionError(f"replace_op returns {len(outputs)} outputs, the node has {len(node.out_ports())}", node=node.id)
            replace_output((node, index), new)
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
    """A transformation of the back phase, behind the layout change."""

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
"""The classes of this module and of `configured_replacement`, which are no transformations themselves."""


def apply_pattern(graph: Graph, pattern: Mapping[str, Any], action: Callable[[Graph, dict[str, GraphNode]], None], name: str) -> None:
    """Find all matches of a pattern, then run an action on each whose nodes are all still there.

    Args:
        graph: where to look.
        pattern: its `nodes` and `edges`; the keys `node_attrs` and `edge_attrs` of old extensions mean nothing.
        action: gets the graph and the node of each alias.
        name: the transformation, for messages.
    """
    from moir.model_optimizer.graph.matching import find_subgraph_matches

    if not isinstance(pattern, Mapping) or "nodes" not in pattern:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ConversionError(f"the pattern of {name} is {pattern!r}", hint="a pattern is a dictionary with the keys nodes and edges")
    unknown = pattern.keys() - {"nodes", "edges", "node_attrs", "edge_attrs"}
    if unknown:
        raise ConversionError(f"the pattern of {name} has the key {min(unknown)!r}", hint="a pattern has the keys nodes and edges")
    for match in find_subgraph_matches(graph, pattern["nodes"], pattern.get("edges", [])):
        gone = [alias for alias, node in match.items() if not is_present(graph, node)]
        if gone:
            logger.warning("%s: a match is passed over, the node of %r was removed with a match before it", name, gone[0])
        else:
            action(graph, match)
