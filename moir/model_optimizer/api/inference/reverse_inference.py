"""Functions for `reverse_infer`: shapes of inputs that follow from shapes of outputs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from moir.model_optimizer.graph.node import GraphNode


def reverse_bypass_infer(node: GraphNode, in_ports: Iterable[int]) -> None:
    """Give inputs of unknown shape the shape of output 0; `in_ports` are the indices of their ports."""
    shape = node.out_port(0).data.get_shape()
    if shape is None:
        return
    for number in in_ports:
        if node.is_in_port_connected(number) and node.in_port(number).data.get_shape() is None:
            node.in_port(number).data.set_shape(shape)


def set_input_shapes(node: GraphNode, *shapes: Any) -> None:
    """Set shapes on inputs 0, 1, … whose shape is unknown."""
    for index, shape in enumerate(shapes):
        if node.is_in_port_connected(index) and node.in_port(index).data.get_shape() is None:
            node.in_port(index).data.set_shape(shape)


def eltwise_reverse_infer(node: GraphNode) -> None:
    """Set the shape of output 0 on the inputs of unknown shape, if the operation does not broadcast."""
    if node.soft_get("auto_broadcast") == "none":
        reverse_bypass_infer(node, list(node.in_ports()))
