"""Regions that a region proposal network proposes: Proposal, MultiProposal.

A box has the sizes x2 - x1 + 1 and y2 - y1 + 1: its corner (x2, y2) is its last pixel. In opset4.Proposal the corner
lies after the last pixel, so this operation is not used.

Source: contrib/proposal.cc and contrib/multi_proposal.cc of MXNet 1.9.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import f32, si64
from moir.expansions.suppression import is_selected, selected_boxes
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.table import mxnet
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


@mxnet.lowers("_contrib_Proposal", "_contrib_MultiProposal", "Custom")
def proposal(
    node: LoweringNode,
    op: OpBuilder,
    *,
    iou_loss: bool = False,
    op_type: str = "",
    rpn_min_size: int = 16,
    ratios: tuple[float, ...] = (0.5, 1.0, 2.0),
    scales: tuple[float, ...] = (4.0, 8.0, 16.0, 32.0),
) -> Replacement:
    """mxnet._contrib_Proposal(scores [N, 2 A, H, W], offsets [N, 4 A, H, W], images [N, 3]) -> regions [N · R, 5]

    A row is (index of the image, corners); the second result are the scores [N · R, 1]. The regions of an image are
    repeated from the first one on if there are fewer than R. The custom operation `proposal` of MXNet's Faster R-CNN
    example is the same.
    """
    if node.op.KIND == "Custom" and op_type != "proposal":
        reason = f"the custom operation {op_type!r} is code of its own"
        node.fail(reason, hint="an extension says what it is: a class of MXNetCustomFrontExtractorOp")
    stride = node.integer("feat_stride" if node.op.KIND == "Custom" else "feature_stride", 16)
    anchors = _anchors(stride, ratios, scales)
    count = len(anchors)
    scores, offsets = (op.transposed(node.operand(index), [0, 2, 3, 1]) for index in (0, 1))
    image, sizes = op.Reshape(node.operand(2), [-1, 3], special_zero=False), op.ShapeOf(scores)
    batch, rows, columns = (op.Gather(sizes, [axis], 0) for axis in range(3))
    boxes = _shifted_anchors(op, anchors, rows, columns, stride)
    offsets = op.Reshape(offsets, op.Concat(batch, op.constant([-1, 4]), axis=0), special_zero=False)
    boxes = _moved(op, boxes, offsets) if iou_loss else _decoded(op, boxes, offsets)
    last = op.Unsqueeze(op.Gather(op.Subtract(image, 1.0), [1, 0, 1, 0], 1), [1])
    boxes = op.Maximum(op.Minimum(boxes, last), 0.0)
    foreground = op.Slice(scores, [count], [2 * count], [1], [3])
    foreground = op.Select(_in_image(op, image, rows, columns, stride), foreground, -1.0)
    foreground = op.Reshape(foreground, op.Concat(batch, op.constant([-1]), axis=0), special_zero=False)
    # Boxes that are too small are enlarged and come last.
    least = op.Unsqueeze(op.Multiply(op.Gather(image, [2], 1), float(rpn_min_size)), [1])
    extents = op.Add(op.Subtract(op.Gather(boxes, [2, 3], 2), op.Gather(boxes, [0, 1], 2)), 1.0)
    small = op.ReduceLogicalOr(op.Less(extents, least), [2], keep_dims=True)
    grown = op.Add(boxes, op.Multiply(op.Divide(least, 2.0), np.array([-1, -1, 1, 1], np.float32)))
    boxes = op.Select(small, grown, boxes)
    foreground = op.Select(op.Squeeze(small, [2]), -1.0, foreground)
    return _best(node, op, foreground, boxes)


def _anchors(stride: int, ratios: Sequence[float], scales: Sequence[float]) -> Array:
    """The anchor boxes around the first position [A, 4]: for each ratio, all scales in order."""
    centre, area = (stride - 1) / 2, stride * stride
    rows: list[list[float]] = []
    for ratio in ratios:
        width = np.floor(np.sqrt(np.floor(area / ratio)) + 0.5)
        height = np.floor(width * ratio + 0.5)
        for scale in scales:
            x, y = (width * scale - 1) / 2, (height * scale - 1) / 2
            rows.append([centre - x, centre - y, centre + x, centre + y])
    return np.array(rows, np.float32)


def _shifted_anchors(op: OpBuilder, anchors: Array, rows: SSAValue, columns: SSAValue, stride: int) -> SSAValue:
    """The anchors [A, 4] around all positions of H rows and W columns, which are `stride` pixels apart: [1, H · W · A,
    4].
    """

    def shifts(count: SSAValue) -> SSAValue:
        indices = op.Range(0, op.Squeeze(count, [0]), 1, output_type=si64)
        return op.Multiply(op.convert(indices, f32), float(stride))

    y = op.Reshape(shifts(rows), [-1, 1, 1, 1], special_zero=False)
    x = op.Reshape(shifts(columns), [1, -1, 1, 1], special_zero=False)
    moved = op.Add(op.Multiply(x, np.array([1, 0, 1, 0], np.float32)), op.Multiply(y, np.array([0, 1, 0, 1], np.float32)))
    return op.Reshape(op.Add(moved, anchors.reshape(1, 1, -1, 4)), [1, -1, 4], special_zero=False)


def _decoded(op: OpBuilder, boxes: SSAValue, offsets: SSAValue) -> SSAValue:
    """Boxes [N, n, 4] whose centres are moved and whose sizes are scaled by offsets [N, n, 4]."""
    low, high = op.Split.parts(2, boxes, op.constant(2), num_splits=2)
    moves, scales = op.Split.parts(2, offsets, op.constant(2), num_splits=2)
    size = op.Add(op.Subtract(high, low), 1.0)
    centre = op.Add(op.Multiply(moves, size), op.Add(low, op.Divide(op.Subtract(size, 1.0), 2.0)))
    half = op.Divide(op.Subtract(op.Multiply(op.Exp(scales), size), 1.0), 2.0)
    return op.Concat(op.Subtract(centre, half), op.Add(centre, half), axis=2)


def _moved(op: OpBuilder, boxes: SSAValue, offsets: SSAValue) -> SSAValue:
    """Boxes with the offsets added to their corners, as offsets are defined with `iou_loss`."""
    return op.Add(boxes, offsets)


def _in_image(op: OpBuilder, image: SSAValue, rows: SSAValue, columns: SSAValue, stride: int) -> SSAValue:
    """A mask [N, H, W, 1] of the positions within each image; images may be smaller than the batch.

    `image` has the height and width of each image [N, 3], `rows` and `columns` are H and W, `stride` is the distance of
    positions in pixels.
    """
    real = op.convert(op.Divide(image, float(stride)), si64)
    masks: list[SSAValue] = []
    for column, count, shape in ((0, rows, [1, -1, 1, 1]), (1, columns, [1, 1, -1, 1])):
        positions = op.Reshape(op.Range(0, op.Squeeze(count, [0]), 1, output_type=si64), shape, special_zero=False)
        masks.append(op.Less(positions, op.Reshape(op.Gather(real, [column], 1), [-1, 1, 1, 1], special_zero=False)))
    return op.LogicalAnd(*masks)


def _best(node: LoweringNode, op: OpBuilder, scores: SSAValue, boxes: SSAValue) -> Replacement:
    """The results of the node: the best boxes after suppression and their scores, equally many for each image."""
    wanted = node.integer("rpn_post_nms_top_n", 300)
    total, most = op.Gather(op.ShapeOf(scores), 1, 0), node.integer("rpn_pre_nms_top_n", 6000)
    amount = op.Minimum(total, most) if most > 0 else total
    scores, order = op.TopK.results(scores, amount, axis=1, mode="max", sort="value", index_element_type=si64, stable=True)
    boxes = op.GatherND(boxes, op.Unsqueeze(order, [2]), batch_dims=1)
    # Boxes are ranked by descending position instead of score, so that negative scores count, too.
    positions = op.Range(0, amount, 1, output_type=si64)
    ranks = op.convert(op.Subtract(amount, positions), f32)
    by_rank = op.Broadcast(op.Reshape(ranks, [1, 1, -1], special_zero=False), op.ShapeOf(op.Unsqueeze(scores, [1])))
    corners = op.Add(boxes, np.array([0, 0, 1, 1], np.float32))
    limits = op.constant(wanted), op.constant(node.number("threshold", 0.7)), op.constant(0.0)
    selected, *_ = selected_boxes(op, corners, by_rank, *limits, output_type=si64)
    kept = is_selected(op, selected, scores)
    count = op.convert(op.ReduceSum(kept, [1], keep_dims=True), si64)
    _, front = op.TopK.results(kept, amount, axis=1, mode="max", sort="value", index_element_type=si64, stable=True)
    cycle = op.FloorMod(op.constant(np.arange(wanted).reshape(1, -1)), op.Minimum(op.Maximum(count, 1), wanted))
    taken = op.Unsqueeze(op.GatherElements(front, cycle, axis=1), [2])
    regions, best = (op.GatherND(value, taken, batch_dims=1) for value in (boxes, op.Unsqueeze(scores, [2])))
    images = op.Range(0, op.Gather(op.ShapeOf(scores), 0, 0), 1, output_type=si64)
    image_indices = op.Reshape(op.convert(images, f32), [-1, 1, 1], special_zero=False)
    column = op.Broadcast(image_indices, op.ShapeOf(best))
    rows = op.Reshape(op.Concat(column, regions, axis=2), [-1, 5], special_zero=False)
    return [rows, op.Reshape(best, [-1, 1], special_zero=False)]
