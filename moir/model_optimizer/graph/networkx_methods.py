"""The methods of a networkx MultiDiGraph that the documents and old extensions use, by ids of nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, cast

from xdsl.ir import Operation, OpResult, SSAValue

from moir.errors import ConversionError
from moir.model_optimizer.graph.edges import Vertex
from moir.model_optimizer.graph.order import topological_order
from moir.model_optimizer.graph.sentinels import nodes_of

if TYPE_CHECKING:
    from moir.model_optimizer.graph.graph import Graph
    from moir.model_optimizer.graph.node import Node


class NodeCollection(Mapping[str, MutableMapping[str, Any]]):
    """The nodes by id: `graph.nodes()`, `graph.nodes(data=True)`, `graph.node[id]["op"]`."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def _subjects(self) -> Iterator[Vertex]:
        for op in list(nodes_of(self.graph.block)):
            yield op
            if self.graph.has_data_nodes:
                yield from op.results

    def __call__(self, data: bool = False) -> list[Any]:
        if not data:
            return list(self)
        return [(self.graph.id_of(subject), self.graph.node_of(subject).attrs()) for subject in self._subjects()]

    def __getitem__(self, key: str) -> MutableMapping[str, Any]:
        return self.graph.node_of(self.graph.subject(key)).attrs()

    def __iter__(self) -> Iterator[str]:
        return (self.graph.id_of(subject) for subject in self._subjects())

    def __len__(self) -> int:
        return sum(1 for _ in self._subjects())

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.graph.identifiers.subject(key) is not None


