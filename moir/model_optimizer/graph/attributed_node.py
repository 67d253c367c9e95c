"""The core of a node: its identity, its attributes and the indices of its ports.

Ports and connections refer to such nodes (`port.py`); `node.GraphNode` adds the methods that return them.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from xdsl.ir import Operation, OpResult, SSAValues

from moir.dialects.framework import FrameworkOp
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.python_object import python_entries
from moir.dialects.shapes import UNKNOWN
from moir.errors import ConversionError
from moir.model_optimizer.attributes.data_attributes import DataAttributes
from moir.model_optimizer.attributes.missing_attributes import MissingAttributeError
from moir.model_optimizer.attributes.operation_attributes import OperationAttributes
from moir.model_optimizer.block.edges import Vertex
from moir.model_optimizer.block.operand_counts import operand_limit
from moir.model_optimizer.block.operation_names import IN_PORTS_COUNTS, is_mo_operation, op_names
from moir.model_optimizer.block.sentinels import ABSENT_PORT, DISCONNECTED
from moir.model_optimizer.block.view import BlockView

Direction: TypeAlias = Literal["in", "out"]

ABSENT_OUTPUTS = "$absent_outputs"
"""The Python attribute with the indices of results that have no port."""

MAXIMUM_PORTS = 1 << 16


class AttributedNode:
    """A view of one operation, or in the middle and back phases of one tensor (a data node).

    Two objects for one operation are equal. An attribute is read as `node.name` or `node["name"]`; a new one is set by
    `node["name"] = …`.

    Args:
        graph: the graph.
        node: id of the node; an unknown one raises ConversionError.
    """

    __slots__ = ("_subject", "graph")

    graph: BlockView
    _subject: Vertex

    def __init__(self, graph: BlockView, node: str) -> None:
        object.__setattr__(self, "graph", graph)
        object.__setattr__(self, "_subject", graph.subject(node))

    @classmethod
    def of(cls, graph: BlockView, subject: Vertex) -> Self:
        """The node of an operation, or the data node of a tensor."""
        node = object.__new__(cls)
        object.__setattr__(node, "graph", graph)
        object.__setattr__(node, "_subject", subject)
        return node

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AttributedNode) and self._subject is other._subject

    def __hash__(self) -> int:
        return id(self._subject)

    def __repr__(self) -> str:
        return f"<node {self.id!r}>"

    @property
    def subject(self) -> Vertex:
        """The operation; for a data node, the tensor."""
        return self._subject

    @property
    def ir_operation(self) -> Operation:
        """The operation. Raises ConversionError for a data node.

        The name `operation` is taken: it was Model Optimizer's attribute for the function of an Eltwise.
        """
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
        subject = self._subject
        return op_names(subject, python_entries(subject))[0] if isinstance(subject, Operation) else "data"

    @property
    def id(self) -> str:
        """The unique id of the node in its graph: its name if no other node has that."""
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

    def get_opset(self) -> str:
        """The operation set of the node, `extension` if it has none."""
        return str(self.soft_get("version", "extension"))

    # Numbers of ports.

    def has_port(self, port_type: Direction, idx: int, control_flow: bool = False) -> bool:
        """Whether the node has a port of this index."""
        op, idx = self.ir_operation, int(idx)
        if port_type == "out":
            absent = OperationAttributes(self.graph, op).hidden(ABSENT_OUTPUTS, ())
            return 0 <= idx < len(op.results) and idx not in absent and not self._is_unused_indices(idx)
        if 0 <= idx < len(op.operands):
            return not isinstance(op.operands[idx].owner, ABSENT_PORT)
        return len(op.operands) <= idx < self._limit()

    def _is_unused_indices(self, idx: int) -> bool:
        """Whether `idx` is the second output of a MaxPool that nothing uses: in old operation sets, MaxPool had only
        one output.
        """
        op = self.ir_operation
        return idx == 1 and isinstance(op, OpsetOp) and op.KIND == "MaxPool" and not op.results[1].uses

    def port_numbers(self, port_type: Direction) -> list[int]:
        """The indices of the ports, in order.

        An input port without an operand is not listed, though `has_port` is true for it.
        """
        count = len(self.ir_operation.operands if port_type == "in" else self.ir_operation.results)
        return [index for index in range(count) if self.has_port(port_type, index)]

    def _limit(self) -> int:
        """The largest number of input ports that the definition of the operation permits."""
        op = self.ir_operation
        count = len(op.operands)
        if is_mo_operation(op):
            given = OperationAttributes(self.graph, op).get("in_ports_count")
            return max(count, given) if isinstance(given, int) else count
        if isinstance(op, OpsetOp):
            return max(count, operand_limit(type(op)))
        return max(count, *(IN_PORTS_COUNTS.get(name, 0) for name in op_names(op, {})))

    def add_input_port(self, idx: int, skip_if_exist: bool = False, **kwargs: Any) -> None:
        """Add a disconnected input port. Raises ConversionError if it exists, unless `skip_if_exist`.

        Ports before it that do not exist stay absent.
        """
        op = self.ir_operation
        idx = self._checked_number(idx)
        if idx < len(op.operands) and not isinstance(op.operands[idx].owner, ABSENT_PORT):
            if not skip_if_exist:
                raise ConversionError(f"it has an input port {idx} already", operation=self.kind_name, node=self.name)
            return
        for gap in range(max(len(op.operands), self._limit()), idx):
            self.graph.set_operand(op, gap, self.graph.sentinel(ABSENT_PORT))
        self.graph.set_operand(op, idx, self.graph.sentinel(DISCONNECTED))

    def add_output_port(self, idx: int, skip_if_exist: bool = False, **kwargs: Any) -> None:
        """Add an output port. Raises ConversionError if it exists, unless `skip_if_exist`."""
        op = self.ir_operation
        idx = self._checked_number(idx)
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

    def _checked_number(self, idx: int) -> int:
        if not isinstance(idx, int | np.integer) or not 0 <= idx < MAXIMUM_PORTS:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConversionError(f"{idx!r} is not a number of a port", operation=self.kind_name, node=self.name)
        return int(idx)

    def delete_input_port(self, idx: int, skip_if_absent: bool = False) -> None:
        """Disconnect and remove an input port; the others keep their numbers.

        Raises ConversionError if there is none.
        """
        op = self.ir_operation
        if not self.has_port("in", idx) or idx >= len(op.operands):
            if not skip_if_absent:
                raise ConversionError(f"it has no input port {idx}", operation=self.kind_name, node=self.name)
            return
        self.graph.set_operand(op, idx, self.graph.sentinel(ABSENT_PORT))
        self.graph.trim(op, (ABSENT_PORT,))
        if is_mo_operation(op) and self._limit() > len(op.operands):
            self["in_ports_count"] = len(op.operands)

    def mark_output_absent(self, idx: int) -> None:
        """Remove the port of a result without consumers; the result itself stays."""
        attributes = OperationAttributes(self.graph, self.ir_operation)
        attributes.set_hidden(ABSENT_OUTPUTS, frozenset(attributes.hidden(ABSENT_OUTPUTS, ())) | {idx})
