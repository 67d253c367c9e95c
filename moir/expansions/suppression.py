"""Non-maximum suppression: its thresholds, and the boxes that remain.

opset9.NonMaxSuppression suppresses a box whose overlap reaches the threshold, ONNX and TensorFlow one whose overlap
exceeds it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.expansions.shape_values import as_scalar
from moir.rewriting.builder import OpBuilder

SMALLEST = np.array(np.finfo(np.float32).tiny)
"""The smallest normal f32; subnormal numbers may count as zero."""


def exclusive(op: OpBuilder, overlap: SSAValue) -> SSAValue:
    """The smallest threshold that only overlaps above `overlap` reach: the next larger f32, a scalar."""
    known = op.known.constant(overlap)
    if known is not None and known.size == 1:
        following = np.nextafter(known.astype(np.float32), np.float32(np.inf))
        return op.constant(np.maximum(following, SMALLEST).reshape(()))
    return op.Add(op.Multiply(as_scalar(op, overlap), 1 + 2**-23), float(SMALLEST))


def selected_boxes(
    op: OpBuilder, boxes: SSAValue, scores: SSAValue, limit: SSAValue, overlap: SSAValue, *thresholds: SSAValue, **attributes: object
) -> Sequence[SSAValue]:
    """Build opset9.NonMaxSuppression of boxes [N, A, 4], given by corners; returns its three results.

    They are the selected rows (image, class, box) in the order of images and classes, rows with their scores, and the
    number of selected boxes.

    Args:
        limit: the largest number of boxes of an image and class.
        overlap: the threshold of the overlap.
        thresholds: the threshold of the scores, and further operands.
        attributes: its other attributes.
    """
    operands = boxes, scores, limit, overlap, *thresholds
    return op["opset9.NonMaxSuppression"].results(*operands, box_encoding="corner", sort_result_descending=False, **attributes)


def is_selected(op: OpBuilder, rows: SSAValue, scores: SSAValue) -> SSAValue:
    """1 for each box of `scores` [N, A] that is among the selected `rows` (image, class, box), else 0; f32 [N, A]."""
    # Rows after the last box are -1, which would be read as the index of the last box.
    opposite = op.Gather(rows, [0, 2], 1)
    chosen = op.convert(op.GreaterEqual(op.Gather(rows, 0, 1), 0), f32)
    zeros = op.Broadcast(op.constant(0.0), op.ShapeOf(scores))
    return op["opset15.ScatterNDUpdate"](zeros, op.Maximum(opposite, 0), chosen, reduction="max")
