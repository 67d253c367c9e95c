"""Nodes that compute parts of a shape, as inputs of Reshape, Broadcast and the like (Model Optimizer's `utils.shape`).

    shape, rank = get_shape_and_rank_nodes_by_port(node.in_port(0).get_source())
    batch = node_to_get_batch_value(shape)
    new_shape_node_from_shape_nodes([batch, …])

The output of a node of a shape has rank 1. That of a node of a rank is a scalar or, on request, a tensor of one
element.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.api.operations import class_named
from moir.model_optimizer.graph.node import GraphNode, create_constant
from moir.model_optimizer.graph.operation import create_op_with_const_inputs
from moir.model_optimizer.graph.port import Port
from moir.model_optimizer.values.shapes import int64_array


def get_canonical_axis_index_node(rank: GraphNode, axis: int) -> GraphNode:
    """A node that computes an axis as a scalar, counted from the front even if `axis` is negative.

    The node `rank` computes the rank of the tensor.
    """
    if axis >= 0:
        return create_constant(rank.graph, int64_array(axis), f"{rank.name}/axis")
    return create_op_with_const_inputs(rank.graph, class_named("Add"), {1: int64_array(axis)}, {"name": f"{rank.name}/axis"}, rank)


def get_range_node_of_idxs(rank: GraphNode, begin: int, end: int, include_begin: bool = True, include_end: bool = False) -> GraphNode:
    """A node that computes the axes from `begin` to `end`, as a 1-D tensor.

    Both may be negative; the node `rank` computes the rank of the tensor, a scalar.
    """
    start = _moved(get_canonical_axis_index_node(rank, begin), not include_begin)
    stop = _moved(get_canonical_axis_index_node(rank, end), include_end)
    axes = create_op_with_const_inputs(rank.graph, class_named("Range"), {2: int64_array(1)}, {"name": f"{rank.name}/axes"})
    axes.in_port(0).connect(start.out_port(0))
    axes.in_port(1).connect(stop.out_port(0))
    return axes


def _moved(axis: GraphNode, is_moved: bool) -> GraphNode:
    """A node that computes an axis plus 1 if `is_moved` is set; else `axis` itself."""
    if not is_moved:
        return axis
    return create_op_with_const_inputs(axis.graph, class_named("Add"), {1: int64_array(1)}, {"name": f"{axis.name}/next"}, axis)


def get_shape_values_by_indices_node(shape_node: GraphNode, indices_node: GraphNode) -> GraphNode:
    """A node that selects the dimensions of a shape at the indices that another node computes."""
    name = f"{shape_node.name}/Gather"
    gather = create_op_with_const_inputs(shape_node.graph, class_named("Gather"), {2: int64_array(0)}, {"name": name}, shape_node)
    gather.in_port(1).connect(indices_node.out_port(0))
    return gather


def node_to_get_shape_value_of_indices(shape_node: GraphNode, indices: Iterable[int]) -> GraphNode:
    """A node that selects the dimensions of a shape at the given indices."""
    return get_shape_values_by_indices_node(
        shape_node, create_constant(shape_node.graph, int64_array(list(indices)), f"{shape_node.name}/indices")
    )


def get_shape_values_by_range_idxs(
    shape: GraphNode, rank: GraphNode, begin: int, end: int, include_begin: bool = True, include_end: bool = False
) -> GraphNode:
    """A node that selects the dimensions of a shape from one axis to another; see `get_range_node_of_idxs`."""
    return get_shape_values_by_indices_node(shape, get_range_node_of_idxs(rank, begin, end, include_begin, include_end))


def node_to_get_batch_value(shape_node: GraphNode) -> GraphNode:
    """A node that selects the first dimension of a shape."""
    return node_to_get_shape_value_of_indices(shape_node, [0])


def node_to_get_features_dimension_value(shape_node: GraphNode) -> GraphNode:
    """A node that selects the number of channels from a shape in the layout of the graph."""
    return node_to_get_shape_value_of_indices(shape_node, [-1 if _is_channel_last(shape_node) else 1])


def node_to_get_spatial_dimensions_value(shape_node: GraphNode) -> GraphNode:
    """A node that selects the spatial dimensions from a shape in the layout of the graph.

    Raises Error if the length of the shape, the output of `shape_node`, is unknown.
    """
    shape = shape_node.in_port(0).data.get_shape()
    if shape is None:
        raise Error("the rank of the tensor whose shape {!r} gives is unknown", shape_node.name)
    first = 1 if _is_channel_last(shape_node) else 2
    return node_to_get_shape_value_of_indices(shape_node, range(first, first + len(shape) - 2))


def _is_channel_last(node: GraphNode) -> bool:
    layout = node.graph.graph["layout"]
    if layout not in ("NCHW", "NHWC"):
        raise Error("the layout of the graph is {!r}, which is neither NCHW nor NHWC", layout)
    return layout == "NHWC"


def new_shape_node_from_shape_nodes(input_shape_nodes: Sequence[GraphNode]) -> GraphNode:
    """A node that concatenates the dimensions that other nodes compute to a shape. Raises Error if there are none."""
    if not input_shape_nodes:
        raise Error("a shape cannot be put together of no dimensions")
    first = input_shape_nodes[0]
    attributes = {"axis": 0, "name": f"{first.name}/shape", "in_ports_count": len(input_shape_nodes)}
    return class_named("Concat")(first.graph, attributes).create_node(list(input_shape_nodes))


def get_shape_and_rank_nodes_by_port(port: Port[GraphNode], return_as_a_scalar: bool = True) -> tuple[GraphNode, GraphNode]:
    """Nodes that compute the shape and the rank of the tensor of an output port.

    The rank is a scalar, or a tensor of one element.
    """
    graph, name = port.node.graph, port.node.name
    shape = class_named("Shape")(graph, {"name": f"{name}/ShapeOf"}).create_node([port])
    rank = class_named("Shape")(graph, {"name": f"{name}/RankOf"}).create_node([shape])
    if not return_as_a_scalar:
        return shape, rank
    return shape, create_op_with_const_inputs(graph, class_named("Squeeze"), {1: int64_array([0])}, {"name": f"{name}/rank"}, rank)
