"""A graph in the structure of RetinaNet for Keras: a small backbone, two levels, random weights."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tests.numerical.detection.object_detection_api import Weights, first_control_flow

V1 = tf.compat.v1
CLASSES = 3
IMAGE = 64
THRESHOLD, OVERLAP, DETECTIONS = 0.3, 0.5, 30
OUTPUTS = [f"filtered_detections/map/TensorArrayStack{suffix}/TensorArrayGatherV3" for suffix in ("", "_1", "_2")]
"""Boxes in pixels (x_min, y_min, x_max, y_max), scores, labels from 0 on; what follows the last detection is -1."""


def _anchors(features: tf.Tensor, stride: int, size: float) -> tf.Tensor:
    shape = tf.shape(features)
    x, y = tf.meshgrid(*(tf.cast((tf.range(shape[axis])), tf.float32) * stride + stride / 2 for axis in (2, 1)))
    centers = tf.reshape(tf.stack([x, y, x, y], -1), [-1, 1, 4])
    extents = tf.constant([[-size, -size / 2, size, size / 2], [-size / 2, -size, size / 2, size]]) / 2
    return tf.reshape(centers + extents, [1, -1, 4])


def _filtered(given: tuple[tf.Tensor, tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """The detections of an image, class by class."""
    boxes, classification = given
    results: list[tf.Tensor] = []
    for number in range(CLASSES):
        scores = classification[:, number]
        indices = tf.where(tf.greater(scores, THRESHOLD))
        kept = tf.image.non_max_suppression(tf.gather_nd(boxes, indices), tf.gather(scores, indices)[:, 0], DETECTIONS, OVERLAP)
        indices = tf.gather(indices, kept)
        results.append(tf.stack([indices[:, 0], tf.zeros_like(indices[:, 0]) + number], 1))
    chosen = tf.concat(results, 0)
    scores = tf.gather_nd(classification, chosen)
    scores, order = tf.nn.top_k(scores, tf.minimum(DETECTIONS, tf.shape(scores)[0]))
    labels = tf.gather(chosen[:, 1], order)
    boxes = tf.gather(boxes, tf.gather(chosen[:, 0], order))
    missing = tf.maximum(0, DETECTIONS - tf.shape(scores)[0])
    boxes = tf.pad(boxes, [[0, missing], [0, 0]], constant_values=-1.0)
    scores = tf.pad(scores, [[0, missing]], constant_values=-1.0)
    return boxes, scores, tf.cast(tf.pad(labels, [[0, missing]], constant_values=-1), tf.int32)


def retinanet() -> tf.Graph:
    """`input_1` [n, 64, 64, 3] -> the outputs `OUTPUTS`."""
    weights = Weights()
    with first_control_flow() as graph:
        x = V1.placeholder(tf.float32, [None, IMAGE, IMAGE, 3], "input_1")
        levels = [tf.nn.relu(weights.convolution(x, 8, 3, 8, "P3", 3.0))]
        levels.append(tf.nn.relu(weights.convolution(levels[0], 8, 3, 2, "P4", 3.0)))
        offsets, scores, anchors = [], [], []
        for number, (features, stride) in enumerate(zip(levels, (8, 16), strict=True)):
            with tf.name_scope(f"regression_submodel_{number}"):
                offset = weights.convolution(features, 2 * 4, 3, 1, "pyramid_regression", 0.5)
                offsets.append(tf.reshape(offset, [-1, *(int(np.prod(offset.shape[1:])) // 4, 4)]))
            with tf.name_scope(f"classification_submodel_{number}"):
                logits = weights.convolution(features, 2 * CLASSES, 3, 1, "pyramid_classification", 2.0)
                scores.append(tf.sigmoid(tf.reshape(logits, [-1, int(np.prod(logits.shape[1:])) // CLASSES, CLASSES])))
            with tf.name_scope(f"anchors_{number}"):
                anchors.append(tf.tile(_anchors(features, stride, stride * 3.0), [tf.shape(features)[0], 1, 1]))
        regression, classification = (
            tf.concat(each, 1, name=name) for each, name in ((offsets, "regression/concat"), (scores, "classification/concat"))
        )
        boxes_of_anchors = tf.concat(anchors, 1, name="anchors/concat")
        with tf.name_scope("boxes"):
            width = boxes_of_anchors[:, :, 2] - boxes_of_anchors[:, :, 0]
            height = boxes_of_anchors[:, :, 3] - boxes_of_anchors[:, :, 1]
            sizes = (width, height, width, height)
            boxes = tf.stack([boxes_of_anchors[:, :, i] + regression[:, :, i] * 0.2 * sizes[i] for i in range(4)], axis=2)
        with tf.name_scope("clipped_boxes"):
            shape = tf.cast(tf.shape(x), tf.float32)
            limits = (shape[2], shape[1], shape[2], shape[1])
            boxes = tf.stack([tf.clip_by_value(boxes[:, :, i], 0, limits[i]) for i in range(4)], axis=2)
        with tf.name_scope("filtered_detections"):
            V1.map_fn(_filtered, (boxes, classification), (tf.float32, tf.float32, tf.int32))
    return graph
