"""Functions for `infer`: results that have the shape of an input, values computed elementwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from moir.errors import ConversionError
from moir.model_optimizer.api.inference.broadcasting import bi_directional_shape_broadcasting
from moir.model_optimizer.api.inference.shape_functions import clarify_partial_shape, get_canonical_axis_index, shape_delete, shape_insert
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.values.shapes import dynamic_dimension, is_dynamic_dimension, is_fully_defined, shape_array


def _connected(node: GraphNode) -> list[Any]:
    return [port for port in node.in_ports().values() if not port.disconnected()]


def single_output_infer(
    node: GraphNode, shape_infer: Callable[[GraphNode], Any], value_infer: Callable[[GraphNode], Any] | None = None
) -> None:
    """Set the shape of output 0, and its value if a function for the value is given and returns one."""
    node.out_port(0).data.set_shape(shape_infer(node))
    if value_infer is not None:
        value = value_infer(node)
        if value is not None:
            node.out_port(0).data.set_value(value)


def copy_shape_infer(node: GraphNode, value_infer: Callable[[GraphNode], Any] | None = None) -> None:
    """Set the shape of every output to that of the first connected input. `value_infer` is called with the node."""
    ports = _connected(node)
    if not ports:
        raise ConversionError("no input is connected", operation=node.kind_name, node=node.name)
    for port in node.out_ports().values():
        port.data.set_shape(ports[0].data.get_shape())
    if value_infer is not None:
        value_infer(node)


def copy_value(node: GraphNode) -> Any:
    """The value of input 0 if all of it is known, else None."""
    value = node.in_port(0).data.get_value()
    return value if is_fully_defined(value) else None


def eltwise_infer(node: GraphNode, op: Callable[..., Any] | None = None, **kwargs: Any) -> None:
    """Set the shape of output 0 to that to which the inputs broadcast; with `op` also its value, if the values of all
    inputs are known.
    """
    ports = _connected(node)
    shapes = [port.data.get_shape() for port in ports]
    values = [port.data.get_value() for port in ports]
    if op is not None and values and all(is_fully_defined(value) for value in values):
        result = values[0] if len(values) > 1 else op(values[0], **kwargs)
        for value in values[1:]:
            result = op(result, value, **kwargs)
        node.out_port(0).data.set_value(np.asarray(result))
        return
    node.out_port(0).data.set_shape(_broadcast(node, shapes))


def _broadcast(node: GraphNode, shapes: list[Any]) -> Any:
    result: Any = shapes[0] if shapes else ()
    for shape in shapes[1:]:
        result = bi_directional_shape_broadcasting(result, shape)
        if result is None:
            raise ConversionError(f"shapes {[list(shape) for shape in shapes]} do not broadcast", operation=node.kind_name, node=node.name)
    return shape_array(result)


def bias_add_infer(node: GraphNode, op: Callable[..., Any] | None = None) -> None:
    """Set the shape of output 0 to that of input 0; with `op` also its value, if both inputs are known."""
    values = [node.in_port(number).data.get_value() for number in (0, 1)]
    if op is not None and all(is_fully_defined(value) for value in values):
        node.out_port(0).data.set_value(np.asarray(op(*values)))
    else:
        node.out_port(0).data.set_shape(node.in_port(0).data.get_shape())


def concat_infer(node: GraphNode) -> None:
    """Set the shape of output 0, and its value if all inputs are known, for the concatenation of tensors along
    `node.axis`, which is then counted from the front.
    """
    ports = _connected(node)
    shapes = [port.data.get_shape() for port in ports]
    if not shapes or any(shape is None for shape in shapes):
        raise ConversionError("the rank of an input is unknown", operation=node.kind_name, node=node.name)
    axis = get_canonical_axis_index(shapes[0], int(node["axis"]))
    node["axis"] = axis
    values = [port.data.get_value() for port in ports]
    if all(is_fully_defined(value) for value in values):
        node.out_port(0).data.set_value(np.concatenate(values, axis))
        return
    others = [shape_delete(shape, axis) for shape in shapes]
    sizes = [shape[axis] for shape in shapes]
    total = dynamic_dimension if any(is_dynamic_dimension(size) for size in sizes) else int(sum(sizes))
    node.out_port(0).data.set_shape(shape_insert(clarify_partial_shape(others), axis, total))
