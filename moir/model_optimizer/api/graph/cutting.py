"""New inputs and outputs in the middle of a model (Model Optimizer's `front.extractor`).

    add_input_ops(graph, {"conv1": [{"in": 0, "shape": [1, 224, 224, 3]}]}, before_infer=True)
    add_output_ops(graph, {"scores": [{"out": 0}], "boxes": [{}]})

Operations that are no longer needed are removed when the transformation ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

import numpy as np

from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.api.operations import class_named
from moir.model_optimizer.graph.editing import add_opoutput
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.port import Port


def add_output_ops(
    graph: Graph, user_defined_outputs: Mapping[str, Iterable[Mapping[str, Any]]] | None, inputs: Mapping[str, Any] | None = None
) -> list[str]:
    """Replace the outputs of a model. Returns the ids of the new ones.

    Args:
        graph: the graph.
        user_defined_outputs: the ids of nodes and for each a list of places: `{"out": n}` is the tensor of output port
            n, `{"in": n}` the tensor that input port n takes, `{}` that of output port 0. None for the tensors that
            are outputs and those of nodes without consumers, if they depend on an input.
        inputs: the inputs on which they have to depend, by id; by default all.

    Raises Error for a port, and ConversionError for a node, that does not exist.
    """
    if user_defined_outputs is None:
        ports = _loose_ends(graph, graph.get_nodes_with_attributes(op="Parameter") if inputs is None else list(inputs))
    else:
        ports = [_place(GraphNode(graph, node_id), each) for node_id, entries in user_defined_outputs.items() for each in list(entries)]
    graph.remove_nodes_from([node.id for node in graph.get_op_nodes(op="Result")])
    return [add_opoutput(graph, port.node.id, port.idx, cut=False) for port in ports]


def _loose_ends(graph: Graph, inputs: Iterable[str]) -> list[Port[GraphNode]]:
    """The output ports that are outputs of the model, in their order, then port 0 of each node without consumers.

    All belong to nodes that depend on inputs.
    """
    reached: set[str] = set()
    for node_id in inputs:
        graph.dfs(node_id, reached)
    sources = [node.in_port(0).get_source() for node in graph.get_op_nodes(op="Result")]
    nodes = [node for node in graph.get_op_nodes() if node.id in reached and node.has_port("out", 0)]
    loose = [node.out_port(0) for node in nodes if all(port.disconnected() for port in node.out_ports().values())]
    return [*(port for port in sources if port is not None and port.node.id in reached), *loose]


def _place(node: GraphNode, entry: Mapping[str, Any]) -> Port[GraphNode]:
    if entry.get("in") is None:
        number = int(entry.get("out") or 0)
        if number not in node.out_ports():
            raise Error("node {!r} has {} output ports, there is no {}", node.name, len(node.out_ports()), number)
        return node.out_port(number)
    number = int(entry["in"])
    source = node.in_port(number).get_source() if number in node.in_ports() else None
    if source is None:
        raise Error("nothing is connected to input port {} of node {!r}", number, node.name)
    return source


def add_input_ops(
    graph: Graph, user_defined_inputs: Mapping[str, Iterable[MutableMapping[str, Any]]] | None, before_infer: bool
) -> list[str]:
    """Put inputs of the model in the place of tensors. Returns the ids of the inputs.

    Args:
        graph: the graph.
        user_defined_inputs: the ids of nodes and for each a list of places: `in` or `out` is the index of the port,
            `shape` a shape in which -1 is unknown, `data_type` a numpy type. The entry `added` is set in each place
            that is replaced, and places that have it are skipped. None for the existing inputs.
        before_infer: whether only the places with a shape are replaced, as in the front phase. Otherwise the shapes
            and element types are those of the tensors replaced.

    Raises Error for a port that does not exist, and for a node with several inputs where none is chosen.
    """
    if user_defined_inputs is None:
        return graph.get_nodes_with_attributes(op="Parameter")
    made: list[str] = []
    for node_id, entries in user_defined_inputs.items():
        for entry in list(entries):
            node = GraphNode(graph, node_id)
            is_later = before_infer and entry.get("shape") is None and node.soft_get("op") != "Parameter"
            if entry.get("added") or is_later:
                continue
            made.append(_input_at(graph, node, entry))
            entry["added"] = True
    return made


def _input_at(graph: Graph, node: GraphNode, entry: Mapping[str, Any]) -> str:
    shape, data_type = entry.get("shape"), entry.get("data_type")
    if node.soft_get("op") == "Parameter":
        if entry.get("in") is not None:
            raise Error("the input {!r} has no input port {}", node.name, entry["in"])
        for name, value in (("shape", shape), ("data_type", data_type)):
            if value is not None:
                node[name] = value
        return node.id
    port = _port_to_replace(node, entry)
    old = port if port.type == "out" else port.get_source()
    if graph.has_data_nodes and old is not None:
        shape = old.data.get_shape() if shape is None else shape
        data_type = old.get_data_type() if data_type is None else data_type
    name = f"{node.id}/placeholder{'_out' if port.type == 'out' else ''}_port_{port.idx}"
    attributes = {"name": name, "shape": shape, "data_type": np.float32 if data_type is None else data_type}
    new = class_named("Parameter")(graph, attributes).create_node().out_port(0)
    if port.type == "out":
        for destination in port.get_destinations():
            destination.connect(new, "source")
        new.add_tensor_names(f"{node.name}:{port.idx}")
    else:
        port.connect(new, "source")
        taken = port.idx != 0 or graph.has_tensor_name(node.name)
        new.add_tensor_names([f"{port.idx}:{node.name}", *([] if taken else [node.name])])
    return new.node.id


def _port_to_replace(node: GraphNode, entry: Mapping[str, Any]) -> Port[GraphNode]:
    if "out" in entry:
        if entry["out"] not in node.out_ports():
            raise Error("node {!r} has {} output ports, there is no {!r}", node.name, len(node.out_ports()), entry["out"])
        return node.out_port(entry["out"])
    number, ports = entry.get("in"), node.in_ports()
    if number is None:
        connected = [each for each, port in ports.items() if not port.disconnected()]
        if len(connected) > 1:
            raise Error("node {!r} has {} inputs: say which is meant, as in {{'in': 0}}", node.name, len(connected))
        number = connected[0] if connected else 0
    if number not in ports:
        raise Error("node {!r} has {} input ports, there is no {}", node.name, len(ports), number)
    return ports[number]
