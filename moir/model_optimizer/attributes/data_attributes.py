"""Shape, value and further attributes of a tensor: the attributes of its data node."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any, cast

import numpy as np
from xdsl.ir import OpResult, SSAValue

from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import dynamic
from moir.dialects.inference import infer_operation, set_type
from moir.dialects.names import names_of
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.shapes import element_of, shape_of, tensor
from moir.errors import ConversionError
from moir.model_optimizer.attributes.missing_attributes import MissingAttributeError
from moir.model_optimizer.attributes.operation_attributes import OperationAttributes
from moir.model_optimizer.block.operation_names import is_mo_operation
from moir.model_optimizer.block.view import COMPUTED_VALUES, BlockView
from moir.model_optimizer.values.python_values import element_type, numpy_type
from moir.model_optimizer.values.shapes import EditableShape, is_fully_defined, masked_value, symbolic_value, type_shape


def set_shape(value: SSAValue, shape: Any) -> None:
    """Set the shape of a tensor; None is an unknown shape."""
    set_type(value, tensor(type_shape(shape), element_of(value)))


def set_value(graph: BlockView, value: SSAValue, array: Any) -> None:
    """Set the value of a tensor, and its shape with it; entries may be masked.

    The value of a constant is set in its operation. If another operation of the operation sets computes the tensor,
    its consumers get a constant of its element type instead. Raises ConversionError if entries of such a constant are
    masked.
    """
    op = value.owner
    if not isinstance(value, OpResult):
        raise ConversionError("an argument of a block has no value")
    attributes = OperationAttributes(graph, value.op)
    if isinstance(op, Constant):
        attributes["value"] = array
        return
    if not is_mo_operation(value.op):
        if array is None:
            return
        _replace_by_constant(graph, value, array)
        return
    values: dict[int, Array] = dict(attributes.hidden(COMPUTED_VALUES) or {})
    values.pop(value.index, None)
    if array is not None:
        given = cast(Array, array if isinstance(array, np.ma.MaskedArray) else np.asarray(array))
        values[value.index] = symbolic_value(given)
        element = element_of(value)
        if element == dynamic:
            element = element_type(given.dtype)
        set_type(value, tensor(given.shape, element))
    attributes.set_hidden(COMPUTED_VALUES, values or None)
    graph.known.forget()


def _replace_by_constant(graph: BlockView, value: OpResult, array: Any) -> None:
    given = cast(Array, array)
    if not is_fully_defined(given):
        raise ConversionError(
            "its value follows from its operands: one with unknown entries cannot be set",
            operation=value.op.name,
            node=graph.id_of(value.op),
            hint="replace it by a Const",
        )
    element = element_of(value)
    data = DataAttr.of(np.asarray(given, None if element == dynamic else numpy_type(element)))
    constant = Constant.create(properties={"value": data}, result_types=[tensor(data.shape, data.element)])
    graph.append(constant, graph.unique_id(f"{graph.id_of(value.op)}/value"))
    constant.detach()
    graph.block.insert_op_after(constant, value.op)
    value.replace_all_uses_with(constant.result)
    # The shape may have been set together with the value.
    graph.known.forget()
    infer_operation(value.op, graph.known)
    graph.known.forget()


def get_value(graph: BlockView, value: SSAValue) -> Array | None:
    """The value of a tensor as far as it is known, with unknown entries masked; None if nothing is known."""
    elements = graph.known.elements(value)
    return None if elements is None else masked_value(elements)


_OWN = ("id", "name", "kind", "shape", "value", "data_type")


class DataAttributes(MutableMapping[str, Any]):
    """The attributes of the data node of a tensor."""

    __slots__ = ("entries", "graph", "value")

    def __init__(self, graph: BlockView, value: SSAValue) -> None:
        self.graph = graph
        self.value = value
        self.entries = graph.data_entries.get(value, {})

    def __getitem__(self, key: str) -> Any:
        match key:
            case "id":
                return self.graph.id_of(self.value)
            case "name":
                return next(iter(names_of(self.value)), self.graph.id_of(self.value))
            case "kind":
                return "data"
            case "shape":
                shape = shape_of(self.value)
                return None if shape is None else EditableShape(shape, lambda changed: self.__setitem__("shape", changed))
            case "value":
                return get_value(self.graph, self.value)
            case "data_type":
                return numpy_type(element_of(self.value))
            case _ if key in self.entries:
                return self.entries[key]
            case _:
                raise MissingAttributeError(f"data node {self.graph.id_of(self.value)!r} has no attribute {key!r}")

    def __setitem__(self, key: str, value: Any) -> None:
        match key:
            case "shape":
                set_shape(self.value, value)
                self.graph.touch_consumers(self.value)
            case "value":
                set_value(self.graph, self.value, value)
                self.graph.touch_consumers(self.value)
            case "data_type":
                set_type(self.value, tensor(shape_of(self.value), element_type(value)))
            case "id" | "name" | "kind":
                raise ConversionError(f"the {key} of a data node cannot be changed", node=self.graph.id_of(self.value))
            case _:
                self.entries = self.graph.data_entries.setdefault(self.value, {})
                self.entries[key] = value

    def __delitem__(self, key: str) -> None:
        if key in _OWN:
            raise ConversionError(f"the {key} of a data node cannot be deleted", node=self.graph.id_of(self.value))
        if key not in self.entries:
            raise MissingAttributeError(f"data node {self.graph.id_of(self.value)!r} has no attribute {key!r}")
        del self.entries[key]

    def __contains__(self, key: object) -> bool:
        return key in _OWN or key in self.entries

    def __iter__(self) -> Iterator[str]:
        return iter((*_OWN, *self.entries))

    def __len__(self) -> int:
        return len(_OWN) + len(self.entries)
