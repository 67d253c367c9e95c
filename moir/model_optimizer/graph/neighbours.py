"""The older way around a node: its neighbours and edges by number instead of ports.

Neighbours of an operation are operations in the front phase and data nodes in the middle and back phases.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from xdsl.ir import SSAValue

from moir.errors import ConversionError
from moir.model_optimizer.graph.edges import EdgeAttributes, incoming

if TYPE_CHECKING:
    from moir.model_optimizer.graph.node import Node


class NeighbourAccess:
    """Methods of a node that go along edges."""

    __slots__ = ()

    @property
    def _self(self) -> Node:
        return cast("Node", self)

    def _incoming(self) -> list[tuple[Node, EdgeAttributes]]:
        node = self._self
        return [(node.graph.node_of(vertex), edge) for vertex, edge in incoming(node.subject, node.graph.has_data_nodes)]

    def _outgoing(self) -> list[tuple[Node, EdgeAttributes]]:
        node = self._self
        return [(node.graph.node_of(vertex), edge) for vertex, edge in node.graph.outgoing(node.subject)]

    def in_nodes(self, control_flow: bool = False) -> dict[int, Node]:
        """What is in front of the node, by the number of the input port (of a data node: its operation, as 0)."""
        return {edge.get("in", 0): neighbour for neighbour, edge in self._incoming()}

    def in_node(self, key: int = 0, control_flow: bool = False) -> Node:
        """What is in front of an input port. Raises ConversionError if nothing is."""
        return self._chosen(self.in_nodes(), key, "in")

    def in_edges(self, control_flow: bool = False) -> dict[int, EdgeAttributes]:
        """The attributes of the edges that end in the node, by the number of the input port."""
        return {edge.get("in", 0): edge for _, edge in self._incoming()}

    def in_edge(self, key: int = 0, control_flow: bool = False) -> EdgeAttributes:
        """The attributes of the edge to an input port. Raises ConversionError if there is none."""
        return self._chosen(self.in_edges(), key, "in")

    def out_nodes(self, control_flow: bool = False) -> dict[int, Node]:
        """What is behind the node, by the number of the output port (of a data node: counted). Of several the first."""
        found: dict[int, Node] = {}
        for number, (neighbour, edge) in enumerate(self._outgoing()):
            found.setdefault(edge.get("out", number), neighbour)
        return found

    def out_node(self, key: int = 0, control_flow: bool = False) -> Node:
        """What is behind an output port. Raises ConversionError if nothing is."""
        return self._chosen(self.out_nodes(), key, "out")

    def out_edges(self, control_flow: bool = False) -> dict[int, EdgeAttributes]:
        """The attributes of the edges that begin in the node, by the number of the output port (of a data node: counted)."""
        found: dict[int, EdgeAttributes] = {}
        for number, (_, edge) in enumerate(self._outgoing()):
            found.setdefault(edge.get("out", number), edge)
        return found

    def out_edge(self, key: int = 0, control_flow: bool = False) -> EdgeAttributes:
        """The attributes of the edge from an output port. Raises ConversionError if there is none."""
        return self._chosen(self.out_edges(), key, "out")

    def _chosen(self, found: Mapping[int, Any], key: int, direction: str) -> Any:
        if key not in found:
            raise ConversionError(
                f"nothing is connected to its {direction}put port {key}", operation=self._self.kind_name, node=self._self.name
            )
        return found[key]

    def get_inputs(self, control_flow: bool = False) -> list[tuple[str, EdgeAttributes]]:
        """Id of the node in front and attributes, of each edge that ends in the node."""
        return [(neighbour.id, edge) for neighbour, edge in self._incoming()]

    def get_sorted_inputs(self, control_flow: bool = False) -> list[tuple[str, EdgeAttributes]]:
        """The same in the order of the input ports."""
        return sorted(self.get_inputs(), key=lambda entry: entry[1].get("in", 0))

    def get_outputs(self, edge_attr: Mapping[str, int] | None = None, control_flow: bool = False) -> list[tuple[str, EdgeAttributes]]:
        """Id of the node behind and attributes, of each edge that begins in the node and has the attributes given."""
        wanted = dict(edge_attr or {}).items()
        return [(neighbour.id, edge) for neighbour, edge in self._outgoing() if wanted <= edge.items()]

    def input_ports_with(self, node: Node) -> list[int]:
        """The numbers of the input ports that a node is in front of."""
        return [edge.get("in", 0) for neighbour, edge in self._incoming() if neighbour == node]

    def edges(self, attrs: Mapping[str, int] | None = None) -> list[tuple[str, str, EdgeAttributes]]:
        """Both ends and the attributes, of all edges of the node that have the attributes given."""
        node, wanted = self._self, dict(attrs or {}).items()
        both = [(other.id, node.id, edge) for other, edge in self._incoming()] + [
            (node.id, other.id, edge) for other, edge in self._outgoing()
        ]
        return [entry for entry in both if wanted <= entry[2].items()]

    def edge(self, attrs: Mapping[str, int] | None = None) -> tuple[str, str, EdgeAttributes]:
        """The one edge with the attributes given. Raises ConversionError if there is none, or several."""
        found = self.edges(attrs)
        if len(found) != 1:
            raise ConversionError(f"it has {len(found)} edges with {dict(attrs or {})}", node=self._self.name)
        return found[0]

    # Changes in the older way.

    def insert_node_after(self, new_node: Node, node_out_port: int = 0) -> None:
        """Put a node with one input and one output behind an output port, in front of all its consumers."""
        connection = self._self.out_port(node_out_port).get_connection()
        assert connection is not None
        connection.insert_node(new_node)

    def insert_op_on_input_port(self, in_port_idx: int, new_op_class: Any, new_op_attrs: Mapping[str, Any], value: Any = None) -> Node:
        """Put a new operation of an Op class in front of an input port; a value becomes the constant at its input 1. Returns its node."""
        from moir.model_optimizer.graph.creation import create_constant

        node = self._self
        created: Node = new_op_class(node.graph, dict(new_op_attrs)).create_node()
        if value is not None:
            constant = create_constant(node.graph, value, f"{created.name}/value")
            created.add_input_port(1, skip_if_exist=True)
            created.in_port(1).connect(constant.out_port(0))
        connection = node.in_port(in_port_idx).get_connection()
        if connection is None:
            raise ConversionError(f"its input port {in_port_idx} is not connected", operation=node.kind_name, node=node.name)
        connection.insert_node(created)
        return created

    def insert_node_with_data_before(self, inp: Node, new_op_class: Any, op_before_params: Mapping[str, Any] | None = None) -> Node:
        """Put a new operation between a data node in front of this node and this node. Returns the new operation's node."""
        node = self._self
        created: Node = new_op_class(node.graph, dict(op_before_params or {})).create_node([inp])
        for number in node.input_ports_with(inp):
            node.graph.set_operand(node.operation, number, created.operation.results[0])
        return created

    def insert_node_with_data_after(self, out: Node, new_op_class: Any, op_after_params: Mapping[str, Any] | None = None) -> Node:
        """Put a new operation between a data node behind this node and its consumers. Returns the new operation's node."""
        node = self._self
        created: Node = new_op_class(node.graph, dict(op_after_params or {})).create_node()
        value = cast(SSAValue, out.subject)
        node.graph.out_port_of(value).node.insert_node_after(created, cast(Any, value).index)
        return created

    def bracket_op_with_another_op(
        self, inp: Node, out: Node, new_op_class: Any, before: Mapping[str, Any], after: Mapping[str, Any]
    ) -> None:
        """Put an operation in front of this node and one of the same class behind it."""
        self.insert_node_with_data_before(inp, new_op_class, before)
        self.insert_node_with_data_after(out, new_op_class, after)

    def bracket_with_different_nodes_with_data(
        self,
        inp: Node,
        out: Node,
        new_node_class_before: Any,
        new_node_class_after: Any,
        before: Mapping[str, Any],
        after: Mapping[str, Any],
    ) -> None:
        """Put an operation in front of this node and one of another class behind it."""
        self.insert_node_with_data_before(inp, new_node_class_before, before)
        self.insert_node_with_data_after(out, new_node_class_after, after)

    def replace_node(self, new_node: Node, new_node_out_port: int | None = None) -> None:
        """Let the consumers of this node take their tensors from another, and remove this one."""
        from moir.model_optimizer.graph.replacing import replace_node

        replace_node(self._self, new_node, new_node_out_port)
