"""A user converts a decoder that writes its keys into a cache of fixed length, from a position on that is an input."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.numerical.onnx.exported_graphs import MICROSOFT, ExportedGraph, check
from tests.numerical.runtime import Array

RANDOM = np.random.default_rng(0)


def random(*shape: int) -> Array:
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def test_a_cache_that_is_written(tmp_path: Path) -> None:
    graph = ExportedGraph()
    count = graph.node("Gather", graph.node("Shape", "keys"), graph.constant(1))
    places = graph.node("Range", "position", graph.node("Add", "position", count), graph.constant(1))
    cache, keys = (graph.node("Transpose", name, perm=[1, 0, 2]) for name in ("cache", "keys"))
    written = graph.node("ScatterND", cache, graph.node("Unsqueeze", places, graph.constant([1])), keys)
    graph.node("Transpose", written, result="y", perm=[1, 0, 2])
    inputs = {"cache": (np.float32, ["b", 8, 4]), "keys": (np.float32, ["b", "n", 4]), "position": (np.int64, [])}
    data = [{"cache": random(2, 8, 4), "keys": random(2, n, 4), "position": np.array(3)} for n in (2, 1)]
    check(graph.model(inputs, ["y"]), data, tmp_path)


def test_grouped_attention(tmp_path: Path) -> None:
    """A cache that grows, empty at first, in the attention of ONNX Runtime's generators."""
    graph, heads, groups, size = ExportedGraph(), 4, 2, 8
    names = ["q", "k", "v", "past_k", "past_v", "last", "total"]
    actual = graph.several("GroupQueryAttention", 3, *names, domain=MICROSOFT, num_heads=heads, kv_num_heads=groups)
    outputs = [graph.node("Identity", each, result=name) for each, name in zip(actual, ("y", "present_k", "present_v"), strict=True)]
    past = (np.float32, ["b", groups, "past", size])
    inputs = {
        "q": (np.float32, ["b", "n", heads * size]),
        **dict.fromkeys(("k", "v"), (np.float32, ["b", "n", groups * size])),
        **dict.fromkeys(("past_k", "past_v"), past),
        "last": (np.int32, ["b"]),
        "total": (np.int32, []),
    }
    data = [
        {
            "q": random(1, count, heads * size),
            **{name: random(1, count, groups * size) for name in ("k", "v")},
            **{name: random(1, groups, before, size) for name in ("past_k", "past_v")},
            "last": np.array([before + count - 1], np.int32),
            "total": np.array(before + count, np.int32),
        }
        for count, before in ((1, 5), (3, 0))
    ]
    check(graph.model(inputs, outputs), data, tmp_path, atol=1e-4)
