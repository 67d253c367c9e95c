"""New operations from the attributes of a node.

Const, Parameter and Result are those of the operation set in every phase. Everything else is an operation of the `mo` dialect that has
all attributes in `node_attributes`, until a lowering makes it an operation of an operation set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xdsl.ir import Operation

from moir.dialects.data import DataAttr
from moir.dialects.framework import MODEL_OPTIMIZER, operation_class
from moir.dialects.opset.infrastructure import Constant, Parameter, Result
from moir.dialects.properties import string_attribute
from moir.dialects.python_object import set_python_entries
from moir.dialects.shapes import UNKNOWN, tensor
from moir.errors import ConversionError
from moir.model_optimizer.graph.sentinels import DISCONNECTED, SENTINELS
from moir.model_optimizer.graph.shapes import type_shape
from moir.model_optimizer.graph.values import constant_array, element_type

if TYPE_CHECKING:
    from moir.model_optimizer.graph.graph import Graph
    from moir.model_optimizer.graph.node import Node

_OWN = frozenset(("id", "kind", "name", "op", "type", "version", "value", "shape", "data_type", "in_ports_count", "out_ports_count", "IE"))
_MAXIMUM_PORTS = 1 << 16


def _constant(attrs: Mapping[str, Any]) -> Operation:
    value = attrs.get("value")
    if value is None:
        raise ConversionError("a Const needs a value", node=attrs.get("name"))
    array = constant_array(value)
    if attrs.get("data_type") is not None and array.dtype.kind not in "OUS":
        array = array.astype(np.dtype(attrs["data_type"]))
    try:
        data = DataAttr.of(array)
    except KeyError as error:
        raise ConversionError(f"a Const cannot have values of type {array.dtype}", node=attrs.get("name")) from error
    return Constant.create(properties={"value": data}, result_types=[tensor(data.shape, data.element)])


def _parameter(attrs: Mapping[str, Any]) -> Operation:
    element = element_type(attrs.get("data_type") or np.float32)
    return Parameter.create(result_types=[tensor(type_shape(attrs.get("shape")), element)])


def _result(graph: Graph) -> Operation:
    return Result.create(operands=[graph.sentinel(DISCONNECTED)])


MAKERS: dict[str, Callable[[Mapping[str, Any]], Operation]] = {
    "Const": _constant,
    "Constant": _constant,
    "Parameter": _parameter,
    "Placeholder": _parameter,
}
"""What makes the operations without operands, by `op`."""


def create_operation(graph: Graph, attrs: Mapping[str, Any]) -> Operation:
    """An operation at the end of the block of a graph.

    Args:
        attrs: its attributes; `op` (or `type`) says what it is, `in_ports_count` and `out_ports_count` how many disconnected ports it has
            (by default none and 1).

    Raises ConversionError if they do not say what it is, or a constant has no value.
    """
    kind = attrs.get("op") or attrs.get("type")
    if not isinstance(kind, str) or not kind:
        raise ConversionError("a node needs an attribute op that says what it is", node=attrs.get("name"))
    if kind == "Result":
        op = _result(graph)
    elif kind in MAKERS:
        op = MAKERS[kind](attrs)
    else:
        return _foreign(graph, kind, attrs)
    further = {key: value for key, value in attrs.items() if key not in _OWN and value is not None and key not in ("infer", "type_infer")}
    return _finish(graph, op, attrs, further)


def _foreign(graph: Graph, kind: str, attrs: Mapping[str, Any]) -> Operation:
    operation = operation_class(MODEL_OPTIMIZER, kind)
    if operation in SENTINELS:
        raise ConversionError(f"an operation cannot be called {kind!r}", node=attrs.get("name"))
    inputs, outputs = _count(attrs, "in_ports_count", 0), _count(attrs, "out_ports_count", 1)
    operands = [graph.sentinel(DISCONNECTED)] * inputs if inputs else []
    op = operation.create(operands=operands, result_types=[UNKNOWN] * outputs)
    entries = {key: value for key, value in attrs.items() if key not in ("id", "name", "kind")}
    return _finish(graph, op, attrs, {"type": None, "version": "experimental", **entries, "op": kind})


def _count(attrs: Mapping[str, Any], key: str, default: int) -> int:
    count = attrs.get(key)
    if count is None:
        return default
    if not isinstance(count, int | np.integer) or not 0 <= int(cast(Any, count)) <= _MAXIMUM_PORTS:
        raise ConversionError(f"{key} is {count!r}, which is no number of ports", operation=attrs.get("op"), node=attrs.get("name"))
    return int(cast(Any, count))


def _finish(graph: Graph, op: Operation, attrs: Mapping[str, Any], entries: Mapping[str, Any]) -> Operation:
    set_python_entries(op, entries)
    op.attributes["name"] = string_attribute(graph.unique_id(str(attrs.get("name") or attrs.get("op") or attrs.get("type"))))
    graph.block.add_op(op)
    return op


def create_constant(graph: Graph, value: Any, name: str = "Const") -> Node:
    """The node of a new constant."""
    return graph.create({"op": "Const", "name": name, "value": value})
