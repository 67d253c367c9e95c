"""Graphs in the structure and with the names of the TensorFlow Object Detection API: small networks, random weights.

    graph = ssd(Version())

Those of two stages are in `two_stages.py`.

What is built here follows the structure that graphs of the API have; shapes, numbers of classes and layers are small. The
post-processing is that of the API: decoding against anchors, non-maximum suppression class by class, one image at a time in a
loop (`map`) where the size of the batch is not known, or unrolled (versions 2) where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import tensorflow as tf

V1 = tf.compat.v1

IMAGE = 64
"""Height and width of the images, in pixels."""
CLASSES = 3
"""Number of classes, without the background."""
FIRST_STACK = 6
"""The number of the node `stack_…` with the boxes of all images, where versions 2 unroll the suppression."""


@contextmanager
def first_control_flow() -> Iterator[tf.Graph]:
    """A graph whose loops are those of TensorFlow 1: Enter, Merge, Switch, NextIteration and Exit."""
    V1.disable_control_flow_v2()
    try:
        graph = tf.Graph()
        with graph.as_default():
            yield graph
    finally:
        V1.enable_control_flow_v2()


@dataclass(frozen=True)
class Version:
    """The structure that a version of the API gives a graph: by default that of 1.15.

    Args:
        prefix: the beginning of all names, as functions that were inlined have it.
        loops: whether images are resized and post-processed in loops; otherwise the batch is one image, unrolled.
        clips_first: whether boxes are clipped to the image before the suppression (2017), not after it.
        cast: the name of the node that makes the sizes of images floats.
    """

    prefix: str = ""
    loops: bool = True
    clips_first: bool = False
    cast: str = "Cast_1"

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of boxes, scores, classes and number of detections."""
        if self.prefix:
            return tuple(f"{self.prefix}Identity_{number}" for number in OUTPUT_NUMBERS)
        return ("detection_boxes", "detection_scores", "detection_classes", "num_detections")


OUTPUT_NUMBERS = (1, 4, 2, 5)
"""The places of boxes, scores, classes and number among the outputs of a function, which are in the order of their names."""

EARLY = Version(clips_first=True, cast="ToFloat")
"""The structure of 2017."""
VERSION_2 = Version(prefix="StatefulPartitionedCall/", loops=False)
"""The structure of versions 2."""


@dataclass(frozen=True)
class Suppression:
    """Parameters of a non-maximum suppression, with the names of the fields of a pipeline.config."""

    score_threshold: float = 0.1
    iou_threshold: float = 0.5
    max_detections_per_class: int = 20
    max_total_detections: int = 20


@dataclass
class Weights:
    """Random weights, the same for the same seed."""

    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    def convolution(self, x: tf.Tensor, channels: int, size: int, stride: int, scope: str, scale: float = 1.0) -> tf.Tensor:
        """A convolution with bias, in a scope."""
        fan_in = size * size * int(x.shape[-1])
        kernel = (self.random.standard_normal((size, size, int(x.shape[-1]), channels)) * scale * fan_in**-0.5).astype(np.float32)
        bias = (self.random.standard_normal(channels) * 0.1 * scale).astype(np.float32)
        with tf.name_scope(scope):
            return tf.nn.bias_add(tf.nn.conv2d(x, tf.constant(kernel, name="weights"), stride, "SAME", name="Conv2D"), bias, name="BiasAdd")

    def dense(self, x: tf.Tensor, channels: int, scope: str, scale: float = 1.0) -> tf.Tensor:
        """A fully connected layer, in a scope."""
        width = int(x.shape[-1])
        kernel = (self.random.standard_normal((width, channels)) * scale * width**-0.5).astype(np.float32)
        with tf.name_scope(scope):
            return tf.nn.bias_add(
                tf.matmul(x, tf.constant(kernel, name="weights"), name="MatMul"), np.zeros(channels, np.float32), name="BiasAdd"
            )


