"""A user's scripted model pads images to a multiple of 32 pixels, if their size is none already."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import helper

from tests.numerical.onnx.exported_graphs import ExportedGraph, body, check

RANDOM = np.random.default_rng(0)


def test_padded_images(tmp_path: Path) -> None:
    graph = ExportedGraph()
    multiple = graph.constant(32)
    rows = graph.node("Gather", graph.node("Shape", "x"), graph.constant(2))
    missing = graph.node("Mod", graph.node("Sub", multiple, graph.node("Mod", rows, multiple)), multiple)
    pads = graph.node("Concat", graph.constant([0] * 6), graph.node("Unsqueeze", missing, graph.constant([0])), graph.constant([0]), axis=0)
    branches = {
        "then_branch": body([helper.make_node("Pad", ["x", pads], ["padded"])], [], ["padded"]),
        "else_branch": body([helper.make_node("Identity", ["x"], ["same"])], [], ["same"]),
    }
    choice = graph.node("If", graph.node("Greater", missing, graph.constant(0)), **branches)
    graph.node("Conv", choice, graph.weight(RANDOM.uniform(-1, 1, (2, 3, 3, 3)).astype(np.float32)), result="y")
    data = [{"x": RANDOM.uniform(-1, 1, (1, 3, rows, 8)).astype(np.float32)} for rows in (30, 32)]
    check(graph.model({"x": (np.float32, ["batch", 3, "h", "w"])}, ["y"]), data, tmp_path)
