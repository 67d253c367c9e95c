"""Short forms of the nodes and edges that a test describes.

A node is a dictionary with its id as the only key. With its data node it has two keys: the data node of `x` is `x_d`.
An edge is a tuple of two ids and a dictionary with the indices of the ports, `out` and `in`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from moir.dialects.data import Array
from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.values.shapes import shape_array

Nodes: TypeAlias = dict[str, dict[str, Any]]
Edge: TypeAlias = tuple[str, str, dict[str, Any]]

DATA_SUFFIX = "_d"
"""The suffix that is appended to the id of an operation for the id of its data node."""


def _shape(shape: Any) -> Any:
    return None if shape is None else shape_array(shape)


def regular_op(name: str, kwargs: Mapping[str, Any]) -> Nodes:
    """The description of an operation node: its id, and `kwargs` as its attributes."""
    return {name: {"kind": "op", "type": "NoType", **kwargs}}


def valued_data(name: str, value: Array | None, shape: Any = None) -> Nodes:
    """The description of a data node with a value; None for a value that is not constant."""
    return {name: {"kind": "data", "value": value, "shape": _shape(shape if value is None else value.shape)}}


def shaped_data(name: str, shape: Any) -> Nodes:
    """The description of a data node with a shape; None for a dynamic rank."""
    return valued_data(name, None, shape)


def empty_data(name: str) -> Nodes:
    """The description of a data node without value and shape."""
    return valued_data(name, None)


def shaped_parameter(name: str, shape: Any, kwargs: Mapping[str, Any] | None = None) -> Nodes:
    """The descriptions of a Parameter, an input of the model, and of its data node."""
    return regular_op_with_shaped_data(name, shape, {"op": "Parameter", "type": "Parameter", "shape": _shape(shape), **(kwargs or {})})


def result(name: str = "output") -> Nodes:
    """The description of a Result, an output of the model."""
    return {name: {"kind": "op", "type": "Result", "op": "Result"}}


def regular_op_with_shaped_data(name: str, shape: Any, kwargs: Mapping[str, Any]) -> Nodes:
    """The descriptions of an operation node with `kwargs` as its attributes, and of its data node with a shape."""
    return {**regular_op(name, kwargs), **shaped_data(name + DATA_SUFFIX, shape)}


def regular_op_with_empty_data(name: str, kwargs: Mapping[str, Any]) -> Nodes:
    """The descriptions of an operation node with `kwargs` as its attributes, and of its data node without a shape."""
    return {**regular_op(name, kwargs), **empty_data(name + DATA_SUFFIX)}


def const(name: str, value: Array, kwargs: Mapping[str, Any] | None = None) -> Nodes:
    """The description of a constant with a value."""
    return {name: {"kind": "op", "type": "Const", "op": "Const", "value": value, "shape": _shape(value.shape), **(kwargs or {})}}


def fake_const(name: str, shape: Any, kwargs: Mapping[str, Any] | None = None) -> Nodes:
    """The description of a constant of which only the shape matters: its value is 0."""
    return {name: {"kind": "op", "type": "Const", "op": "Const", "value": None, **(kwargs or {}), "shape": _shape(shape)}}


def shaped_const_with_data(name: str, shape: Any, kwargs: Mapping[str, Any] | None = None) -> Nodes:
    """The descriptions of a constant of which only the shape matters, and of its data node."""
    return {**fake_const(name, shape, kwargs), **shaped_data(name + DATA_SUFFIX, shape)}


def valued_const_with_data(name: str, value: Array, kwargs: Mapping[str, Any] | None = None) -> Nodes:
    """The descriptions of a constant with a value, and of its data node."""
    return {**const(name, value, kwargs), **valued_data(name + DATA_SUFFIX, value)}


def get_name_and_port(tensor_name: str) -> tuple[str, int]:
    """The id of a node and the index of a port in `2:add` or `split:1`; port 0 without a number.

    Raises Error for another form.
    """
    parts = tensor_name.split(":")
    numbers = [part for part in parts if part.isdecimal()]
    if len(parts) == 1:
        return tensor_name, 0
    if len(parts) != 2 or not numbers:
        raise Error("{!r} is not a port; it is written as in 'split:1' or '2:add'", tensor_name)
    number = parts[0] if parts[0].isdecimal() else parts[1]
    return parts[1] if parts[0].isdecimal() else parts[0], int(number)


def connect(first_tensor_name: str, second_tensor_name: str, skip_data: bool = False, front_phase: bool = False) -> list[Edge]:
    """The edges from an output port to an input port, through the data node.

    Args:
        first_tensor_name: the node, and the output port if it is not 0: `split:1`.
        second_tensor_name: the node, and the input port if it is not 0: `2:add`.
        skip_data: only the edge from the data node, because the edge to it exists already.
        front_phase: one edge without a data node.
    """
    (first, output), (second, number) = get_name_and_port(first_tensor_name), get_name_and_port(second_tensor_name)
    data = first + DATA_SUFFIX
    if skip_data:
        return [(data, second, {"out": output, "in": number})]
    if front_phase:
        return [(first, second, {"out": output, "in": number})]
    return [(first, data, {"out": output}), (data, second, {"in": number})]


def connect_data(first_tensor_name: str, second_tensor_name: str) -> list[Edge]:
    """The edge from the data node of an operation to an input port."""
    return connect(first_tensor_name, second_tensor_name, skip_data=True)


def connect_front(first_tensor_name: str, second_tensor_name: str) -> list[Edge]:
    """The edge from an output port to an input port, without a data node."""
    return connect(first_tensor_name, second_tensor_name, front_phase=True)
