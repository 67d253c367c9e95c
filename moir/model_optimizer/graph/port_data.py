"""The tensor at a port: `port.data`, with its shape, its value and the attributes of its data node."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.shapes import shape_of
from moir.errors import ConversionError
from moir.model_optimizer.attributes.data_attributes import DataAttributes, get_value, set_shape, set_value
from moir.model_optimizer.block.view import BlockView
from moir.model_optimizer.graph.attributed_node import AttributedNode
from moir.model_optimizer.values.shapes import masked_shape, type_shape


class TensorPort(Protocol):
    """The interface of a port that `PortData` needs."""

    @property
    def node(self) -> AttributedNode: ...

    @property
    def graph(self) -> BlockView: ...

    @property
    def value(self) -> SSAValue | None: ...


class PortData:
    """The shape and value of the tensor at a port.

    In the front phase, before shapes are inferred, both are None and cannot be set.
    """

    __slots__ = ("port",)

    def __init__(self, port: TensorPort) -> None:
        self.port = port

    def _value(self) -> SSAValue:
        value = self.port.value
        if value is None:
            raise ConversionError(f"{self.port} is not connected", node=self.port.node.id)
        if self.port.graph.stage == "front":
            raise ConversionError(f"{self.port} has no data in the front phase", node=self.port.node.id, hint="use the middle phase")
        return value

    def get_shape(self) -> np.ma.MaskedArray[Any, Any] | None:
        """The shape, dynamic dimensions masked.

        None if the rank is dynamic, in the front phase, or without a connection.
        """
        value = self.port.value
        return None if value is None or self.port.graph.stage == "front" else masked_shape(shape_of(value))

    def set_shape(self, shape: Any) -> None:
        """Set the shape of the tensor.

        Raises ConversionError in the front phase, and for a tensor whose value has another shape.
        """
        value = self._value()
        known = get_value(self.port.graph, value)
        if known is not None and tuple(known.shape) != type_shape(shape):
            raise ConversionError(f"{self.port} has a value of shape {list(known.shape)}: its shape cannot be set", node=self.port.node.id)
        set_shape(value, shape)
        self.port.graph.touch_consumers(value)

    def get_value(self) -> Array | None:
        """The value, unknown entries masked.

        None if nothing is known, in the front phase, or without a connection.
        """
        value = self.port.value
        return None if value is None or self.port.graph.stage == "front" else get_value(self.port.graph, value)

    def set_value(self, value: Any) -> None:
        """Set the value, and with it the shape; the value of a constant is changed in its operation.

        Raises ConversionError in the front phase.
        """
        tensor_value = self._value()
        set_value(self.port.graph, tensor_value, value)
        self.port.graph.touch_consumers(tensor_value)

    def get_attr(self, name: str) -> Any:
        """An attribute of the data node, None if it does not have it."""
        return DataAttributes(self.port.graph, self._value()).get(name)

    def set_attr(self, name: str, value: Any) -> None:
        """Set an attribute of the data node."""
        DataAttributes(self.port.graph, self._value())[name] = value

    def has_valid(self, name: str) -> bool:
        """Whether the data node has an attribute that is not None."""
        return self.port.value is not None and self.port.graph.stage != "front" and self.get_attr(name) is not None
