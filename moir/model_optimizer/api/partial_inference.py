"""Functions for `infer`: results that have the shape of an input, values computed elementwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from moir.errors import ConversionError
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.shapes import is_fully_defined


def _connected(node: GraphNode) -> list[Any]:
    return [port for port in node.in_ports().values() if not port.disconnected()]


def single_output_infer(
    node: GraphNode, shape_infer: Callable[[GraphNode], Any], value_infer: Callable[[GraphNode], Any] | None = None
) -> None:
    """Set the shape of output 0, and its value if there is a function for it that finds one."""
    node.out_port(0).data.set_shape(shape_infer(node))
    if value_infer is not None:
        value = value_infer(node)
        if value is not None:
            node.out_port(0).data.set_value(value)


def copy_shape_infer(node: GraphNode, value_infer: Callable[[GraphNode], Any] | None = None) -> None:
    """Every output has the shape of the first connected input. `value_infer` is called with the node."""
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
    """Output 0 has the shape its inputs broadcast to; with `op` also the value, if those of all inputs are known."""
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
    from moir.model_optimizer.graph.shapes import dynamic_dimension, is_dynamic_dimension, shape_array

    rank = max((len(shape) for shape in shapes), default=0)
    result: list[Any] = []
    for position in range(rank, 0, -1):
        entries = [shape[-position] for shape in shapes if len(shape) >= position]
        sizes = {int(entry) for entry in entries if not is_dynamic_dimension(entry)} - {1}
        if len(sizes) > 1:
            raise ConversionError(f"shapes {[list(shape) for shape in shapes]} do not broadcast", operation=node.kind_name, node=node.name)
        if sizes:
            result.append(sizes.pop())
        else:
            result.append(dynamic_dimension if any(is_dynamic_dimension(entry) for entry in entries) else 1)
    return shape_array(result)