def preprocessed(images: tf.Tensor, version: Version, size: int = IMAGE) -> tuple[tf.Tensor, tf.Tensor]:
    """Images of a fixed size with values in [-1, 1], and their true shapes [images, 3], in the scope `Preprocessor`."""

    def resize(image: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.name_scope("ResizeImage"):
            resized = V1.image.resize_images(image, [size, size])
            return resized, tf.stack([size, size, tf.shape(image)[2]])

    with tf.name_scope("Preprocessor"):
        if version.loops:
            resized, shapes = V1.map_fn(resize, images, (tf.float32, tf.int32))
        else:
            pairs = [resize(image) for image in tf.unstack(images, 1, name="unstack")]
            resized = tf.stack([image for image, _ in pairs], name="stack")
            shapes = tf.stack([shape for _, shape in pairs], name="stack_1")
        resized = tf.reshape(resized, tf.stack([tf.shape(resized)[0], size, size, 3])) if version.loops else resized
        return tf.subtract(tf.multiply(2 / 255.0, resized, name="mul"), 1.0, name="sub"), shapes


def grid_anchors(features: tf.Tensor, sizes: Sequence[tuple[float, float]], normalized: bool, stride: float = 0) -> tf.Tensor:
    """Boxes [positions * sizes, 4] (y_min, x_min, y_max, x_max) around the positions of a feature map."""
    shape = tf.shape(features)
    rows, columns = tf.cast(tf.range(shape[1]), tf.float32), tf.cast(tf.range(shape[2]), tf.float32)
    if normalized:
        y = (rows + 0.5) * (1.0 / tf.cast(shape[1], tf.float32))
        x = (columns + 0.5) * (1.0 / tf.cast(shape[2], tf.float32))
    else:
        y, x = rows * stride, columns * stride
    heights, widths = tf.constant([h for h, _ in sizes]), tf.constant([w for _, w in sizes])
    x_center, y_center = tf.meshgrid(x, y)
    centers = tf.reshape(tf.stack([y_center, x_center], 2), [-1, 1, 2])
    extents = tf.reshape(tf.stack([heights, widths], 1), [1, -1, 2])
    return tf.reshape(tf.concat([centers - 0.5 * extents, centers + 0.5 * extents], 2), [-1, 4])


def decoded(codes: tf.Tensor, anchors: tf.Tensor, scales: Sequence[float] = (10.0, 10.0, 5.0, 5.0)) -> tf.Tensor:
    """Boxes [n, 4] from codes (ty, tx, th, tw) relative to anchors [n, 4], in the scope `Decode`."""
    with tf.name_scope("Decode"):
        with tf.name_scope("get_center_coordinates_and_sizes"):
            y_min, x_min, y_max, x_max = tf.unstack(tf.transpose(anchors))
            width, height = x_max - x_min, y_max - y_min
            y_anchor, x_anchor = y_min + height / 2.0, x_min + width / 2.0
        ty, tx, th, tw = tf.unstack(tf.transpose(codes))
        ty, tx, th, tw = (code / scale for code, scale in zip((ty, tx, th, tw), scales, strict=True))
        w, h = tf.exp(tw) * width, tf.exp(th) * height
        y, x = ty * height + y_anchor, tx * width + x_anchor
        return tf.transpose(tf.stack([y - h / 2.0, x - w / 2.0, y + h / 2.0, x + w / 2.0]))


def clipped(boxes: tf.Tensor, window: tf.Tensor) -> tf.Tensor:
    """Boxes within a window, in the scope `ClipToWindow`."""
    with tf.name_scope("ClipToWindow"):
        y_min, x_min, y_max, x_max = tf.split(boxes, 4, axis=1)
        top, left, bottom, right = tf.unstack(window)
        lines = [
            tf.maximum(tf.minimum(line, high), low)
            for line, high, low in ((y_min, bottom, top), (x_min, right, left), (y_max, bottom, top), (x_max, right, left))
        ]
        return tf.concat(lines, 1)


def in_frame(boxes: tf.Tensor, window: tf.Tensor) -> tf.Tensor:
    """Boxes in coordinates of a window, in the scope `ChangeCoordinateFrame`."""
    with tf.name_scope("ChangeCoordinateFrame"):
        top, left, bottom, right = tf.unstack(window)
        y_min, x_min, y_max, x_max = tf.split(boxes - tf.stack([top, left, top, left]), 4, axis=1)
        y_scale, x_scale = 1.0 / (bottom - top), 1.0 / (right - left)
        return tf.concat([y_min * y_scale, x_min * x_scale, y_max * y_scale, x_max * x_scale], 1)


def padded(x: tf.Tensor, count: int) -> tf.Tensor:
    """As many rows as `count`: cut off, or padded with zeros."""
    x = x[:count]
    return tf.reshape(tf.pad(x, [[0, count - tf.shape(x)[0]]] + [[0, 0]] * (x.shape.rank - 1)), [count, *x.shape[1:]])


def suppressed(
    boxes: tf.Tensor, scores: tf.Tensor, windows: tf.Tensor, by: Suppression, version: Version, valid: tf.Tensor | None = None
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]:
    """Boxes, scores, classes and numbers of detections of each image, in the scope `BatchMultiClassNonMaxSuppression`.

    Args:
        boxes: [images, n, 1 or classes, 4].
        scores: [images, n, classes].
        windows: [images, 4]: what boxes are clipped to.
        by: thresholds and numbers of detections.
        version: the structure.
        valid: of a second stage, how many boxes of each image are proposals. Its boxes become relative to the window.
    """
    counts = tf.ones(tf.shape(boxes)[:1], tf.int32) * tf.shape(boxes)[1] if valid is None else valid

    def of_image(given: Sequence[tf.Tensor]) -> tuple[tf.Tensor, ...]:
        image_boxes, image_scores, window, count = given
        image_boxes = tf.reshape(tf.slice(image_boxes, [0, 0, 0], tf.stack([count, -1, -1])), [-1, int(boxes.shape[2]), 4])
        image_scores = tf.reshape(tf.slice(image_scores, [0, 0], tf.stack([count, -1])), [-1, int(scores.shape[2])])
        with tf.name_scope("MultiClassNonMaxSuppression"):
            chosen: list[tuple[tf.Tensor, tf.Tensor, tf.Tensor]] = []
            boxes_of_classes = tf.unstack(image_boxes, axis=1)
            for index in range(int(scores.shape[2])):
                of_class = boxes_of_classes[index if len(boxes_of_classes) > 1 else 0]
                class_scores = tf.reshape(tf.slice(image_scores, [0, index], tf.stack([tf.shape(image_scores)[0], 1])), [-1])
                if version.clips_first:
                    of_class = clipped(of_class, window)
                most = tf.minimum(by.max_detections_per_class, tf.shape(of_class)[0])
                kept = tf.image.non_max_suppression(of_class, class_scores, most, by.iou_threshold, by.score_threshold)
                kept_scores = tf.gather(class_scores, kept)
                chosen.append((tf.gather(of_class, kept), kept_scores, tf.zeros_like(kept_scores) + index))
            all_boxes, all_scores, all_classes = (tf.concat([each[place] for each in chosen], 0) for place in range(3))
            with tf.name_scope("SortByField"):
                order = tf.nn.top_k(all_scores, tf.size(all_scores)).indices
            all_boxes, all_scores, all_classes = (tf.gather(each, order) for each in (all_boxes, all_scores, all_classes))
            if not version.clips_first:
                all_boxes = clipped(all_boxes, window)
                area = (all_boxes[:, 2] - all_boxes[:, 0]) * (all_boxes[:, 3] - all_boxes[:, 1])
                inside = tf.reshape(tf.where(tf.greater(area, 0.0)), [-1])
                all_boxes, all_scores, all_classes = (tf.gather(each, inside) for each in (all_boxes, all_scores, all_classes))
            if valid is not None:
                all_boxes = in_frame(all_boxes, window)
            total = by.max_total_detections
            count = tf.minimum(total, tf.shape(all_boxes)[0])
            # Masks, and the scores of all classes, which only the names of the others depend on here.
            unused = tf.zeros([total, 1, 1]), tf.zeros([total, 1])
            return padded(all_boxes, total), padded(all_scores, total), padded(all_classes, total), *unused, count

    with tf.name_scope("BatchMultiClassNonMaxSuppression"):
        if version.loops:
            *result, count = V1.map_fn(of_image, (boxes, scores, windows, counts), (*[tf.float32] * 5, tf.int32))
        else:
            images = zip(*(tf.unstack(each, 1) for each in (boxes, scores, windows, counts)), strict=True)
            results = zip(*(of_image(each) for each in images), strict=True)
            numbers = (*range(FIRST_STACK, FIRST_STACK + 4), FIRST_STACK + 5, FIRST_STACK + 4)
            *result, count = (tf.stack(each, name=f"stack_{number}") for number, each in zip(numbers, results, strict=True))
        return *result[:3], count


def flattened(codes: tf.Tensor, width: int) -> tf.Tensor:
    """Predictions [images, rows, columns, boxes * width] as [images, n, width]."""
    return tf.reshape(codes, tf.stack([tf.shape(codes)[0], -1, width]))


def whole_windows(shapes: tf.Tensor, version: Version, size: int = IMAGE) -> tf.Tensor:
    """The windows of whole images, [0, 0, 1, 1] for each, computed from their true shapes [images, 3]."""
    heights, widths, _ = tf.unstack(tf.cast(shapes, tf.float32, name=version.cast), axis=1)
    sides = [tf.divide(each, tf.cast(size, tf.float32)) for each in (heights, widths)]
    return tf.stack([tf.zeros_like(heights), tf.zeros_like(widths), *sides], axis=1)


def ssd(
    version: Version, by: Suppression = Suppression(), converter: str = "sigmoid", image: int = IMAGE, classes: int = CLASSES
) -> tf.Graph:
    """A single-shot detector with two feature maps.

    Inputs: `image_tensor`, u8 [n, h, w, 3]. Outputs: `detection_boxes`, `detection_scores`, `detection_classes` (from 1 on),
    `num_detections`.
    """
    weights = Weights()
    with first_control_flow() as graph:
        images = V1.placeholder(tf.uint8, [None if version.loops else 1, None, None, 3], name="image_tensor")
        with tf.name_scope(version.prefix.rstrip("/") + "/") if version.prefix else tf.name_scope(""):
            _ssd(weights, images, version, by, converter, image, classes)
    return graph


def _ssd(weights: Weights, images: tf.Tensor, version: Version, by: Suppression, converter: str, image: int, classes: int) -> None:
    pixels, shapes = preprocessed(tf.cast(images, tf.float32, name="ToFloat"), version, image)
    with tf.name_scope("FeatureExtractor"):
        first = tf.nn.relu6(weights.convolution(pixels, 8, 3, 8, "Conv2d_0", 3.0))
        second = tf.nn.relu6(weights.convolution(first, 8, 3, 2, "Conv2d_1", 3.0))
    codes, logits, anchors = [], [], []
    with tf.name_scope("MultipleGridAnchorGenerator"):
        for features, size in ((first, 0.2), (second, 0.4)):
            anchors.append(grid_anchors(features, [(size, size), (size * 2**0.5, size * 0.5**0.5)], normalized=True))
        all_anchors = tf.concat(anchors, 0, name="concat")
    for number, features in enumerate((first, second)):
        with tf.name_scope(f"BoxPredictor_{number}"):
            images_count = tf.shape(features)[0]
            box_codes = weights.convolution(features, 2 * 4, 3, 1, "BoxEncodingPredictor", 2.0)
            codes.append(tf.reshape(box_codes, tf.stack([images_count, -1, 1, 4])))
            box_logits = weights.convolution(features, 2 * (classes + 1), 3, 1, "ClassPredictor", 3.0)
            logits.append(tf.reshape(box_logits, tf.stack([images_count, -1, classes + 1])))
    box_encodings = tf.squeeze(tf.concat(codes, 1, name="concat"), 2, name="Squeeze")
    class_predictions = tf.concat(logits, 1, name="concat_1")
    with tf.name_scope("Postprocessor"):
        sizes = tf.shape(box_encodings)
        tiled = tf.tile(tf.expand_dims(all_anchors, 0), tf.stack([sizes[0], 1, 1]), name="Tile")
        # The configurations name Reshape_1 as a start point: that of the encodings.
        flat_anchors = tf.reshape(tiled, [-1, 4], name="Reshape")
        boxes = decoded(tf.reshape(box_encodings, [-1, 4], name="Reshape_1"), flat_anchors)
        boxes = tf.reshape(boxes, tf.stack([sizes[0], sizes[1], 4]))
        scaled = tf.divide(class_predictions, 1.0, name="scale_logits")
        convert: Callable[..., tf.Tensor] = tf.sigmoid if converter == "sigmoid" else tf.nn.softmax
        scores = tf.slice(convert(scaled, name="convert_scores"), [0, 0, 1], [-1, -1, -1], name="Slice")
        result = suppressed(tf.expand_dims(boxes, 2), scores, whole_windows(shapes, version), by, version)
    add_outputs(result, version)


def add_outputs(result: Sequence[tf.Tensor], version: Version) -> None:
    """The outputs of an exported graph: boxes, scores, classes counted from 1 on, and the number of detections.

    The function of a version 2 has outputs in the order of their names, all of which configurations name.
    """
    boxes, scores, classes, counts = result
    outputs = {1: boxes, 4: scores, 2: tf.add(classes, 1.0, name="add"), 5: tf.cast(counts, tf.float32, name="Cast_9")}
    if not version.prefix:
        for number, name in zip(OUTPUT_NUMBERS, version.outputs, strict=True):
            tf.identity(outputs[number], name)
        return
    others = {0: classes, 3: scores, 6: boxes, 7: scores}
    for number, value in {**outputs, **others}.items():
        tf.identity(value, f"Identity_{number}" if number else "Identity")
