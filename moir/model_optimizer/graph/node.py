"""Nodes: views of one operation, or in the middle and back phases of one tensor (a data node).

    node = Node(graph, "conv1")
    node.in_port(0).get_source().node
    node.has_and_set("transpose_a"), node.soft_get("name", node.id), node["my_attribute"] = lambda: None

Two nodes of one operation are equal. What the older documents call a node's edges and neighbours is in `NeighbourAccess`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Literal

from xdsl.ir import Operation, OpResult, SSAValue, SSAValues

from moir.dialects.framework import FrameworkOp
from moir.dialects.opset.base import OpsetOp
from moir.dialects.shapes import UNKNOWN
from moir.errors import ConversionError
from moir.model_optimizer.graph.attributes import MissingAttributeError, OperationAttributes, is_foreign
from moir.model_optimizer.graph.data_attributes import DataAttributes
from moir.model_optimizer.graph.definitions import operand_limit
from moir.model_optimizer.graph.names import IN_PORTS_COUNTS, op_names
from moir.model_optimizer.graph.neighbours import NeighbourAccess
from moir.model_optimizer.graph.port import Port
from moir.model_optimizer.graph.sentinels import ABSENT_PORT, DISCONNECTED

if TYPE_CHECKING:
    from moir.model_optimizer.graph.graph import Graph

Direction = Literal["in", "out"]

ABSENT_OUTPUTS = "$absent_outputs"
"""The entry that lists results without a port."""


class Node(NeighbourAccess):
    """A node of a graph.

    Args:
        graph: the graph.
        node: id of the node; an unknown one raises ConversionError.
    """

    __slots__ = ("_subject", "graph")

    graph: Graph
    _subject: Operation | SSAValue

    def __init__(self, graph: Graph, node: str) -> None:
        object.__setattr__(self, "graph", graph)
        object.__setattr__(self, "_subject", graph.subject(node))

    @classmethod
    def of(cls, graph: Graph, subject: Operation | SSAValue) -> Node:
        """The node of an operation or, a data node, of a tensor."""
        node = object.__new__(cls)
        object.__setattr__(node, "graph", graph)
        object.__setattr__(node, "_subject", subject)
        return node

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and self._subject is other._subject

    def __hash__(self) -> int:
        return id(self._subject)

    def __repr__(self) -> str:
        return f"<node {self.id!r}>"

    @property
    def subject(self) -> Operation | SSAValue:
        """The operation, or of a data node the tensor."""
        return self._subject

    @property
    def operation(self) -> Operation:
        """The operation. Raises ConversionError for a data node."""
        if isinstance(self._subject, Operation):
            return self._subject
        raise ConversionError("a data node has neither ports nor an operation", node=self.id)

    @property
    def is_data(self) -> bool:
        """Whether this is a data node."""
        return not isinstance(self._subject, Operation)

    @property
    def kind_name(self) -> str:
        """`op` of the node, or `data`; for messages."""
        return (
            op_names(self._subject, OperationAttributes(self.graph, self._subject).entries)[0]
            if isinstance(self._subject, Operation)
            else "data"
        )

    @property
    def id(self) -> str:
        """What identifies the node in its graph; its name if no other has that."""
        return self.graph.id_of(self._subject)

    @property
    def node(self) -> str:
        """The same as `id`."""
        return self.id

    # Attributes.

    def attrs(self) -> MutableMapping[str, Any]:
        """All attributes, as a mapping that can be changed."""
        if isinstance(self._subject, Operation):
            return OperationAttributes(self.graph, self._subject)
        return DataAttributes(self.graph, self._subject)

    def __getattr__(self, key: str) -> Any:
        if key.startswith("__"):
            raise AttributeError(key)
        return self.attrs()[key]

    def __setattr__(self, key: str, value: Any) -> None:
        attributes = self.attrs()
        if key not in attributes:
            raise MissingAttributeError(f"node {self.id!r} has no attribute {key!r} (a new one is set by node[{key!r}] = …)")
        attributes[key] = value

    def __getitem__(self, key: str) -> Any:
        return self.attrs()[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.attrs()[key] = value

    def __delitem__(self, key: str) -> None:
        del self.attrs()[key]

    def __contains__(self, key: object) -> bool:
        return key in self.attrs()

    def has(self, key: str) -> bool:
        """Whether the node has an attribute."""
        return key in self.attrs()

    def has_valid(self, key: str) -> bool:
        """Whether the node has an attribute that is not None."""
        return self.soft_get(key, None) is not None

    def has_and_set(self, key: str) -> bool:
        """Whether the node has an attribute that is true."""
        value = self.soft_get(key, None)
        return value is not None and bool(value)

    def soft_get(self, key: str, default: Any = "<UNKNOWN>") -> Any:
        """An attribute, the default if the node does not have it."""
        try:
            return self.attrs()[key]
        except KeyError:
            return default

    def get(self, key: str, default: Any = None) -> Any:
        """An attribute, the default if the node does not have it."""
        return self.soft_get(key, default)

    def update_node(self) -> None:
        """Accepted for old extensions: a node's attributes and its description are one here."""

    # Ports.

    def _limit(self) -> int:
        """One more than the highest number an input port of the node can have by the definition of the operation."""
        op = self.operation
        count = len(op.operands)
        if is_foreign(op):
            given = OperationAttributes(self.graph, op).get("in_ports_count")
            return max(count, given) if isinstance(given, int) else count
        if isinstance(op, OpsetOp):
            return max(count, operand_limit(type(op)))
        return max(count, *(IN_PORTS_COUNTS.get(name, 0) for name in op_names(op, {})))

    def has_port(self, port_type: Direction, idx: int, control_flow: bool = False) -> bool:
        """Whether the node has a port of this number."""
        op = self.operation
        if port_type == "out":
            return 0 <= idx < len(op.results) and idx not in OperationAttributes(self.graph, op).hidden(ABSENT_OUTPUTS, ())
        if 0 <= idx < len(op.operands):
            return not isinstance(op.operands[idx].owner, ABSENT_PORT)
        return len(op.operands) <= idx < self._limit()

    def _port(self, idx: int | None, port_type: Direction) -> Port:
        if idx is None:
            ports = self._ports(port_type)
            if len(ports) != 1:
                raise ConversionError(
                    f"it has {len(ports)} {port_type}put ports, so which is meant must be said", operation=self.kind_name, node=self.name
                )
            return next(iter(ports.values()))
        if not isinstance(idx, int) or not self.has_port(port_type, idx):  # pyright: ignore[reportUnnecessaryIsInstance]
            present = list(self._ports(port_type))
            raise ConversionError(f"it has no {port_type}put port {idx} (it has {present})", operation=self.kind_name, node=self.name)
        return Port(self, idx, port_type)

    def _ports(self, port_type: Direction) -> dict[int, Port]:
        count = len(self.operation.operands if port_type == "in" else self.operation.results)
        return {index: Port(self, index, port_type) for index in range(count) if self.has_port(port_type, index)}

    def in_port(self, idx: int | None = None, control_flow: bool = False) -> Port:
        """An input port; without a number the only one. Raises ConversionError if the node does not have it.

        A port that the definition of the operation has is there even if the model connects fewer.
        """
        return self._port(idx, "in")

    def out_port(self, idx: int | None = None, control_flow: bool = False) -> Port:
        """An output port; without a number the only one. Raises ConversionError if the node does not have it."""
        return self._port(idx, "out")

    def in_ports(self, control_flow: bool = False) -> dict[int, Port]:
        """The input ports by number, disconnected ones among them."""
        return self._ports("in")

    def out_ports(self, control_flow: bool = False) -> dict[int, Port]:
        """The output ports by number."""
        return self._ports("out")

    def is_in_port_connected(self, idx: int, control_flow: bool = False) -> bool:
        """Whether there is an input port of this number, and it is connected."""
        return self.has_port("in", idx) and not self.in_port(idx).disconnected()

    def is_out_port_connected(self, idx: int, control_flow: bool = False) -> bool:
        """Whether there is an output port of this number, and something takes its tensor."""
        return self.has_port("out", idx) and not self.out_port(idx).disconnected()

    def add_input_port(self, idx: int, skip_if_exist: bool = False, **kwargs: Any) -> None:
        """Add a disconnected input port. Raises ConversionError if it exists, unless that is to be skipped."""
        op = self.operation
        self._check_number(idx)
        if idx < len(op.operands) and not isinstance(op.operands[idx].owner, ABSENT_PORT):
            if not skip_if_exist:
                raise ConversionError(f"it has an input port {idx} already", operation=self.kind_name, node=self.name)
            return
        self.graph.set_operand(op, idx, self.graph.sentinel(DISCONNECTED))

    def add_output_port(self, idx: int, skip_if_exist: bool = False, **kwargs: Any) -> None:
        """Add an output port. Raises ConversionError if it exists, unless that is to be skipped."""
        op = self.operation
        self._check_number(idx)
        if self.has_port("out", idx):
            if not skip_if_exist:
                raise ConversionError(f"it has an output port {idx} already", operation=self.kind_name, node=self.name)
            return
        attributes = OperationAttributes(self.graph, op)
        absent = set(attributes.hidden(ABSENT_OUTPUTS, ())) | set(range(len(op.results), idx))
        if idx >= len(op.results):
            if isinstance(op, OpsetOp) and op.result_count() <= idx and not isinstance(op, FrameworkOp):
                raise ConversionError(f"the operation has no output {idx}", operation=op.name, node=self.name)
            more = [OpResult(UNKNOWN, op, index) for index in range(len(op.results), idx + 1)]
            op.results = SSAValues((*op.results, *more))
        attributes.set_hidden(ABSENT_OUTPUTS, frozenset(absent - {idx}) or None)
        self.graph.touch(op)

    def _check_number(self, idx: int) -> None:
        if not isinstance(idx, int) or not 0 <= idx < 1 << 16:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConversionError(f"{idx!r} is no number of a port", operation=self.kind_name, node=self.name)

    def delete_input_port(self, idx: int, skip_if_absent: bool = False) -> None:
        """Disconnect and remove an input port; the others keep their numbers. Raises ConversionError if there is none."""
        op = self.operation
        if not self.has_port("in", idx) or idx >= len(op.operands):
            if not skip_if_absent:
                raise ConversionError(f"it has no input port {idx}", operation=self.kind_name, node=self.name)
            return
        self.graph.set_operand(op, idx, self.graph.sentinel(ABSENT_PORT))
        self.graph.trim(op, (ABSENT_PORT,))
        if is_foreign(op) and self._limit() > len(op.operands):
            self["in_ports_count"] = len(op.operands)

    def delete_output_port(self, idx: int, skip_if_absent: bool = False) -> None:
        """Disconnect and remove an output port; the others keep their numbers. Raises ConversionError if there is none."""
        if not self.has_port("out", idx):
            if not skip_if_absent:
                raise ConversionError(f"it has no output port {idx}", operation=self.kind_name, node=self.name)
            return
        self.out_port(idx).disconnect()
        attributes = OperationAttributes(self.graph, self.operation)
        attributes.set_hidden(ABSENT_OUTPUTS, frozenset(attributes.hidden(ABSENT_OUTPUTS, ())) | {idx})

    def add_sequence_of_ports(self, type: Direction, rng: Iterable[int]) -> None:
        """Add the ports of these numbers that the node does not have."""
        for idx in rng:
            if type == "in":
                self.add_input_port(idx, skip_if_exist=True)
            elif type == "out":
                self.add_output_port(idx, skip_if_exist=True)
            else:
                raise ConversionError(f"{type!r} is no type of a port", node=self.name, hint="use 'in' or 'out'")

    def copy_node(self, new_attrs: Mapping[str, Any] | None = None, dst_graph: Graph | None = None) -> Node:
        """A copy of the node without connections, with its own name unless `new_attrs` has one."""
        return (dst_graph or self.graph).copy_of(self.operation, new_attrs or {})
