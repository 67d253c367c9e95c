"""A user converts a Conformer, whose scores of relative positions are shifted by a Reshape of unknown sizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.numerical.onnx.exported_graphs import ExportedGraph, check

RANDOM = np.random.default_rng(0)


def test_shifted_scores(tmp_path: Path) -> None:
    graph = ExportedGraph()
    shape = graph.node("Shape", "x")
    batch, heads, rows, columns = (graph.node("Gather", shape, graph.constant([axis])) for axis in range(4))
    one = graph.constant([1])
    zeros = graph.node("ConstantOfShape", graph.node("Concat", batch, heads, rows, one, axis=0))
    wider = graph.node("Concat", zeros, "x", axis=3)
    turned = graph.node("Reshape", wider, graph.node("Concat", batch, heads, graph.node("Add", columns, one), rows, axis=0))
    cut = graph.node("Slice", turned, one, graph.constant([2**63 - 1]), graph.constant([2]), one)
    half = graph.node("Add", graph.node("Div", columns, graph.constant([2])), one)
    graph.node("Slice", graph.node("Reshape", cut, shape), graph.constant([0]), half, graph.constant([3]), one, result="y")
    data = [{"x": RANDOM.uniform(-1, 1, sizes).astype(np.float32)} for sizes in ((1, 2, 4, 7), (2, 2, 3, 5))]
    check(graph.model({"x": (np.float32, ["batch", "heads", "steps", "positions"])}, ["y"]), data, tmp_path)
