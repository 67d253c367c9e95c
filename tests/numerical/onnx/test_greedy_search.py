"""A user exports a whole greedy search: a loop carries the tokens found so far, which grow by one, until the last one is found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import TensorProto, helper

from tests.numerical.onnx.exported_graphs import ExportedGraph, body, check

RANDOM = np.random.default_rng(3)


def test_greedy_search(tmp_path: Path) -> None:
    graph = ExportedGraph()
    table, weights = (graph.weight(RANDOM.uniform(-3, 3, shape).astype(np.float32)) for shape in ((6, 4), (4, 6)))
    slicing = [graph.constant([each]) for each in (-1, 2**31, 1)]
    nodes = [
        helper.make_node("Slice", ["tokens", *slicing], ["last"]),
        helper.make_node("Gather", [table, "last"], ["state"]),
        helper.make_node("MatMul", ["state", weights], ["scores"]),
        helper.make_node("ArgMax", ["scores"], ["next"], axis=2, keepdims=0),
        helper.make_node("Concat", ["tokens", "next"], ["longer"], axis=1),
        helper.make_node("ReduceMax", ["next"], ["largest"], keepdims=0),
        helper.make_node("Equal", ["largest", graph.constant(5)], ["is_end"]),
        helper.make_node("Not", ["is_end"], ["goes_on"]),
    ]
    inputs = [
        helper.make_tensor_value_info(name, kind, shape)
        for name, kind, shape in (("i", TensorProto.INT64, []), ("before", TensorProto.BOOL, []), ("tokens", TensorProto.INT64, ["b", "n"]))
    ]
    loop = body(nodes, inputs, ["goes_on", "longer"])
    graph.node("Loop", graph.constant(6), graph.constant(True), "x", result="y", body=loop)
    data = [{"x": np.array(tokens)} for tokens in ([[1, 2]], [[3]], [[0, 4, 1]])]
    check(graph.model({"x": (np.int64, ["batch", "n"])}, ["y"]), data, tmp_path)
