"""The methods of a networkx MultiDiGraph that extensions use: nodes and edges by the ids of nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from typing import Any, cast

from xdsl.ir import Operation, OpResult

from moir.analysis.order import sorted_operations
from moir.dialects.opset.infrastructure import Result
from moir.errors import ConversionError
from moir.model_optimizer.block.edges import Vertex
from moir.model_optimizer.block.sentinels import nodes_of
from moir.model_optimizer.block.view import BlockView
from moir.model_optimizer.graph.adjacency import AdjacencyGraph
from moir.model_optimizer.graph.editing import create_edge
from moir.model_optimizer.graph.node import GraphNode, create_node, detach, out_port_of


class NodeCollection(Mapping[str, MutableMapping[str, Any]]):
    """The nodes by id: `graph.nodes()`, `graph.nodes(data=True)`, `graph.node[id]["op"]`."""

    def __init__(self, graph: BlockView) -> None:
        self.graph = graph

    def _subjects(self) -> Iterator[Vertex]:
        for op in list(nodes_of(self.graph.block)):
            yield op
            if self.graph.has_data_nodes:
                yield from op.results

    def __call__(self, data: bool | str = False, default: Any = None) -> list[Any]:
        """The ids; with `data` pairs of id and attributes, or of id and the value of one attribute."""
        if not data:
            return list(self)
        if isinstance(data, str):
            return [(node, attributes.get(data, default)) for node, attributes in self.items()]
        return [(self.graph.id_of(subject), GraphNode.of(self.graph, subject).attrs()) for subject in self._subjects()]

    def __getitem__(self, key: str) -> MutableMapping[str, Any]:
        return GraphNode.of(self.graph, self.graph.subject(key)).attrs()

    def __iter__(self) -> Iterator[str]:
        return (self.graph.id_of(subject) for subject in self._subjects())

    def __len__(self) -> int:
        return sum(1 for _ in self._subjects())

    data = __call__

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.graph.identifiers.subject(key) is not None


class EdgeCollection(Iterable[tuple[str, str]]):
    """The edges: `graph.edges`, `graph.edges(data=True)`, `graph.edges(node)`."""

    def __init__(self, of: Callable[..., list[Any]]) -> None:
        self._of = of

    def __call__(self, node_id: Any = None, data: Any = False, keys: bool = False, default: Any = None) -> list[Any]:
        """The edges that begin in the given nodes, by default all; with `data` also their attributes."""
        nodes: list[Any] = [node_id] if node_id is None or isinstance(node_id, str) else list(node_id)
        edges = [edge for node in nodes for edge in self._of(node, data=bool(data), keys=keys)]
        return [(*edge[:-1], edge[-1].get(data, default)) for edge in edges] if isinstance(data, str) else edges

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self())

    def __len__(self) -> int:
        return len(self())

    def __contains__(self, edge: object) -> bool:
        return isinstance(edge, tuple) and cast("tuple[Any, ...]", edge)[:2] in self()


class NetworkxGraph(AdjacencyGraph):
    """A view of a block as a graph of nodes and edges, both by id."""

    @property
    def nodes(self) -> NodeCollection:
        """The nodes by id."""
        return NodeCollection(self)

    # Model Optimizer's older name, and the one by which the functions of networkx ask.
    node = _node = nodes

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __contains__(self, node_id: object) -> bool:
        return node_id in self.nodes

    def number_of_nodes(self) -> int:
        """The number of nodes."""
        return len(self.nodes)

    def has_node(self, node_id: str) -> bool:
        """Whether there is a node with an id."""
        return node_id in self.nodes

    def add_node(self, node_for_adding: str, **attrs: Any) -> None:
        """Add an operation node with this id. Raises ConversionError if there is such a node already."""
        if self.has_node(node_for_adding):
            raise ConversionError(f"the graph has a node {node_for_adding!r} already")
        if attrs.get("kind", "op") != "op":
            raise ConversionError("a data node cannot be added: an operation has one for each output port", node=node_for_adding)
        create_node(self, {"name": node_for_adding, "op": node_for_adding, **attrs}, node_for_adding)

    def add_nodes_from(self, nodes: list[tuple[str, Mapping[str, Any]]]) -> None:
        """Add operation nodes, each given by id and attributes."""
        for node_id, attrs in nodes:
            self.add_node(node_id, **attrs)

    def remove_node(self, node_id: str) -> None:
        """Remove an operation node and disconnect its consumers, which another producer of its data node may take over.

        A data node stays; only its consumers are disconnected.
        """
        subject = self.subject(node_id)
        if isinstance(subject, Operation):
            for result in subject.results if self.has_data_nodes else ():
                self.orphaned_results.update(use.operation for use in result.uses if isinstance(use.operation, Result))
                detach(self, result)
            self.remove_operations([subject])
        else:
            out_port_of(self, subject).disconnect()

    def remove_nodes_from(self, node_ids: list[str]) -> None:
        """Remove operation nodes. Ids of data nodes, and ids that no node has, are ignored."""
        subjects = [self.identifiers.subject(node_id) for node_id in node_ids]
        self.remove_operations([subject for subject in subjects if isinstance(subject, Operation)])

    # Edges.

    def in_edges(self, node_id: str | None = None, data: bool = False, keys: bool = False) -> list[Any]:
        """The edges that end in a node, or all.

        Each is a tuple of two ids, followed by 0 if `keys`, and by the attributes if `data`.
        """
        subjects = self.nodes if node_id is None else [node_id]
        edges: list[Any] = []
        for end in subjects:
            for other, edge in self.incoming(self.subject(end)):
                edges.append(_edge(self.id_of(other), end, edge, data, keys))
        return edges

    def out_edges(self, node_id: str | None = None, data: bool = False, keys: bool = False) -> list[Any]:
        """The edges that begin in a node, or all, as tuples like those of `in_edges`."""
        subjects = self.nodes if node_id is None else [node_id]
        edges: list[Any] = []
        for start in subjects:
            for other, edge in self.outgoing(self.subject(start)):
                edges.append(_edge(start, self.id_of(other), edge, data, keys))
        return edges

    @property
    def edges(self) -> EdgeCollection:
        """The edges; called with the id of a node, those that begin in it."""
        return EdgeCollection(self.out_edges)

    def has_edge(self, source: str, destination: str) -> bool:
        """Whether there is an edge between two nodes."""
        return any(end == destination for _, end in self.out_edges(source))

    def get_edge_data(self, source: str, destination: str, key: int | None = None, default: Any = None) -> Any:
        """The attributes of the edges between two nodes by index, or those of the edge with index `key`.

        Returns the default if there is no such edge.
        """
        attributes = dict(enumerate(each for _, end, each in self.out_edges(source, data=True) if end == destination))
        if key is not None:
            return attributes.get(key, default)
        return attributes or default

    def predecessors(self, node_id: str) -> Iterator[str]:
        """The ids of the producers of a node, each once."""
        return iter(dict.fromkeys(start for start, _ in self.in_edges(node_id)))

    def successors(self, node_id: str) -> Iterator[str]:
        """The ids of the consumers of a node, each once."""
        return iter(dict.fromkeys(end for _, end in self.out_edges(node_id)))

    def add_edge(self, source: str, destination: str, **attrs: Any) -> None:
        """Connect the output port `out` of a node with the input port `in` of another.

        By default these are output port 0 and the first free input port. A data node has no number.
        """
        start, end = GraphNode(self, source), GraphNode(self, destination)
        number = 0 if end.is_data else attrs.get("in")
        create_edge(start, end, int(attrs.get("out", 0)), _free_port(end) if number is None else int(number))

    def add_edges_from(self, edges: list[tuple[Any, ...]]) -> None:
        """Add edges, each given by two ids and perhaps attributes."""
        for source, destination, *attrs in edges:
            self.add_edge(source, destination, **(attrs[-1] if attrs else {}))

    def create_edge(
        self,
        src_node: GraphNode,
        dst_node: GraphNode,
        out_port: int = 0,
        in_port: int = 0,
        edge_attrs: Mapping[str, Any] | None = None,
    ) -> None:
        """Connect an output port of a node and an input port of another."""
        create_edge(src_node, dst_node, out_port, in_port)

    def remove_edge(self, source: str, destination: str, key: Any = None) -> None:
        """Remove the first edge between two nodes. Raises ConversionError if there is none."""
        start, end = self.subject(source), self.subject(destination)
        if isinstance(end, Operation):
            for other, edge in self.incoming(end):
                if other is start:
                    self.disconnect_operand(end, edge["in"])
                    return
        elif isinstance(end, OpResult) and end.op is start:
            detach(self, end)
            return
        raise ConversionError(f"there is no edge from {source!r} to {destination!r}")

    def remove_edges_from(self, edges: list[tuple[Any, ...]]) -> None:
        """Remove edges, each given by two ids."""
        for source, destination, *_ in edges:
            self.remove_edge(source, destination)

    # Orders.

    def topological_sort(self, reverse: bool = False) -> list[GraphNode]:
        """The nodes in topological order, or in the opposite order with `reverse`.

        Raises ConversionError for a cycle, with the names of its nodes.
        """
        ordered: list[GraphNode] = []
        for op in sorted_operations(list(nodes_of(self.block))):
            ordered.append(GraphNode.of(self, op))
            if self.has_data_nodes:
                ordered.extend(GraphNode.of(self, result) for result in op.results)
        return ordered[::-1] if reverse else ordered

    def pseudo_topological_sort(self, reverse: bool = False) -> list[GraphNode]:
        """The same as `topological_sort`."""
        return self.topological_sort(reverse)

    def pseudo_topological_sort_with_start_node(self, start_node: GraphNode, reverse: bool = False) -> list[GraphNode]:
        """The nodes that can be reached from a node along edges, itself first, in topological order, `reverse` from
        last to first.
        """
        reached = self.dfs(start_node.id)
        nodes = [node for node in self.topological_sort() if node.id in reached]
        return nodes[::-1] if reverse else nodes

    def dfs(self, node_name: str, visited: set[str] | None = None) -> list[str]:
        """The ids of the nodes that can be reached from a node along edges, in depth-first postorder.

        Nodes in `visited` are left out; the nodes found are added to it.
        """
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


def _free_port(node: GraphNode) -> int:
    for number, port in node.in_ports().items():
        if port.disconnected():
            return number
    return len(node.ir_operation.operands)
