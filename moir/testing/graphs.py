"""Graphs of the nodes and edges that a test describes.

Every operation except Const, Parameter and Result becomes one of the `mo` dialect with the given attributes, so only
the extension under test changes it. A graph with data nodes is in the middle phase, one without in the front phase; a
test may set `graph.stage` and `graph.graph["layout"]`.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

from moir.dialects.moir import ModelOp
from moir.dialects.opset.infrastructure import Constant, Parameter
from moir.errors import ConversionError
from moir.frameworks.records import ONNX
from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.api.transformations.endpoints import producers
from moir.model_optimizer.block.operation_names import is_mo_operation
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode, create_constant
from moir.model_optimizer.graph.node_inference import infer_node
from moir.model_optimizer.values.shapes import is_fully_defined

Attributes = Mapping[str, Any]
Edges = Iterable[Sequence[Any]]

WITHOUT_VALUE = "described_without_value"
"""The name of the attribute that marks a constant for which a test gives no value, but at most a shape."""

UNKNOWN_TENSOR = "described_tensor_is_unknown"
"""The name of the attribute that marks a constant whose data node a test describes with neither value nor shape."""

_KEPT = "depends_on_a_shape"

_OF_DATA = frozenset(("kind", "name", "id", "shape", "value", "data_type", "infer"))


def build_graph(
    nodes_attrs: Mapping[str, Attributes],
    edges: Edges,
    update_attributes: Mapping[str, Attributes] | None = None,
    nodes_with_edges_only: bool = False,
    cli: Namespace | None = None,
) -> Graph:
    """Build a graph from descriptions of nodes and edges.

    Args:
        nodes_attrs: the attributes of each node, by id; `kind` is `op` or `data`.
        edges: tuples of two ids, and perhaps a dictionary with `out` and `in`. If no port is given, it is the next
            free one.
        update_attributes: attributes that override those of some nodes.
        nodes_with_edges_only: leave out nodes without an edge.
        cli: options of the conversion, for `graph.graph["cmd_params"]`.

    Raises Error for an edge of a node that is not described, and for a data node with two producers.
    """
    described = {name: dict(attrs) for name, attrs in nodes_attrs.items()}
    for name, attrs in (update_attributes or {}).items():
        if name not in described:
            raise Error("there is no node {!r} whose attributes could be updated", name)
        described[name].update(attrs)
    listed = [(str(edge[0]), str(edge[1]), dict(edge[2]) if len(edge) > 2 else {}) for edge in edges]
    for start, end, _ in listed:
        for name in (start, end):
            if name not in described:
                raise Error("the edge from {!r} to {!r} is of a node that is not described", start, end)
    if nodes_with_edges_only:
        connected = {name for edge in listed for name in edge[:2]}
        described = {name: attrs for name, attrs in described.items() if name in connected}
    return _GraphBuilder(described, listed, cli or Namespace(static_shape=False, data_type="FP32")).graph


def build_graph_with_edge_attrs(
    nodes_attrs: Mapping[str, Attributes],
    edges: Edges,
    update_attributes: Mapping[str, Attributes] | None = None,
    cli: Namespace | None = None,
) -> Graph:
    """The graph that consists of the nodes that edges connect; see `build_graph`."""
    return build_graph(nodes_attrs, edges, update_attributes, nodes_with_edges_only=True, cli=cli)


def build_graph_with_attrs(
    nodes_with_attrs: Iterable[tuple[str, Attributes]],
    edges_with_attrs: Edges,
    new_nodes_with_attrs: Iterable[tuple[str, Attributes]] = (),
    new_edges_with_attrs: Edges = (),
    update_edge_attrs: Mapping[tuple[Any, ...], Attributes] | None = None,
    update_nodes_attributes: Iterable[tuple[str, Attributes]] | None = None,
    nodes_with_edges_only: bool = False,
    add_nodes_from_edges: bool = False,
) -> Graph:
    """A graph from lists of nodes and edges, and from lists of further ones.

    Args:
        nodes_with_attrs: tuples of id and attributes.
        edges_with_attrs: as in `build_graph`.
        new_nodes_with_attrs: further nodes.
        new_edges_with_attrs: further edges.
        update_edge_attrs: attributes that override those of some edges, by both ids and perhaps a number.
        update_nodes_attributes: tuples of id and attributes that override those of some nodes.
        nodes_with_edges_only: leave out nodes without an edge.
        add_nodes_from_edges: add the nodes that only edges name, without attributes.
    """
    nodes: dict[str, Attributes] = {**dict(nodes_with_attrs), **dict(new_nodes_with_attrs)}
    changed = {tuple(key[:2]): attrs for key, attrs in (update_edge_attrs or {}).items()}
    edges: list[tuple[str, str, dict[str, Any]]] = []
    for start, end, *attrs in (*edges_with_attrs, *new_edges_with_attrs):
        edges.append((start, end, {**(attrs[0] if attrs else {}), **changed.get((start, end), {})}))
    if add_nodes_from_edges:
        nodes.update((name, {"kind": "op", "op": name}) for start, end, _ in edges for name in (start, end) if name not in nodes)
    return build_graph(nodes, edges, dict(update_nodes_attributes or ()), nodes_with_edges_only)


class DescribedGraph(Graph):
    """A graph whose new operations are inferred when it is cleaned up, since there is no conversion that infers them.

    In the middle and back phases operations whose values are known become constants, except those that depend on
    ShapeOf.
    """

    def clean_up(self, undead_node_types: Iterable[str] | None = None) -> None:
        """Infer new operations, fold constants, and remove operations that no output depends on."""
        if self.has_data_nodes:
            kept = {"ShapeOf", "Shape", *(undead_node_types or ())}
            for node in self.topological_sort():
                if not node.is_data and is_mo_operation(node.ir_operation):
                    self._infer_and_fold(node, kept)
        super().clean_up(undead_node_types)

    def _infer_and_fold(self, node: GraphNode, kept: set[str]) -> None:
        if node.ir_operation in self.changed_operations and node.has_valid("infer"):
            try:
                infer_node(node)
            except ConversionError:
                # A test may describe less than inference needs; then nothing is folded here.
                return
        if node.soft_get("type") in kept or any(source.soft_get(_KEPT, False) for source in producers(node)):
            node[_KEPT] = True
            return
        for number, port in node.out_ports().items():
            value = port.data.get_value()
            connection = port.get_connection()
            if value is not None and is_fully_defined(value) and connection.get_destinations():
                connection.set_source(create_constant(self, value, f"{node.name}/folded_{number}").out_port(0))


class _GraphBuilder:
    """Builds a graph; see `build_graph`."""

    def __init__(self, nodes: Mapping[str, dict[str, Any]], edges: Sequence[tuple[str, str, dict[str, Any]]], cli: Namespace) -> None:
        self._nodes = nodes
        has_data = any(attrs.get("kind") == "data" for attrs in nodes.values())
        model = ModelOp.of("model", Block())
        self._module = ModuleOp([model])
        self.graph = DescribedGraph(model.block, "middle" if has_data else "front", ONNX.dialect, {"cmd_params": cli, "layout": "NCHW"})
        self._producers = {end: (start, edge) for start, end, edge in edges if self._is_data(end)}
        self._in_counts: dict[str, int] = {}
        self._out_counts: dict[str, int] = {}
        self._input_values: dict[str, Any] = {}
        for name, attrs in nodes.items():
            if not self._is_data(name):
                self._add_operation(name, attrs, edges)
        for name in nodes:
            if self._is_data(name) and name not in self._producers:
                self._add_source(name)
        for start, end, edge in edges:
            if self._is_data(end):
                self._name_data(start, end, edge)
        for start, end, edge in edges:
            if not self._is_data(end):
                self._connect(start, end, edge)
        # A test may say the value of an input, for functions that infer values: a constant takes its place.
        for name, value in self._input_values.items():
            GraphNode(self.graph, name)["value"] = deepcopy(value)

    def _is_data(self, name: str) -> bool:
        return self._nodes[name].get("kind") == "data"

    def _add_operation(self, name: str, attrs: dict[str, Any], edges: Sequence[tuple[str, str, dict[str, Any]]]) -> None:
        given = {"name": name, **deepcopy(attrs)}
        given["op"] = given.get("op") or given.get("type") or name
        if given["op"] == "Const" and given.get("value") is None:
            given["value"] = self._constant(name, given.get("shape"), edges)
            given[WITHOUT_VALUE] = True
        elif given["op"] not in ("Parameter", "Result"):
            given.setdefault("out_ports_count", 0 if any(start == name for start, _, _ in edges) else 1)
        self.graph.create(given, name)

    def _constant(self, name: str, shape: Any, edges: Sequence[tuple[str, str, dict[str, Any]]]) -> Any:
        """The value for a constant that was described without one: that of its data node, or zeros."""
        data: dict[str, Any] = next((self._nodes[end] for start, end, _ in edges if start == name and self._is_data(end)), dict[str, Any]())
        if data.get("value") is not None:
            return deepcopy(data["value"])
        shape = data.get("shape") if shape is None else shape
        return np.zeros([] if shape is None else [int(size) for size in shape], np.float32)

    def _add_source(self, name: str) -> None:
        """Create an operation for a data node that is described without one."""
        attrs = self._nodes[name]
        op = (
            {"op": "Const", "value": attrs["value"]} if attrs.get("value") is not None else {"op": "Parameter", "shape": attrs.get("shape")}
        )
        node = self.graph.create({**op, "name": f"{name}/source"})
        self._describe(node, 0, name)

    def _name_data(self, start: str, end: str, edge: dict[str, Any]) -> None:
        if self._producers[end] != (start, edge):
            raise Error("the data node {!r} is made by {!r} and by {!r}", end, self._producers[end][0], start)
        self._describe(GraphNode(self.graph, start), self._number(self._out_counts, start, edge.get("out")), end)

    @staticmethod
    def _number(counts: dict[str, int], name: str, value: Any) -> int:
        number = counts.get(name, 0) if value is None else int(value)
        counts[name] = counts.get(name, 0) + 1
        return number

    def _describe(self, node: GraphNode, port: int, name: str) -> None:
        """Give the tensor of output port `port` of a node the id `name`, and the attributes of the data node with
        this id.
        """
        node.add_output_port(port, skip_if_exist=True)
        value = node.ir_operation.results[port]
        self.graph.identifiers.rename(value, name)
        data, attrs = GraphNode.of(self.graph, value), self._nodes[name]
        if isinstance(node.ir_operation, Constant):
            if attrs.get("value") is None and attrs.get("shape") is None:
                node[UNKNOWN_TENSOR] = True
        else:
            if attrs.get("shape") is not None:
                data["shape"] = attrs["shape"]
            if attrs.get("data_type") is not None:
                data["data_type"] = attrs["data_type"]
            if attrs.get("value") is not None:
                if is_mo_operation(node.ir_operation):
                    data["value"] = deepcopy(attrs["value"])
                elif isinstance(node.ir_operation, Parameter):
                    self._input_values[name] = attrs["value"]
        for key, entry in attrs.items():
            if key not in _OF_DATA:
                data[key] = deepcopy(entry)

    def _connect(self, start: str, end: str, edge: dict[str, Any]) -> None:
        source, target = GraphNode(self.graph, start), GraphNode(self.graph, end)
        number = self._number(self._in_counts, end, edge.get("in"))
        output = 0 if source.is_data else self._number(self._out_counts, start, edge.get("out"))
        self.graph.create_edge(source, target, output, number)
