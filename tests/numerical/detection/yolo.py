"""Graphs in the structure of YOLO networks for TensorFlow: small backbones, random weights, the heads of the originals."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tests.numerical.detection.object_detection_api import Weights

V1 = tf.compat.v1
CLASSES = 4
COORDS = 4
ANCHORS = [10, 13, 16, 30, 33, 23, 30, 61, 62, 45, 59, 119]
"""Widths and heights of six anchors, in pixels."""


def _head(features: tf.Tensor, anchors: list[tuple[int, int]], image: int) -> tf.Tensor:
    """Boxes of a feature map, decoded as in graphs of YOLO 3: [images, positions * anchors, 5 + classes]."""
    rows = columns = int(features.shape[1])
    stride = image // rows
    predictions = tf.reshape(features, [-1, rows * columns * len(anchors), 5 + CLASSES])
    centers, sizes, confidence, classes = tf.split(predictions, [2, 2, 1, CLASSES], axis=-1)
    centers, confidence = tf.nn.sigmoid(centers), tf.nn.sigmoid(confidence)
    x, y = np.meshgrid(np.arange(columns, dtype=np.float32), np.arange(rows, dtype=np.float32))
    offsets = np.tile(np.stack([x.ravel(), y.ravel()], 1)[:, None], (1, len(anchors), 1)).reshape(1, -1, 2)
    scaled = np.tile(np.array(anchors, np.float32) / stride, (rows * columns, 1))
    boxes = tf.concat([(centers + offsets) * stride, tf.exp(sizes) * scaled * stride], -1)
    return tf.concat([boxes, confidence, tf.nn.sigmoid(classes)], axis=-1)


def yolo_v3(image: int = 64) -> tf.Graph:
    """A tiny YOLO 3 with two feature maps: `inputs` [1, image, image, 3] -> `output_boxes` [1, n, 5 + classes].

    The names are those of graphs made of Darknet's weights: `detector/yolo-v3/…`.
    """
    weights = Weights()
    pairs = list(zip(ANCHORS[::2], ANCHORS[1::2], strict=True))
    with tf.Graph().as_default() as graph:
        x = V1.placeholder(tf.float32, [1, image, image, 3], "inputs")
        with tf.name_scope("detector"):
            with tf.name_scope("darknet-53"):
                fine = tf.nn.leaky_relu(weights.convolution(x, 8, 3, 8, "Conv"), 0.1)
                coarse = tf.nn.leaky_relu(weights.convolution(fine, 8, 3, 2, "Conv_1"), 0.1)
            with tf.name_scope("yolo-v3"):
                first = weights.convolution(coarse, 3 * (5 + CLASSES), 1, 1, "Conv_6")
                results = [_head(first, pairs[3:], image)]
                wide = V1.image.resize_nearest_neighbor(weights.convolution(coarse, 4, 1, 1, "Conv_7"), [image // 8, image // 8])
                second = weights.convolution(tf.concat([wide, fine], 3), 3 * (5 + CLASSES), 1, 1, "Conv_14")
                results.append(_head(second, pairs[:3], image))
                detections = tf.concat(results, 1, name="detections")
        tf.identity(detections, "output_boxes")
    return graph


def yolo_v2(image: int = 64, anchors: int = 5) -> tf.Graph:
    """A tiny YOLO 2 as Darkflow makes it: `input` -> `output`, with a passthrough of patches of a finer feature map."""
    weights = Weights()
    with tf.Graph().as_default() as graph:
        x = V1.placeholder(tf.float32, [None, image, image, 3], "input")
        fine = tf.nn.leaky_relu(weights.convolution(x, 4, 3, 8, "0-convolutional"), 0.1)
        coarse = tf.nn.leaky_relu(weights.convolution(fine, 8, 3, 2, "1-convolutional"), 0.1)
        patches = tf.image.extract_patches(fine, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID", name="ExtractImagePatches")
        joined = tf.concat([patches, coarse], 3, name="concat")
        tf.identity(weights.convolution(joined, anchors * (5 + CLASSES), 1, 1, "2-convolutional"), "output")
    return graph


def yolo_v1(boxes: int = 2, cells: int = 3) -> tf.Graph:
    """A tiny YOLO 1, whose last layer is fully connected: `input` -> `output` [n, cells² * (classes + 5 * boxes)]."""
    weights = Weights()
    with tf.Graph().as_default() as graph:
        x = V1.placeholder(tf.float32, [1, 32, 32, 3], "input")
        features = tf.nn.leaky_relu(weights.convolution(x, 4, 3, 8, "0-convolutional"), 0.1)
        tf.identity(weights.dense(tf.reshape(features, [1, -1]), cells * cells * (CLASSES + 5 * boxes), "1-connected"), "output")
    return graph
