"""Non-maximum suppression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si32, si64
from moir.dialects.shapes import element_of, shape_of
from moir.expansions.shape_values import as_list, as_scalar
from moir.expansions.suppression import exclusive, selected_boxes
from moir.lowering.binder import LoweringNode
from moir.lowering.ranks import fixed
from moir.lowering.table import Replacement
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


@tf.lowers("NonMaxSuppression")
def suppression_by_attribute(node: LoweringNode, op: OpBuilder, *, iou_threshold: float = 0.5) -> SSAValue:
    """tf.NonMaxSuppression(boxes, scores, limit) {iou_threshold} -> opset8.Gather(opset9.NonMaxSuppression(…), 2, 1)"""
    overlap = op.constant(np.array(iou_threshold, np.float32))
    return column(op, selected(node, op, overlap, None, None)[0])


@tf.lowers("NonMaxSuppressionV2", rank=fixed(2, 1, 0, 0))
@tf.lowers("NonMaxSuppressionV3", rank=fixed(2, 1, 0, 0, 0))
def suppression(
    node: LoweringNode,
    op: OpBuilder,
    _boxes: SSAValue,
    _scores: SSAValue,
    _max_output_size: SSAValue,
    iou_threshold: SSAValue,
    score_threshold: SSAValue | None = None,
) -> SSAValue:
    """tf.NonMaxSuppressionV3(boxes, scores, limit, overlap, threshold)
    -> opset8.Gather(opset9.NonMaxSuppression(…), 2, 1)
    """
    return column(op, selected(node, op, op.convert(iou_threshold, f32), score_threshold, None)[0])


@tf.lowers("NonMaxSuppressionV4", rank=fixed(2, 1, 0, 0, 0))
def padded_suppression(
    node: LoweringNode,
    op: OpBuilder,
    _boxes: SSAValue,
    _scores: SSAValue,
    _max_output_size: SSAValue,
    iou_threshold: SSAValue,
    score_threshold: SSAValue,
) -> Replacement:
    """tf.NonMaxSuppressionV4(…)
    -> as V3, padded with zeros up to the limit if `pad_to_max_output_size`; and the number of selected boxes
    """
    rows, _, count = selected(node, op, op.convert(iou_threshold, f32), score_threshold, None)
    return [padded(node, op, column(op, rows), count), op.Squeeze(count, [0])]


@tf.lowers("NonMaxSuppressionV5", rank=fixed(2, 1, 0, 0, 0, 0))
def soft_suppression(
    node: LoweringNode,
    op: OpBuilder,
    _boxes: SSAValue,
    scores_: SSAValue,
    _max_output_size: SSAValue,
    iou_threshold: SSAValue,
    score_threshold: SSAValue,
    soft_nms_sigma: SSAValue,
) -> Replacement:
    """tf.NonMaxSuppressionV5(…, softness) -> as V4, with the scores of the selected boxes as second result"""
    rows, scores, count = selected(node, op, op.convert(iou_threshold, f32), score_threshold, soft_nms_sigma)
    indices = padded(node, op, column(op, rows), count)
    values = padded(node, op, column(op, scores), count) if node.is_used(1) else None
    return [indices, None if values is None else op.convert(values, element_of(scores_)), op.Squeeze(count, [0])]


@tf.lowers("NonMaxSuppressionWithOverlaps")
def suppression_with_overlaps(node: LoweringNode, _: OpBuilder) -> NoReturn:
    """tf.NonMaxSuppressionWithOverlaps: refused, since NonMaxSuppression computes overlaps itself."""
    node.fail("the operation sets have no suppression by given overlaps", hint="cut the model before this node")


@tf.lowers("CombinedNonMaxSuppression")
def combined_suppression(
    node: LoweringNode,
    op: OpBuilder,
    boxes: SSAValue,
    scores: SSAValue,
    max_output_size_per_class: SSAValue,
    max_total_size: SSAValue,
    iou_threshold: SSAValue,
    score_threshold: SSAValue,
    *,
    pad_per_class: bool = False,
    clip_boxes: bool = True,
) -> Replacement:
    """tf.CombinedNonMaxSuppression(boxes [N, n, q, 4], scores [N, n, classes], …)
    -> the best of the boxes that opset9.NonMaxSuppression selects

    The scores of selected boxes are scattered into a table of zeros [N, classes * n], from which opset11.TopK takes the
    largest.
    """
    shape, classes_of = shape_of(boxes), shape_of(scores)
    if shape is None or len(shape) != 4 or shape[2] < 0:
        node.fail("whether classes have boxes of their own is unknown", hint="give the boxes a static third dimension")
    per_class, total = op.known.integers(max_output_size_per_class), op.known.integers(max_total_size)
    if total is None or total[0] < 1:
        node.fail("max_total_size is computed or below 1", hint="make it a positive constant")
    own_boxes = shape[2] > 1
    table = op.Transpose(scores, [0, 2, 1])
    sizes = op.ShapeOf(table)
    count = total[0]
    if pad_per_class:
        if per_class is None or classes_of is None or len(classes_of) != 3 or classes_of[2] < 0:
            node.fail("the number of results depends on unknown numbers")
        count = min(count, per_class[0] * classes_of[2])
    if own_boxes:
        many = op.Gather(sizes, [2], 0)
        flat_boxes = op.Reshape(op.Transpose(boxes, [0, 2, 1, 3]), op.Concat([-1], many, [4], axis=0), special_zero=False)
        flat_scores = op.Reshape(table, op.Concat([-1, 1], many, axis=0), special_zero=False)
    else:
        flat_boxes, flat_scores = op.Reshape(boxes, [0, -1, 4], special_zero=True), table
    threshold = as_scalar(op, score_threshold)
    limit = as_scalar(op, max_output_size_per_class)
    rows, best_boxes, _ = selected_boxes(op, flat_boxes, flat_scores, limit, exclusive(op, iou_threshold), threshold)
    nothing = op.constant_like(float(np.finfo(np.float32).min), table)
    empty = op.Broadcast(nothing, op.ShapeOf(flat_scores))
    kept = op.ScatterNDUpdate(empty, rows, column(op, best_boxes))
    kept = op.Reshape(kept, op.Concat(op.Gather(sizes, [0], 0), [-1], axis=0), special_zero=False)
    # A table with fewer elements than the result is padded.
    kept = op.Pad(kept, [0, 0], [0, count], nothing, pad_mode="constant")
    best, indices = op.TopK.results(kept, count, axis=1, mode="max", sort="value", index_element_type=si64, stable=True)
    valid = op.Greater(best, op.Divide(nothing, 2.0))
    boxes_each = op.Gather(sizes, 2, 0)
    indices = op.Select(valid, indices, 0)
    category = op.Divide(indices, boxes_each)
    if own_boxes:
        per_image = op.Reshape(flat_boxes, op.Concat(op.Gather(sizes, [0], 0), [-1, 4], axis=0), special_zero=False)
        chosen = op.Gather(per_image, indices, 1, batch_dims=1)
    else:
        chosen = op.Gather(flat_boxes, op.FloorMod(indices, boxes_each), 1, batch_dims=1)
    if clip_boxes:
        chosen = op.Clamp(chosen, min=0.0, max=1.0)
    factor = op.convert(valid, f32)
    return [
        op.Multiply(chosen, op.Unsqueeze(factor, [2])),
        op.Select(valid, best, 0.0),
        op.Multiply(op.convert(category, f32), factor),
        op.ReduceSum(op.convert(valid, si32), [1], keep_dims=False),
    ]


def selected(
    node: LoweringNode, op: OpBuilder, overlap: SSAValue, threshold: SSAValue | None, softness: SSAValue | None
) -> Sequence[SSAValue]:
    """The results of opset9.NonMaxSuppression for the boxes [n, 4] and scores [n] of a node.

    These are rows [selected, 3] of indices, rows of scores, and the number of selected boxes [1]. `overlap` is the IoU
    above which a box is suppressed, `threshold` the lowest score, `softness` the sigma of soft suppression; None for
    the default.
    """
    limits = [as_scalar(op, node.operand(2)), exclusive(op, overlap)]
    if threshold is None:
        threshold = op.constant(float(np.finfo(np.float32).min))
    limits.append(as_scalar(op, op.convert(threshold, f32)))
    if softness is not None and (known := op.known.constant(softness)) is not None and not known.any():
        softness = None
    if softness is not None:
        limits.append(as_scalar(op, op.convert(softness, f32)))
    boxes, scores = (op.convert(node.operand(index), f32) for index in (0, 1))
    # opset9.NonMaxSuppression requires a static size of 4 for the coordinates of a box.
    boxes = op.Reshape(boxes, [1, -1, 4], special_zero=False)
    return selected_boxes(op, boxes, op.Unsqueeze(scores, [0, 1]), *limits, output_type=si32)


def column(op: OpBuilder, rows: SSAValue) -> SSAValue:
    """The last of the three columns of rows [N, 3], in which NonMaxSuppression returns the index or the score
    of a box.
    """
    return op.Gather(rows, 2, 1)


def padded(node: LoweringNode, op: OpBuilder, values: SSAValue, count: SSAValue) -> SSAValue:
    """Values of the selected boxes, padded with zeros to the limit, operand 2, if the node has
    `pad_to_max_output_size`.

    `count` is the number of selected boxes. Without the attribute the values are unchanged.
    """
    if not node.flag("pad_to_max_output_size"):
        return values
    missing = op.Subtract(op.convert(as_list(op, node.operand(2)), si32), count)
    return op.Pad(values, op.constant(np.zeros(1, np.int32)), missing, op.constant_like(0, values), pad_mode="constant")
