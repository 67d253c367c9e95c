"""The kit for tests of extensions: graphs of described nodes, compares, and a transformation's test as users wrote it."""

from __future__ import annotations

import importlib
import textwrap
from pathlib import Path

import numpy as np
import pytest

from moir.errors import ConversionError
from moir.model_optimizer.api.operations import class_named
from moir.model_optimizer.api.transformations.replacement import MiddleReplacementPattern
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.operation import Op, registration
from moir.model_optimizer.import_paths import LegacyImports
from moir.testing import (
    build_graph,
    build_graph_with_attrs,
    build_graph_with_edge_attrs,
    compare_graphs,
    connect,
    connect_data,
    connect_front,
    regular_op,
    regular_op_with_empty_data,
    regular_op_with_shaped_data,
    result,
    shaped_const_with_data,
    shaped_parameter,
    valued_const_with_data,
)
from moir.testing.descriptions import get_name_and_port
from moir.testing.messages import PB, FakeModelLayer, FakeNode, FakeParam

NODES = {
    **shaped_parameter("x", [1, 3]),
    **regular_op_with_shaped_data("softmax", [1, 3], {"op": "SoftMax", "type": "SoftMax", "axis": 1}),
    **regular_op_with_shaped_data("log", [1, 3], {"op": "Log", "type": "Log"}),
    **regular_op_with_empty_data("fused", {"op": "LogSoftmax", "type": "LogSoftmax", "axis": 1}),
    **result(),
}
EDGES = [*connect("x", "softmax"), *connect("softmax", "log"), *connect("log", "output")]
FUSED = [*connect("x", "fused"), *connect("fused", "output")]


class LogSoftmaxFusion(MiddleReplacementPattern):
    """A transformation as users wrote them."""

    axis = 0

    def pattern(self) -> dict[str, object]:
        return {
            "nodes": [("softmax", {"op": "SoftMax"}), ("data", {"kind": "data"}), ("log", {"op": "Log"})],
            "edges": [("softmax", "data"), ("data", "log")],
        }

    def replace_pattern(self, graph: Graph, match: dict[str, GraphNode]) -> None:
        softmax, log = match["softmax"], match["log"]
        fused = class_named("LogSoftmax")(graph, {"axis": softmax["axis"] + self.axis}).create_node()
        softmax.in_port(0).get_connection().set_destination(fused.in_port(0))  # pyright: ignore[reportOptionalMemberAccess]
        log.out_port(0).get_connection().set_source(fused.out_port(0))  # pyright: ignore[reportOptionalMemberAccess]


class WrongFusion(LogSoftmaxFusion):
    """One with a mistake."""

    axis = 1


def test_a_transformation() -> None:
    graph, expected = build_graph(NODES, EDGES, nodes_with_edges_only=True), build_graph_with_edge_attrs(NODES, FUSED)
    assert graph.stage == "middle"
    same, differences = compare_graphs(graph, expected, "output", check_op_attrs=True)
    assert not same
    assert "node 'log' is Log, the reference 'fused' is LogSoftmax" in differences
    LogSoftmaxFusion().find_and_replace_pattern(graph)
    assert compare_graphs(graph, expected, "output", check_op_attrs=True) == (True, [])


def test_an_attribute_that_differs() -> None:
    graph, expected = build_graph(NODES, EDGES, nodes_with_edges_only=True), build_graph_with_edge_attrs(NODES, FUSED)
    WrongFusion().find_and_replace_pattern(graph)
    assert compare_graphs(graph, expected, "output") == (True, [])
    same, differences = compare_graphs(graph, expected, "output", check_op_attrs=True)
    assert not same
    assert len(differences) == 1
    assert differences[0].endswith("has axis = 2, the reference 'fused' has 1")


