"""Converting detection networks with their configurations, and comparing detections with those of TensorFlow."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import openvino
import tensorflow as tf

from moir.conversion import save_model
from moir.interface import convert_model
from tests.numerical.runtime import Array, core

IMAGE_ID, LABEL, SCORE = range(3)
"""The first columns of a row of detections; the last four are x_min, y_min, x_max, y_max."""


def results_of(graph: tf.Graph, names: Sequence[str], inputs: Mapping[str, Array]) -> list[Array]:
    """TensorFlow's values of tensors, by their names or those of their nodes."""
    with tf.compat.v1.Session(graph=graph) as session:
        return session.run([name if ":" in name else f"{name}:0" for name in names], {f"{name}:0": value for name, value in inputs.items()})


def frozen(graph: tf.Graph, outputs: Sequence[str], directory: Path) -> Path:
    """The file of the part of a graph that some outputs need."""
    path = directory / "frozen_inference_graph.pb"
    message = tf.compat.v1.graph_util.extract_sub_graph(graph.as_graph_def(), list(outputs))
    path.write_bytes(message.SerializeToString())
    return path


def configuration(directory: Path, *entries: Mapping[str, Any]) -> Path:
    """A file for `--transformations-config`."""
    path = directory / "configuration.json"
    path.write_text(json.dumps(entries))
    return path


def converted(path: Path, **options: Any) -> openvino.Model:
    """The IR of a model file, read by the runtime."""
    target = path.with_suffix(".xml")
    save_model(convert_model(path, **options), target)
    return core().read_model(target)


def layer_types(model: openvino.Model) -> list[str]:
    """The types of the operations of a model."""
    return [op.get_type_name() for op in model.get_ordered_ops()]


def detections(rows: Array, image: int = 0) -> Array:
    """The detections of an image, highest score first: rows (label, score, x_min, y_min, x_max, y_max).

    Args:
        rows: the result of a DetectionOutput [1, 1, n, 7]; rows after one of image -1 are not detections.
        image: the number of the image.
    """
    rows = rows.reshape(-1, 7)
    ends = np.flatnonzero(rows[:, IMAGE_ID] < 0)
    rows = rows[: ends[0]] if ends.size else rows
    rows = rows[rows[:, IMAGE_ID] == image]
    return rows[np.argsort(-rows[:, SCORE], kind="stable")][:, 1:]


def expected_detections(boxes: Array, scores: Array, classes: Array, count: Any) -> Array:
    """TensorFlow's detections of an image in the same form, from boxes (y_min, x_min, y_max, x_max)."""
    count = int(count)
    rows = np.concatenate([classes[:count, None], scores[:count, None], boxes[:count][:, [1, 0, 3, 2]]], 1)
    return rows[np.argsort(-rows[:, 1], kind="stable")]
