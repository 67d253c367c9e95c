"""The inputs of an operation whose values are known, and the operations around it (`middle.passes.fusing.helpers`)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.port import Port


def get_value_in_port(node: GraphNode) -> Port[GraphNode] | None:
    """The only input port whose value is known; None if there is no such port, or several."""
    return _only([port for port in node.in_ports().values() if port.data.get_value() is not None])


def get_tensor_in_port(node: GraphNode) -> Port[GraphNode] | None:
    """The only input port whose value is unknown; None if there is no such port, or several."""
    return _only([port for port in node.in_ports().values() if port.data.get_value() is None])


def get_value_id(node: GraphNode) -> int | None:
    """The index of the input port that `get_value_in_port` returns; None without such a port."""
    port = get_value_in_port(node)
    return None if port is None else port.idx


def get_tensor_id(node: GraphNode) -> int | None:
    """The index of the input port that `get_tensor_in_port` returns; None without such a port."""
    port = get_tensor_in_port(node)
    return None if port is None else port.idx


def _only(ports: list[Port[GraphNode]]) -> Port[GraphNode] | None:
    return ports[0] if len(ports) == 1 else None


def get_next_operation(node: GraphNode) -> list[GraphNode]:
    """The operations that take a tensor of an operation, each once."""
    takers = (destination.node for port in node.out_ports().values() for destination in port.get_destinations())
    return list(dict.fromkeys(takers))


def common_bfs(
    start_node: GraphNode,
    allowed_ops: Sequence[str],
    op_name: Sequence[str],
    is_backward: bool = True,
    allowed_all: bool = False,
    attr_to_check: str = "type",
    follow_multi_consumer_data_nodes: bool = False,
) -> list[GraphNode]:
    """The nearest operations of some kinds before or after a node, if every path leads to one.

    Args:
        start_node: the node.
        allowed_ops: values of `op` of the operations that paths may contain.
        op_name: the kinds that are searched.
        is_backward: whether to search before the node.
        allowed_all: whether paths may contain any operation.
        attr_to_check: the attribute with the kind.
        follow_multi_consumer_data_nodes: whether a backward path may contain a tensor that several operations take.

    Returns an empty list if a path reaches another operation. Paths end at tensors whose value is known.
    """
    nearest: dict[GraphNode, None] = {}
    seen: set[GraphNode] = set()
    pending = deque([start_node])
    while pending:
        node = pending.popleft()
        if node in seen:
            continue
        seen.add(node)
        for neighbour, tensor in _neighbours(node, is_backward):
            if neighbour.has_valid(attr_to_check) and neighbour[attr_to_check] in op_name:
                nearest[neighbour] = None
            elif tensor.data.get_value() is not None or (
                is_backward and not follow_multi_consumer_data_nodes and len(tensor.get_destinations()) > 1
            ):
                continue
            elif allowed_all or neighbour.soft_get("op") in allowed_ops:
                pending.append(neighbour)
            else:
                return []
    return list(nearest)


def _neighbours(node: GraphNode, is_backward: bool) -> list[tuple[GraphNode, Port[Any]]]:
    """The operations before (or after) a node, each with the output port that produces the tensor between the two."""
    if not is_backward:
        return [(each.node, port) for port in node.out_ports().values() for each in port.get_destinations()]
    sources = [port.get_source() for port in node.in_ports().values()]
    return [(source.node, source) for source in sources if source is not None]


def forward_bfs(start_node: GraphNode, allowed_ops: Sequence[str], op_name: Sequence[str], allowed_all: bool = False) -> list[GraphNode]:
    """The operations of some kinds after a node; see `common_bfs`."""
    return common_bfs(start_node, allowed_ops, op_name, False, allowed_all)


def backward_bfs(start_node: GraphNode, allowed_ops: Sequence[str], op_name: Sequence[str], allowed_all: bool = False) -> list[GraphNode]:
    """The operations of some kinds before a node; see `common_bfs`."""
    return common_bfs(start_node, allowed_ops, op_name, True, allowed_all)
