"""Inference of a whole graph, and of types (Model Optimizer's `middle.passes.infer`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.block.operation_names import is_mo_operation
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.node_inference import infer_node, infer_types
from moir.model_optimizer.values.shapes import shape_array


def partial_infer(graph: Graph, start_node: str | None = None) -> Graph:
    """Infer shapes, values and types of all operations in topological order, or of those from `start_node` on.

    Returns the graph.
    """
    nodes = graph.topological_sort()
    first = 0 if start_node is None else [node.id for node in nodes].index(start_node)
    for node in nodes[first:]:
        if not node.is_data and node.out_ports() and node.soft_get("op") not in ("Const", "Parameter"):
            infer_node(node)
    return graph


def type_infer(graph: Graph) -> None:
    """Infer the element types of operations that extensions define, in topological order.

    The types of operations of the operation sets are inferred with their shapes.
    """
    for node in graph.topological_sort():
        if not node.is_data and is_mo_operation(node.ir_operation):
            infer_types(node)


def copy_type_infer(node: GraphNode) -> None:
    """Set the element type of output 0 to that of input 0."""
    source = node.in_port(0).get_source()
    if source is None:
        raise Error("input 0 of node {!r} is not connected", node.name)
    node.out_port(0).set_data_type(source.get_data_type())


def override_batch(graph: Graph, batch: int | None) -> None:
    """Set the first dimension of all inputs that have one; None changes nothing."""
    if batch is None:
        return
    for node in graph.get_op_nodes(op="Parameter"):
        shape: Iterable[Any] | None = node.soft_get("shape", None)
        if shape is not None and len(list(shape)) > 0:
            node["shape"] = shape_array([batch, *list(shape)[1:]])


def find_inputs(graph: Graph) -> list[str]:
    """The ids of the inputs."""
    return graph.get_nodes_with_attributes(op="Parameter")


def find_outputs(graph: Graph) -> list[str]:
    """The ids of the nodes whose tensors are outputs; in the middle phase those of data nodes."""
    return list(dict.fromkeys(node.in_node(0).id for node in graph.get_op_nodes(op="Result")))


def looking_for_op_in_list(nodes: Iterable[GraphNode], op: str) -> GraphNode | None:
    """The first node of a list whose `op` is the given one; None if there is none."""
    return next((node for node in nodes if not node.is_data and node.soft_get("op") == op), None)
