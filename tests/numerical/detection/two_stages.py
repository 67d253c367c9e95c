"""Detectors of two stages in the structure and with the names of the TensorFlow Object Detection API, random weights.

    graph = faster_rcnn(Version(), FIRST, SECOND, masks=True)

The names are those that the configuration files of Model Optimizer have for version 1.15 of the API, and for 2.0: nodes
of the root are numbered there as they are in the whole API, so that these have their names given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import tensorflow as tf

from tests.numerical.detection.object_detection_api import (
    CLASSES,
    V1,
    Suppression,
    Version,
    Weights,
    add_outputs,
    clipped,
    decoded,
    first_control_flow,
    grid_anchors,
    preprocessed,
    suppressed,
)

SEED = 8
"""That of the weights: with it all classes are detected."""
PROPOSALS = 12
"""Number of proposals."""
STRIDE = 8
"""Pixels between the positions of the features."""
BASE, SCALES, RATIOS = 256, (0.0625, 0.125), (1.0, 2.0)
"""The grid of anchors: base size in pixels, scales, and ratios of width and height."""
CROP = 8
"""Height and width of the crops of features, before they are pooled."""
BINS, BIN_CROP = 3, 2
"""Of an R-FCN: the bins of a region along each axis, and the samples along each axis of a bin."""


def to_normalized(boxes: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
    """Boxes [n, 4] in pixels as fractions of height and width, in the scope `ToNormalizedCoordinates`."""
    with tf.name_scope("ToNormalizedCoordinates"):
        y_min, x_min, y_max, x_max = tf.split(boxes, 4, axis=1)
        height, width = tf.cast(size[0], tf.float32), tf.cast(size[1], tf.float32)
        return tf.concat([y_min / height, x_min / width, y_max / height, x_max / width], 1)


def to_absolute(boxes: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
    """Boxes [n, 4] as fractions of height and width in pixels, in the scope `ToAbsoluteCoordinates`."""
    with tf.name_scope("ToAbsoluteCoordinates"):
        y_min, x_min, y_max, x_max = tf.split(boxes, 4, axis=1)
        height, width = tf.cast(size[0], tf.float32), tf.cast(size[1], tf.float32)
        return tf.concat([y_min * height, x_min * width, y_max * height, x_max * width], 1)


def cropped(features: tf.Tensor, boxes: tf.Tensor, flat: str) -> tf.Tensor:
    """Pooled crops [images * n, 4, 4, channels] of boxes [images, n, 4] from 0 to 1, in the scope `CropAndResize`.

    `flat` is the name of the node that makes images and boxes one axis.
    """
    with tf.name_scope("CropAndResize"):
        sizes = tf.shape(boxes)
        images = tf.reshape(tf.ones(sizes[:2], tf.int32) * tf.expand_dims(tf.range(sizes[0]), 1), [-1])
        crops = tf.image.crop_and_resize(features, tf.reshape(boxes, [-1, 4]), images, [CROP, CROP], name="CropAndResize")
        crops = tf.reshape(crops, tf.concat([tf.shape(boxes, name="Shape_1")[:2], tf.shape(crops)[1:]], 0))
    sizes = tf.shape(crops)
    crops = tf.reshape(crops, tf.stack([sizes[0] * sizes[1], CROP, CROP, int(features.shape[-1])]), name=flat)
    with tf.name_scope("MaxPool2D"):
        return tf.nn.max_pool2d(crops, 2, 2, "SAME", name="MaxPool")


def each_image(function: Callable[..., tf.Tensor], values: Sequence[tf.Tensor], version: Version, stack: str) -> tf.Tensor:
    """A function of the values of an image, for all images: in a loop `map`, or unrolled to a node `stack`."""
    if version.loops:
        return V1.map_fn(lambda of_image: function(*of_image), tuple(values), tf.float32)
    return tf.stack([function(*of_image) for of_image in zip(*(tf.unstack(each, 1) for each in values), strict=True)], name=stack)


@contextmanager
def network(version: Version) -> Iterator[tuple[tf.Graph, tf.Tensor, tf.Tensor]]:
    """A graph with the scope of its names, images of a fixed size, and their true shapes."""
    with first_control_flow() as graph:
        images = V1.placeholder(tf.uint8, [None if version.loops else 1, None, None, 3], name="image_tensor")
        with tf.name_scope(version.prefix) if version.prefix else tf.name_scope(""):
            yield graph, *preprocessed(tf.cast(images, tf.float32, name="Cast"), version)


def faster_rcnn(version: Version, first: Suppression, second: Suppression, class_boxes: bool = True, masks: bool = False) -> tf.Graph:
    """A detector of two stages.

    Inputs and outputs are those of `ssd`; with masks, also `detection_masks` [n, detections, 7, 7].

    Args:
        version: the structure.
        first: the suppression that makes proposals.
        second: the suppression that makes detections.
        class_boxes: whether each class has a box of its own.
        masks: whether it is a Mask R-CNN.
    """
    weights = Weights(np.random.default_rng(SEED))
    with network(version) as (graph, pixels, shapes):
        features, in_image, proposals, count, windows = _first_stage(weights, pixels, shapes, first, version)
        crops = cropped(features, in_image, "Reshape_4")
        with tf.name_scope("SecondStageFeatureExtractor"):
            crops = tf.nn.relu(weights.convolution(crops, 16, 3, 1, "Conv", 2.0))
        boxes_each = CLASSES if class_boxes else 1
        with tf.name_scope("SecondStageBoxPredictor"):
            pooled = tf.reduce_mean(crops, [1, 2], name="AvgPool")
            codes = tf.reshape(weights.dense(pooled, boxes_each * 4, "BoxEncodingPredictor", 2.0), [-1, 1, boxes_each, 4], name="Reshape")
            classes = tf.reshape(weights.dense(pooled, CLASSES + 1, "ClassPredictor", 6.0), [-1, 1, CLASSES + 1], name="Reshape_1")
        result = _second_stage(codes, classes, proposals, count, windows, second, version, in_scope=not masks)
        add_outputs(result, version)
        if masks:
            _third_stage(weights, features, result)
    return graph


def rfcn(version: Version, first: Suppression, second: Suppression) -> tf.Graph:
    """A region-based fully convolutional network: its scores and boxes are means of crops of position-sensitive maps.

    Inputs and outputs are those of `ssd`.
    """
    weights = Weights(np.random.default_rng(SEED))
    with network(version) as (graph, pixels, shapes):
        features, in_image, proposals, count, windows = _first_stage(weights, pixels, shapes, first, version)
        with tf.name_scope("SecondStageFeatureExtractor"):
            features = tf.nn.relu(weights.convolution(features, 16, 3, 1, "Conv", 2.0))
        with tf.name_scope("SecondStageBoxPredictor"):
            features = tf.nn.relu(weights.convolution(features, 16, 1, 1, "reduce_depth", 2.0))
            code_maps = weights.convolution(features, BINS * BINS * CLASSES * 4, 1, 1, "refined_locations", 2.0)
            codes = tf.squeeze(_pooled_by_position(code_maps, in_image, version, "stack"), [2, 3], name="Squeeze")
            codes = tf.reshape(codes, [-1, 1, CLASSES, 4], name="Reshape")
            class_maps = weights.convolution(features, BINS * BINS * (CLASSES + 1), 1, 1, "class_predictions", 12.0)
            classes = tf.squeeze(_pooled_by_position(class_maps, in_image, version, "stack_1"), [2, 3], name="Squeeze_1")
            classes = tf.reshape(classes, [-1, 1, CLASSES + 1], name="Reshape_1")
        add_outputs(_second_stage(codes, classes, proposals, count, windows, second, version, in_scope=True), version)
    return graph


def _pooled_by_position(maps: tf.Tensor, boxes: tf.Tensor, version: Version, stack: str) -> tf.Tensor:
    """Means [images, n, 1, 1, channels] of what each bin of a region has in its own group of channels."""

    def of_image(image: tf.Tensor, regions: tf.Tensor) -> tf.Tensor:
        y_min, x_min, y_max, x_max = tf.unstack(regions, axis=1)
        bins: list[tf.Tensor] = []
        for row in range(BINS):
            height = (y_max - y_min) / BINS
            for column in range(BINS):
                width = (x_max - x_min) / BINS
                corners = [y_min + row * height, x_min + column * width, y_min + (row + 1) * height, x_min + (column + 1) * width]
                bins.append(tf.stack(corners, axis=1))
        groups = tf.split(image, BINS * BINS, axis=2)
        crops = [
            tf.image.crop_and_resize(tf.expand_dims(group, 0), each, tf.zeros(tf.shape(regions)[0], tf.int32), [BIN_CROP, BIN_CROP])
            for group, each in zip(groups, bins, strict=True)
        ]
        return tf.reduce_mean(tf.add_n(crops) / len(crops), [1, 2], keepdims=True)

    return each_image(of_image, (maps, boxes), version, stack)


def _first_stage(
    weights: Weights, pixels: tf.Tensor, shapes: tf.Tensor, by: Suppression, version: Version
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]:
    """Features, proposals as fractions of the image and in pixels, their number, and the windows of the images."""
    with tf.name_scope("FirstStageFeatureExtractor"):
        features = tf.nn.relu(weights.convolution(pixels, 8, 3, STRIDE, "Conv", 3.0))
    image_shape = tf.shape(pixels, name="Shape")
    with tf.name_scope("GridAnchorGenerator"):
        sizes = [(BASE * scale * ratio**-0.5, BASE * scale * ratio**0.5) for ratio in RATIOS for scale in SCALES]
        anchors = tf.identity(grid_anchors(features, sizes, normalized=False, stride=STRIDE), "Identity")
    hidden = tf.nn.relu6(weights.convolution(features, 8, 3, 1, "Conv", 2.0))
    with tf.name_scope("FirstStageBoxPredictor"):
        codes = weights.convolution(hidden, len(sizes) * 4, 1, 1, "BoxEncodingPredictor", 2.0)
        codes = tf.reshape(codes, tf.stack([tf.shape(codes)[0], -1, 1, 4]), name="Reshape")
        objectness = weights.convolution(hidden, len(sizes) * 2, 1, 1, "ClassPredictor", 3.0)
        objectness = tf.reshape(objectness, tf.stack([tf.shape(objectness)[0], -1, 2]), name="Reshape_1")
    codes = tf.squeeze(tf.concat([codes], 1), 2, name="Squeeze")
    objectness = tf.concat([objectness], 1)
    window = tf.cast(tf.stack([0, 0, image_shape[1], image_shape[2]], name="window"), tf.float32, name="Cast_1")
    anchors = clipped(anchors, window)
    sizes = tf.shape(codes)
    tiled = tf.tile(tf.expand_dims(anchors, 0), tf.stack([sizes[0], 1, 1], name="multiples"))
    boxes = decoded(tf.reshape(codes, [-1, 4]), tf.reshape(tiled, [-1, 4]))
    boxes = tf.reshape(boxes, tf.stack([sizes[0], sizes[1], 4], name="sizes"))
    scores = tf.nn.softmax(objectness)[:, :, 1]
    windows = _windows(shapes, "Cast_2")
    proposals, _, _, count = suppressed(tf.expand_dims(boxes, 2), tf.expand_dims(scores, 2), windows, by, version)
    sizes = _sizes(image_shape)
    in_image = each_image(to_normalized, (proposals, sizes), version, "stack_3")
    # The proposals as they were decoded are normalized as well, by a second loop; nothing here takes them.
    each_image(to_normalized, (proposals, sizes), version, "stack_4")
    absolute = each_image(to_absolute, (in_image, _sizes(image_shape)), version, "stack_5")
    return features, in_image, absolute, count, _windows(shapes, "Cast_5")


def _sizes(image_shape: tf.Tensor) -> tf.Tensor:
    """Height and width of each image [images, 2], from the shape of all."""
    return tf.tile(tf.expand_dims(image_shape[1:3], 0), tf.stack([image_shape[0], 1], name="images"))


def _windows(shapes: tf.Tensor, cast: str) -> tf.Tensor:
    """The windows [images, 4] of images in pixels, from their true shapes, which a node `cast` makes floats."""
    bounds = tf.cast(shapes, tf.float32, name=cast)
    return tf.stack([tf.zeros_like(bounds[:, 0]), tf.zeros_like(bounds[:, 0]), bounds[:, 0], bounds[:, 1]], 1, name="windows")


def _second_stage(
    codes: tf.Tensor,
    classes: tf.Tensor,
    proposals: tf.Tensor,
    count: tf.Tensor,
    windows: tf.Tensor,
    by: Suppression,
    version: Version,
    in_scope: bool,
) -> tuple[tf.Tensor, ...]:
    """Detections: `in_scope` of `SecondStagePostprocessor`, or as those of a Mask R-CNN in the root."""
    codes = tf.squeeze(codes, 1, name="all_refined_box_encodings")
    classes = tf.squeeze(classes, 1, name="all_class_predictions_with_background")
    boxes_each = int(codes.shape[1])
    with tf.name_scope("SecondStagePostprocessor") if in_scope else tf.name_scope(""):
        codes = tf.reshape(codes, [-1, PROPOSALS, boxes_each, 4], name="Reshape" if in_scope else "Reshape_5")
        classes = tf.reshape(classes, [-1, PROPOSALS, CLASSES + 1], name="Reshape_1" if in_scope else "Reshape_6")
        tiled = tf.tile(tf.expand_dims(proposals, 2, name="ExpandDims" if in_scope else "ExpandDims_6"), [1, 1, boxes_each, 1])
        boxes = decoded(tf.reshape(codes, [-1, 4]), tf.reshape(tiled, [-1, 4]))
        boxes = tf.reshape(boxes, tf.stack([-1, PROPOSALS, boxes_each, 4]))
        scores = tf.slice(tf.nn.softmax(classes, name="Softmax"), [0, 0, 1], [-1, -1, -1], name="Slice")
        result = suppressed(boxes, scores, windows, by, version, count)
        return *result[:3], tf.identity(result[3], "Cast_3")


def _third_stage(weights: Weights, features: tf.Tensor, result: Sequence[tf.Tensor]) -> None:
    boxes, _, classes, _ = result
    count = int(boxes.shape[1])
    crops = cropped(features, boxes, "Reshape_10")
    with tf.name_scope("SecondStageBoxPredictor"):
        hidden = tf.nn.relu(weights.convolution(crops, 8, 3, 1, "Conv", 2.0))
        masks = weights.convolution(hidden, CLASSES, 1, 1, "Conv_1", 2.0)
    masks = tf.transpose(masks, [0, 3, 1, 2])
    places = tf.range(tf.shape(masks)[0]) * CLASSES + tf.cast(tf.reshape(classes, [-1]), tf.int32)
    chosen = tf.gather(tf.reshape(masks, [-1, int(masks.shape[2]), int(masks.shape[3])]), places)
    chosen = tf.reshape(tf.sigmoid(chosen), [-1, count, int(masks.shape[2]), int(masks.shape[3])])
    tf.identity(chosen, "detection_masks")
