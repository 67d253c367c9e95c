"""Tests of extensions in Model Optimizer's API: graphs that a test describes by attributes and edges, and compares.

    from moir.testing import build_graph, compare_graphs, connect, regular_op_with_shaped_data, result

    nodes = {**regular_op_with_shaped_data("x", [1, 3], {"op": "Parameter", "type": "Parameter"}), …, **result()}
    graph = build_graph(nodes, [*connect("x", "softmax"), *connect("softmax", "log"), *connect("log", "output")])
    LogSoftmaxFusion().find_and_replace_pattern(graph)
    same, differences = compare_graphs(graph, expected, "output", check_op_attrs=True)

Tests written for Model Optimizer import these functions as `unit_tests.utils.graph` and `mo.utils.unittest.graph`, and
their extensions import `mo`, `extensions` or `openvino.tools.mo`. With `pytest -p moir.testing.plugin` these exist.
"""

from __future__ import annotations

from moir.testing.comparison import compare_graphs
from moir.testing.descriptions import (
    connect,
    connect_data,
    connect_front,
    const,
    empty_data,
    fake_const,
    regular_op,
    regular_op_with_empty_data,
    regular_op_with_shaped_data,
    result,
    shaped_const_with_data,
    shaped_data,
    shaped_parameter,
    valued_const_with_data,
    valued_data,
)
from moir.testing.graphs import build_graph, build_graph_with_attrs, build_graph_with_edge_attrs

__all__ = [
    "build_graph",
    "build_graph_with_attrs",
    "build_graph_with_edge_attrs",
    "compare_graphs",
    "connect",
    "connect_data",
    "connect_front",
    "const",
    "empty_data",
    "fake_const",
    "regular_op",
    "regular_op_with_empty_data",
    "regular_op_with_shaped_data",
    "result",
    "shaped_const_with_data",
    "shaped_data",
    "shaped_parameter",
    "valued_const_with_data",
    "valued_data",
]
