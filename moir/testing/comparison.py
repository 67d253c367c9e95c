"""Comparison of two graphs: the result of an extension, and the graph that a test expects."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from xdsl.ir import OpResult

from moir.dialects.data import Array
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.port import Port
from moir.model_optimizer.values.shapes import compatible_shapes, is_fully_defined, unmask_shape
from moir.testing.graphs import UNKNOWN_TENSOR, WITHOUT_VALUE

_NOT_COMPARED = frozenset(
    (
        *(
            "IE",
            "biases",
            "custom",
            "id",
            "infer",
            "name",
            "need_shape_inference",
            "offset",
            "pb",
            "reverse_infer",
            "type_infer",
            "weights",
        ),
        *(
            UNKNOWN_TENSOR,
            WITHOUT_VALUE,
            "in_ports_count",
            "out_ports_count",
            "kind",
            "shape",
            "value",
            "data_type",
            "backend_attrs",
            "override_output_shape",
        ),
    )
)
"""Attributes of nodes that are not compared; shapes and values are compared as those of the tensors."""

_TOLERANCE = 1e-4
_HALF_TOLERANCE = 5e-2


def compare_graphs(
    graph: Graph, graph_ref: Graph, last_node: str, last_node_ref: str | None = None, check_op_attrs: bool = False
) -> tuple[bool, list[str]]:
    """Whether two graphs are equal, and how they differ.

    Args:
        graph: the graph.
        graph_ref: the graph with which it is compared.
        last_node: the id of a node in the graph; the nodes that are connected with it are compared.
        last_node_ref: the id of its counterpart in the other graph, by default the same.
        check_op_attrs: whether the attributes of operations are compared, too: each attribute of the other graph that
            is not None must be present and equal.

    The shape or value of a tensor is compared if both graphs know it; if the other graph describes the data node of a
    constant without value and shape, the value is compared as an attribute of its operation. A tensor that a
    transformation created has no shape until the transformation ends, when moir infers it.
    """
    differences: list[str] = []
    partners: dict[GraphNode, GraphNode] = {}
    pending = deque([(_operation(graph, last_node), _operation(graph_ref, last_node if last_node_ref is None else last_node_ref))])
    while pending:
        node, reference = pending.popleft()
        known = partners.get(reference)
        if known is not None:
            if known != node:
                differences.append(f"the node {reference.id!r} of the reference corresponds to {known.id!r} and to {node.id!r}")
            continue
        partners[reference] = node
        differences.extend(_node_differences(node, reference, check_op_attrs))
        for port, other in _inputs(node, reference, differences):
            if port.idx != other.idx:
                differences.append(
                    f"node {node.id!r} takes output {port.idx} of {port.node.id!r}, the reference {reference.id!r} takes output {other.idx}"
                )
            differences.extend(_tensor_differences(port, other, check_op_attrs))
            pending.append((port.node, other.node))
        for port, other in _outputs(node, reference):
            takers, expected = port.get_destinations(), other.get_destinations()
            if len(takers) != len(expected):
                differences.append(
                    f"output {port.idx} of node {node.id!r} is taken by {_names(takers)}, that of the reference {reference.id!r} by "
                    f"{_names(expected)}"
                )
                continue
            pending.extend(_consumers(takers, expected))
    return not differences, differences


def _operation(graph: Graph, node_id: str) -> GraphNode:
    """The node with an id; for a data node, the operation that produces it."""
    node = GraphNode(graph, node_id)
    if not node.is_data:
        return node
    assert isinstance(node.subject, OpResult)
    return GraphNode.of(graph, node.subject.op)


def _inputs(node: GraphNode, reference: GraphNode, differences: list[str]) -> Iterator[tuple[Port[GraphNode], Port[GraphNode]]]:
    """Pairs of the ports of both nodes that an input port of each takes its tensor from; differences in the inputs are
    added to `differences`.
    """
    sources, expected = _sources(node), _sources(reference)
    if sources.keys() != expected.keys():
        differences.append(f"node {node.id!r} has the inputs {sorted(sources)}, the reference {reference.id!r} has {sorted(expected)}")
    for number in sorted(sources.keys() & expected.keys()):
        yield sources[number], expected[number]


def _sources(node: GraphNode) -> dict[int, Port[GraphNode]]:
    sources = ((number, port.get_source()) for number, port in node.in_ports().items())
    return {number: source for number, source in sources if source is not None}


def _outputs(node: GraphNode, reference: GraphNode) -> Iterator[tuple[Port[GraphNode], Port[GraphNode]]]:
    ports = node.out_ports()
    for number, other in reference.out_ports().items():
        if number in ports:
            yield ports[number], other


def _consumers(takers: list[Port[GraphNode]], expected: list[Port[GraphNode]]) -> Iterator[tuple[GraphNode, GraphNode]]:
    """Pairs of consumers of two tensors that have the same attribute `op` and the same input port, if these occur once.

    Other consumers are compared if they are reached from elsewhere.
    """
    groups = [_by_kind(ports) for ports in (takers, expected)]
    for kind, ports in groups[0].items():
        if len(ports) == 1 and len(groups[1].get(kind, ())) == 1:
            yield ports[0].node, groups[1][kind][0].node


def _by_kind(ports: list[Port[GraphNode]]) -> dict[tuple[str, int], list[Port[GraphNode]]]:
    groups: dict[tuple[str, int], list[Port[GraphNode]]] = {}
    for port in ports:
        groups.setdefault((str(port.node.soft_get("op")), port.idx), []).append(port)
    return groups


def _names(ports: list[Port[GraphNode]]) -> str:
    return ", ".join(sorted(port.node.id for port in ports)) or "nothing"


def _node_differences(node: GraphNode, reference: GraphNode, check_attributes: bool) -> Iterator[str]:
    kinds = [{each.soft_get("op"), each.soft_get("type", None)} - {None} for each in (node, reference)]
    if not kinds[0] & kinds[1] and not any("NoType" in kind for kind in kinds):
        yield f"node {node.id!r} is {node.soft_get('op')}, the reference {reference.id!r} is {reference.soft_get('op')}"
        return
    for name in reference.attrs() if check_attributes else ():
        expected = reference.soft_get(name, None)
        if (
            name == "op"
            or name in _NOT_COMPARED
            or expected is None
            or callable(expected)
            or (name == "version" and expected == "experimental")
        ):
            continue
        if not node.has(name):
            yield f"node {node.id!r} ({node.soft_get('op')}) has no attribute {name!r}; in the reference it is {expected!r}"
        elif not _equal(node[name], expected):
            yield f"node {node.id!r} ({node.soft_get('op')}) has {name} = {node[name]!r}, the reference {reference.id!r} has {expected!r}"


def _equal(value: Any, expected: Any) -> bool:
    """Whether two attributes are equal; numbers may differ by 1e-4."""
    if isinstance(value, bool) or isinstance(expected, bool):
        return bool(value) == bool(expected)
    if isinstance(expected, np.ndarray | list | tuple) or isinstance(value, np.ndarray):
        a: Array = np.asarray(cast(Any, value))
        b: Array = np.asarray(cast(Any, expected))
        if a.dtype.kind in "iuf" and b.dtype.kind in "iuf":
            return a.shape == b.shape and bool(np.allclose(a, b, rtol=0, atol=_TOLERANCE))
        return np.array_equal(a, b)
    if isinstance(value, int | float | np.number) and isinstance(expected, int | float | np.number):
        return bool(abs(value - expected) <= _TOLERANCE)
    return bool(value == expected)


def _tensor_differences(port: Port[GraphNode], other: Port[GraphNode], check_attributes: bool) -> Iterator[str]:
    if other.node.has(UNKNOWN_TENSOR) and not check_attributes:
        return
    shape, expected = port.data.get_shape(), other.data.get_shape()
    is_scalar = expected is not None and len(expected) == 0 and other.node.has(WITHOUT_VALUE)
    if shape is not None and expected is not None and not is_scalar and not compatible_shapes(shape, expected):
        yield f"{port} has the shape {unmask_shape(shape).tolist()}, that of the reference has {unmask_shape(expected).tolist()}"
        return
    if any(each.node.has(WITHOUT_VALUE) for each in (port, other)):
        return
    value, expected_value = port.data.get_value(), other.data.get_value()
    if value is None or expected_value is None or not is_fully_defined(value) or not is_fully_defined(expected_value):
        return
    a, b = np.asarray(value), np.asarray(expected_value)
    tolerance = _HALF_TOLERANCE if a.dtype == np.float16 else _TOLERANCE
    is_numeric = a.dtype.kind in "biuf" and b.dtype.kind in "biuf"
    if not (np.allclose(a, b, rtol=tolerance, atol=tolerance) if is_numeric and a.shape == b.shape else np.array_equal(a, b)):
        yield f"{port} has the value {value.tolist()}, that of the reference has {expected_value.tolist()}"
