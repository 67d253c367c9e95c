"""EfficientDet of google/automl and SSDs of the toolbox with Model Optimizer's configurations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.detection.conversion import configuration, converted, detections, frozen, layer_types, results_of
from tests.numerical.detection.object_detection_api import Weights, decoded
from tests.numerical.runtime import Array, run

V1 = tf.compat.v1
IMAGE, CLASSES = 64, 3
RATIOS = [1.0, 1.0, 1.4, 0.7, 0.7, 1.4]
EFFICIENT_DET = {
    "preprocessing_input_node": "strided_slice_1",
    "preprocessing_output_node": "truediv",
    "aspect_ratios": RATIOS,
    "variance": [1.0, 1.0, 1.0, 1.0],
    "min_level": 3,
    "num_scales": 2,
    "anchor_scale": 2.0,
    "num_classes": CLASSES,
    "nms_threshold": 0.6,
    "confidence_threshold": 0.3,
    "keep_top_k": 40,
}


def selected(boxes: Array, scores: Array, overlap: float, threshold: float) -> Array:
    """TensorFlow's suppression class by class: rows (label from 0 on, score, x_min, y_min, x_max, y_max), highest score first."""
    rows: list[Array] = []
    for label in range(scores.shape[1]):
        for place in tf.image.non_max_suppression(boxes, scores[:, label], len(boxes), overlap, threshold).numpy():
            rows.append(np.array([label, scores[place, label], *boxes[place][[1, 0, 3, 2]]]))
    result = np.stack(rows)
    return result[np.argsort(-result[:, 1], kind="stable")]


def efficient_det() -> tf.Graph:
    """Two levels with 2 scales and 3 ratios: `image_arrays` -> the outputs of the heads, and `detections` after them."""
    weights = Weights()
    with tf.Graph().as_default() as graph:
        x = V1.placeholder(tf.float32, [1, IMAGE, IMAGE, 3], "image_arrays")
        # Between the two nodes the file names, images are scaled.
        scaled = tf.divide(tf.subtract(x, 0.1, "strided_slice_1"), 0.9, "truediv")
        features = [tf.nn.swish(weights.convolution(scaled, 8, 3, 8, "P3", 3.0))]
        features.append(tf.nn.swish(weights.convolution(features[0], 8, 3, 2, "P4", 3.0)))
        anchors, codes, logits = [], [], []
        for level, each in enumerate(features):
            suffix = f"_{level}" if level else ""
            logits.append(
                tf.reshape(weights.convolution(each, 6 * CLASSES, 3, 1, f"class_net/class-predict{suffix}", 2.0), [1, -1, CLASSES])
            )
            codes.append(tf.reshape(weights.convolution(each, 6 * 4, 3, 1, f"box_net/box-predict{suffix}", 0.5), [1, -1, 4]))
            stride = 8 << level
            centers = np.arange(stride / 2, IMAGE, stride)
            x_center, y_center = np.meshgrid(centers, centers)
            sizes = [2.0 * stride * 2 ** (octave / 2) for octave in range(2)]
            extents = [(size * RATIOS[2 * i + 1] / 2, size * RATIOS[2 * i] / 2) for size in sizes for i in range(3)]
            boxes = [np.stack([y_center - h, x_center - w, y_center + h, x_center + w], -1).reshape(-1, 4) for h, w in extents]
            anchors.append(np.stack(boxes, 1).reshape(-1, 4))
        boxes = decoded(tf.concat(codes, 1)[0], tf.constant(np.concatenate(anchors).astype(np.float32)), (1.0, 1.0, 1.0, 1.0))
        scores = tf.sigmoid(tf.concat(logits, 1))[0]
        tf.concat([boxes, scores], 1, name="detections")
    return graph


def test_efficient_det(tmp_path: Path) -> None:
    graph = efficient_det()
    entry = {"id": "AutomlEfficientDet", "match_kind": "general", "custom_attributes": EFFICIENT_DET}
    model = converted(frozen(graph, ["detections"], tmp_path), transformations_config=configuration(tmp_path, entry))
    assert "DetectionOutput" in layer_types(model)
    x = np.random.default_rng(2).standard_normal((1, IMAGE, IMAGE, 3)).astype(np.float32)
    (rows,) = run(model, {"image_arrays": x})
    (merged,) = results_of(graph, ["detections"], {"image_arrays": x})
    expected = selected(merged[:, :4] / IMAGE, merged[:, 4:], 0.6, 0.3)[:40]
    assert len(expected) == 40
    np.testing.assert_allclose(detections(rows), expected, rtol=1e-4, atol=2e-5)


def test_efficient_det_with_other_names(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        tf.identity(V1.placeholder(tf.float32, [1, 8, 8, 3], "image_arrays"), "detections")
    entry = {"id": "AutomlEfficientDet", "match_kind": "general", "custom_attributes": EFFICIENT_DET}
    with pytest.raises(ConversionError, match="0 nodes class_net/class-predict…/BiasAdd and 0 nodes"):
        converted(frozen(graph, ["detections"], tmp_path), transformations_config=configuration(tmp_path, entry))


def test_ssd_toolbox(tmp_path: Path) -> None:
    weights, random = Weights(), np.random.default_rng(6)
    corners = random.random((32, 2)) * 0.6
    priors = np.concatenate([corners, corners + 0.2 + random.random((32, 2)) * 0.2], 1).astype(np.float32)
    variances = np.tile(np.array([0.1, 0.1, 0.2, 0.2], np.float32), (32, 1))
    names = ["SSD/concat_reshape_softmax/mbox_loc_final", "SSD/concat_reshape_softmax/mbox_conf_final", "SSD/fc7_priorbox"]
    with tf.Graph().as_default() as graph:
        x = V1.placeholder(tf.float32, [1, 16, 16, 3], "input")
        features = weights.convolution(x, 8, 3, 4, "features", 3.0)
        tf.reshape(weights.convolution(features, 2 * 4, 3, 1, "loc", 2.0), [1, -1], name=names[0])
        logits = tf.reshape(weights.convolution(features, 2 * (CLASSES + 1), 3, 1, "conf", 4.0), [1, -1, CLASSES + 1])
        tf.reshape(tf.nn.softmax(logits), [1, -1], name=names[1])
        rows = [tf.constant(each.reshape(1, 1, -1)) for each in (priors, variances)]
        tf.concat(rows, 1, name=names[2])
    entry = {
        "id": "SSDToolboxDetectionOutput",
        "match_kind": "points",
        "custom_attributes": {
            "code_type": "caffe.PriorBoxParameter.CENTER_SIZE",
            "confidence_threshold": 0.2,
            "keep_top_k": 200,
            "nms_threshold": 0.45,
            "pad_mode": "caffe.ResizeParameter.CONSTANT",
            "resize_mode": "caffe.ResizeParameter.WARP",
        },
        "instances": {"start_points": names, "end_points": names},
    }
    model = converted(frozen(graph, names, tmp_path), transformations_config=configuration(tmp_path, entry))
    x = random.standard_normal((1, 16, 16, 3)).astype(np.float32)
    (rows,) = run(model, {"input": x})
    locations, confidences = (each.reshape(32, -1) for each in results_of(graph, names[:2], {"input": x}))
    boxes = decoded(locations[:, [1, 0, 3, 2]], priors[:, [1, 0, 3, 2]]).numpy()
    expected = selected(boxes, confidences[:, 1:], 0.45, 0.2)
    expected[:, 0] += 1
    np.testing.assert_allclose(detections(rows), expected, rtol=1e-4, atol=2e-5)
