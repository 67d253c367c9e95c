"""A user exports a bidirectional LSTM over packed sequences: each row of the batch has a length of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import TensorProto

from tests.numerical.onnx.exported_graphs import ExportedGraph, check
from tests.numerical.runtime import Array

RANDOM = np.random.default_rng(0)


def random(*shape: int) -> Array:
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def test_packed_sequences(tmp_path: Path) -> None:
    graph = ExportedGraph()
    steps_first = graph.node("Transpose", "x", perm=[1, 0, 2])
    lengths = graph.node("Cast", "lengths", to=TensorProto.INT32)
    batch = graph.node("Gather", graph.node("Shape", "x"), graph.constant([0]))
    state = graph.node("ConstantOfShape", graph.node("Concat", graph.constant([2]), batch, graph.constant([4]), axis=0))
    weights = [graph.weight(random(*shape)) for shape in ((2, 16, 3), (2, 16, 4), (2, 32))]
    every, last, _ = graph.several("LSTM", 3, steps_first, *weights, lengths, state, state, hidden_size=4, direction="bidirectional")
    graph.node("Reshape", graph.node("Transpose", every, perm=[2, 0, 1, 3]), graph.constant([0, 0, -1]), result="y")
    graph.node("Identity", last, result="h")
    data = [{"x": random(len(each), max(each), 3), "lengths": np.array(each)} for each in ([5, 3], [4, 2, 1])]
    check(graph.model({"x": (np.float32, ["batch", "steps", 3]), "lengths": (np.int64, ["batch"])}, ["y", "h"]), data, tmp_path)
