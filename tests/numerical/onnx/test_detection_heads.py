"""A user converts a detector with its post-processing: boxes of several images, levels without boxes, fewer boxes than asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.numerical.onnx.exported_graphs import ExportedGraph, check
from tests.numerical.runtime import Array

RANDOM = np.random.default_rng(0)


def random(*shape: int) -> Array:
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def test_boxes_of_a_batch(tmp_path: Path) -> None:
    """The indices of NonMaxSuppression select boxes and scores of all images and classes."""
    graph = ExportedGraph()
    limits = [graph.constant([3]), graph.constant([0.5], np.float32), graph.constant([0.1], np.float32)]
    actual = graph.node("NonMaxSuppression", "boxes", "scores", *limits)
    graph.node("GatherND", "boxes", graph.node("Gather", actual, graph.constant([0, 2]), axis=1), result="selected")
    graph.node("GatherND", "scores", actual, result="values")
    graph.node("Gather", actual, graph.constant(1), result="labels", axis=1)
    inputs = {"boxes": (np.float32, ["batch", "n", 4]), "scores": (np.float32, ["batch", 3, "n"])}
    data = {"boxes": np.sort(np.abs(random(2, 10, 4)), -1), "scores": np.abs(random(2, 3, 10))}
    check(graph.model(inputs, ["selected", "values", "labels"]), [data], tmp_path)


def test_best_boxes(tmp_path: Path) -> None:
    """The best five, or all if there are fewer."""
    graph = ExportedGraph()
    number = graph.node("Gather", graph.node("Shape", "scores"), graph.constant([1]))
    count = graph.node("ReduceMin", graph.node("Concat", graph.constant([5]), number, axis=0), keepdims=1)
    values, order = graph.several("TopK", 2, "scores", count, axis=1)
    places = graph.node("Expand", graph.node("Unsqueeze", order, graph.constant([2])), graph.constant([1, 1, 4]))
    graph.node("GatherElements", "boxes", places, result="selected", axis=1)
    graph.node("Identity", values, result="values")
    inputs = {"boxes": (np.float32, ["batch", "n", 4]), "scores": (np.float32, ["batch", "n"])}
    data = [{"boxes": random(2, count, 4), "scores": random(2, count)} for count in (9, 3)]
    check(graph.model(inputs, ["selected", "values"]), data, tmp_path)


def test_levels_of_a_pyramid(tmp_path: Path) -> None:
    """Each region is cut from the level of its size, and all are put back in order."""
    graph = ExportedGraph()

    def column(index: int) -> str:
        return graph.node("Gather", "regions", graph.constant(index), axis=1)

    area = graph.node("Mul", graph.node("Sub", column(2), column(0)), graph.node("Sub", column(3), column(1)))
    levels = graph.node("Clip", graph.node("Floor", graph.node("Log", area)), *(graph.constant(each, np.float32) for each in (0, 1)))
    parts: list[str] = []
    rows: list[str] = []
    for level, data in enumerate(("fine", "coarse")):
        own = graph.node("NonZero", graph.node("Equal", levels, graph.constant(level, np.float32)))
        rows.append(graph.node("Squeeze", own, graph.constant([0])))
        regions = graph.node("Gather", "regions", rows[-1], axis=0)
        batch = graph.node("Expand", graph.constant(0), graph.node("Shape", rows[-1]))
        options = {"output_height": 2, "output_width": 2, "sampling_ratio": 2, "spatial_scale": 0.5}
        parts.append(graph.node("RoiAlign", data, regions, batch, **options))
    order = graph.node("Concat", *rows, axis=0)
    count = graph.node("Shape", order)
    _, inverse = graph.several("TopK", 2, order, count, largest=0)
    graph.node("Gather", graph.node("Concat", *parts, axis=0), inverse, result="y", axis=0)
    inputs = {"regions": (np.float32, ["n", 4]), "fine": (np.float32, [1, 3, 8, 8]), "coarse": (np.float32, [1, 3, 4, 4])}
    regions = np.array([[0, 0, 1.1, 1.1], [0, 0, 8, 8], [1, 1, 2.2, 2.2], [2, 2, 7, 7]], np.float32)
    data = [{"regions": each, "fine": random(1, 3, 8, 8), "coarse": random(1, 3, 4, 4)} for each in (regions, regions[1:2])]
    check(graph.model(inputs, ["y"]), data, tmp_path)
