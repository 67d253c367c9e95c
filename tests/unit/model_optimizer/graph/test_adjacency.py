"""A graph as networkx knows it: its class, its nodes, neighbours and edges."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType
from typing import Any

import pytest

from moir.errors import ConversionError
from moir.model_optimizer.api.graph import networkx_structure as functions
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.operation import Op


def diamond() -> Graph:
    """a -> b, a -> c, both -> d; b takes a twice."""
    graph = Graph()

    def op(name: str, *inputs: Any) -> Any:
        return Op(graph, {"op": "Any", "name": name, "in_ports_count": len(inputs)}).create_node(list(inputs))

    a = op("a")
    op("d", op("b", a, a), op("c", a))
    return graph


class MultiDiGraph:
    """Stands for the class of networkx, which its functions build copies of."""

    def __init__(self) -> None:
        self.graph: dict[str, Any] = {}
        self.visited: list[Any] = []

    def add_nodes_from(self, nodes: Any) -> None:
        self.visited.extend(node for node, _ in nodes)

    def add_edges_from(self, edges: Any) -> None:
        self.visited.extend(edge[:2] for edge in edges)


@pytest.fixture
def networkx(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("networkx")
    module.MultiDiGraph = MultiDiGraph  # pyright: ignore[reportAttributeAccessIssue]
    monkeypatch.setitem(sys.modules, "networkx", module)
    return module


def test_a_graph_is_one_of_networkx_where_that_is_imported(networkx: ModuleType) -> None:
    graph = diamond()
    assert isinstance(graph, networkx.MultiDiGraph)
    assert isinstance(graph, Graph)
    assert type(graph) is Graph


def test_without_networkx_it_is_none() -> None:
    assert diamond().__class__ is Graph


def test_neighbours_and_edges() -> None:
    graph = diamond()
    assert graph.is_directed()
    assert graph.is_multigraph()
    assert list(graph.neighbors("a")) == ["b", "c"]
    assert graph.adj["a"]["b"] == {0: {"out": 0, "in": 0}, 1: {"out": 0, "in": 1}}
    assert graph["b"] == graph.succ["b"]
    assert list(graph.pred["d"]) == ["b", "c"]
    assert list(graph.edges) == [("a", "b"), ("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
    assert ("a", "c") in graph.edges
    assert graph.edges("b", data="in") == [("b", "d", 0)]
    assert graph.edges(["b", "c"], data="in") == [("b", "d", 0), ("c", "d", 1)]
    assert [graph.number_of_edges(), graph.number_of_edges("a", "b"), graph.order()] == [5, 2, 4]
    with pytest.raises(KeyError):
        graph.adj["nobody"]


def test_degrees() -> None:
    graph = diamond()
    assert dict(graph.in_degree) == {"a": 0, "b": 2, "c": 1, "d": 2}
    assert graph.out_degree("a") == 3
    assert graph.degree(["b"]) == [("b", 3)]


def test_nodes_with_the_value_of_an_attribute() -> None:
    assert diamond().nodes(data="op") == [(name, "Any") for name in ("a", "b", "c", "d")]
    assert list(diamond().nbunch_iter(["d", "nobody"])) == ["d"]


def test_a_part_is_a_graph_of_networkx(networkx: ModuleType) -> None:
    part = diamond().subgraph(["a", "c"])
    assert type(part) is networkx.MultiDiGraph
    assert part.visited == ["a", "c", ("a", "c")]


def test_a_part_needs_networkx() -> None:
    with pytest.raises(ConversionError, match="install networkx"):
        diamond().subgraph(["a"])


def test_orders_paths_and_components_without_networkx() -> None:
    graph = diamond()
    assert list(functions.lexicographical_topological_sort(graph)) == ["a", "b", "c", "d"]
    assert list(functions.lexicographical_topological_sort(graph, key=lambda node: -ord(node))) == ["a", "c", "b", "d"]
    assert list(functions.topological_generations(graph)) == [["a"], ["b", "c"], ["d"]]
    assert functions.dag_longest_path(graph) in (["a", "b", "d"], ["a", "c", "d"])
    assert functions.dag_longest_path_length(graph) == 2
    assert list(functions.weakly_connected_components(graph)) == [{"a", "b", "c", "d"}]
    assert list(functions.strongly_connected_components(graph)) == [{"a"}, {"b"}, {"c"}, {"d"}]
    assert functions.dfs_successors(graph, "a") == {"a": ["b", "c"], "b": ["d"]}
    assert dict(functions.bfs_predecessors(graph, "a")) == {"b": "a", "c": "a", "d": "b"}
    assert functions.descendants_at_distance(graph, "a", 2) == {"d"}
    assert functions.get_edge_attributes(graph, "in") == {
        ("a", "b", 0): 0,
        ("a", "b", 1): 1,
        ("a", "c", 0): 0,
        ("b", "d", 0): 0,
        ("c", "d", 0): 1,
    }


def test_predicates_without_networkx() -> None:
    graph = diamond()
    assert functions.is_directed(graph)
    assert functions.is_weakly_connected(graph)
    assert functions.is_path(graph, ["a", "b", "d"])
    assert not functions.is_simple_path(graph, ["b", "a"])
    assert not functions.is_tree(graph)
    assert not functions.is_empty(graph)
    Op(graph, {"op": "Any", "name": "alone"}).create_node()
    assert list(functions.isolates(graph)) == ["alone"]
    assert functions.number_weakly_connected_components(graph) == 2
    assert [functions.number_of_nodes(graph), functions.number_of_edges(graph)] == [5, 5]


def test_functions_of_networkx() -> None:
    if importlib.util.find_spec("networkx") is None:
        return
    import networkx

    graph = diamond()
    assert networkx.has_path(graph, "a", "d")
    assert list(networkx.topological_sort(graph)) == ["a", "b", "c", "d"]
    assert networkx.ancestors(graph, "d") == {"a", "b", "c"}
    assert networkx.shortest_path(graph, "a", "d") == ["a", "b", "d"]
    assert networkx.DiGraph(graph).number_of_edges() == 4
    assert list(networkx.weakly_connected_components(graph)) == [{"a", "b", "c", "d"}]
