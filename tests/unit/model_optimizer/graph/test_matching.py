"""Isomorphism patterns."""

from __future__ import annotations

import numpy as np
import pytest

from moir.errors import ConversionError
from moir.model_optimizer.graph.matching import find_subgraph_matches
from tests.unit.model_optimizer.graph.texts import FRONT, MIDDLE

MISH = """
%x = opset1.Parameter() {name = "x"} : tensor<2xf32>
%a = onnx.Softplus(%x) {name = "softplus"} : ?
%b = onnx.Tanh(%a) {name = "tanh"} : ?
%c = onnx.Mul(%x, %b) {name = "mul"} : ?
%d = onnx.Tanh(%c) {name = "other"} : ?
opset1.Result(%d) {name = "r"}
"""


def matches(graph, nodes, edges, **options):
    return [{alias: each.name for alias, each in match.items()} for match in find_subgraph_matches(graph, nodes, edges, **options)]


def op(name):
    return {"op": name}


def test_mish(graph_of):
    nodes = [("mul", op("Mul")), ("tanh", op("Tanh")), ("softplus", op("SoftPlus"))]
    edges = [("softplus", "tanh"), ("tanh", "mul")]
    assert matches(graph_of(MISH), nodes, edges) == [{"mul": "mul", "tanh": "tanh", "softplus": "softplus"}]
    assert matches(graph_of(MISH), nodes, [("softplus", "tanh"), ("tanh", "mul", {"in": 1})])
    assert not matches(graph_of(MISH), nodes, [("softplus", "tanh"), ("tanh", "mul", {"in": 0})])
    assert not matches(graph_of(MISH), nodes, [("softplus", "tanh", {"out": 1}), ("tanh", "mul")])


def test_edges_that_are_not_in_the_pattern(graph_of):
    graph = graph_of(FRONT)
    nodes = [("a", op("Custom")), ("b", op("Add")), ("c", op("Mul"))]
    edges = [("a", "b"), ("b", "c")]
    assert not matches(graph, nodes, edges)
    assert len(matches(graph, nodes, edges, induced=False)) == 1
    assert len(matches(graph, nodes, [*edges, ("a", "c")])) == 1


def test_parallel_edges(graph_of):
    graph = graph_of("""
        %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
        %y = onnx.Mul(%x, %x) {name = "square"} : ?
        opset1.Result(%y) {name = "r"}
    """)
    nodes = [("x", op("Parameter")), ("mul", op("Mul"))]
    assert not matches(graph, nodes, [("x", "mul")])
    assert len(matches(graph, nodes, [("x", "mul"), ("x", "mul")])) == 1
    assert len(matches(graph, nodes, [("x", "mul", {"in": 1}), ("x", "mul", {"in": 0})])) == 1
    assert not matches(graph, nodes, [("x", "mul", {"in": 1}), ("x", "mul", {"in": 1})])
    assert len(matches(graph, nodes, [("x", "mul")], induced=False)) == 1


def test_symmetric_patterns_are_reported_once(graph_of):
    graph = graph_of("""
        %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
        %a = onnx.Relu(%x) {name = "a"} : ?
        %b = onnx.Relu(%x) {name = "b"} : ?
        %y = onnx.Add(%a, %b) {name = "add"} : ?
        opset1.Result(%y) {name = "r"}
    """)
    edges = [("one", "add"), ("two", "add")]
    nodes = [("one", op("ReLU")), ("two", op("ReLU")), ("add", op("Add"))]
    assert matches(graph, nodes, edges) == [{"one": "a", "two": "b", "add": "add"}]
    # Nodes that are told apart by a function are not equal: both ways are reported if both fit.
    nodes[0] = ("one", {"op": lambda name: name == "ReLU"})
    assert len(matches(graph, nodes, edges)) == 2
    ordered = [("one", "add", {"in": 1}), ("two", "add", {"in": 0})]
    assert matches(graph, [("one", op("ReLU")), ("two", op("ReLU")), ("add", op("Add"))], ordered) == [
        {"one": "b", "two": "a", "add": "add"}
    ]


def test_attributes(graph_of):
    graph = graph_of("""
        %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
        %a = onnx.Transpose(%x) {perm = [1, 0], name = "a"} : ?
        %b = onnx.Transpose(%a) {perm = [0, 1], name = "b"} : ?
        %c = onnx.Foo(%b) {mode = "x", name = "c"} : ?
        opset1.Result(%c) {name = "r"}
    """)
    assert matches(graph, [("t", {"op": "Transpose", "perm": np.array([1, 0])})], []) == [{"t": "a"}]
    assert matches(graph, [("t", {"op": "Transpose", "order": lambda order: order[0] == 0})], []) == [{"t": "b"}]
    assert matches(graph, [("t", {"mode": "x"})], []) == [{"t": "c"}]
    assert len(matches(graph, [("t", {"mode": None, "kind": "op"})], [])) == 4
    assert len(matches(graph, [("t", {"mode": lambda mode: mode is None})], [])) == 4
    assert matches(graph, [("t", {"op": lambda name: name in ("Foo", "Bar")})], []) == [{"t": "c"}]
    assert len(matches(graph, [("one", op("Transpose")), ("two", op("Transpose"))], [("one", "two")])) == 1
    assert len(matches(graph, [("any", {}), ("foo", op("Foo"))], [("any", "foo")])) == 1
    # Two nodes without an edge between them in the pattern have none in the graph.
    assert not matches(graph, [("one", op("Transpose")), ("two", op("Transpose"))], [])
    assert matches(graph, [("one", op("Transpose")), ("two", op("Foo"))], []) == [{"one": "a", "two": "c"}]


def test_data_nodes_are_listed_in_the_middle_phase(graph_of):
    graph = graph_of(MIDDLE, "middle")
    data = {"kind": "data"}
    nodes = [("add", op("Add")), ("sum", data), ("mul", op("Mul"))]
    assert len(matches(graph, nodes, [("add", "sum", {"out": 0}), ("sum", "mul", {"in": 0})])) == 1
    assert not matches(graph, nodes, [("add", "sum"), ("sum", "mul", {"in": 1})])
    assert not matches(graph, [("add", op("Add")), ("mul", op("Mul"))], [("add", "mul")])
    constant = [("axis", {"kind": "data", "value": lambda value: value is not None}), ("transpose", op("Transpose"))]
    assert len(matches(graph, constant, [("axis", "transpose", {"in": 1})])) == 1
    assert len(matches(graph, [("tensor", {"kind": "data", "shape": np.array([2, 3])})], [])) == 7
    assert not matches(graph_of(FRONT), [("tensor", data)], [])


def test_nothing_matches_without_candidates(graph_of):
    assert matches(graph_of(FRONT), [("a", op("Nothing")), ("b", {})], [("a", "b")]) == []


@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        ([], [], "at least one node"),
        ([("a", {}), ("a", {})], [], "another alias"),
        ([("a", {})], [("a", "b")], "node 'b' that the pattern does not have"),
        ([("a", 5)], [], "made of nodes"),
        ([("a", {})], [("a",)], "made of nodes"),
    ],
)
def test_what_is_no_pattern(graph_of, nodes, edges, message):
    with pytest.raises(ConversionError, match=message):
        find_subgraph_matches(graph_of(FRONT), nodes, edges)
