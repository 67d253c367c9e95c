"""Connections: a source and the input ports it gives its tensor to, as one thing to edit.

op3.out_port(0).get_connection().set_source(op1.out_port(0))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from moir.errors import ConversionError
from moir.model_optimizer.graph.data import PortData
from moir.model_optimizer.graph.port import Port
from moir.model_optimizer.graph.sentinels import is_node
from moir.model_optimizer.graph.tensor_names import Mode, hand_on_names

if TYPE_CHECKING:
    from moir.model_optimizer.graph.graph import Graph
    from moir.model_optimizer.graph.node import Node


class Connection:
    """The link between an output port and input ports: all of its destinations if it was got from the output port, one if from an input."""

    __slots__ = ("destinations", "graph", "is_whole", "source")

    def __init__(self, graph: Graph, source: Port, destinations: list[Port], is_whole: bool) -> None:
        self.graph = graph
        self.source = source
        self.destinations = destinations
        self.is_whole = is_whole

    @property
    def data(self) -> PortData:
        """Shape and value of the tensor."""
        return self.source.data

    def get_source(self) -> Port:
        """The output port that gives the tensor."""
        return self.source

    def get_destination(self) -> Port | None:
        """The one input port that takes the tensor, None if there is none. Raises ConversionError if there are several."""
        if len(self.destinations) > 1:
            raise ConversionError(
                f"the connection of {self.source} has {len(self.destinations)} destinations",
                node=self.source.node.id,
                hint="use get_destinations",
            )
        return self.destinations[0] if self.destinations else None

    def get_destinations(self) -> list[Port]:
        """The input ports that take the tensor."""
        return list(self.destinations)

    def set_source(self, port: Port, attributes_save_mode: Mode = "merge") -> None:
        """Give the destinations their tensor from another output port.

        The names of the tensor go with all of its destinations; with one, if it was the only one.
        """
        if port.type != "out":
            raise ConversionError(f"{port} cannot be the source of a connection", node=port.node.id)
        old = self.source
        for destination in self.destinations:
            destination.disconnect()
            destination.connect(port)
        value, new = old.value, port.value
        assert value is not None
        assert new is not None
        if self.is_whole or not any(is_node(use.operation) and use.operation is not port.node.operation for use in value.uses):
            hand_on_names(value, new, attributes_save_mode)
        self.source = port

    def set_destination(self, port: Port, attributes_save_mode: Mode = "merge") -> None:
        """Disconnect the destinations and give the tensor to this input port instead of them, whatever it was connected to."""
        if port.type != "in":
            raise ConversionError(f"{port} cannot be the destination of a connection", node=port.node.id)
        for destination in self.destinations:
            if destination != port:
                destination.disconnect()
        port.connect(self.source, attributes_save_mode)
        self.destinations = [port]

    def add_destination(self, port: Port) -> None:
        """Give the tensor to one more input port, whatever that was connected to."""
        if port.type != "in":
            raise ConversionError(f"{port} cannot be a destination of a connection", node=port.node.id)
        self.source.connect(port)
        if port not in self.destinations:
            self.destinations.append(port)

    def remove(self) -> None:
        """Disconnect the destinations."""
        for destination in self.destinations:
            destination.disconnect()
        self.destinations = []

    def insert_node(self, new_node: Node, attributes_save_mode: Mode = "merge") -> None:
        """Put a node between the source and the destinations. It has one output, and takes the tensor at its input 0."""
        if len(new_node.out_ports()) != 1:
            raise ConversionError(f"a node that is inserted has one output port, not {len(new_node.out_ports())}", node=new_node.id)
        if not new_node.has_port("in", 0):
            new_node.add_input_port(0)
        source = self.source
        self.set_source(new_node.out_port(0), attributes_save_mode)
        new_node.in_port(0).connect(source)
