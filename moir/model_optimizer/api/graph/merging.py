"""`merge_nodes`: one node in the place of several (Model Optimizer's sub-graphs that TensorFlow ran itself)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.operation import Op


def merge_nodes(
    graph: Graph, nodes_to_merge_names: Iterable[str], inputs_desc: Sequence[Any] | None = None, outputs_desc: Sequence[Any] | None = None
) -> str:
    """Replace nodes by one with `op` TFCustomSubgraphCall, which a transformation has to replace by operations that
    compute the same.

    It has an input for each tensor that the nodes take from other nodes, and an output for each tensor that other
    nodes take; its attribute `nodes_order` lists the nodes, `pbs` their messages.

    Args:
        graph: the graph, in the front phase.
        nodes_to_merge_names: the ids of the nodes.
        inputs_desc: becomes the attribute `input_nodes_names`.
        outputs_desc: becomes the attribute `output_tensors_names`.

    Returns the id of the new node.
    """
    names = list(dict.fromkeys(nodes_to_merge_names))
    inside = set(names)
    members = [node for node in graph.topological_sort() if node.id in inside]
    ports = [port for node in members for port in node.in_ports().values() if not port.disconnected()]
    sources = [source for port in ports if (source := port.get_source()) is not None and source.node.id not in inside]
    inputs = list({(source.node.id, source.idx): source for source in sources}.values())
    outputs = [
        (port, consumers)
        for node in members
        for port in node.out_ports().values()
        if (consumers := [each for each in port.get_destinations() if each.node.id not in inside])
    ]
    attributes = {
        "op": "TFCustomSubgraphCall",
        "name": graph.unique_id("merged"),
        "nodes_order": [node.id for node in members],
        "pbs": {node.id: node.pb for node in members if node.has("pb")},
        "input_nodes_names": inputs_desc,
        "output_tensors_names": outputs_desc,
        "in_ports_count": len(inputs),
        "out_ports_count": len(outputs),
    }
    merged = Op(graph, attributes).create_node([(source.node, source.idx) for source in inputs])
    for index, (_, consumers) in enumerate(outputs):
        for consumer in consumers:
            consumer.disconnect()
            merged.out_port(index).connect(consumer)
    graph.remove_nodes_from(names)
    return merged.id
