"""Marks of ports whose tensors already have the layout of the IR, so that the layout change does not transpose them.

They are sets of port numbers in a node's attributes `correct_in_data_layout` and `correct_out_data_layout`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from moir.errors import ConversionError
from moir.model_optimizer.api.operations import class_named
from moir.model_optimizer.block.view import BlockView
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.operation import create_op_with_const_inputs
from moir.model_optimizer.graph.port import Port

INPUTS = "correct_in_data_layout"
"""The attribute with the indices of the input ports that are marked."""
OUTPUTS = "correct_out_data_layout"
"""The attribute with the indices of the output ports that are marked."""


def mark_input_as_in_correct_layout(node: GraphNode, port_ind: int) -> None:
    """Mark an input port of an operation as having the layout of the IR."""
    _mark(node, INPUTS, port_ind)


def mark_output_as_in_correct_layout(node: GraphNode, port_ind: int) -> None:
    """Mark an output port of an operation as having the layout of the IR."""
    _mark(node, OUTPUTS, port_ind)


def mark_as_correct_data_layout(node: GraphNode) -> None:
    """Mark all ports of an operation as having the layout of the IR."""
    for number in node.in_ports():
        mark_input_as_in_correct_layout(node, number)
    for number in node.out_ports():
        mark_output_as_in_correct_layout(node, number)


def is_input_data_in_correct_layout(node: GraphNode, port_ind: int) -> bool:
    """Whether an input port of an operation is marked as having the layout of the IR."""
    return port_ind in _marked(node, INPUTS)


def is_output_data_in_correct_layout(node: GraphNode, port_ind: int) -> bool:
    """Whether an output port of an operation is marked as having the layout of the IR."""
    return port_ind in _marked(node, OUTPUTS)


def insert_transpose(graph: BlockView, input_port: Port[Any], before_input: bool = True) -> None:
    """Insert a Transpose between the layouts at a port whose tensor has more than three dimensions.

    Args:
        graph: the graph.
        input_port: an input port of the operation that needs the other layout; an output port if not `before_input`.
        before_input: whether to transpose to channels last before an operation, or to channels first after it.
    """
    shape = input_port.data.get_shape()
    if shape is None or len(shape) <= 3:
        return
    rank = len(shape)
    order = [0, *range(2, rank), 1] if before_input else [0, rank - 1, *range(1, rank - 1)]
    name = f"{input_port.node.name}/{'TransposeToNHWC' if before_input else 'TransposeToNCHW'}"
    transpose = create_op_with_const_inputs(graph, class_named("Transpose"), {1: np.array(order, np.int64)}, {"name": name})
    connection = input_port.get_connection()
    assert connection is not None
    connection.insert_node(transpose)


def _marked(node: GraphNode, attribute: str) -> set[int]:
    if node.is_data:
        raise ConversionError("ports of operations are marked, not data nodes", node=node.id)
    return set(node.soft_get(attribute, None) or ())


def _mark(node: GraphNode, attribute: str, port: int) -> None:
    node[attribute] = _marked(node, attribute) | {port}
