"""The models of a module as graphs of Model Explorer.

    %y = opset1.MatMul(%x, %w) {name = "encoder/layer.0/fc/MatMul", …} : tensor<1x8xf32>
->  {"id": "7", "label": "MatMul", "namespace": "encoder/layer.0/fc", "incomingEdges": [{"sourceNodeId": "2", …}, …],
     "outputsMetadata": [{"id": "0", "attrs": [{"key": "tensor_shape", "value": "1x8xf32"}]}], …}

The classes have the fields of Model Explorer's own in its JSON (`graph_builder.py` of ai-edge-model-explorer 0.1.34),
so that neither the file nor a test needs the package.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moir.errors import ConversionError
from moir.files.output import GRAPHS_FILE, replacing_file
from moir.report_page.snapshots import Snapshots

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


@dataclass
class Entry:
    """A key and its value as text, shown by Model Explorer for a node or for an output of a node."""

    key: str
    value: str


@dataclass
class Edge:
    """An edge that ends in a node: the id of the node where it begins, the index of the output there, and that of the
    input, as texts.
    """

    sourceNodeId: str
    sourceNodeOutputId: str
    targetNodeInputId: str


@dataclass
class Tensor:
    """One output of a node as Model Explorer shows it: the output's index as text, and its entries, such as its
    shape.
    """

    id: str
    attrs: list[Entry]


@dataclass
class Node:
    """An operation. Its namespace is a path of layers, which the drawing folds."""

    id: str
    label: str
    namespace: str = ""
    subgraphIds: list[str] = field(default_factory=list[str])
    attrs: list[Entry] = field(default_factory=list[Entry])
    incomingEdges: list[Edge] = field(default_factory=list[Edge])
    outputsMetadata: list[Tensor] = field(default_factory=list[Tensor])


@dataclass
class Graph:
    """A block: that of a model, or a body of an operation."""

    id: str
    nodes: list[Node]


def graphs_of(module: ModuleOp) -> list[Graph]:
    """One graph for each model of a module, followed by one for each body of its operations."""
    snapshots = Snapshots()
    snapshots.add(module)
    drawing = _Drawing(snapshots.records)
    return [graph for model in snapshots.states[-1] for graph in drawing.graphs(model["name"], model["operations"])]


def write_graphs(path: Path, label: str, module: ModuleOp) -> None:
    """Write the graphs of a module as a file that Model Explorer opens.

    Args:
        path: the file.
        label: the name of the collection of graphs.
        module: the module.

    Raises ConversionError if it cannot be written.
    """
    content = {"label": label, "graphs": [asdict(graph) for graph in graphs_of(module)]}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing_file(path, GRAPHS_FILE) as file:
            file.write(json.dumps(content, separators=(",", ":")).encode())
    except OSError as error:
        raise ConversionError(f"cannot be written: {error.strerror or error}", location=str(path)) from error


class _Drawing:
    """Draws operations as nodes.

    Args:
        records: the data of the operations (see `Snapshots.records`).
    """

    def __init__(self, records: list[dict[str, Any]]) -> None:
        self._records = records

    def graphs(self, name: str, operations: list[int]) -> Iterator[Graph]:
        """The graph of a block and those of the bodies of its operations; `operations` are indices of records."""
        graph = Graph(name, [])
        inner: list[tuple[str, list[int]]] = []
        for index in operations:
            record = self._records[index]
            node = _node_of(record)
            graph.nodes.append(node)
            bodies = record.get("bodies", ())
            for number, body in enumerate(bodies):
                node.subgraphIds.append(f"{name}/{record['name'] or record['id']}" + (f" {number + 1}" if len(bodies) > 1 else ""))
                inner.append((node.subgraphIds[-1], body))
        yield graph
        for body_name, body in inner:
            yield from self.graphs(body_name, body)


def _node_of(record: dict[str, Any]) -> Node:
    kind, name = str(record["kind"]), str(record["name"])
    entries = [Entry("operation", kind), Entry("name", name), *(Entry(*each) for each in record.get("attributes", {}).items())]
    entries += [Entry(key, str(value)) for key, value in record.get("weights", {}).items() if isinstance(value, str | int | float)]
    sources = ", ".join(f"{node} ({operation})" for node, operation in record.get("sources", ()))
    if sources:
        entries.append(Entry("from", sources))
    names = record.get("tensors", ())
    tensors = [
        Tensor(str(index), _tensor_entries(text, names[index] if index < len(names) else "")) for index, text in enumerate(record["types"])
    ]
    edges = [Edge(str(producer), str(result), str(index)) for index, (producer, result) in enumerate(record["operands"])]
    label = kind.rpartition(".")[2] or kind
    return Node(str(record["id"]), label, _namespace_of(name), [], entries, edges, tensors)


def _tensor_entries(text: str, names: str) -> list[Entry]:
    """The entries of an output: its type, as Model Explorer shows it on edges, and its names."""
    entries = [Entry("tensor_shape", text.removeprefix("tensor<").removesuffix(">"))]
    return [*entries, Entry("names", names)] if names else entries


def _namespace_of(name: str) -> str:
    """The path of layers around a node: its name up to the last `/`."""
    return "/".join(part for part in name.split("/")[:-1] if part)
