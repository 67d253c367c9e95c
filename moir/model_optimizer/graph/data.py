"""`port.data`: shape and value of the tensor at a port, in the middle and back phases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xdsl.ir import OpResult, SSAValue

from moir.analysis.known_values import KnownValues
from moir.dialects.data import Array
from moir.dialects.element_types import dynamic
from moir.dialects.inference import set_type
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.shapes import element_of, shape_of, tensor
from moir.errors import ConversionError
from moir.model_optimizer.graph.attributes import OperationAttributes, is_foreign
from moir.model_optimizer.graph.shapes import is_fully_defined, masked_shape, masked_value, symbolic_value, type_shape
from moir.model_optimizer.graph.values import element_type

if TYPE_CHECKING:
    from moir.model_optimizer.graph.graph import Graph
    from moir.model_optimizer.graph.port import Port

VALUES = "$values"
"""The entry of an operation of the `mo` dialect that has the values its `infer` computed, by result."""


class GraphValues(KnownValues):
    """Known values, those among them that an extension's `infer` computed."""

    def elements(self, value: SSAValue) -> Array | None:
        if isinstance(value, OpResult) and is_foreign(value.op):
            from moir.dialects.python_object import python_entries

            return python_entries(value.op).get(VALUES, {}).get(value.index)
        return super().elements(value)


def set_shape(value: SSAValue, shape: Any) -> None:
    """Give a tensor another shape. None is an unknown one."""
    set_type(value, tensor(type_shape(shape), element_of(value)))


def set_value(graph: Graph, value: SSAValue, array: Any) -> None:
    """Say what a tensor's value is, and so its shape; entries may be masked. A constant gets this value.

    Raises ConversionError for a result of an operation of an operation set, whose value follows from its operands.
    """
    op = value.owner
    if not isinstance(value, OpResult):
        raise ConversionError("an argument of a block has no value")
    attributes = OperationAttributes(graph, value.op)
    if isinstance(op, Constant):
        attributes["value"] = array
        return
    if not is_foreign(value.op):
        if array is None:
            return
        raise ConversionError(
            "its value follows from its operands and cannot be set",
            operation=value.op.name,
            node=graph.id_of(value.op),
            hint="replace it by a Const",
        )
    values: dict[int, Array] = dict(attributes.hidden(VALUES) or {})
    values.pop(value.index, None)
    if array is not None:
        given = cast(Array, array if isinstance(array, np.ma.MaskedArray) else np.asarray(array))
        values[value.index] = symbolic_value(given)
        element = element_of(value)
        if element is dynamic or element == dynamic:
            element = element_type(given.dtype)
        set_type(value, tensor(given.shape, element))
    attributes.set_hidden(VALUES, values or None)
    graph.forget_values()


def get_value(graph: Graph, value: SSAValue) -> Array | None:
    """The value of a tensor as far as it is known, entries that are not known masked; None if nothing is."""
    elements = graph.known.elements(value)
    return None if elements is None else masked_value(elements)


class PortData:
    """Shape and value of the tensor that leaves an output port, or comes in at an input port.

    Before shapes are inferred (in the front phase) both are None and cannot be set.
    """

    __slots__ = ("port",)

    def __init__(self, port: Port) -> None:
        self.port = port

    def _value(self) -> SSAValue:
        value = self.port.value
        if value is None:
            raise ConversionError(f"{self.port} is not connected", node=self.port.node.id)
        if self.port.graph.stage == "front":
            raise ConversionError(f"{self.port} has no data in the front phase", node=self.port.node.id, hint="use the middle phase")
        return value

    def get_shape(self) -> np.ma.MaskedArray[Any, Any] | None:
        """The shape, unknown dimensions masked; None if the rank is unknown, in the front phase, or without a connection."""
        value = self.port.value
        return None if value is None or self.port.graph.stage == "front" else masked_shape(shape_of(value))

    def set_shape(self, shape: Any) -> None:
        """Set the shape of the tensor. Raises ConversionError in the front phase, and on a tensor whose value says another shape."""
        value = self._value()
        known = get_value(self.port.graph, value)
        if known is not None and tuple(known.shape) != type_shape(shape):
            raise ConversionError(f"{self.port} has a value of shape {list(known.shape)}: its shape cannot be set", node=self.port.node.id)
        set_shape(value, shape)
        self.port.graph.touch_consumers(value)

    def get_value(self) -> Array | None:
        """The value, entries that are not known masked; None if nothing is known, in the front phase, or without a connection."""
        value = self.port.value
        return None if value is None or self.port.graph.stage == "front" else get_value(self.port.graph, value)

    def set_value(self, value: Any) -> None:
        """Set the value, and with it the shape; of a constant also what it holds. Raises ConversionError in the front phase."""
        tensor_value = self._value()
        set_value(self.port.graph, tensor_value, value)
        self.port.graph.touch_consumers(tensor_value)

    def get_attr(self, name: str) -> Any:
        """An attribute of the data node, None if it does not have it."""
        return self.port.graph.data_node(self._value()).soft_get(name, None)

    def set_attr(self, name: str, value: Any) -> None:
        """Set an attribute of the data node."""
        self.port.graph.data_node(self._value())[name] = value

    def has_valid(self, name: str) -> bool:
        """Whether the data node has an attribute that is not None."""
        return self.port.value is not None and self.port.graph.stage != "front" and self.get_attr(name) is not None


def is_known(value: Array | None) -> bool:
    """Whether all of a value is known."""
    return value is not None and is_fully_defined(value)
