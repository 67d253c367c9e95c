"""A sub-graph that an entry of a configuration file describes, as `generate_sub_graph` gets it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeAlias

from moir.errors import ConversionError
from moir.model_optimizer.api.configuration.json_configuration import CustomReplacementDescriptor
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode

NumberedPort: TypeAlias = tuple[GraphNode, int]


class SubgraphMatch:
    """The nodes of a sub-graph, its inputs and its outputs.

    Args:
        graph: the graph.
        custom_replacement_desc: the entry that found it.
        nodes: the nodes in it, in the order of the graph.
        inputs: for each tensor that enters the sub-graph, the input ports that take it.
        outputs: the output port of each tensor that leaves the sub-graph.
        scope: regular expression of the scope; empty if it was found by points.
    """

    def __init__(
        self,
        graph: Graph,
        custom_replacement_desc: CustomReplacementDescriptor,
        nodes: Sequence[GraphNode],
        inputs: Sequence[Sequence[NumberedPort]],
        outputs: Sequence[NumberedPort],
        scope: str = "",
    ) -> None:
        self.graph = graph
        self.custom_replacement_desc = custom_replacement_desc
        self.nodes = list(nodes)
        self.scope = scope
        self._inputs = [list(ports) for ports in inputs]
        self._outputs = list(outputs)

    def matched_nodes_names(self) -> list[str]:
        """The ids of the nodes."""
        return [node.id for node in self.nodes]

    def inputs_count(self) -> int:
        """The number of inputs."""
        return len(self._inputs)

    def outputs_count(self) -> int:
        """The number of outputs."""
        return len(self._outputs)

    def input_nodes(self, port: int) -> list[NumberedPort]:
        """The input ports, as pairs of a node and an index, that take the tensor of input `port`."""
        return list(self._entry(self._inputs, port, "inputs"))

    def single_input_node(self, port: int) -> NumberedPort:
        """The one input port, as a pair of a node and an index, that takes the tensor of input `port`.

        Raises ConversionError if there are several.
        """
        ports = self._entry(self._inputs, port, "inputs")
        if len(ports) != 1:
            names = ", ".join(sorted(node.id for node, _ in ports))
            raise self._fail(f"the input {port} of the sub-graph is taken by {len(ports)} nodes ({names})", "use input_nodes")
        return ports[0]

    def output_node(self, port: int) -> NumberedPort:
        """The output port, as a pair of a node and an index, that gives the tensor of output `port`."""
        return self._entry(self._outputs, port, "outputs")

    def output_ports(self) -> list[NumberedPort]:
        """The output ports of all outputs, in order."""
        return list(self._outputs)

    def node_by_pattern(self, pattern: str) -> GraphNode | None:
        """The node whose name after the scope a regular expression matches from the beginning; None if there is none.

        Raises ConversionError if there are several.
        """
        expression = re.compile(in_scope(self.scope, pattern))
        matching = [node for node in self.nodes if expression.match(node.name)]
        if len(matching) > 1:
            names = ", ".join(node.name for node in matching[:5])
            raise self._fail(f"{len(matching)} nodes of the sub-graph match {pattern!r}: {names}", "end the expression with $")
        return matching[0] if matching else None

    def _entry(self, entries: Sequence[Any], port: int, what: str) -> Any:
        if not 0 <= port < len(entries):
            raise self._fail(f"the sub-graph has {len(entries)} {what}, there is no {port}", "see the entry of the configuration file")
        return entries[port]

    def _fail(self, reason: str, hint: str) -> ConversionError:
        return self.custom_replacement_desc.fail(reason, hint=hint)


def in_scope(scope: str, pattern: str) -> str:
    """A regular expression for names in a scope, made from an expression for the part after the scope."""
    return pattern if not scope else f"(?:{scope}){'' if scope.endswith('/') else '/'}(?:{pattern})"
