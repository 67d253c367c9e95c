"""Functions for `reverse_infer`: shapes of inputs that follow from shapes of outputs."""

from __future__ import annotations

from collections.abc import Iterable

from moir.model_optimizer.graph.node import GraphNode


def reverse_bypass_infer(node: GraphNode, in_ports: Iterable[int]) -> None:
    """Set the shape of output 0 on inputs of these numbers whose shape is unknown."""
    shape = node.out_port(0).data.get_shape()
    if shape is None:
        return
    for number in in_ports:
        if node.is_in_port_connected(number) and node.in_port(number).data.get_shape() is None:
            node.in_port(number).data.set_shape(shape)
