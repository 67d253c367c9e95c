"""Attributes of nodes and edges that Model Optimizer's own code set (`front.extractor`, `graph.graph`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.attributes.layer_records import layer_record
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.port import Port

TENSOR_NAMES = "fw_tensor_debug_info"
"""The attribute of an edge with the framework's names of its tensor: tuples of node, number of port, name."""


def update_attrs(attrs: MutableMapping[str, Any] | GraphNode, attr: str, new: str | list[Any]) -> None:
    """Add entries to an attribute that is a list; it is created if it is missing."""
    present: list[Any] = list(attrs[attr]) if attr in attrs else []  # pyright: ignore[reportOperatorIssue]
    attrs[attr] = [*present, *(entry for entry in ([new] if isinstance(new, str) else new) if entry not in present)]


def add_attrs_props(attrs: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Add to `attrs` the lists that say which attributes are axes (`dim_attrs`) and which are shapes (`shape_attrs`).

    Returns `attrs`.
    """
    update_attrs(attrs, "dim_attrs", ["spatial_dims", "channel_dims", "batch_dims", "axis"])
    update_attrs(attrs, "shape_attrs", ["shape", "pad", "window", "stride", "output_shape"])
    return attrs


def update_ie_fields(attrs: MutableMapping[str, Any], _ir_version: int | None = None) -> None:
    """Add the attribute `IE`, the description of the layer in the IR: only the name and type of the operation."""
    attrs.setdefault("IE", layer_record([]))


def extract_node_attrs(graph: Graph, extractor: Callable[[GraphNode], tuple[bool, Mapping[str, Any]]]) -> Graph:
    """Give every operation the attributes that a function returns for it. Returns the graph.

    Args:
        graph: the graph.
        extractor: function of a node that returns whether it is supported, and attributes.

    Raises Error, with the node, for any other exception of the function.
    """
    for node in graph.get_op_nodes():
        try:
            is_supported, attributes = extractor(node)
        except Error:
            raise
        except Exception as error:
            raise Error("the extractor fails for node {!r}: {}", node.name, error) from error
        for name, value in attributes.items() if is_supported else ():
            if name not in ("id", "name", "kind"):
                node[name] = value
    return graph


def create_tensor_nodes(graph: Graph) -> None:
    """Change the graph to the middle phase, in which there are data nodes between operations."""
    graph.stage = "middle"


def merge_edge_props(attrs: Mapping[str, Any], additional_attrs: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes for an edge that replaces two: lists are concatenated, other values come from the second edge."""
    result = dict(attrs)
    for name, value in additional_attrs.items():
        present = result.get(name)
        result[name] = [*present, *value] if isinstance(present, list) and isinstance(value, list) else value
    return result


def get_edge_attribute_between_nodes(node1: GraphNode, node2: GraphNode, attr_name: str) -> Any:
    """An attribute of the edge from one node to another; None if there is no edge, or it does not have it."""
    for number, port in node1.out_ports().items():
        for destination in port.get_destinations():
            if destination.node == node2:
                if attr_name == TENSOR_NAMES:
                    return port.get_tensor_debug_info()
                return {"in": destination.idx, "out": number}.get(attr_name)
    return None


def set_edge_attribute_between_nodes(node1: GraphNode, node2: GraphNode, attr_name: str, new_value: Any) -> None:
    """Set the framework's names of the tensor between two nodes: `fw_tensor_debug_info`.

    A tuple whose name is None means that the tensor has no name. Raises Error for any other attribute, since an edge
    has no others.
    """
    if attr_name != TENSOR_NAMES:
        raise Error("an edge has no attribute {!r} that can be set", attr_name)
    ports: list[Port[GraphNode]] = [
        port for port in node1.out_ports().values() if any(destination.node == node2 for destination in port.get_destinations())
    ]
    for port in ports[:1]:
        names = [entry[-1] for entry in new_value or () if entry and entry[-1]]
        port.set_tensor_debug_info([(node1.name, port.idx, name) for name in names])
