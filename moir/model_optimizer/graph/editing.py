"""Model Optimizer's functions on nodes: they rename, replace, connect and remove them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from xdsl.ir import SSAValue

from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Result
from moir.dialects.properties import string_attribute
from moir.errors import ConversionError
from moir.model_optimizer.block.sentinels import is_value, nodes_of
from moir.model_optimizer.block.view import BlockView
from moir.model_optimizer.graph.node import GraphNode, create_node, out_port_of, take_over


def rename_nodes(nodes: Iterable[tuple[GraphNode, str]]) -> None:
    """Give nodes other names, all at once, so names can be exchanged. Ids stay.

    A node that is not in the list and has one of the names gets the suffix `/replaced`. Only an output of the model
    keeps its name, which it shares with the node that computes its tensor.
    """
    pairs = list(nodes)
    if not pairs:
        return
    names = {str(name) for _, name in pairs}
    if len(names) != len(pairs):
        raise ConversionError(f"nodes cannot be renamed to {[str(name) for _, name in pairs]}: a name occurs twice")
    graph = pairs[0][0].graph
    renamed = {node.ir_operation for node, _ in pairs}
    for op in nodes_of(graph.block):
        if op not in renamed and name_of(op) in names and not isinstance(op, Result):
            op.attributes["name"] = string_attribute(graph.unique_id(f"{name_of(op)}/replaced"))
    for node, name in pairs:
        node["name"] = str(name)


def rename_node(node: GraphNode, name: str) -> None:
    """Give a node another name."""
    rename_nodes([(node, name)])


def replace_node(old_node: GraphNode, new_node: GraphNode, new_node_out_port: int | None = None) -> None:
    """Replace a node by another; see `GraphNode.replace_node`."""
    old_node.replace_node(new_node, new_node_out_port)


def remove_nodes(nodes: Sequence[GraphNode]) -> None:
    """Remove operation nodes of one graph and disconnect the input ports that took their tensors."""
    if nodes:
        nodes[0].graph.remove_operations([node.ir_operation for node in nodes])


def create_edge(
    src_node: GraphNode,
    dst_node: GraphNode,
    out_port: int = 0,
    in_port: int = 0,
    edge_attrs: Mapping[str, Any] | None = None,  # noqa: ARG001
) -> None:
    """Connect an output port of a node, or a data node, with an input port of another node; missing ports are added.

    If `dst_node` is a data node, its consumers take the tensor of the output port instead.

    Entries of `edge_attrs` other than the indices of ports have no effect.
    """
    if src_node.is_data:
        value = src_node.subject
        assert isinstance(value, SSAValue)
    else:
        src_node.add_output_port(out_port, skip_if_exist=True)
        value = src_node.ir_operation.results[out_port]
    if dst_node.is_data:
        old = dst_node.subject
        assert isinstance(old, SSAValue)
        take_over(dst_node.graph, old, value)
        return
    dst_node.add_input_port(in_port, skip_if_exist=True)
    dst_node.graph.set_operand(dst_node.ir_operation, in_port, value)


def erase_node(node: GraphNode) -> None:
    """Remove a node with one connected input and one output; its consumers take its input instead."""
    op, graph = node.ir_operation, node.graph
    inputs = [operand for operand in op.operands if is_value(operand)]
    if len(inputs) != 1 or len(op.results) > 1:
        raise ConversionError(
            f"a node with {len(inputs)} inputs and {len(op.results)} outputs cannot be erased", operation=node.kind_name, node=node.name
        )
    for result in op.results:
        connection = out_port_of(graph, result).get_connection()
        if connection.get_destinations():
            connection.set_source(out_port_of(graph, inputs[0]))
    graph.remove_operations([op])


def unique_id(graph: BlockView, prefix: str = "") -> str:
    """The prefix if no node has it as its id, else the prefix and a number."""
    return graph.unique_id(prefix)


def add_opoutput(graph: BlockView, node_name: str, port: int, cut: bool = True) -> str:
    """Make an output port of a node an output of the model; returns the id of the new node.

    `cut` disconnects its other consumers.
    """
    source = GraphNode(graph, node_name).out_port(port)
    if cut:
        source.disconnect()
    result = create_node(graph, {"op": "Result", "name": f"{node_name}/sink_port_{port}"})
    result.in_port(0).connect(source)
    return result.id
