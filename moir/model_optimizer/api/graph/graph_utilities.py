"""Short edits of a graph: nodes with constants as inputs, activations and changes of boxes after a node."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from moir.model_optimizer.api import operations
from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.api.graph.layout_marks import mark_input_as_in_correct_layout, mark_output_as_in_correct_layout
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.operation import create_op_node_with_second_input, create_op_with_const_inputs

__all__ = [
    "add_activation_function_after_node",
    "add_constant_to_negative_values",
    "add_convolution_to_swap_xy_coordinates",
    "add_fake_background_loc",
    "create_op_node_with_second_input",
    "create_op_with_const_inputs",
    "mark_squeeze_reshape_concat_before_detection_output",
    "squeeze_reshape_and_concat",
    "swap_weights_xy",
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
    """Insert an activation after output 0 of a node; returns the new node, or `node` itself for the activation
    IDENTITY.

    The names are those in the configurations of TensorFlow's detection models. Raises Error for an unknown one.
    """
    if activation_function not in _ACTIVATIONS:
        raise Error("unknown activation function {!r}; there are {}", activation_function, ", ".join(_ACTIVATIONS))
    activation = _ACTIVATIONS[activation_function]
    if activation is None:
        return node
    name, attributes = activation
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


def add_convolution_to_swap_xy_coordinates(graph: Graph, input_node: GraphNode, coordinates_size: int) -> GraphNode:
    """Insert a convolution after a node that computes boxes. It exchanges x and y: the corners `y, x, y, x` become `x,
    y, x, y`.

    Args:
        graph: the graph.
        input_node: a node whose output 0 can be reshaped to `[boxes, coordinates_size]`.
        coordinates_size: 4; or 5, if another number precedes the coordinates of each box.

    Returns the convolution, whose output has the shape `[boxes, 1, 1, coordinates_size]`, channels last.
    """
    if coordinates_size not in (4, 5):
        raise Error("boxes have 4 or 5 numbers, not {}", coordinates_size)
    name = input_node.name
    reshape = create_op_node_with_second_input(
        graph, operations.class_named("Reshape"), np.array([-1, 1, 1, coordinates_size]), {"name": f"{name}/reshape_4d"}, input_node
    )
    mark_input_as_in_correct_layout(reshape, 0)
    mark_output_as_in_correct_layout(reshape, 0)
    order = [1, 0, 3, 2] if coordinates_size == 4 else [0, 2, 1, 4, 3]
    filters = np.eye(coordinates_size, dtype=np.float32)[order].T
    attributes: dict[str, Any] = {
        "name": f"{name}/conv",
        "bias_addable": True,
        "batch_dims": np.array([0]),
        "channel_dims": np.array([3]),
        "input_feature_channel": 2,
        "output_feature_channel": 3,
        "group": 1,
        "layout": "NHWC",
    }
    weights = {1: filters.reshape(1, 1, coordinates_size, coordinates_size)}
    return create_op_with_const_inputs(graph, operations.class_named("Convolution"), weights, attributes, reshape)


def add_fake_background_loc(graph: Graph, input_node: GraphNode) -> GraphNode:
    """Insert nodes that repeat the first class of boxes `[images, classes, …]`, whose boxes also stand for the
    background.

    Returns the node that concatenates them, whose output is `[images, classes + 1, …]`.
    """
    attributes: dict[str, Any] = {"name": f"{input_node.name}/first_class", "axis": np.array([1]), "offset": np.array([0])}
    crop = operations.class_named("Crop")(graph, {**attributes, "dim": np.array([1]), "nchw_layout": True}).create_node([input_node])
    concat = operations.class_named("Concat")(graph, {"axis": 1, "in_ports_count": 2, "nchw_layout": True})
    return concat.create_node([crop, input_node], {"name": f"{input_node.id}/locs_with_fake_background"})


def swap_weights_xy(nodes: Iterable[GraphNode]) -> None:
    """Exchange neighbouring output channels of convolutions and matrix products: boxes `y, x, …` become `x, y, …`.

    The channels of weights and of an added constant are exchanged, once even if a node is listed several times. Model
    Optimizer had this function in `front.common.weights` until 2019, for nodes whose weights are constants.

    Args:
        nodes: convolutions whose output channels, or matrix products whose columns, are coordinates of boxes.
    """
    for node in nodes:
        if node.soft_get("swap_xy_count", 0):
            node["swap_xy_count"] += 1
            continue
        node["swap_xy_count"] = 1
        _swap_pairs(node, 1, _axis_of_outputs(node))
        for taker, port in _takers(node):
            if {"Add", "BiasAdd"} & set(taker.graph.names_of(taker.ir_operation)):
                # An added constant has size 1 along all axes but that of the channels.
                _swap_pairs(taker, 1 - port, None)


def _axis_of_outputs(node: GraphNode) -> int:
    """The index of the axis of output channels of a node's weights: the last axis in the front phase, the first axis of
    filters in the IR.

    For a MatMul in the IR it is the last axis, or the second to last with `transpose_b`.
    """
    if node.graph.stage == "front":
        return -1
    if node.soft_get("type") in ("Convolution", "GroupConvolution"):
        return 0
    return -2 if node.soft_get("transpose_b", False) else -1


def _takers(node: GraphNode) -> list[tuple[GraphNode, int]]:
    """The consumers of a node, each with its input port; a Transpose is replaced by its own consumers."""
    consumers: list[tuple[GraphNode, int]] = []
    for port in node.out_port(0).get_destinations():
        is_transpose = node.graph.stage != "front" and port.node.soft_get("type") == "Transpose"
        consumers += _takers(port.node) if is_transpose else [(port.node, port.idx)]
    return consumers


def _swap_pairs(node: GraphNode, port: int, axis: int | None) -> None:
    """Exchange the entries of each pair along `axis` of the constant at an input port; None stands for the only
    axis.
    """
    source = node.in_node(port)
    value = source.soft_get("value", None)
    if value is None:
        raise Error("input {} of node {!r} is not a constant, whose x and y could be exchanged", port, node.name)
    array: NDArray[Any] = np.asarray(value)
    if axis is None:
        source["value"] = array.reshape(-1, 2)[:, ::-1].reshape(array.shape)
    else:
        source["value"] = np.take(array, [number ^ 1 for number in range(array.shape[axis])], axis)


def squeeze_reshape_and_concat(start_nodes: Iterable[GraphNode]) -> None:
    """Without effect: nodes between the heads of an SSD and its DetectionOutput survive the layout change.

    In Model Optimizer until 2020 this removed the dimension of size 1 from boxes `[images, n, 1, 4]`, which the layout
    change would have transposed.
    """


def mark_squeeze_reshape_concat_before_detection_output(start_nodes: Iterable[GraphNode]) -> None:
    """Without effect: the name of `squeeze_reshape_and_concat` in Model Optimizer from 2021 on."""