class NetworkxMethods:
    """Nodes and edges by id. Methods that only look never change anything."""

    @property
    def _self(self) -> Graph:
        return cast("Graph", self)

    @property
    def nodes(self) -> NodeCollection:
        """The nodes by id."""
        return NodeCollection(self._self)

    @property
    def node(self) -> NodeCollection:
        """The nodes by id."""
        return NodeCollection(self._self)

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __contains__(self, node_id: object) -> bool:
        return node_id in self.nodes

    def number_of_nodes(self) -> int:
        """How many nodes there are."""
        return len(self.nodes)

    def has_node(self, node_id: str) -> bool:
        """Whether there is a node of an id."""
        return node_id in self.nodes

    def add_node(self, node_for_adding: str, **attrs: Any) -> None:
        """Add an operation node with this id. Raises ConversionError if there is one already."""
        if self.has_node(node_for_adding):
            raise ConversionError(f"the graph has a node {node_for_adding!r} already")
        if attrs.get("kind", "op") != "op":
            raise ConversionError("a data node cannot be added: an operation has one for each output port", node=node_for_adding)
        self._self.create({"name": node_for_adding, "op": node_for_adding, **attrs}, node_for_adding)

    def add_nodes_from(self, nodes: list[tuple[str, Mapping[str, Any]]]) -> None:
        """Add operation nodes, each given by id and attributes."""
        for node_id, attrs in nodes:
            self.add_node(node_id, **attrs)

    def remove_node(self, node_id: str) -> None:
        """Remove a node; what took its tensors is disconnected. Of a data node, disconnect all that take its tensor."""
        subject = self._self.subject(node_id)
        if isinstance(subject, Operation):
            self._self.remove_operations([subject])
        else:
            self._self.out_port_of(subject).disconnect()

    def remove_nodes_from(self, node_ids: list[str]) -> None:
        """Remove nodes. Those that are not there, or are removed with another, are passed over."""
        subjects = [self._self.identifiers.subject(node_id) for node_id in node_ids]
        self._self.remove_operations([subject for subject in subjects if isinstance(subject, Operation)])

    # Edges.

    def in_edges(self, node_id: str | None = None, data: bool = False, keys: bool = False) -> list[Any]:
        """The edges that end in a node, or all: pairs of ids, with the attributes of the edge as a third if `data`."""
        subjects = self.nodes if node_id is None else [node_id]
        found: list[Any] = []
        for end in subjects:
            for other, edge in self._self.incoming(self._self.subject(end)):
                found.append(_edge(self._self.id_of(other), end, edge, data, keys))
        return found

    def out_edges(self, node_id: str | None = None, data: bool = False, keys: bool = False) -> list[Any]:
        """The edges that begin in a node, or all."""
        subjects = self.nodes if node_id is None else [node_id]
        found: list[Any] = []
        for start in subjects:
            for other, edge in self._self.outgoing(self._self.subject(start)):
                found.append(_edge(start, self._self.id_of(other), edge, data, keys))
        return found

    def edges(self, node_id: str | None = None, data: bool = False, keys: bool = False) -> list[Any]:
        """The edges that begin in a node, or all."""
        return self.out_edges(node_id, data, keys)

    def has_edge(self, source: str, destination: str) -> bool:
        """Whether there is an edge between two nodes."""
        return any(end == destination for _, end in self.out_edges(source))

    def predecessors(self, node_id: str) -> Iterator[str]:
        """Ids of the nodes in front of a node, each once."""
        return iter(dict.fromkeys(start for start, _ in self.in_edges(node_id)))

    def successors(self, node_id: str) -> Iterator[str]:
        """Ids of the nodes behind a node, each once."""
        return iter(dict.fromkeys(end for _, end in self.out_edges(node_id)))

    def add_edge(self, source: str, destination: str, **attrs: Any) -> None:
        """Connect the output port `out` of a node (by default 0) and the input port `in` of another (by default the first free one)."""
        graph = self._self
        start, end = graph.subject(source), graph.subject(destination)
        if isinstance(end, SSAValue):
            raise ConversionError(
                "the operation that makes the tensor of a data node cannot be changed", node=destination, hint="use ports"
            )
        if isinstance(start, SSAValue):
            value = start
        else:
            node = graph.node_of(start)
            node.add_output_port(out := int(attrs.get("out", 0)), skip_if_exist=True)
            value = start.results[out]
        number = attrs.get("in")
        graph.node_of(end).add_input_port(number := _free_port(graph.node_of(end)) if number is None else int(number), skip_if_exist=True)
        graph.set_operand(end, number, value)

    def add_edges_from(self, edges: list[tuple[Any, ...]]) -> None:
        """Add edges, each given by two ids and perhaps attributes."""
        for source, destination, *attrs in edges:
            self.add_edge(source, destination, **(attrs[-1] if attrs else {}))

    def create_edge(
        self,
        src_node: Node,
        dst_node: Node,
        out_port: int = 0,
        in_port: int = 0,
        edge_attrs: Mapping[str, Any] | None = None,
    ) -> None:
        """Connect an output port of a node and an input port of another."""
        self.add_edge(src_node.id, dst_node.id, **{**(edge_attrs or {}), "in": in_port, "out": out_port})

    def remove_edge(self, source: str, destination: str, key: Any = None) -> None:
        """Remove the first edge between two nodes. Raises ConversionError if there is none."""
        graph = self._self
        start, end = graph.subject(source), graph.subject(destination)
        if isinstance(end, Operation):
            for other, edge in graph.incoming(end):
                if other is start:
                    graph.disconnect_operand(end, edge["in"])
                    return
        elif isinstance(end, OpResult) and end.op is start:
            graph.out_port_of(end).disconnect()
            return
        raise ConversionError(f"there is no edge from {source!r} to {destination!r}")

    def remove_edges_from(self, edges: list[tuple[Any, ...]]) -> None:
        """Remove edges, each given by two ids."""
        for source, destination, *_ in edges:
            self.remove_edge(source, destination)

    # Orders.

    def topological_sort(self, reverse: bool = False) -> list[Node]:
        """The nodes, each behind those in front of it. Raises ConversionError for a cycle, with the names of its nodes."""
        graph = self._self
        found: list[Node] = []
        for op in topological_order(nodes_of(graph.block)):
            found.append(graph.node_of(op))
            if graph.has_data_nodes:
                found.extend(graph.node_of(result) for result in op.results)
        return found[::-1] if reverse else found

    def pseudo_topological_sort(self, reverse: bool = False) -> list[Node]:
        """The nodes in a topological order in which what belongs together stands together; the same as `topological_sort` here."""
        return self.topological_sort(reverse)

    def pseudo_topological_sort_with_start_node(self, start_node: Node, reverse: bool = False) -> list[Node]:
        """The nodes that can be reached from a node along edges, itself first, in topological order."""
        reached = self.dfs(start_node.id)
        nodes = [node for node in self.topological_sort() if node.id in reached]
        return nodes[::-1] if reverse else nodes

    def dfs(self, node_name: str, visited: set[str] | None = None) -> list[str]:
        """The ids of the nodes that can be reached from a node along edges, each behind all it reaches. Those in `visited` are left out,
        the ones found are added to it."""
        seen: set[str] = set() if visited is None else visited
        ordered: list[str] = []
        if node_name in seen:
            return ordered
        seen.add(node_name)
        path = [(node_name, self.successors(node_name))]
        while path:
            current, pending = path[-1]
            following = next((end for end in pending if end not in seen), None)
            if following is None:
                ordered.append(current)
                path.pop()
            else:
                seen.add(following)
                path.append((following, self.successors(following)))
        return ordered


def _edge(start: str, end: str, attributes: dict[str, int], data: bool, keys: bool) -> tuple[Any, ...]:
    return (start, end, *((0,) if keys else ()), *((attributes,) if data else ()))


def _free_port(node: Node) -> int:
    for number, port in node.in_ports().items():
        if port.disconnected():
            return number
    return len(node.operation.operands)