def test_data_nodes() -> None:
    graph = build_graph(NODES, EDGES, {"log_d": {"shape": np.array([2, 3]), "mine": 5}}, nodes_with_edges_only=True)
    data = GraphNode(graph, "log_d")
    assert (data.is_data, list(data.shape), data["mine"]) == (True, [2, 3], 5)
    assert [node.id for node in data.in_nodes()] == ["log"]
    assert GraphNode(graph, "log").in_node(0).id == "softmax_d"
    same, differences = compare_graphs(graph, build_graph(NODES, EDGES, nodes_with_edges_only=True), "output")
    assert not same
    assert differences == ["output port 0 of node 'log' has the shape [2, 3], that of the reference has [1, 3]"]


def two_inputs(value: float = 2.0, port: int = 1, name: str = "k") -> Graph:
    """`x` plus a constant."""
    nodes = {
        **shaped_parameter("x", [1, 3]),
        **valued_const_with_data(name, np.array([value], np.float32)),
        **regular_op_with_shaped_data("add", [1, 3], {"op": "Add"}),
        **result(),
    }
    return build_graph(nodes, [*connect("x", f"{1 - port}:add"), *connect(name, f"{port}:add"), *connect("add", "output")])


def test_values_and_ports_are_compared() -> None:
    assert compare_graphs(two_inputs(), two_inputs(name="other"), "output", "output", True)[0]
    same, differences = compare_graphs(two_inputs(), two_inputs(3.0), "output")
    assert not same
    assert differences == ["output port 0 of node 'k' has the value [2.0], that of the reference has [3.0]"]
    assert not compare_graphs(two_inputs(), two_inputs(port=0), "output")[0]
    nodes = {**NODES, **shaped_const_with_data("w", [4])}
    graph = build_graph(nodes, [*EDGES, *connect("w", "1:log")], nodes_with_edges_only=True)
    same, differences = compare_graphs(graph, build_graph(NODES, EDGES, nodes_with_edges_only=True), "output")
    assert not same
    assert differences == ["node 'log' has the inputs [0, 1], the reference 'log' has [0]"]


def test_another_number_of_consumers() -> None:
    nodes = {**NODES, **regular_op("more", {"op": "More"})}
    graph = build_graph(nodes, [*EDGES, *connect_data("softmax", "more")], nodes_with_edges_only=True)
    same, differences = compare_graphs(graph, build_graph(NODES, EDGES, nodes_with_edges_only=True), "output")
    assert not same
    assert differences == ["output 0 of node 'softmax' is taken by log, more, that of the reference 'softmax' by log"]


def test_graphs_of_the_front_phase() -> None:
    nodes = {**regular_op("a", {"op": "A"}), **regular_op("b", {"type": "B"}), **result()}
    graph = build_graph(nodes, [*connect_front("a", "2:b"), ("b", "output")])
    assert graph.stage == "front"
    assert GraphNode(graph, "b").in_port(2).get_source() == GraphNode(graph, "a").out_port(0)
    assert GraphNode(graph, "b").soft_get("op") == "B"
    assert graph.graph["cmd_params"].static_shape is False
    listed = build_graph_with_attrs(
        [("a", {"kind": "op", "op": "A"})], [("a", "b")], update_nodes_attributes=[("a", {"q": 1})], add_nodes_from_edges=True
    )
    assert GraphNode(listed, "a")["q"] == 1
    assert GraphNode(listed, "b").in_node(0).id == "a"


def test_a_copy_has_the_same_ids() -> None:
    graph = two_inputs()
    copy = graph.copy()
    assert compare_graphs(copy, graph, "add_d", check_op_attrs=True) == (True, [])
    GraphNode(copy, "add").in_port(1).disconnect()
    assert GraphNode(graph, "add").is_in_port_connected(1)


