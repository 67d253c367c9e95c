"""Functions that change constants: their element types, and copies for each consumer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from moir.dialects.data import Array
from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.graph.node import GraphNode, create_constant


def convert_const_node_value_type(const_node: GraphNode, np_data_type: Any) -> None:
    """Give a constant another element type. Raises Error for a node that is not a constant."""
    if const_node.soft_get("op") not in ("Const", "Constant"):
        raise Error("node {!r} is not a constant", const_node.name)
    const_node["value"] = np.asarray(const_node["value"]).astype(np_data_type)


def override_data_type_of_constant(node: GraphNode, lhs_idx: int = 0, rhs_idx: int = 1) -> None:
    """If one of two inputs is a constant, convert it to the element type of the other.

    Raises Error if the types differ and none is constant.
    """
    ports = [node.in_port(number) for number in (lhs_idx, rhs_idx)]
    types = [port.get_data_type() for port in ports]
    if types[0] == types[1] or None in types:
        return
    for index, port in enumerate(ports):
        source = port.get_source()
        if source is not None and source.node.soft_get("op") == "Const":
            convert_const_node_value_type(source.node, types[1 - index])
            return
    raise Error("the inputs of node {!r} have the element types {} and {}, and none is a constant", node.name, *types)


def convert_blob(blob: Array, dst_type: Any) -> tuple[Array, int | None, int | None]:
    """An array in another element type, and how many of its numbers became infinite and how many 0; None for both
    counts if it has this type already.

    Raises Error if numbers are rounded to integers.
    """
    if blob.dtype == dst_type:
        return blob, None, None
    with np.errstate(over="ignore", invalid="ignore"):
        converted = blob.astype(dst_type)
    if np.issubdtype(converted.dtype, np.integer) and not np.array_equal(blob, converted):
        raise Error("numbers of an array are rounded when it is converted to {}", converted.dtype)
    infinite = np.count_nonzero(np.isfinite(blob) != np.isfinite(converted))
    return converted, int(infinite), int(np.count_nonzero((blob == 0) != (converted == 0)))


def resolve_shared_inputs(node: GraphNode, port_ids_to_duplicate: Iterable[int]) -> None:
    """Copy the constants at some input ports of a node, so that each other operation that uses one of them has its own
    copy.

    Raises Error for a port whose value is unknown.
    """
    for number in port_ids_to_duplicate:
        port = node.in_port(number)
        source, value = port.get_source(), port.data.get_value()
        if source is None or value is None:
            raise Error("the value at input port {} of node {!r} is unknown", number, node.name)
        copies: dict[GraphNode, GraphNode] = {}
        for destination in source.get_destinations():
            if destination.node != node:
                copy = copies.get(destination.node) or create_constant(node.graph, value, f"{destination.node.name}/duplicated_")
                copies[destination.node] = copy
                destination.connect(copy.out_port(0))
