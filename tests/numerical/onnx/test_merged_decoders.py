"""A user converts a decoder that Optimum merged: an input says whether the cache is used, which is empty otherwise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import helper

from tests.numerical.onnx.exported_graphs import ExportedGraph, body, check
from tests.numerical.runtime import Array

RANDOM = np.random.default_rng(0)


def random(*shape: int) -> Array:
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def test_merged_decoder(tmp_path: Path) -> None:
    graph = ExportedGraph()
    query, key, value = (graph.node("MatMul", "x", graph.weight(random(8, 8))) for _ in range(3))

    def branch(p: str, *, cached: bool) -> onnx.GraphProto:
        def with_past(name: str, own: str) -> onnx.NodeProto:
            if cached:
                return helper.make_node("Concat", [f"past_{name}", own], [p + name], axis=1)
            return helper.make_node("Identity", [own], [p + name])

        nodes = [
            with_past("k", key),
            with_past("v", value),
            helper.make_node("Transpose", [f"{p}k"], [f"{p}t"], perm=[0, 2, 1]),
            helper.make_node("MatMul", [query, f"{p}t"], [f"{p}s"]),
            helper.make_node("Softmax", [f"{p}s"], [f"{p}a"], axis=-1),
            helper.make_node("MatMul", [f"{p}a", f"{p}v"], [f"{p}y"]),
        ]
        return body(nodes, [], [f"{p}y", f"{p}k", f"{p}v"])

    outputs = ["y", "present_k", "present_v"]
    branches = {"then_branch": branch("with_", cached=True), "else_branch": branch("without_", cached=False)}
    graph.nodes.append(helper.make_node("If", ["use_cache_branch"], outputs, **branches))
    cache = (np.float32, ["batch", "past", 8])
    inputs = {"x": (np.float32, ["batch", "sequence", 8]), "past_k": cache, "past_v": cache, "use_cache_branch": (np.bool_, [1])}
    later = {"x": random(1, 1, 8), "past_k": random(1, 4, 8), "past_v": random(1, 4, 8), "use_cache_branch": np.array([True])}
    first = {"x": random(1, 3, 8), "past_k": random(1, 0, 8), "past_v": random(1, 0, 8), "use_cache_branch": np.array([False])}
    check(graph.model(inputs, outputs), [later, first], tmp_path)
