"""Suppression of overlapping boxes.

Source: multiclass_nms_op.cc and matrix_nms_op.cc of PaddlePaddle 2.6.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si32
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

    Rows of class, score and box, their places, and how many there are of each image. With numbers of boxes of each
    image, boxes are [M, C, 4] and scores [M, C].
    """
    operands = [boxes, scores]
    if counts is not None and node.known_rank(1) == 2:
        operands = [op.Transpose(boxes, [1, 0, 2]), op.Transpose(scores, [1, 0]), counts]
    rows, places, numbers = op["opset9.MulticlassNms"].results(
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
    return [rows, places, numbers][: node.result_count]


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
