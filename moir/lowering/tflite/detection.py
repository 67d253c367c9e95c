"""The custom operator at the end of detection networks: decoding of boxes and suppression.

Source: detection_postprocess.cc of TensorFlow Lite 2.21.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si32
from moir.dialects.shapes import shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Replacement
from moir.lowering.tflite.table import tflite
from moir.lowering.tflite.tensorflow_operations import lowered_as
from moir.rewriting.builder import OpBuilder

SIDES = ("y", "x", "h", "w")


@tflite.lowers("TFLite_Detection_PostProcess")
def detection_post_process(
    node: LoweringNode,
    op: OpBuilder,
    box_encodings: SSAValue,
    class_predictions: SSAValue,
    anchors: SSAValue,
    *,
    max_detections: int,
    max_classes_per_detection: int = 1,
    detections_per_class: int = 100,
    use_regular_nms: bool = False,
    nms_score_threshold: float,
    nms_iou_threshold: float,
    num_classes: int,
) -> Replacement:
    """tflite.TFLite_Detection_PostProcess(encodings [1, n, 4], scores [1, n, classes + 1], anchors [n, 4])
    -> boxes [1, limit, 4], classes [1, limit], scores [1, limit], and the number of detections [1]

    A box is a detection of its best class only, or with `use_regular_nms` of every class. Rows after the last
    detection are zeros.
    """
    if max_classes_per_detection != 1 and not use_regular_nms:
        node.fail(f"{max_classes_per_detection} classes of one box are not supported", hint="cut the model before this node")
    boxes = _decoded(node, op, box_encodings, anchors)
    shape = shape_of(class_predictions)
    if shape is None or len(shape) != 3 or shape[2] < num_classes:
        node.fail(f"there are {num_classes} classes and scores of shape {shape}")
    scores = class_predictions
    if shape[2] > num_classes:
        # The scores of the background are the first ones.
        scores = op.Slice(scores, [shape[2] - num_classes], [shape[2]], [1], [2])
    overlap, threshold = (op.constant(np.array(each, np.float32)) for each in (nms_iou_threshold, nms_score_threshold))
    if use_regular_nms:
        limits = [op.constant(np.array(each, np.int32)) for each in (detections_per_class, max_detections)]
        operands = [op.Unsqueeze(boxes, [2]), scores, *limits, overlap, threshold]
        detections = lowered_as(node, op, "CombinedNonMaxSuppression", operands, {"clip_boxes": False})
        best, values, classes, count = (_used(each) for each in detections)
        return [best, classes, values, op.convert(count, f32)]
    return _of_best_class(node, op, boxes, scores, max_detections, overlap, threshold)


def _used(value: SSAValue | None) -> SSAValue:
    assert value is not None
    return value


def _decoded(node: LoweringNode, op: OpBuilder, encodings: SSAValue, anchors: SSAValue) -> SSAValue:
    """The boxes [1, n, 4] (top, left, bottom, right) from encodings relative to the centres and sizes of anchors.

    Raises ConversionError for a scale of 0, or encodings without four numbers.
    """
    scales = [node.number(f"{side}_scale") for side in SIDES]
    if min(map(abs, scales)) == 0:
        node.fail(f"a scale of {scales} is 0")
    shape = shape_of(encodings)
    if shape is None or len(shape) != 3 or shape[2] < 4:
        node.fail("the encoded boxes have no four numbers")
    data = op.Slice(encodings, [0], [4], [1], [2]) if shape[2] > 4 else encodings
    scaled = op.Divide(data, np.array(scales, np.float32))
    position, size = op.Split.parts(2, scaled, op.constant(2), num_splits=2)
    center, extent = op.Split.parts(2, op.Unsqueeze(anchors, [0]), op.constant(2), num_splits=2)
    center = op.Add(op.Multiply(position, extent), center)
    half = op.Multiply(op.Multiply(op.Exp(size), extent), 0.5)
    return op.Concat(op.Subtract(center, half), op.Add(center, half), axis=2)


def _of_best_class(
    node: LoweringNode, op: OpBuilder, boxes: SSAValue, scores: SSAValue, limit: int, overlap: SSAValue, threshold: SSAValue
) -> list[SSAValue | None]:
    """The results of the operator if only the best class of each box counts.

    `limit` is the number of detections, `overlap` the IoU above which a box is suppressed, `threshold` the lowest
    score.
    """
    best, classes = op.TopK.results(scores, 1, axis=2, mode="max", sort="value", index_element_type=si32, stable=True)
    best, classes = op.Squeeze(best, [0, 2]), op.Squeeze(classes, [0, 2])
    flat = op.Squeeze(boxes, [0])
    most = op.constant(np.array(limit, np.int32))
    operands = [flat, best, most, overlap, threshold]
    indices, count = lowered_as(node, op, "NonMaxSuppressionV4", operands, {"pad_to_max_output_size": True}, 2)
    box_indices, count_of_boxes = _used(indices), op.Reshape(_used(count), [1], special_zero=False)
    is_there = op.Less(np.arange(limit, dtype=np.int32), op.convert(count_of_boxes, si32))
    zero = op.constant(np.array(0, np.float32))
    rows = op.Select(op.Unsqueeze(is_there, [1]), op.Gather(flat, box_indices, 0), zero)
    kinds, values = (op.Select(is_there, op.Gather(each, box_indices, 0), zero) for each in (op.convert(classes, f32), best))
    return [*(op.Unsqueeze(each, [0]) for each in (rows, kinds, values)), op.convert(count_of_boxes, f32)]
