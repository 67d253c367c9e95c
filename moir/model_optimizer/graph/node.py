"""`GraphNode`: the node that extensions get, with its ports, neighbours and edges.

    node = GraphNode(graph, "conv1")
    node.in_port(0).get_source().node
    node.has_and_set("transpose_a"), node.soft_get("name", node.id), node["my_attribute"] = lambda: None

Older extensions go along edges instead of ports: `in_node`, `out_nodes`, … The neighbours of an operation node are
operation nodes in the front phase and data nodes in the middle and back phases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np
from xdsl.ir import OpResult, SSAValue

from moir.dialects.names import names_of, set_names
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.shapes import element_of
from moir.errors import ConversionError
from moir.model_optimizer.block.edges import EdgeAttributes
from moir.model_optimizer.block.sentinels import SENTINELS, is_node, is_value
from moir.model_optimizer.block.view import BlockView
from moir.model_optimizer.graph.attributed_node import AttributedNode, Direction
from moir.model_optimizer.graph.creation import create_operation
from moir.model_optimizer.graph.normal_inputs import normalise
from moir.model_optimizer.graph.port import Port
from moir.model_optimizer.values.python_values import numpy_type


class GraphNode(AttributedNode):
    """A node of a graph.

    Args:
        graph: the graph.
        node: id of the node; an unknown one raises ConversionError.
    """

    __slots__ = ()

    def update_node(self) -> None:
        """Does nothing: in moir, a node always has the current attributes of its operation."""

    def copy_node(self, new_attrs: Mapping[str, Any] | None = None, dst_graph: BlockView | None = None) -> GraphNode:
        """A copy of the node without connections; `new_attrs` override its attributes."""
        graph = dst_graph or self.graph
        node = GraphNode.of(graph, graph.append_copy(self.ir_operation))
        for key, value in (new_attrs or {}).items():
            node[key] = value
        return node

    # Ports.

    def _port(self, idx: int | None, port_type: Direction) -> Port[GraphNode]:
        if idx is None:
            ports = self._ports(port_type)
            if len(ports) != 1:
                raise ConversionError(
                    f"it has {len(ports)} {port_type}put ports, so which is meant must be said", operation=self.kind_name, node=self.name
                )
            return next(iter(ports.values()))
        if not isinstance(idx, int | np.integer) or not self.has_port(port_type, int(idx)):  # pyright: ignore[reportUnnecessaryIsInstance]
            present = self.port_numbers(port_type)
            raise ConversionError(f"it has no {port_type}put port {idx} (it has {present})", operation=self.kind_name, node=self.name)
        return Port(self, int(idx), port_type)

    def _ports(self, port_type: Direction) -> dict[int, Port[GraphNode]]:
        return {index: Port(self, index, port_type) for index in self.port_numbers(port_type)}

    def in_port(self, idx: int | None = None, control_flow: bool = False) -> Port[GraphNode]:
        """An input port; without a number the only one. Raises ConversionError if the node does not have it.

        The ports in the definition of the operation exist even if the model connects fewer.
        """
        return self._port(idx, "in")

    def out_port(self, idx: int | None = None, control_flow: bool = False) -> Port[GraphNode]:
        """An output port, by default the only one. Raises ConversionError if the node does not have it."""
        return self._port(idx, "out")

    def in_ports(self, control_flow: bool = False) -> dict[int, Port[GraphNode]]:
        """The input ports by index, disconnected ones among them."""
        return self._ports("in")

    def out_ports(self, control_flow: bool = False) -> dict[int, Port[GraphNode]]:
        """The output ports by index."""
        return self._ports("out")

    def is_in_port_connected(self, idx: int, control_flow: bool = False) -> bool:
        """Whether the input port of this index exists and is connected."""
        return self.has_port("in", idx) and not self.in_port(idx).disconnected()

    def is_out_port_connected(self, idx: int, control_flow: bool = False) -> bool:
        """Whether the output port of this index exists and has a consumer."""
        return self.has_port("out", idx) and not self.out_port(idx).disconnected()

    def delete_output_port(self, idx: int, skip_if_absent: bool = False) -> None:
        """Disconnect and remove an output port; the others keep their numbers.

        Raises ConversionError if there is none.
        """
        if not self.has_port("out", idx):
            if not skip_if_absent:
                raise ConversionError(f"it has no output port {idx}", operation=self.kind_name, node=self.name)
            return
        self.out_port(idx).disconnect()
        self.mark_output_absent(idx)

    def add_sequence_of_ports(self, type: Direction, rng: Iterable[int]) -> None:
        """Add the ports of the given indices that the node does not have yet."""
        for idx in rng:
            if type == "in":
                self.add_input_port(idx, skip_if_exist=True)
            elif type == "out":
                self.add_output_port(idx, skip_if_exist=True)
            else:
                raise ConversionError(f"{type!r} is not a type of a port", node=self.name, hint="use 'in' or 'out'")

    # Neighbours and edges.

    def _incoming(self) -> list[tuple[GraphNode, EdgeAttributes]]:
        return [(GraphNode.of(self.graph, vertex), edge) for vertex, edge in self.graph.incoming(self.subject)]

    def _outgoing(self) -> list[tuple[GraphNode, EdgeAttributes]]:
        return [(GraphNode.of(self.graph, vertex), edge) for vertex, edge in self.graph.outgoing(self.subject)]

    def in_nodes(self, control_flow: bool = False) -> Any:
        """The producers of an operation by index of the input port; for a data node a list with its producer, if
        any.
        """
        producers = self._producers()
        return list(producers.values()) if self.is_data else producers

    def _producers(self) -> dict[int, GraphNode]:
        producers = {edge.get("in", 0): neighbour for neighbour, edge in self._incoming()}
        if self.graph.detached and not self.is_data:
            # A data node whose producer was taken away still has its consumers.
            for value, uses in self.graph.detached.items():
                producers.update(
                    {index: GraphNode.of(self.graph, value) for op, index in uses if op is self.ir_operation and index not in producers}
                )
        return producers

    def in_node(self, key: int = 0, control_flow: bool = False) -> GraphNode:
        """The producer at an input port. Raises ConversionError if there is none."""
        producers = self._producers()
        if key not in producers and self.graph.stage == "front" and not self.is_data and normalise(self.graph, self.ir_operation):
            producers = self._producers()
        return self._chosen(producers, key, "in")

    def in_edges(self, control_flow: bool = False) -> dict[int, EdgeAttributes]:
        """The attributes of the edges that end in the node, by index of the input port."""
        return {edge.get("in", 0): edge for _, edge in self._incoming()}

    def in_edge(self, key: int = 0, control_flow: bool = False) -> EdgeAttributes:
        """The attributes of the edge to an input port. Raises ConversionError if there is none."""
        return self._chosen(self.in_edges(), key, "in")

    def out_nodes(self, control_flow: bool = False) -> Any:
        """The first consumer at each output port of an operation, by index; all consumers of a data node as a list."""
        consumers = self._consumers()
        return list(consumers.values()) if self.is_data else consumers

    def _consumers(self) -> dict[int, GraphNode]:
        return {number: neighbour for number, (neighbour, _) in self._first_outgoing().items()}

    def out_node(self, key: int = 0, control_flow: bool = False) -> GraphNode:
        """The first consumer at an output port. In phases with data nodes this is the data node, even if it has no
        consumer.

        Raises ConversionError if there is none.
        """
        consumers = self._consumers()
        if key not in consumers and self.graph.has_data_nodes and not self.is_data and self.has_port("out", key):
            return GraphNode.of(self.graph, self.ir_operation.results[key])
        return self._chosen(consumers, key, "out")

    def out_edges(self, control_flow: bool = False) -> dict[int, EdgeAttributes]:
        """The attributes of the first edge from each output port, by index of the port.

        For a data node the key is the index of the edge. `control_flow` is accepted as in Model Optimizer and has no
        effect: graphs have no edges of control flow.
        """
        return {number: edge for number, (_, edge) in self._first_outgoing().items()}

    def out_edge(self, key: int = 0, control_flow: bool = False) -> EdgeAttributes:
        """The attributes of the first edge from an output port. Raises ConversionError if there is none."""
        return self._chosen(self.out_edges(), key, "out")

    def _first_outgoing(self) -> dict[int, tuple[GraphNode, EdgeAttributes]]:
        first: dict[int, tuple[GraphNode, EdgeAttributes]] = {}
        for index, (neighbour, edge) in enumerate(self._outgoing()):
            first.setdefault(edge.get("out", index), (neighbour, edge))
        return first

    def _chosen(self, candidates: Mapping[int, Any], key: int, direction: Direction) -> Any:
        if key not in candidates:
            raise ConversionError(f"nothing is connected to its {direction}put port {key}", operation=self.kind_name, node=self.name)
        return candidates[key]

    def get_inputs(self, control_flow: bool = False) -> list[tuple[str, EdgeAttributes]]:
        """For each edge that ends in the node: the id of the producer, the attributes."""
        return [(neighbour.id, edge) for neighbour, edge in self._incoming()]

    def get_sorted_inputs(self, control_flow: bool = False) -> list[tuple[str, EdgeAttributes]]:
        """The result of `get_inputs` in the order of the input ports."""
        return sorted(self.get_inputs(), key=lambda entry: entry[1].get("in", 0))

    def get_outputs(self, edge_attr: Mapping[str, int] | None = None, control_flow: bool = False) -> list[tuple[str, EdgeAttributes]]:
        """The consumer's id and the attributes of each edge that begins in the node and has the given attributes."""
        wanted = dict(edge_attr or {}).items()
        return [(neighbour.id, edge) for neighbour, edge in self._outgoing() if wanted <= edge.items()]

    def input_ports_with(self, node: GraphNode) -> list[int]:
        """The indices of the input ports whose producer is a given node."""
        return [edge.get("in", 0) for neighbour, edge in self._incoming() if neighbour == node]

    def edges(self, attrs: Mapping[str, int] | None = None) -> list[tuple[str, str, EdgeAttributes]]:
        """The edges of the node that have the given attributes: the ids of both ends, and the attributes."""
        wanted = dict(attrs or {}).items()
        both = [(other.id, self.id, edge) for other, edge in self._incoming()]
        both += [(self.id, other.id, edge) for other, edge in self._outgoing()]
        return [entry for entry in both if wanted <= entry[2].items()]

    def edge(self, attrs: Mapping[str, int] | None = None) -> tuple[str, str, EdgeAttributes]:
        """The one edge with the given attributes. Raises ConversionError if there is none, or several."""
        edges = self.edges(attrs)
        if len(edges) != 1:
            raise ConversionError(f"it has {len(edges)} edges with {dict(attrs or {})}", node=self.name)
        return edges[0]

    # Insertion and replacement. `new_op_class` is a subclass of `operation.Op`.

    def insert_node_after(self, new_node: GraphNode, node_out_port: int = 0) -> None:
        """Insert a node with one input and one output between an output port and all its consumers."""
        self.out_port(node_out_port).get_connection().insert_node(new_node)

    def insert_op_on_input_port(self, in_port_idx: int, new_op_class: Any, new_op_attrs: Mapping[str, Any], value: Any = None) -> GraphNode:
        """Insert a new operation at an input port; its input 1 is a constant with `value`, if that is given.

        Returns its node.
        """
        created: GraphNode = new_op_class(self.graph, dict(new_op_attrs)).create_node()
        if value is not None:
            constant = create_constant(self.graph, value, f"{created.name}/value")
            created.add_input_port(1, skip_if_exist=True)
            created.in_port(1).connect(constant.out_port(0))
        self.in_port(in_port_idx).get_connection().insert_node(created)
        return created

    def insert_node_with_data_before(
        self, inp: GraphNode, new_op_class: Any, op_before_params: Mapping[str, Any] | None = None
    ) -> GraphNode:
        """Insert a new operation between the data node of an operand and this node.

        Returns the node of the operation.
        """
        created: GraphNode = new_op_class(self.graph, dict(op_before_params or {})).create_node([inp])
        for number in self.input_ports_with(inp):
            self.graph.set_operand(self.ir_operation, number, created.ir_operation.results[0])
        return created

    def insert_node_with_data_after(self, out: GraphNode, new_op_class: Any, op_after_params: Mapping[str, Any] | None = None) -> GraphNode:
        """Insert a new operation between the data node of a result and its consumers.

        Returns the node of the operation.
        """
        created: GraphNode = new_op_class(self.graph, dict(op_after_params or {})).create_node()
        result = cast(OpResult, out.subject)
        GraphNode.of(self.graph, result.op).insert_node_after(created, result.index)
        return created

    def bracket_op_with_another_op(
        self, inp: GraphNode, out: GraphNode, new_op_class: Any, before: Mapping[str, Any], after: Mapping[str, Any]
    ) -> None:
        """Insert an operation before this node and one of the same class after it."""
        self.bracket_with_different_nodes_with_data(inp, out, new_op_class, new_op_class, before, after)

    def bracket_with_different_nodes_with_data(
        self,
        inp: GraphNode,
        out: GraphNode,
        new_node_class_before: Any,
        new_node_class_after: Any,
        before: Mapping[str, Any],
        after: Mapping[str, Any],
    ) -> None:
        """Insert an operation before this node and one of another class after it."""
        self.insert_node_with_data_before(inp, new_node_class_before, before)
        self.insert_node_with_data_after(out, new_node_class_after, after)

    def replace_node(self, new_node: GraphNode, new_node_out_port: int | None = None) -> None:
        """Let the consumers of this node take their tensors from another node, and remove this one.

        Output port k is replaced by output port k of the new node, or by `new_node_out_port`. A disconnected input
        port of the new node gets the tensor at the input port of this node that has the same number.
        """
        if self.graph.block is not new_node.graph.block:
            raise ConversionError(f"node {self.id!r} and node {new_node.id!r} are in different graphs", node=self.name)
        for number, port in self.in_ports().items():
            source = port.get_source()
            counterpart = new_node.in_ports().get(number)
            if source is not None and counterpart is not None and counterpart.disconnected():
                counterpart.connect(source)
        for number, port in self.out_ports().items():
            connection = port.get_connection()
            if connection.get_destinations():
                connection.set_source(new_node.out_port(number if new_node_out_port is None else new_node_out_port))
        self.graph.remove_operations([self.ir_operation])


