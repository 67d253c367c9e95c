"""TensorFlow graphs with the operations and names that the examples of Model Optimizer's documents are about."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def _weights(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.3, shape).astype(np.float32)


def normalized(shape: tuple[int, ...] = (1, 4, 5, 3), axes: tuple[int, ...] = (1, 2)) -> tf.Graph:
    """Mean-variance normalization as TF-Slim makes it of elementary operations; the input is `x`, the result `out`."""
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, shape, "x")
        mean = tf.reduce_mean(x, axes, keepdims=True, name="mean")
        squared = tf.raw_ops.SquaredDifference(x=x, y=tf.stop_gradient(mean))
        variance = tf.reduce_mean(squared, axes, keepdims=True, name="variance")
        normal = tf.raw_ops.FusedBatchNorm(
            x=x,
            scale=_weights(3, seed=1),
            offset=_weights(3, seed=2),
            mean=tf.squeeze(mean, [0, 1, 2]),
            variance=tf.squeeze(variance, [0, 1, 2]),
            epsilon=1e-3,
            is_training=False,
            name="fbn",
        )
        tf.identity(normal.y, name="out")
    return graph


def inception() -> tf.Graph:
    """A stem and the three equal Inception blocks Mixed_5b, Mixed_5c and Mixed_5d; `x` is 1x6x6x8, the result `out`."""
    graph = tf.Graph()
    with graph.as_default():
        tensor = v1.placeholder(tf.float32, [1, 6, 6, 8], "x")
        with v1.name_scope("InceptionV4/InceptionV4"):
            with v1.name_scope("Mixed_5a"):
                tensor = tf.concat([tf.nn.relu(tensor), tensor[..., :0]], 3, name="concat")
            for block in ("Mixed_5b", "Mixed_5c", "Mixed_5d"):
                with v1.name_scope(block):
                    tensor = _block(tensor)
        tf.identity(tensor, name="out")
    return graph


def _block(tensor: tf.Tensor) -> tf.Tensor:
    branches = []
    for number in range(3):
        with v1.name_scope(f"Branch_{number}"), v1.name_scope("Conv2d_0a_1x1"):
            weights = tf.constant(_weights(1, 1, 8, 2, seed=number), name="weights")
            branches.append(tf.nn.relu(tf.nn.conv2d(tensor, weights, 1, "SAME", name="Conv2D"), name="Relu"))
    with v1.name_scope("Branch_3"), v1.name_scope("AvgPool_0a_3x3"):
        pooled = tf.nn.avg_pool2d(tensor, 3, 1, "SAME", name="AvgPool")
        branches.append(pooled[..., :2])
    return tf.concat(branches, 3, name="concat")


PRIORS = np.array([[0.1, 0.1, 0.4, 0.5], [0.3, 0.2, 0.9, 0.7], [0.5, 0.5, 0.6, 0.9], [0.05, 0.6, 0.3, 0.95]], np.float32)


def detector() -> tf.Graph:
    """Names of an SSD of the Object Detection API; `boxes` is 1x16, `scores` 1x12, outputs the three end points."""
    graph = tf.Graph()
    with graph.as_default():
        boxes = tf.identity(v1.placeholder(tf.float32, [1, 16], "boxes"), name="BoxPredictor/boxes")
        scores = tf.identity(v1.placeholder(tf.float32, [1, 12], "scores"), name="BoxPredictor/scores")
        priors = tf.constant(np.stack([PRIORS.reshape(-1), np.full(16, 0.1, np.float32)])[None], name="priors")
        with v1.name_scope("Postprocessor"):
            shape = tf.raw_ops.Shape(input=boxes, name="Shape")
            logits = tf.multiply(scores, 1.0, name="scale_logits")
            tiled = tf.tile(priors, [1, 1, 1], name="Tile")
            encoded = tf.reshape(boxes, [1, 4, 4], name="Reshape_1")
            scale = tf.cast(boxes, tf.float64, name="Cast_1")
            decoded = encoded + tf.reshape(tiled[:, 0], [1, 4, 4])
            best = tf.sigmoid(tf.reshape(logits, [1, 4, 3]))
            count = tf.cast(shape[:1], tf.float32) + tf.cast(tf.reduce_sum(scale * 0.0), tf.float32)
        tf.identity(decoded, name="detection_boxes")
        tf.identity(best, name="detection_scores")
        tf.identity(count, name="num_detections")
    return graph


def yolo() -> tf.Graph:
    """A convolution with the channels of a YOLO of 2 boxes, 4 coordinates and 20 classes; `x` is 1x4x4x3."""
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [1, 4, 4, 3], "x")
        tf.nn.conv2d(x, _weights(1, 1, 3, 50), 1, "SAME", name="detections")
    return graph
