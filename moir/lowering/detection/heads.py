"""Heads of detection networks: the nodes that `moir/model_optimizer/detection` puts into graphs."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si64
from moir.dialects.shapes import rank_of, shape_of
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.detection.table import detection
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

logger = logging.getLogger("moir")

CENTER_SIZE, CORNER = "caffe.PriorBoxParameter.CENTER_SIZE", "caffe.PriorBoxParameter.CORNER"

_CHANNEL_FIRST = [0, 3, 1, 2]
"""The permutation from [N, H, W, C] to [N, C, H, W]."""

_EXCHANGED = (1, 0, 3, 2)
"""The permutation from (x, y, width, height) to (y, x, height, width), and the reverse."""


@detection.lowers("DetectionOutput")
def detection_output(
    node: LoweringNode,
    op: OpBuilder,
    codes_: SSAValue,
    scores_: SSAValue,
    _anchors: SSAValue | None = None,
    size: SSAValue | None = None,
    *,
    variances: tuple[float, ...] = (),
    single_image: bool = False,
    background: bool = False,
    order: str = "yx",
    top_k: int = -1,
    nms_threshold: float,
    confidence_threshold: float,
    clip_before_nms: bool = False,
    clip_after_nms: bool = False,
    labels_from: int = 0,
    tiled: bool = False,
    keep_top_k: int,
) -> Replacement:
    """detection.DetectionOutput(codes, scores, anchors, size) -> opset8.DetectionOutput(codes, scores, priors), boxes

    Operands:
        codes: offsets to anchors (ty, tx, th, tw) of all images, or boxes; classes may have boxes of their own.
        scores: [images, n, classes], or [n, classes] of one image.
        anchors: the anchors [n, 4] (y_min, x_min, y_max, x_max); none if the codes are boxes.
        size: height and width of the images, where coordinates are in pixels.
    Properties:
        order: `yx`, or `xy` for boxes (x_min, y_min, x_max, y_max).
        variances: the factors of the four offsets; none for boxes.
        tiled: whether there are anchors for each image.
        background: whether the first class is the background.
        labels_from: the label of the first class after the background.
        shared: whether all classes of an anchor have the same box: `yes`, `no`, or `by shape`.
        single_image: whether only one image is possible, because later nodes take the boxes of all images for those of
            the first.

    Results: detections [1, 1, images * keep_top_k, 7] in coordinates from 0 to 1, and their boxes
    [images * keep_top_k, 4] in the order of the anchors.
    """
    scores = op.convert(scores_, f32)
    if node.known_rank(1) == 2:
        scores = op.Unsqueeze(scores, [0])
    images = op.constant([1]) if single_image else dimension_list(op, scores, 0)
    if single_image and (shape := shape_of(scores)) is not None and shape[0] > 1:
        node.fail(f"it is for one image, the batch has {shape[0]}", hint="convert with --batch 1, or with --detection=plain")
    is_shared, exchanges = _is_shared(node, scores), order == "yx"
    pads_scores = not background and labels_from == 1
    if pads_scores:
        scores = op.Pad(scores, [0, 0, 1], [0, 0, 0], 0.0, pad_mode="constant")
    codes = op.convert(codes_, f32)
    if is_shared:
        codes = op.Reshape(codes, [-1, 4], special_zero=False)
    else:
        codes = op.Reshape(codes, [-1, _class_count(node, scores) - int(background or pads_scores), 4], special_zero=False)
        if background or pads_scores:
            codes = op.Pad(codes, [0, 1, 0], [0, 0, 0], 0.0, pad_mode="constant")
    if exchanges:
        codes = op.Gather(codes, list(_EXCHANGED), -1)
    extent = None if size is None else _corners_of_size(op, node.operand(3))
    if variances:
        anchors = op.convert(node.operand(2), f32)
        if exchanges:
            anchors = op.Gather(anchors, list(_EXCHANGED), 1)
        priors = _priors(op, anchors if extent is None else op.Divide(anchors, extent), variances, images if tiled else None)
    else:
        codes = codes if extent is None else op.Divide(codes, extent)
        coordinates = op.Multiply(dimension_list(op, scores, 1), 4)
        priors = op.Broadcast(op.constant(np.zeros(1, np.float32)), op.Concat([1, 1], coordinates, axis=0))
    detections = op.DetectionOutput(
        op.Reshape(codes, op.Concat(images, [-1], axis=0), special_zero=False),
        op.Reshape(scores, op.Concat(images, [-1], axis=0), special_zero=False),
        priors,
        background_label_id=0 if background or pads_scores else -1,
        top_k=top_k,
        keep_top_k=[keep_top_k],
        code_type=CENTER_SIZE if variances else CORNER,
        variance_encoded_in_target=not variances,
        share_location=is_shared,
        nms_threshold=nms_threshold,
        confidence_threshold=confidence_threshold,
        clip_before_nms=clip_before_nms,
        clip_after_nms=clip_after_nms,
        normalized=True,
    )
    columns = [4, 3, 6, 5] if exchanges else [3, 4, 5, 6]
    return [detections, op.Gather(op.Reshape(detections, [-1, 7], special_zero=False), columns, 1) if node.is_used(1) else None]


def _is_shared(node: LoweringNode, scores: SSAValue) -> bool:
    text = node.text("shared", "yes")
    if text != "by shape":
        return text == "yes"
    codes, shape = node.shape(0), shape_of(scores)
    if codes is None or shape is None or min(*codes, *shape) < 0:
        node.fail("the numbers of boxes and of scores are unknown", hint="give the model's inputs static shapes with --input-shape")
    return prod(codes) == 4 * prod(shape[:-1])


def _class_count(node: LoweringNode, scores: SSAValue) -> int:
    shape = shape_of(scores)
    if shape is None or shape[-1] < 0:
        node.fail("the number of classes is dynamic", hint="give the model's inputs static shapes with --input-shape")
    return shape[-1]


def _corners_of_size(op: OpBuilder, size: SSAValue) -> SSAValue:
    """The size [height, width] as [width, height, width, height], by which corners (x_min, y_min, x_max, y_max) are
    divided.
    """
    return op.Gather(op.convert(size, f32), [1, 0, 1, 0], 0)


def _priors(op: OpBuilder, anchors: SSAValue, variances: Sequence[float], images: SSAValue | None) -> SSAValue:
    """Anchors [n, 4] and their variances in the form of prior boxes: [1 or images, 2, n * 4].

    `variances` are (y, x, height, width). `images` is the number of images as a 1-D tensor; None for 1.
    """
    of_anchor = np.array([variances[index] for index in _EXCHANGED], np.float32)
    rows = (anchors, op.Broadcast(op.constant(of_anchor), op.ShapeOf(anchors)))
    shape = op.constant([1, 1, -1]) if images is None else op.Concat(images, [1, -1], axis=0)
    return op.Concat(*(op.Reshape(row, shape, special_zero=False) for row in rows), axis=1)


@detection.lowers("PSROIPooling")
def position_sensitive_pooling(
    node: LoweringNode, op: OpBuilder, maps_: SSAValue, boxes_: SSAValue, *, rows: int, columns: int, size: int
) -> SSAValue:
    """detection.PSROIPooling(maps, boxes) -> the mean of the samples of opset1.PSROIPooling(maps, regions)

    Operands:
        maps: [images, height, width, rows * columns * channels].
        boxes: [images, n, 4], or [n, 4] of one image: y_min, x_min, y_max, x_max from 0 to 1.
    Properties:
        rows, columns: how many bins there are.
        size: the number of samples of a bin along each axis.

    The result is [images, n, 1, 1, channels].
    """
    maps, boxes = op.convert(maps_, f32), op.convert(boxes_, f32)
    if node.known_rank(1) == 2:
        boxes = op.Unsqueeze(boxes, [0])
    shape = shape_of(maps)
    if shape is None or shape[-1] < 0 or shape[-1] % (rows * columns):
        node.fail(f"the number of channels must be known, and a multiple of {rows * columns}")
    channels = shape[-1] // (rows * columns)
    sizes = op.ShapeOf(boxes)
    images = op.Range(0, op.Gather(sizes, 0, 0), 1, output_type=si64)
    image_ids = op.Broadcast(op.Unsqueeze(op.convert(images, f32), [1, 2]), op.Concat(op.Gather(sizes, [0, 1], 0), [1], axis=0))
    regions = op.Reshape(op.Concat(image_ids, op.Gather(boxes, list(_EXCHANGED), 2), axis=2), [-1, 5], special_zero=False)
    pooled = op.PSROIPooling(
        op.Transpose(maps, _CHANNEL_FIRST),
        regions,
        output_dim=channels,
        group_size=size,
        spatial_scale=1.0,
        mode="bilinear",
        spatial_bins_x=columns,
        spatial_bins_y=rows,
    )
    means = op.ReduceMean(pooled, [2, 3], keep_dims=False)
    return op.Reshape(means, op.Concat(op.Gather(sizes, [0, 1], 0), [1, 1, channels], axis=0), special_zero=False)


@detection.lowers("RegionYolo")
def region_yolo(
    node: LoweringNode, op: OpBuilder, x: SSAValue, *, do_softmax: bool = False, anchors: tuple[float, ...] = (), mask: tuple[int, ...] = ()
) -> SSAValue:
    """detection.RegionYolo(x) -> opset1.RegionYolo(x)

    Data [images, rows, columns, channels] of channel-last networks becomes [images, channels, rows, columns], the
    layout that applications expect of the layer.
    """
    data = op.convert(x, f32)
    if rank_of(x) == 2:
        logger.warning("%s: it is a matrix, which RegionYolo does not take; the output stays as it is", node.name)
        return data
    data = op.Transpose(data, _CHANNEL_FIRST)
    return op.RegionYolo(
        data,
        anchors=list(anchors),
        mask=list(mask),
        classes=node.integer("classes"),
        coords=node.integer("coords"),
        num=node.integer("num"),
        do_softmax=do_softmax,
        axis=1,
        end_axis=3,
    )


@detection.lowers("PriorBoxClustered")
def prior_boxes(node: LoweringNode, op: OpBuilder, *, step: float, width: tuple[float, ...], height: tuple[float, ...]) -> SSAValue:
    """detection.PriorBoxClustered(features, image) -> opset1.PriorBoxClustered(their sizes), as anchors

    Operands: features [images, rows, columns, channels] and images [images, height, width, channels]. Result: anchors
    [n, 4] (y_min, x_min, y_max, x_max) from 0 to 1.
    """
    sizes = [op.Gather(op.convert(op.ShapeOf(node.operand(index)), si64), [1, 2], 0) for index in range(2)]
    boxes = op.PriorBoxClustered(*sizes, width=list(width), height=list(height), step=step, offset=0.5, clip=False)
    return op.Gather(op.Reshape(op.Gather(boxes, 0, 0), [-1, 4], special_zero=False), list(_EXCHANGED), 1)


@detection.lowers("PriorsDetectionOutput")
def detection_output_of_priors(
    node: LoweringNode, op: OpBuilder, *, top_k: int = -1, nms_threshold: float, confidence_threshold: float, keep_top_k: int
) -> SSAValue:
    """detection.PriorsDetectionOutput(locations, confidences, priors) -> opset8.DetectionOutput(locations, …)"""
    locations, confidences, priors = (op.convert(node.operand(index), f32) for index in range(3))
    images = dimension_list(op, locations, 0)
    return op.DetectionOutput(
        op.Reshape(locations, op.Concat(images, [-1], axis=0), special_zero=False),
        op.Reshape(confidences, op.Concat(images, [-1], axis=0), special_zero=False),
        op.Reshape(priors, [1, 2, -1], special_zero=False),
        background_label_id=0,
        top_k=top_k,
        keep_top_k=[keep_top_k],
        code_type=CENTER_SIZE,
        nms_threshold=nms_threshold,
        confidence_threshold=confidence_threshold,
        normalized=True,
    )


@detection.lowers("MultiBoxDetectionOutput")
def multi_box_detection_output(
    node: LoweringNode,
    op: OpBuilder,
    scores: SSAValue,
    offsets: SSAValue,
    anchors: SSAValue,
    *,
    force_suppress: bool = False,
    nms_topk: int = -1,
    background_id: int = 0,
    nms_threshold: float = 0.5,
    threshold: float = 0.01,
    clip: bool = True,
) -> Replacement:
    """detection.MultiBoxDetectionOutput(scores [N, C, A], offsets [N, 4 A], anchors [1, A, 4]) with the
    attributes of mxnet._contrib_MultiBoxDetection -> opset8.DetectionOutput(offsets, scores, priors) [1, 1, n, 7]

    An anchor has the best of its classes only, as in MXNet; classes are counted without the background.
    """
    if background_id != 0:
        node.fail("another background than class 0 is not supported")
    if force_suppress:
        node.fail("a DetectionOutput suppresses boxes of one class only", hint="leave out --detection=output")
    variances = op.constant(np.array([node.numbers("variances", (0.1, 0.1, 0.2, 0.2))], np.float32))
    spread = op.Broadcast(variances, op.Slice(op.ShapeOf(anchors), [1], [3], [1], [0]))
    rows = (op.Reshape(each, [1, 1, -1], special_zero=False) for each in (anchors, spread))
    detections = op.DetectionOutput(
        op.Reshape(offsets, [0, -1], special_zero=True),
        op.Reshape(op.transposed(scores, [0, 2, 1]), [0, -1], special_zero=True),
        op.Concat(*rows, axis=1),
        background_label_id=0,
        top_k=nms_topk,
        keep_top_k=[nms_topk],
        code_type="caffe.PriorBoxParameter.CENTER_SIZE",
        share_location=True,
        nms_threshold=nms_threshold,
        confidence_threshold=threshold,
        clip_before_nms=clip,
        decrease_label_id=True,
        normalized=True,
    )
    return [detections, *[None] * (node.result_count - 1)]
