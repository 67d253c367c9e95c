"""Inputs of nodes that are axes or per-axis lists, and how a layout change rewrites them.

    PermuteInputs().set_input_permutation(node.in_node(1), node, "input:0", "axis")

A function `infer` declares such inputs of its node: here input 1 counts axes of the data at input 0. When the data of
the operation become [N, C, spatial…], such an input is changed to that order.
"""

from __future__ import annotations

from typing import NamedTuple

from moir.errors import ConversionError
from moir.model_optimizer.attributes.operation_attributes import OperationAttributes
from moir.model_optimizer.block.operation_names import is_mo_operation
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.port import INPUT_PERMUTATIONS
from moir.support.suggestions import did_you_mean

RULES: dict[str, str] = {
    "axis": "numbers of axes",
    "order": "the order of a transposition",
    "shape": "an entry for each axis",
    "slice": "an entry for each of the first axes",
    "transpose": "data",
}
"""Name of a rule -> a description of the input's elements: whether they are axes, or belong to axes."""


class InputPermutation(NamedTuple):
    """The meaning of an input's elements (a name in RULES), and the port to whose axes they refer, such as
    `input:0`.
    """

    rule: str
    port: str


class PermuteInputs:
    """Declares which inputs of a node hold axes, or an entry for each axis, of its data."""

    def set_input_permutation(
        self, node1: GraphNode, node2: GraphNode, port_info: str, permutation_rule: str, structure: str = "port"
    ) -> None:
        """Declare how the input of `node2` from `node1` changes with the axes of the port `port_info` of `node2`.

        Args:
            node1: the data node, or the node, of the input.
            node2: the node.
            port_info: the port, `input:0` or `output:0`.
            permutation_rule: the form of the input, one of RULES.
            structure: accepted, but without effect.

        Raises ConversionError for another rule, and for a port in another notation.
        """
        if permutation_rule not in RULES:
            near = did_you_mean(permutation_rule, RULES)
            raise ConversionError(
                f"there is no rule {permutation_rule!r} for inputs that change with the order of axes",
                node=node2.name,
                hint=near or f"rules are {', '.join(RULES)}",
            )
        kind, _, number = port_info.partition(":")
        if kind not in ("input", "output") or not number.isdecimal():
            raise ConversionError(f"{port_info!r} is not a port; it is written as in 'input:0'", node=node2.name)
        if not is_mo_operation(node2.ir_operation):
            return
        attributes = OperationAttributes(node2.graph, node2.ir_operation)
        known: dict[int, InputPermutation] = attributes.hidden(INPUT_PERMUTATIONS, {})
        given = dict.fromkeys(node2.input_ports_with(node1), InputPermutation(permutation_rule, port_info))
        attributes.set_hidden(INPUT_PERMUTATIONS, {**known, **given})
