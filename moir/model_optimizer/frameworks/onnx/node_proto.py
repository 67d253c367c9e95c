"""`node.pb` of an ONNX node: an `onnx.NodeProto`, made from the operation when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from xdsl.ir import Attribute, Operation

from moir.dialects import element_types
from moir.dialects.data import DataAttr
from moir.dialects.names import name_of
from moir.dialects.properties import value_of
from moir.model_optimizer.frameworks.tensor_names import tensor_name


class ConstantMessage:
    """The message of a constant: a `TensorProto` for an initializer, a `NodeProto` for a node `Constant`.

    A module does not distinguish the two, so this class has the fields of both. Both have the name; the other fields
    of a TensorProto (`dims`, `data_type`, `raw_data`, `HasField`, …) are those of the tensor.
    """

    def __init__(self, node: Any, tensor: Any) -> None:
        self._node, self._tensor = node, tensor

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node if name in self._node.DESCRIPTOR.fields_by_name else self._tensor, name)


def constant_message(op: Operation) -> Any:
    """The message `node.pb` of a constant: a ConstantMessage if it has a tensor, else the NodeProto of a `Constant`."""
    node = node_message("Constant", op)
    tensors = [attribute.t for attribute in node.attribute if attribute.name == "value"]
    if not tensors:
        return node
    tensors[0].name = node.name
    return ConstantMessage(node, tensors[0])


def node_message(kind: str, op: Operation) -> Any:
    """The NodeProto of an operation, with the names of its tensors and its attributes; `kind` is its op_type, after a
    domain.
    """
    from onnx import helper

    domain, _, op_type = kind.rpartition(".")
    inputs = [tensor_name(operand) for operand in op.operands]
    outputs = [tensor_name(result) for result in op.results]
    node = helper.make_node(op_type, inputs, outputs, name=name_of(op) or "", domain=domain or None)
    node.attribute.extend(_attributes(op))
    return node


def _attributes(op: Operation) -> Iterator[Any]:
    from onnx import TensorProto, helper, numpy_helper

    for name, attribute in op.properties.items():
        if isinstance(attribute, DataAttr):
            row = element_types.describe(attribute.element)
            if row.is_packed:
                number = getattr(TensorProto, {"i4": "INT4", "u4": "UINT4"}.get(row.xml, "UNDEFINED"))
                tensor = helper.make_tensor("", number, attribute.shape, attribute.array.tobytes(), raw=True)
            else:
                tensor = numpy_helper.from_array(np.asarray(attribute.array, order="C"))
            yield helper.make_attribute(name, tensor)
        elif element_types.is_element_type(attribute):
            yield helper.make_attribute(name, helper.np_dtype_to_tensor_dtype(element_types.to_numpy(attribute)))
        else:
            value = value_of(attribute)
            if isinstance(value, bool):
                value = int(value)
            if isinstance(value, Attribute) or value == ():
                continue
            yield helper.make_attribute(name, value)
