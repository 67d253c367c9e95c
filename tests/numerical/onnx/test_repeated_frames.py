"""A user converts a speech synthesizer that repeats each phoneme for its duration: torch.repeat_interleave is a loop over lists."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import TensorProto, helper

from tests.numerical.onnx.exported_graphs import ExportedGraph, body, check


def test_repeated_frames(tmp_path: Path) -> None:
    graph = ExportedGraph()
    ones = graph.constant([1, 1, 1])
    frames, counts = (graph.node("SplitToSequence", name, ones, axis=0) for name in ("x", "durations"))
    nodes = [
        helper.make_node("SequenceAt", [frames, "i"], ["frame"]),
        helper.make_node("SequenceAt", [counts, "i"], ["count"]),
        helper.make_node("Concat", ["count", graph.constant([1])], ["shape"], axis=0),
        helper.make_node("Expand", ["frame", "shape"], ["repeated"]),
        helper.make_node("SequenceInsert", ["list", "repeated"], ["longer"]),
        helper.make_node("Identity", ["goes_on"], ["still"]),
    ]
    inputs = [
        helper.make_tensor_value_info("i", TensorProto.INT64, []),
        helper.make_tensor_value_info("goes_on", TensorProto.BOOL, []),
        helper.make_tensor_sequence_value_info("list", TensorProto.FLOAT, None),
    ]
    loop = body(nodes, inputs, ["still", "longer"])
    graph.node("Loop", graph.constant(3), graph.constant(True), graph.node("SequenceEmpty"), result="all", body=loop)
    graph.node("ConcatFromSequence", "all", result="y", axis=0)
    data = np.random.default_rng(0).uniform(-1, 1, (3, 4)).astype(np.float32)
    given = [{"x": data, "durations": np.array(durations)} for durations in ([1, 2, 3], [4, 1, 1])]
    check(graph.model({"x": (np.float32, [3, 4]), "durations": (np.int64, [3])}, ["y"]), given, tmp_path)
