"""Ports: the numbered inputs and outputs of a node.

    op4.in_port(1).disconnect()
    op3.out_port(0).connect(op4.in_port(1))

An input port takes one tensor, an output port gives one to any number of input ports. Connecting a port that is connected replaces its
source. Ports work alike in all phases.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from xdsl.ir import SSAValue

from moir.dialects.element_types import dynamic
from moir.dialects.inference import set_type
from moir.dialects.names import names_of, set_names
from moir.dialects.shapes import element_of, shape_of, tensor
from moir.errors import ConversionError
from moir.model_optimizer.graph.data import PortData
from moir.model_optimizer.graph.sentinels import is_node, is_value
from moir.model_optimizer.graph.tensor_names import Mode, hand_on_names
from moir.model_optimizer.graph.values import element_type, numpy_type

if TYPE_CHECKING:
    from moir.model_optimizer.graph.connection import Connection
    from moir.model_optimizer.graph.graph import Graph
    from moir.model_optimizer.graph.node import Node


class Port:
    """A port of a node; made when asked for, equal to every other object for the same port."""

    __slots__ = ("idx", "node", "type")

    def __init__(self, node: Node, idx: int, type: Literal["in", "out"]) -> None:
        self.node = node
        self.idx = idx
        self.type: Literal["in", "out"] = type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Port) and (self.idx, self.type) == (other.idx, other.type) and self.node == other.node

    def __hash__(self) -> int:
        return hash((self.node, self.idx, self.type))

    def __repr__(self) -> str:
        return f"{self.type}put port {self.idx} of node {self.node.id!r}"

    @property
    def graph(self) -> Graph:
        """The graph of the node."""
        return self.node.graph

    @property
    def data(self) -> PortData:
        """Shape and value of the tensor."""
        return PortData(self)

    @property
    def value(self) -> SSAValue | None:
        """The tensor at the port, None if an input port is disconnected."""
        op = self.node.operation
        if self.type == "out":
            return op.results[self.idx]
        if self.idx >= len(op.operands) or not is_value(op.operands[self.idx]):
            return None
        return op.operands[self.idx]

    def _require(self, type_: Literal["in", "out"], action: str) -> None:
        if self.type != type_:
            raise ConversionError(f"{self} {action}", node=self.node.id)

    # What it is connected to.

    def get_source(self) -> Port | None:
        """The output port that gives an input port its tensor, None if it is disconnected."""
        self._require("in", "has no source")
        value = self.value
        if value is None:
            return None
        return self.graph.out_port_of(value)

    def get_destinations(self) -> list[Port]:
        """The input ports that take the tensor of an output port, in the order of the operations that have them."""
        self._require("out", "has no destinations")
        value = self.value
        assert value is not None
        uses = [use for use in value.uses if is_node(use.operation) and use.operation.parent is self.graph.block]
        if len({use.operation for use in uses}) > 1:
            order = self.graph.order_of({use.operation for use in uses})
            uses.sort(key=lambda use: (order[use.operation], use.index))
        else:
            uses.sort(key=lambda use: use.index)
        return [Port(self.graph.node_of(use.operation), use.index, "in") for use in uses]

    def get_destination(self) -> Port | None:
        """The one input port that takes the tensor, None if there is none. Raises ConversionError if there are several."""
        destinations = self.get_destinations()
        if len(destinations) > 1:
            raise ConversionError(f"{self} has {len(destinations)} destinations", node=self.node.id, hint="use get_destinations")
        return destinations[0] if destinations else None

    def disconnected(self) -> bool:
        """Whether nothing is connected to the port."""
        if self.type == "in":
            return self.value is None
        value = self.value
        return value is None or not any(is_node(use.operation) for use in value.uses)

    def get_connection(self) -> Connection | None:
        """The connection of the port: of an output port with all its destinations, of an input port with its source and itself.

        None for an input port that is not connected. An output port nothing takes a tensor from has a connection without destinations.
        """
        from moir.model_optimizer.graph.connection import Connection

        if self.type == "out":
            return Connection(self.graph, self, self.get_destinations(), True)
        source = self.get_source()
        return None if source is None else Connection(self.graph, source, [self], False)

    # Changes.

    def connect(self, port: Port, attributes_save_mode: Mode = "merge") -> None:
        """Connect an output port and an input port, whichever of them this is. What the input port was connected to is replaced."""
        if not isinstance(port, Port):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConversionError(f"{self} can be connected to a port only, not to {port!r}", node=self.node.id)
        if self.type == port.type:
            raise ConversionError(f"{self} cannot be connected to {port}: they are of one type", node=self.node.id)
        source, destination = (self, port) if self.type == "out" else (port, self)
        if source.graph.block is not destination.graph.block:
            raise ConversionError(f"{source} and {destination} are in different graphs", node=source.node.id)
        old, new = destination.value, source.value
        assert new is not None
        destination.graph.set_operand(destination.node.operation, destination.idx, new)
        if old is not None and old is not new and not any(is_node(use.operation) for use in old.uses):
            hand_on_names(old, new, attributes_save_mode)

    def disconnect(self) -> None:
        """Take the tensor away from an input port, or from all input ports an output port gives it to."""
        if self.type == "in":
            if self.value is not None:
                self.graph.disconnect_operand(self.node.operation, self.idx)
            return
        for destination in self.get_destinations():
            destination.disconnect()

    # Names and element type of the tensor.

    def _tensor(self) -> SSAValue:
        value = self.value
        if value is None:
            raise ConversionError(f"{self} is not connected", node=self.node.id)
        return value

    def get_tensor_names(self, port_renumber: bool = False) -> list[str]:
        """The framework's names of the tensor, sorted. `port_renumber` is accepted and has no meaning: a tensor has its names only once."""
        return sorted(names_of(self.value)) if self.value is not None else []

    def add_tensor_names(self, names: str | Iterable[str], port_renumber: bool = False) -> None:
        """Give the tensor further names."""
        value = self._tensor()
        set_names(value, [*names_of(value), *([names] if isinstance(names, str) else names)])

    def remove_tensor_names(self) -> None:
        """Take all names from the tensor."""
        set_names(self._tensor(), ())

    def get_tensor_debug_info(self, port_renumber: bool = False) -> list[tuple[str, int, str]]:
        """For each name of the tensor: the name of the node, the number of the port, the name."""
        source = self if self.type == "out" else self.get_source()
        return [] if source is None else [(source.node.name, source.idx, name) for name in names_of(self._tensor())]

    def set_tensor_debug_info(self, tensor_info: Iterable[tuple[str, int, str]], merge: bool = False) -> None:
        """Set the names of the tensor in the form `get_tensor_debug_info` has."""
        value = self._tensor()
        set_names(value, [*(names_of(value) if merge else ()), *(name for _, _, name in tensor_info)])

    def is_data_type_defined(self) -> bool:
        """Whether the element type is known."""
        return self.value is not None and element_of(self.value) != dynamic

    def get_data_type(self) -> Any:
        """The element type as a numpy type, None if it is unknown."""
        return None if self.value is None else numpy_type(element_of(self.value))

    def set_data_type(self, data_type: Any, override: bool = False) -> None:
        """Set the element type of the tensor of an output port. Raises ConversionError if it has another one, unless told to override."""
        self._require("out", "takes the element type of its source")
        value = self._tensor()
        element, present = element_type(data_type), element_of(value)
        if present not in (dynamic, element) and not override:
            raise ConversionError(f"{self} has the element type {present} already, {element} cannot be set", node=self.node.id)
        set_type(value, tensor(shape_of(value), element))
