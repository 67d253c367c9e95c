"""Suppression of overlapping boxes.

Source: multiclass_nms_op.cc and matrix_nms_op.cc of PaddlePaddle 2.6.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si32, si64
from moir.dialects.shapes import shape_of
from moir.expansions.suppression import exclusive, selected_boxes
from moir.lowering.binder import LoweringNode
from moir.lowering.paddle.table import paddle
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


@paddle.lowers("multiclass_nms3", "multiclass_nms2", "multiclass_nms")
def multiclass_nms(
    node: LoweringNode,
    op: OpBuilder,
    boxes: SSAValue,
    scores: SSAValue,
    counts: SSAValue | None = None,
    *,
    score_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    nms_threshold: float = 0.3,
    normalized: bool = True,
    nms_eta: float = 1.0,
    background_label: int = 0,
) -> Replacement:
    """paddle.multiclass_nms3(boxes [N, M, 4], scores [N, C, M]) -> opset9.MulticlassNms {sort_result_type = "classid"}

    The results are rows of class, score and box, the indices of their boxes, and the number of rows of each image. If
    the number of boxes of each image is an operand, boxes are [M, C, 4] and scores [M, C], and the rows of a class are
    in the order of the boxes.
    """
    operands = [boxes, scores]
    is_of_regions = counts is not None and node.known_rank(1) == 2
    if counts is not None and is_of_regions:
        operands = [op.Transpose(boxes, [1, 0, 2]), op.Transpose(scores, [1, 0]), counts]
    rows, indices, counts_by_image = op["opset9.MulticlassNms"].results(
        *operands,
        sort_result_type="classid",
        output_type=si32,
        nms_top_k=nms_top_k,
        keep_top_k=keep_top_k,
        iou_threshold=nms_threshold,
        score_threshold=score_threshold,
        background_class=background_label,
        nms_eta=nms_eta,
        normalized=normalized,
    )
    if counts is not None and is_of_regions:
        rows, indices = _in_order_of_boxes(op, rows, indices, scores, counts)
    return [rows, indices, counts_by_image][: node.result_count]


def _in_order_of_boxes(op: OpBuilder, rows: SSAValue, indices: SSAValue, scores: SSAValue, counts: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Sort the rows selected by opset9.MulticlassNms, and their indices, by image, class and box instead of by score.

    `scores` are [boxes, classes], `counts` the number of boxes of each image.

    An index is box · classes + class.
    """
    sizes = op.convert(op.ShapeOf(scores), si32)
    total, classes = op.Gather(sizes, 0, 0), op.Gather(sizes, 1, 0)
    index = op.Squeeze(indices, [1])
    box, label = op.Divide(index, classes, m_pythondiv=False), op.Mod(index, classes)
    if shape_of(counts) != (1,):
        ends = op.CumSum(op.convert(counts, si32), op.constant(0))
        image = op.ReduceSum(op.convert(op.GreaterEqual(op.Unsqueeze(box, [1]), ends), si32), [1], keep_dims=False)
        label = op.Add(op.Multiply(image, classes), label)
    count = op.Gather(op.ShapeOf(index), 0, 0)
    keys = op.Add(op.Multiply(label, total), box)
    _, order = op.TopK.results(keys, count, axis=0, mode="min", sort="value", index_element_type=si32)
    return op.Gather(rows, order, 0), op.Gather(indices, order, 0)


@paddle.lowers("nms")
def suppressed(op: OpBuilder, boxes: SSAValue, *, iou_threshold: float) -> SSAValue:
    """paddle.nms(boxes [N, 4] in descending order of score) -> the indices that opset9.NonMaxSuppression keeps, in
    their order
    """
    count = op.Gather(op.ShapeOf(boxes), 0, 0)
    falling = op.Range(count, op.constant(0), op.constant(-1), output_type=f32)
    values = op.Unsqueeze(boxes, [0]), op.Unsqueeze(falling, [0, 1])
    limits = count, exclusive(op, op.constant(np.array(iou_threshold, np.float32))), op.constant(np.array(0.0, np.float32))
    rows, *_ = selected_boxes(op, *values, *limits, output_type=si64)
    return op.Gather(rows, 2, 1)


@paddle.lowers("matrix_nms")
def matrix_nms(
    node: LoweringNode,
    op: OpBuilder,
    boxes: SSAValue,
    scores: SSAValue,
    *,
    score_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    post_threshold: float,
    use_gaussian: bool = False,
    gaussian_sigma: float = 2.0,
    background_label: int = 0,
    normalized: bool = True,
) -> Replacement:
    """paddle.matrix_nms(boxes, scores) -> opset8.MatrixNms(boxes, scores) {sort_result_type = "score"}"""
    results = op.MatrixNms.results(
        boxes,
        scores,
        sort_result_type="score",
        output_type=si32,
        nms_top_k=nms_top_k,
        keep_top_k=keep_top_k,
        score_threshold=score_threshold,
        background_class=background_label,
        decay_function="gaussian" if use_gaussian else "linear",
        gaussian_sigma=gaussian_sigma,
        post_threshold=post_threshold,
        normalized=normalized,
    )
    return list(results)[: node.result_count]
