"""Weights of boxes in the other order of coordinates."""

from __future__ import annotations

from collections.abc import Iterable

from moir.dialects.data import Array
from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.graph.node import GraphNode

SWAPPED = "swap_xy_count"
"""The attribute of weights that says for how many nodes they were swapped; they are changed once."""


def swap_weights_xy(nodes: Iterable[GraphNode]) -> None:
    """Exchange the elements of each pair in the weights of nodes, and in the terms that are added behind them.

    So a convolution or a matrix product that gives offsets in the order y, x, y, x gives them as x, y, x, y.

    Args:
        nodes: the nodes; input 1 is a constant whose last dimension, the outputs, has an even size.

    Raises Error for weights or terms that are no such constants.
    """
    for node in nodes:
        weights = _constant_at(node, 1)
        count = weights.soft_get(SWAPPED, 0)
        weights[SWAPPED] = count + 1
        if count:
            continue
        _swap(weights)
        for port in node.out_port(0).get_destinations():
            if port.node.soft_get("op") in ("Add", "BiasAdd"):
                _swap(_constant_at(port.node, 1 - port.idx))


def _constant_at(node: GraphNode, number: int) -> GraphNode:
    """The constant at an input port, through Identity nodes."""
    source = node.in_port(number).get_source()
    while source is not None and source.node.soft_get("op") == "Identity":
        source = source.node.in_port(0).get_source()
    if source is None or source.node.soft_get("value", None) is None:
        raise Error("input {} of node {!r} is no constant", number, node.soft_get("name"))
    return source.node


def _swap(constant: GraphNode) -> None:
    value: Array = constant["value"]
    if value.size % 2:
        raise Error("the constant {!r} has {} elements, which are no pairs", constant.soft_get("name"), value.size)
    constant["value"] = value.reshape(-1, 2)[:, ::-1].reshape(value.shape)
