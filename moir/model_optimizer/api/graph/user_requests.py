"""Places in a graph that a user gives by names of nodes: `0:conv` is input port 0, `conv:1` output port 1."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.graph.graph import Graph
from moir.support.suggestions import did_you_mean


def split_node_in_port(node_id: str) -> tuple[str, int | None]:
    """The name and the index of the port of "port:name" or "name:port"; without a port the whole text and None."""
    front, _, rest = node_id.partition(":")
    if rest and front.isdecimal():
        return rest, int(front)
    name, _, after = node_id.rpartition(":")
    return (name, int(after)) if name and after.isdecimal() else (node_id, None)


def get_node_id_with_ports(graph: Graph, node_name: str, skip_if_no_port: bool = True) -> tuple[str, str, int | None]:
    """The id of a node, `in`, `out` or `port`, and the index of the port, None for `port`.

    Args:
        graph: the graph.
        node_name: the name of a node; `0:name` means its input port 0, `name:0` its output port 0.
        skip_if_no_port: whether to ignore ports to which nothing is connected.

    Raises Error, with the nearest name, if there is no such node or port, or there are several.
    """
    ports_of_node: list[tuple[str, str, int | None]] = []
    for node in graph.get_op_nodes():
        match = re.fullmatch(rf"(?:(\d+):)?{re.escape(node.name)}(?::(\d+))?", node_name)
        if match is None or (match[1] and match[2]) or node.soft_get("op") == "Result":
            continue
        direction = "in" if match[1] else "out" if match[2] else "port"
        number = int(match[1] or match[2]) if direction != "port" else None
        ports = node.in_ports() if direction == "in" else node.out_ports()
        if number is not None and skip_if_no_port and (number not in ports or ports[number].disconnected()):
            continue
        ports_of_node.append((node.id, direction, number))
    if len(ports_of_node) != 1:
        near = did_you_mean(node_name, [node.name for node in graph.get_op_nodes()])
        what = "there is no node" if not ports_of_node else f"{len(ports_of_node)} nodes fit the name"
        raise Error("{} {!r}{}", what, node_name, f"; {near}" if near and not ports_of_node else "")
    return ports_of_node[0]


def output_user_data_repack(graph: Graph, outputs: Iterable[str] | None) -> dict[str, list[dict[str, int | None]]] | None:
    """User's outputs by node id as ports, the argument of `cutting.add_output_ops`; None if `outputs` is None."""
    if outputs is None:
        return None
    places: dict[str, list[dict[str, int | None]]] = {}
    for output in outputs:
        node_id, direction, number = get_node_id_with_ports(graph, output)
        places.setdefault(node_id, []).append({direction: number})
    return places


def input_user_data_repack(
    graph: Graph,
    input_user_shapes: Any,
    freeze_placeholder: Mapping[str, Any] | None,
    input_user_data_types: Mapping[str, Any] | None = None,
) -> tuple[dict[str, list[dict[str, Any]]] | None, dict[str, Any] | None]:
    """User's inputs by node id as ports and shapes, the argument of `cutting.add_input_ops`, and frozen values by id.

    Args:
        graph: the graph.
        input_user_shapes: shapes by name; names without shapes; or one shape, for a model with one input.
        freeze_placeholder: values of inputs by name.
        input_user_data_types: numpy types by name.

    Each result is None if nothing is given for it. Raises Error for one shape and several inputs.
    """
    types = input_user_data_types or {}
    frozen = {get_node_id_with_ports(graph, name)[0]: value for name, value in (freeze_placeholder or {}).items()}
    if input_user_shapes is None and not types:
        return (None if not frozen else {each: [{"shape": None}] for each in graph.get_nodes_with_attributes(op="Parameter")}), (
            None if freeze_placeholder is None else frozen
        )
    if input_user_shapes is None or isinstance(input_user_shapes, Mapping):
        shapes: dict[str, Any] = dict(cast("Mapping[str, Any]", input_user_shapes or {}))
        shapes.update((name, None) for name in types if name not in shapes)
    elif isinstance(input_user_shapes, list | tuple) and all(isinstance(each, str) for each in cast("list[Any]", input_user_shapes)):
        shapes = dict.fromkeys(cast("list[str]", input_user_shapes))
    else:
        inputs = graph.inputs_order
        if len(inputs) != 1:
            raise Error("one shape is given, and the model has {} inputs: {}", len(inputs), ", ".join(inputs))
        shapes = {inputs[0]: input_user_shapes}
    places: dict[str, list[dict[str, Any]]] = {}
    for name, shape in shapes.items():
        node_id, direction, number = get_node_id_with_ports(graph, name)
        entry: dict[str, Any] = {"shape": shape}
        if direction != "port":
            entry[direction] = number
        if name in types:
            entry["data_type"] = types[name]
        places.setdefault(node_id, []).append(entry)
    return places, None if freeze_placeholder is None else frozen


def user_data_repack(
    graph: Graph,
    input_user_shapes: Any,
    input_user_data_types: Mapping[str, Any] | None,
    outputs: Iterable[str] | None,
    freeze_placeholder: Mapping[str, Any] | None,
) -> tuple[dict[str, list[dict[str, Any]]] | None, dict[str, list[dict[str, int | None]]] | None, dict[str, Any] | None]:
    """User's inputs, outputs and frozen values by node id, as the two functions above return them."""
    places, frozen = input_user_data_repack(graph, input_user_shapes, freeze_placeholder, input_user_data_types)
    return places, output_user_data_repack(graph, outputs), frozen
