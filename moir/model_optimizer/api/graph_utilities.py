"""Short edits of a graph: nodes with constants as inputs, activations after a node."""

from __future__ import annotations

from typing import Any

import numpy as np

from moir.model_optimizer.api import operations
from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.operation import create_op_node_with_second_input, create_op_with_const_inputs

__all__ = [
    "add_activation_function_after_node",
    "add_constant_to_negative_values",
    "create_op_node_with_second_input",
    "create_op_with_const_inputs",
]

_ACTIVATIONS: dict[str, tuple[str, dict[str, Any]] | None] = {
    "SIGMOID": ("Sigmoid", {}),
    "SOFTMAX": ("Softmax", {"axis": -1}),
    "RELU": ("ReLU", {}),
    "RELU_6": ("ReLU6", {}),
    "TANH": ("Tanh", {}),
    "IDENTITY": None,
}


def add_activation_function_after_node(graph: Graph, node: GraphNode, activation_function: str) -> GraphNode:
    """An activation after output 0 of a node; the node itself for IDENTITY.

    The names are those in the configurations of TensorFlow's detection models. Raises Error for an unknown one.
    """
    if activation_function not in _ACTIVATIONS:
        raise Error("unknown activation function {!r}; there are {}", activation_function, ", ".join(_ACTIVATIONS))
    found = _ACTIVATIONS[activation_function]
    if found is None:
        return node
    name, attributes = found
    return getattr(operations, name)(graph, {"name": f"{node.name}/{activation_function}", **attributes}).create_node([node])


def add_constant_to_negative_values(node: GraphNode, port_idx: int, added_value: Any) -> None:
    """Insert operations at an input port that add a value to the negative elements of its tensor."""
    graph = node.graph
    source = node.in_port(port_idx).get_source()
    if source is None:
        raise Error("input port {} of node {!r} is not connected", port_idx, node.name)
    name = f"{node.name}/negative_values"

    def with_constant(kind: str, value: Any) -> GraphNode:
        return create_op_with_const_inputs(graph, getattr(operations, kind), {1: np.asarray(value)}, {"name": f"{name}/{kind}"})

    less, cast = with_constant("Less", np.array(0, np.asarray(added_value).dtype)), operations.Cast  # pyright: ignore[reportAttributeAccessIssue]
    mask = cast(graph, {"name": f"{name}/mask", "dst_type": np.asarray(added_value).dtype.type}).create_node([less])
    product = with_constant("Mul", added_value)
    added = operations.Add(graph, {"name": f"{name}/Add"}).create_node()  # pyright: ignore[reportAttributeAccessIssue]
    source.connect(less.in_port(0))
    mask.out_port(0).connect(product.in_port(0))
    source.connect(added.in_port(0))
    product.out_port(0).connect(added.in_port(1))
    node.in_port(port_idx).connect(added.out_port(0))
