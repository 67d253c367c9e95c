"""Non-maximum suppression of boxes."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.expansions.shape_values import as_scalar, with_last_dimension
from moir.expansions.suppression import SMALLEST, exclusive
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.lowering.ranks import fixed
from moir.rewriting.builder import OpBuilder


@onnx.lowers("NonMaxSuppression", since=10, rank=fixed(3, 3, 0, 0, 0))
def non_max_suppression(
    node: LoweringNode,
    op: OpBuilder,
    boxes: SSAValue,
    scores: SSAValue,
    max_output_boxes_per_class: SSAValue | None = None,
    iou_threshold: SSAValue | None = None,
    score_threshold: SSAValue | None = None,
    *,
    center_point_box: bool = False,
) -> SSAValue:
    """onnx.NonMaxSuppression(boxes, scores, limit, iou, score) {center_point_box}
    -> opset9.NonMaxSuppression(…) {box_encoding}

    Without a largest number of boxes no box is selected; without a score threshold no score is excluded.
    """
    if max_output_boxes_per_class is None or node.constant_integers(2) == (0,):
        return op.constant(np.zeros((0, 3), np.int64))
    return op.NonMaxSuppression(
        with_last_dimension(op, boxes, 3, 4),
        scores,
        as_scalar(op, max_output_boxes_per_class),
        op.constant(SMALLEST) if iou_threshold is None else exclusive(op, iou_threshold),
        op.constant(float(np.finfo(np.float32).min)) if score_threshold is None else as_scalar(op, score_threshold),
        box_encoding="center" if center_point_box else "corner",
        sort_result_descending=False,
    )
