"""Ports and connections: the numbered inputs and outputs of a node, and the links between them.

    op4.in_port(1).disconnect()
    op3.out_port(0).connect(op4.in_port(1))
    op3.out_port(0).get_connection().set_source(op1.out_port(0))

An input port takes one tensor, an output port gives one to any number of input ports. Connecting an input port that is
connected replaces its source. A connection is an output port with input ports that take its tensor, edited as one.
Ports work alike in all phases; `port.data`, the shape and value of the tensor, exists in the middle and back phases
only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, Literal, TypeAlias, TypeVar, cast

from xdsl.ir import OpResult, SSAValue

from moir.dialects.element_types import dynamic
from moir.dialects.inference import set_type
from moir.dialects.names import names_of, set_names
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.shapes import element_of, shape_of, tensor
from moir.errors import ConversionError
from moir.model_optimizer.attributes.operation_attributes import OperationAttributes
from moir.model_optimizer.block.edges import EdgeAttributes
from moir.model_optimizer.block.operation_names import is_mo_operation
from moir.model_optimizer.block.sentinels import is_node, is_value
from moir.model_optimizer.block.view import BlockView
from moir.model_optimizer.graph.attributed_node import AttributedNode, Direction
from moir.model_optimizer.graph.normal_inputs import normalise
from moir.model_optimizer.graph.port_data import PortData
from moir.model_optimizer.values.python_values import element_type, numpy_type

NameMode: TypeAlias = Literal["merge", "source", "dest"]
"""Which names a tensor that replaces another one gets: the names of both (`merge`), only its own (`source`), or only
those of the other (`dest`).
"""

INPUT_PERMUTATIONS = "$input_permutations"
"""The Python attribute of a node: index of an input port -> `input_permutation.InputPermutation`."""

INPUT_PERMUTATION = "input_permutation"
"""The attribute of an input port with the permutation of its data; None if the data is not permuted."""

NodeT = TypeVar("NodeT", bound=AttributedNode)


class Port(Generic[NodeT]):
    """A port of a node. Two objects for one port are equal.

    Other attributes than those below are attributes of its edge.
    """

    __slots__ = ("idx", "node", "type")

    node: NodeT
    idx: int
    type: Direction

    def __init__(self, node: NodeT, idx: int, type: Direction) -> None:
        object.__setattr__(self, "node", node)
        object.__setattr__(self, "idx", idx)
        object.__setattr__(self, "type", type)

    def _edge(self) -> EdgeAttributes:
        name = "in" if self.type == "in" else "out"
        return EdgeAttributes({name: self.idx}, self.graph.edge_entries, (self.node.ir_operation, name, self.idx))

    def __getattr__(self, key: str) -> Any:
        if key.startswith("__"):
            raise AttributeError(key)
        edge = self._edge()
        if key not in edge:
            raise AttributeError(f"the edge at {self} has no attribute {key!r}")
        return edge[key]

    def __setattr__(self, key: str, value: Any) -> None:
        op = self.node.ir_operation
        if key == INPUT_PERMUTATION and value is None and is_mo_operation(op):
            attributes = OperationAttributes(self.graph, op)
            permutations = {index: each for index, each in attributes.hidden(INPUT_PERMUTATIONS, {}).items() if index != self.idx}
            attributes.set_hidden(INPUT_PERMUTATIONS, permutations or None)
        self._edge()[key] = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Port):
            return False
        port = cast("Port[Any]", other)
        return (self.idx, self.type) == (port.idx, port.type) and self.node == port.node

    def __hash__(self) -> int:
        return hash((self.node, self.idx, self.type))

    def __repr__(self) -> str:
        return f"{self.type}put port {self.idx} of node {self.node.id!r}"

    @property
    def graph(self) -> BlockView:
        """The graph of the node."""
        return self.node.graph

    @property
    def data(self) -> PortData:
        """Shape and value of the tensor."""
        return PortData(self)

    @property
    def value(self) -> SSAValue | None:
        """The tensor at the port, None if an input port is disconnected."""
        op = self.node.ir_operation
        if self.type == "out":
            return op.results[self.idx]
        if self.idx >= len(op.operands) or not is_value(op.operands[self.idx]):
            return None
        return op.operands[self.idx]

    def _require(self, type_: Direction, action: str) -> None:
        if self.type != type_:
            raise ConversionError(f"{self} {action}", node=self.node.id)

    # Connections of a port.

    def get_source(self) -> Port[NodeT] | None:
        """The output port whose tensor an input port takes; None if it is disconnected."""
        self._require("in", "has no source")
        value = self.value
        if value is None and self.idx and self.graph.stage == "front" and normalise(self.graph, self.node.ir_operation):
            value = self.value
        return None if value is None else self._source_of(value)

    def _source_of(self, value: SSAValue) -> Port[NodeT]:
        assert isinstance(value, OpResult)
        return Port(self.node.of(self.graph, value.op), value.index, "out")

    def get_destinations(self) -> list[Port[NodeT]]:
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
        return [Port(self.node.of(self.graph, use.operation), use.index, "in") for use in uses]

    def get_destination(self) -> Port[NodeT] | None:
        """The one input port that takes the tensor, None if there is none.

        Raises ConversionError if there are several.
        """
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

    def get_connection(self) -> Connection[NodeT]:
        """The connection of the port: for an output port with all destinations, for an input port with its source.

        The connection of a disconnected input port has no source: `get_source` returns None, and `set_source` connects
        it. The connection of an output port without consumers has no destinations.
        """
        if self.type == "out":
            return Connection(self.graph, self, self.get_destinations(), True)
        return Connection(self.graph, self.get_source(), [self], False)

    # Changes.

    def connect(self, port: Port[NodeT], attributes_save_mode: NameMode = "merge") -> None:
        """Connect an output port and an input port; this may be either of them.

        The former connection of the input port is replaced.
        """
        if not isinstance(port, Port):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConversionError(f"{self} can be connected to a port only, not to {port!r}", node=self.node.id)
        if self.type == port.type:
            raise ConversionError(f"{self} cannot be connected to {port}: both are {self.type}put ports", node=self.node.id)
        source, destination = (self, port) if self.type == "out" else (port, self)
        if source.graph.block is not destination.graph.block:
            raise ConversionError(f"{source} and {destination} are in different graphs", node=source.node.id)
        old, new = destination.value, source.value
        assert new is not None
        destination.graph.set_operand(destination.node.ir_operation, destination.idx, new)
        if old is not None and old is not new and not any(is_node(use.operation) for use in old.uses):
            _pass_on_names(old, new, attributes_save_mode)

    def disconnect(self) -> None:
        """Disconnect an input port, or all input ports that take the tensor of an output port."""
        if self.type == "in":
            if self.value is not None:
                self.graph.disconnect_operand(self.node.ir_operation, self.idx)
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
        """The framework's names of the tensor, sorted.

        `port_renumber` has no effect: a tensor has its names only once.
        """
        return sorted(names_of(self.value)) if self.value is not None else []

    def add_tensor_names(self, names: str | Iterable[str], port_renumber: bool = False) -> None:
        """Give the tensor further names."""
        value = self._tensor()
        set_names(value, [*names_of(value), *([names] if isinstance(names, str) else names)])

    def remove_tensor_names(self) -> None:
        """Remove all names of the tensor."""
        set_names(self._tensor(), ())

    def get_tensor_debug_info(self, port_renumber: bool = False) -> list[tuple[str, int, str]]:
        """For each name of the tensor: the name of the node, the index of the port, the name."""
        source = self if self.type == "out" else self.get_source()
        return [] if source is None else [(source.node.name, source.idx, name) for name in names_of(self._tensor())]

    def set_tensor_debug_info(self, tensor_info: Iterable[tuple[str, int, str]], merge: bool = False) -> None:
        """Set the names of the tensor, in the form that `get_tensor_debug_info` returns; with `merge` in addition to
        its own.
        """
        value = self._tensor()
        set_names(value, [*(names_of(value) if merge else ()), *(name for _, _, name in tensor_info)])

    def is_data_type_defined(self) -> bool:
        """Whether the element type is known."""
        return self.value is not None and element_of(self.value) != dynamic

    def get_data_type(self) -> Any:
        """The element type as a numpy type, None if it is unknown."""
        return None if self.value is None else numpy_type(element_of(self.value))

    def set_data_type(self, data_type: Any, override: bool = False) -> None:
        """Set the element type of the tensor of an output port.

        Raises ConversionError if it has another one, unless `override` is set.
        """
        self._require("out", "takes the element type of its source")
        value = self._tensor()
        element, present = element_type(data_type), element_of(value)
        if present not in (dynamic, element) and not override:
            raise ConversionError(f"{self} has the element type {present} already, {element} cannot be set", node=self.node.id)
        set_type(value, tensor(shape_of(value), element))


class Connection(Generic[NodeT]):
    """The link between an output port and its destinations.

    The connection of an output port has all destinations; that of an input port has only this port.
    """

    __slots__ = ("destinations", "graph", "is_whole", "source")

    def __init__(self, graph: BlockView, source: Port[NodeT] | None, destinations: list[Port[NodeT]], is_whole: bool) -> None:
        self.graph = graph
        self.source = source
        self.destinations = destinations
        self.is_whole = is_whole

    @property
    def data(self) -> PortData:
        """Shape and value of the tensor."""
        return PortData(self.destinations[0] if self.source is None else self.source)

    def get_source(self) -> Port[NodeT] | None:
        """The output port that gives the tensor; None for the connection of an input port that is not connected."""
        return self.source

    def _required_source(self) -> Port[NodeT]:
        if self.source is None:
            raise ConversionError(f"{self.destinations[0]} is not connected", node=self.destinations[0].node.id)
        return self.source

    def get_destination(self) -> Port[NodeT] | None:
        """The one input port that takes the tensor, None if there is none.

        Raises ConversionError if there are several.
        """
        if len(self.destinations) > 1:
            raise ConversionError(
                f"the connection of {self.source} has {len(self.destinations)} destinations",
                node=self.destinations[0].node.id,
                hint="use get_destinations",
            )
        return self.destinations[0] if self.destinations else None

    def get_destinations(self) -> list[Port[NodeT]]:
        """The input ports that take the tensor."""
        return list(self.destinations)

    def set_source(self, port: Port[NodeT], attributes_save_mode: NameMode = "merge") -> None:
        """Give the destinations their tensor from another output port.

        The names of the old tensor are passed on if it has no other consumers left.
        """
        if port.type != "out":
            raise ConversionError(f"{port} cannot be the source of a connection", node=port.node.id)
        old = self.source
        for destination in self.destinations:
            destination.disconnect()
            destination.connect(port)
        self.source = port
        if old is None:
            return
        value, new = old.value, port.value
        assert value is not None
        assert new is not None
        if self.is_whole or not any(is_node(use.operation) and use.operation is not port.node.ir_operation for use in value.uses):
            _pass_on_names(value, new, attributes_save_mode)

    def set_destination(self, port: Port[NodeT], attributes_save_mode: NameMode = "merge") -> None:
        """Make an input port the only destination, whatever it and the former destinations were connected to.

        Without a source this has no effect, as in Model Optimizer.
        """
        if port.type != "in":
            raise ConversionError(f"{port} cannot be the destination of a connection", node=port.node.id)
        if self.source is None:
            return
        for destination in self.destinations:
            if destination != port:
                destination.disconnect()
        port.connect(self.source, attributes_save_mode)
        self.destinations = [port]

    def add_destination(self, port: Port[NodeT]) -> None:
        """Connect one more input port to the tensor, whatever it was connected to."""
        if port.type != "in":
            raise ConversionError(f"{port} cannot be a destination of a connection", node=port.node.id)
        self._required_source().connect(port)
        if port not in self.destinations:
            self.destinations.append(port)

    def remove(self) -> None:
        """Disconnect the destinations."""
        for destination in self.destinations:
            destination.disconnect()
        self.destinations = []

    def insert_node(self, new_node: NodeT, attributes_save_mode: NameMode = "merge") -> None:
        """Put a node between the source and the destinations.

        It has one output, and takes the tensor at its input 0.
        """
        outputs = new_node.port_numbers("out")
        if len(outputs) != 1:
            raise ConversionError(f"a node that is inserted has one output port, not {len(outputs)}", node=new_node.id)
        if not new_node.has_port("in", 0):
            new_node.add_input_port(0)
        source = self._required_source()
        self.set_source(Port(new_node, outputs[0], "out"), attributes_save_mode)
        Port(new_node, 0, "in").connect(source)


def _pass_on_names(old: SSAValue, new: SSAValue, mode: NameMode) -> None:
    """Move the names of a tensor to the tensor that replaces it; an input of the model keeps its names.

    With the mode `merge` they follow the names of the new tensor, with `dest` they replace them, with `source` nothing
    changes. Raises ConversionError for any other mode.
    """
    if mode not in ("merge", "source", "dest"):
        raise ConversionError(f"there is no mode {mode!r} for the names of tensors", hint="use 'merge', 'source' or 'dest'")
    if mode == "source" or isinstance(old.owner, Parameter) or old is new:
        return
    names = names_of(old)
    if not names:
        return
    set_names(old, ())
    set_names(new, names if mode == "dest" else [*names_of(new), *names])