def test_mistakes() -> None:
    with pytest.raises(ConversionError, match="from 'x' to 'nothing' is of a node that is not described"):
        build_graph(NODES, connect("x", "nothing", front_phase=True))
    with pytest.raises(ConversionError, match="no node 'zzz' whose attributes"):
        build_graph(NODES, EDGES, {"zzz": {}})
    with pytest.raises(ConversionError, match="the data node 'log_d' is made by"):
        build_graph(NODES, [*EDGES, ("softmax", "log_d", {"out": 1})], nodes_with_edges_only=True)
    with pytest.raises(ConversionError, match="is not a port"):
        get_name_and_port("a:b")
    assert get_name_and_port("2:add") == ("add", 2)


def test_import_paths() -> None:
    with LegacyImports():
        for name in ("unit_tests.utils.graph", "mo.utils.unittest.graph", "openvino.tools.mo.utils.unittest.graph"):
            assert importlib.import_module(name).build_graph is build_graph
        assert importlib.import_module("mo.utils.ir_engine.compare_graphs").compare_graphs is compare_graphs


TEST = """
    import unittest

    from extensions.front.renaming import Renaming
    from mo.utils.ir_engine.compare_graphs import compare_graphs
    from unit_tests.utils.graph import build_graph, connect_front, regular_op, result


    class RenamingTest(unittest.TestCase):
        def test_it(self):
            nodes = {**regular_op("a", {"op": "A"}), **regular_op("b", {"op": "B"}), **result("out")}
            edges = [*connect_front("a", "b"), *connect_front("b", "out")]
            graph = build_graph(nodes, edges)
            Renaming().find_and_replace_pattern(graph)
            flag, message = compare_graphs(graph, build_graph(nodes, edges, {"b": {"seen": True}}), "out", check_op_attrs=True)
            self.assertTrue(flag, message)
"""

SUBJECT = """
    from mo.front.common.replacement import FrontReplacementPattern


    class Renaming(FrontReplacementPattern):
        enabled = True

        def find_and_replace_pattern(self, graph):
            for node in graph.get_op_nodes(op="B"):
                node["seen"] = True
"""

pytest_plugins = ("pytester",)


def test_the_plugin_runs_tests_as_users_wrote_them(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(pytester.path)
    for name, text in (("extensions/front/renaming.py", SUBJECT), ("renaming_test.py", TEST)):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    for package in ("extensions", "extensions/front"):
        (folder / package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(folder))
    pytester.runpytest_inprocess("-p", "moir.testing.plugin", "renaming_test.py").assert_outcomes(passed=1)


def test_clean_up_folds_what_is_known() -> None:
    nodes = {**shaped_parameter("x", [3]), **regular_op_with_shaped_data("mine", [3], {"op": "Mine"}), **result()}
    graph = build_graph(nodes, [*connect("x", "mine"), *connect("mine", "output")])
    total = class_named("Add")(graph, {"name": "total"}).create_node()
    for number in (0, 1):
        class_named("Const")(graph, {"value": np.array([1.0, 2.0, 3.0])}).create_node().out_port(0).connect(total.in_port(number))
    mine = GraphNode(graph, "mine")
    mine.add_input_port(np.int64(1))  # pyright: ignore[reportArgumentType]
    mine.in_port(np.int64(1)).connect(total.out_port(0))  # pyright: ignore[reportArgumentType]
    graph.clean_up()
    source = mine.in_port(1).get_source()
    assert source is not None
    assert source.node.soft_get("op") == "Const"
    assert source.node["value"].tolist() == [2.0, 4.0, 6.0]
    assert not graph.get_op_nodes(op="Add")


def test_a_node_for_tests_of_extractors() -> None:
    with registration():

        class Blur(Op):
            op = "Blur"

    node = FakeNode(FakeParam("sigma", 2.0), FakeModelLayer([[1.0]]))
    Blur.update_node_stat(node, {"sigma": node.pb.sigma, "weights": node.model_pb.blobs[0].data})
    assert (node["sigma"], node["weights"], node.soft_get("op")) == (2.0, [1.0], "Blur")
    assert PB({"a": 1}).a == 1
    assert PB({}).a is None