def detach(graph: BlockView, value: SSAValue) -> None:
    """Disconnect the consumers of a tensor, which `take_over` connects with another one."""
    uses = [(use.operation, use.index) for use in value.uses if is_node(use.operation) and use.operation.parent is graph.block]
    for op, index in uses:
        graph.disconnect_operand(op, index)
    graph.detached.setdefault(value, []).extend(uses)


def take_over(graph: BlockView, old: SSAValue, new: SSAValue) -> None:
    """Connect all consumers of a tensor, including those that `detach` disconnected, to another tensor, which also gets
    its names.
    """
    made = out_port_of(graph, new)
    if isinstance(old, OpResult) and old.op.parent is not None:
        GraphNode.of(graph, old.op).out_port(old.index).get_connection().set_source(made)
    else:
        set_names(new, [*names_of(new), *names_of(old)])
    if isinstance(new.owner, Constant) and graph.has_data_nodes:
        # An `infer` that puts it in is not followed by sorting.
        new.owner.detach()
        first = graph.block.first_op
        graph.block.add_op(new.owner) if first is None else graph.block.insert_op_before(new.owner, first)
        types = [numpy_type(element_of(each)) for each in (old, new)]
        if all(each is not None and np.issubdtype(each, np.floating) for each in types):
            GraphNode.of(graph, new.owner)["data_type"] = types[0]
    for op, index in graph.detached.pop(old, ()):
        before = op.operands[index]
        if op.parent is graph.block and not is_value(before):
            graph.set_operand(op, index, new)
            if isinstance(before.owner, SENTINELS) and not before.uses:
                before.owner.detach()
                before.owner.erase()


def out_port_of(graph: BlockView, value: SSAValue) -> Port[GraphNode]:
    """The output port of the node that computes a tensor."""
    assert isinstance(value, OpResult)
    return Port(GraphNode.of(graph, value.op), value.index, "out")


def create_node(graph: BlockView, attrs: Mapping[str, Any], id_: str | None = None) -> GraphNode:
    """The node of a new operation without connections; see `creation.create_operation`."""
    return GraphNode.of(graph, create_operation(graph, attrs, id_))


def create_constant(graph: BlockView, value: Any, name: str = "Const") -> GraphNode:
    """The node of a new constant."""
    return create_node(graph, {"op": "Const", "name": name, "value": value})
