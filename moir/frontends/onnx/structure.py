"""The structure of graphs before operations are built: the names that each node uses and defines, in topological order.

All errors in names are found here: values defined twice or never, cycles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moir.analysis.order import stable_order
from moir.errors import ModelFileError
from moir.frontends.onnx.attributes import GRAPH, GRAPHS, untold_type
from moir.frontends.onnx.messages import is_text
from moir.support.records import Record

if TYPE_CHECKING:
    from onnx import onnx_ml_pb2

DEFAULT_DOMAINS = ("", "ai.onnx")
_BRANCHES = {"then_branch": 0, "else_branch": 1}


class SourceNode:
    """A node of a model file.

    Args:
        kind: `Type`, or `domain.Type` for other domains than the default one.
        key: domain, operation type and overload, by which a function is found.
        name: name of the node, or of its first output if it has none.
        inputs: names of its inputs, without absent ones at the end.
        outputs: names of its outputs, without absent ones at the end.
        attributes: its attributes without the graphs.

    `graphs` are the attributes that are graphs, by name, those of If in the order then, else; `free` are the names
    that its graphs use and do not define, in order of first use.
    """

    __slots__ = ("attributes", "free", "graphs", "inputs", "key", "kind", "name", "outputs")

    def __init__(
        self, kind: str, key: tuple[str, str, str], name: str, inputs: Sequence[str], outputs: Sequence[str], attributes: list[Any]
    ) -> None:
        self.kind = kind
        self.key = key
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        self.attributes = attributes
        self.graphs: list[tuple[str, SourceGraph]] = []
        self.free: Sequence[str] = ()


class SourceGraph(Record):
    """A graph of a model file.

    Args:
        inputs: its inputs, including those with an initializer.
        outputs: names of its outputs.
        nodes: its nodes in topological order.
        initializers: tensors and sparse tensors by name.
        types: declared types by name of the value.
        free: names that it uses and does not define, in order of first use.
    """

    inputs: Sequence[Any]
    outputs: Sequence[str]
    nodes: list[SourceNode]
    initializers: dict[str, Any]
    types: dict[str, Any]
    free: Sequence[str] = ()


class Function(Record):
    """A function: a graph without types, with attributes. The free names of its nodes are its inputs."""

    key: tuple[str, str, str]
    inputs: Sequence[str]
    outputs: Sequence[str]
    nodes: list[SourceNode]
    defaults: dict[str, Any]


def _trimmed(names: Sequence[str]) -> Sequence[str]:
    end = len(names)
    while end and not names[end - 1]:
        end -= 1
    return names if end == len(names) else names[:end]


def domain_name(domain: str) -> str:
    """The name of a domain, "" for the default domain, which has two names."""
    return "" if domain in DEFAULT_DOMAINS else domain


class StructureReader:
    """Reads the graphs and functions of one file.

    Args:
        path: the file, for messages.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def error(self, reason: str, node: SourceNode | None = None, hint: str | None = None) -> ModelFileError:
        """An error that names the file, and a node if one is given."""
        operation, name = (f"onnx.{node.kind}", node.name) if node else (None, None)
        return ModelFileError(reason, operation=operation, node=name, location=str(self.path), hint=hint)

    def text(self, value: str, what: str) -> str:
        """A string field, of a message called `what`. Raises ModelFileError if it is not in UTF-8."""
        if not is_text(value):
            raise self.error(f"{what} is not in UTF-8")
        return value

    def graph(self, proto: onnx_ml_pb2.GraphProto) -> SourceGraph:
        """Read a graph. Raises ModelFileError for names defined twice and cycles."""
        defined: dict[str, SourceNode | None] = {}
        for info in proto.input:
            self._define(defined, self.text(info.name, "the name of an input"), None)
        initializers: dict[str, Any] = {}
        for tensor in proto.initializer:
            self._add_initializer(initializers, tensor.name, tensor)
        for sparse in proto.sparse_initializer:
            self._add_initializer(initializers, sparse.values.name, sparse)
        defined |= dict.fromkeys(initializers)
        types = {info.name: info.type for info in proto.value_info if info.HasField("type")}
        for info in proto.output:
            if info.name not in types or info.type.tensor_type.HasField("shape"):
                types[info.name] = info.type
        outputs = [self.text(info.name, "the name of an output") for info in proto.output]
        nodes, free = self._body(proto.node, defined, outputs)
        return SourceGraph(list(proto.input), outputs, nodes, initializers, types, free)

    def function(self, proto: onnx_ml_pb2.FunctionProto) -> Function:
        """Read a function. Raises ModelFileError for names defined twice or never, and cycles.

        An output may be undefined: ONNX has definitions made for calls that do not use it.
        """
        key = (domain_name(proto.domain), proto.name, proto.overload)
        name = ".".join(self.text(part, "the name of a function") for part in key if part)
        defined: dict[str, SourceNode | None] = {}
        for input_name in proto.input:
            self._define(defined, self.text(input_name, "the name of an input"), None)
        nodes, free = self._body(proto.node, defined, [])
        if free:
            raise self.error(f"function {name!r} uses the undefined value {free[0]!r}")
        defaults = {attribute.name: attribute for attribute in proto.attribute_proto}
        return Function(key, list(proto.input), list(proto.output), nodes, defaults)

    def _define(self, defined: dict[str, SourceNode | None], name: str, node: SourceNode | None) -> None:
        if name in defined:
            first = defined[name]
            definitions = " and ".join(
                "an input or initializer" if node_or_none is None else f"node {node_or_none.name!r}" for node_or_none in (first, node)
            )
            raise self.error(f"the value {name!r} is defined twice: by {definitions}", node)
        defined[name] = node

    def _add_initializer(self, initializers: dict[str, Any], name: Any, tensor: Any) -> None:
        if self.text(name, "the name of an initializer") in initializers:
            raise self.error(f"initializer {name!r} is there twice")
        initializers[name] = tensor

    def _body(
        self, protos: Iterable[onnx_ml_pb2.NodeProto], defined: dict[str, SourceNode | None], outputs: Sequence[str]
    ) -> tuple[list[SourceNode], Sequence[str]]:
        """The nodes of a graph or function, sorted, and the names that they and the outputs use but nothing defines.

        `defined` contains the names of inputs and initializers; the names that nodes define are added to it.
        """
        nodes: list[SourceNode] = []
        is_sorted = True
        free: dict[str, None] = {}
        for proto in protos:
            node = self.node(proto)
            for names in (node.inputs, node.free):
                for name in names:
                    if name not in defined and name:
                        free[name] = None
            for name in node.outputs:
                if name:
                    is_sorted = is_sorted and name not in free
                    self._define(defined, self.text(name, f"the name of an output of node {node.name!r}"), node)
            nodes.append(node)
        free |= dict.fromkeys(name for name in outputs if name not in defined)
        if not is_sorted:
            nodes = self._sorted(nodes, defined)
        return nodes, [name for name in free if name not in defined]

    def node(self, proto: onnx_ml_pb2.NodeProto) -> SourceNode:
        """Read a node with its graphs."""
        # Slices are lists. Iteration over the fields ends with an IndexError, which takes longer than the rest.
        inputs, outputs = _trimmed(proto.input[:]), _trimmed(proto.output[:])
        domain, op_type = domain_name(self.text(proto.domain, "a domain")), self.text(proto.op_type, "an operation type")
        name = self.text(proto.name, "the name of a node") or next((name for name in outputs if name), op_type)
        kind = f"{domain}.{op_type}" if domain else op_type
        node = SourceNode(kind, (domain, op_type, proto.overload), name, inputs, outputs, [])
        if not op_type:
            raise self.error("the node has no operation type", node)
        if not kind.isprintable():
            raise self.error(f"the node {name!r} has the impossible operation type {kind!r}")
        graph_names: set[str] = set()
        for attribute in proto.attribute[:]:
            if attribute.type in (GRAPH, GRAPHS) or (attribute.type == 0 and untold_type(attribute) in (GRAPH, GRAPHS)):
                if attribute.ref_attr_name:
                    raise self.error("graphs that are attributes of functions are not supported", node)
                if attribute.name in graph_names:
                    raise self.error(f"attribute {attribute.name!r} is there twice", node)
                graph_names.add(attribute.name)
                graphs = [attribute.g] if attribute.HasField("g") else attribute.graphs
                node.graphs.extend((self.text(attribute.name, "the name of an attribute"), self.graph(graph)) for graph in graphs)
            else:
                node.attributes.append(attribute)
        if node.graphs:
            if op_type == "If":
                node.graphs.sort(key=lambda item: _BRANCHES.get(item[0], 2))
            node.free = list(dict.fromkeys(name for _, graph in node.graphs for name in graph.free))
        return node

    def _sorted(self, nodes: list[SourceNode], defined: dict[str, SourceNode | None]) -> list[SourceNode]:
        """Nodes in topological order, otherwise in the order of the file. Raises ModelFileError for a cycle."""
        index = {id(node): position for position, node in enumerate(nodes)}
        sources = [
            {index[id(source)] for names in (node.inputs, node.free) for name in names if (source := defined.get(name))} for node in nodes
        ]
        order = stable_order(sources)
        if len(order) < len(nodes):
            self._report_cycle(nodes, set(range(len(nodes))) - set(order), defined)
        return [nodes[position] for position in order]

    def _report_cycle(self, nodes: list[SourceNode], positions: set[int], defined: dict[str, SourceNode | None]) -> None:
        left = {id(nodes[position]): nodes[position] for position in sorted(positions)}
        node = next(iter(left.values()))
        path: dict[int, SourceNode] = {}
        while id(node) not in path:
            path[id(node)] = node
            sources = (defined.get(name) for names in (node.inputs, node.free) for name in names)
            node = next(source for source in sources if source is not None and id(source) in left)
        cycle = list(path.values())[list(path).index(id(node)) :]
        names = [repr(member.name) for member in reversed(cycle)]
        listed = [*names[:8], "…"] if len(names) > 8 else names
        raise self.error(f"{len(names)} nodes form a cycle: {', '.join(listed)}", node)

    def check_closed(self, graph: SourceGraph) -> None:
        """Raises ModelFileError, with the first node that does so, if a model's graph uses a name that it does not
        define.
        """
        if not graph.free:
            return
        missing = graph.free[0]
        for node in graph.nodes:
            if missing in node.inputs or missing in node.free:
                raise self.error(f"input {missing!r} is defined nowhere", self._user(node, missing))
        raise self.error(f"output {missing!r} is computed by no node")

    def _user(self, node: SourceNode, name: str) -> SourceNode:
        for _, graph in node.graphs:
            for inner in graph.nodes:
                if name in graph.free and (name in inner.inputs or name in inner.free):
                    return self._user(inner, name)
        return node
