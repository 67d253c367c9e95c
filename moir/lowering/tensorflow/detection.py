"""Object detection: non-maximum suppression and crops of regions."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si32, si64
from moir.dialects.shapes import shape_of
from moir.expansions.shape_values import as_list, as_scalar
from moir.expansions.suppression import exclusive
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Replacement
from moir.lowering.tensorflow.attributes.data_format import channel_first, channel_last
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


def selected(
    node: LoweringNode, op: OpBuilder, overlap: SSAValue, threshold: SSAValue | None, softness: SSAValue | None
) -> tuple[SSAValue, ...]:
    """The results of opset9.NonMaxSuppression for the boxes [n, 4] and scores [n] of a node.

    These are rows [selected, 3] of indices, rows of scores, and the number of selected boxes [1].
    """
    if node.constant_integers(2) == (0,):
        # The runtime crashes for a limit of 0.
        nothing = op.constant(np.zeros((0, 3), np.int32))
        return nothing, op.constant(np.zeros((0, 3), np.float32)), op.constant(np.zeros(1, np.int32))
    limits = [as_scalar(op, node.operand(2)), exclusive(op, overlap)]
    if threshold is None:
        threshold = op.constant(float(np.finfo(np.float32).min))
    limits.append(as_scalar(op, op.convert(threshold, f32)))
    if softness is not None and (known := op.known.constant(softness)) is not None and not known.any():
        softness = None
    if softness is not None:
        limits.append(as_scalar(op, op.convert(softness, f32)))
    boxes, scores = (op.convert(node.operand(index), f32) for index in (0, 1))
    return op.NonMaxSuppression.results(
        # The runtime requires a static size of 4 for the coordinates of a box.
        op.Reshape(boxes, [1, -1, 4], special_zero=False),
        op.Unsqueeze(scores, [0, 1]),
        *limits,
        box_encoding="corner",
        sort_result_descending=False,
        output_type=si32,
    )


def column(op: OpBuilder, rows: SSAValue) -> SSAValue:
    """The last of three columns, which contains the index or the score of each box."""
    return op.Gather(rows, 2, 1)


@tf.lowers("NonMaxSuppression")
def suppression_by_attribute(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.NonMaxSuppression(boxes, scores, limit) {iou_threshold} -> opset8.Gather(opset9.NonMaxSuppression(…), 2, 1)"""
    overlap = op.constant(np.array(node.number("iou_threshold", 0.5), np.float32))
    return column(op, selected(node, op, overlap, None, None)[0])


@tf.lowers("NonMaxSuppressionV2", "NonMaxSuppressionV3")
def suppression(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.NonMaxSuppressionV3(boxes, scores, limit, overlap, threshold)
    -> opset8.Gather(opset9.NonMaxSuppression(…), 2, 1)
    """
    return column(op, selected(node, op, op.convert(node.operand(3), f32), node.optional(4), None)[0])


@tf.lowers("NonMaxSuppressionV4")
def padded_suppression(node: LoweringNode, op: OpBuilder) -> Replacement:
    """tf.NonMaxSuppressionV4(…)
    -> as V3, padded with zeros up to the limit if `pad_to_max_output_size`; and the number of selected boxes
    """
    rows, _, count = selected(node, op, op.convert(node.operand(3), f32), node.optional(4), None)
    return [padded(node, op, column(op, rows), count), op.Squeeze(count, [0])]


@tf.lowers("NonMaxSuppressionV5")
def soft_suppression(node: LoweringNode, op: OpBuilder) -> Replacement:
    """tf.NonMaxSuppressionV5(…, softness) -> as V4, with the scores of the selected boxes as second result"""
    rows, scores, count = selected(node, op, op.convert(node.operand(3), f32), node.optional(4), node.optional(5))
    indices = padded(node, op, column(op, rows), count)
    values = padded(node, op, column(op, scores), count) if node.is_used(1) else None
    return [indices, None if values is None else op.convert(values, node.element(1)), op.Squeeze(count, [0])]


def padded(node: LoweringNode, op: OpBuilder, values: SSAValue, count: SSAValue) -> SSAValue:
    """The values of the selected boxes, followed by zeros if the result has the length of the limit."""
    if not node.flag("pad_to_max_output_size"):
        return values
    missing = op.Subtract(op.convert(as_list(op, node.operand(2)), si32), count)
    return op.Pad(values, op.constant(np.zeros(1, np.int32)), missing, op.constant_like(0, values), pad_mode="constant")


@tf.lowers("NonMaxSuppressionWithOverlaps")
def suppression_with_overlaps(node: LoweringNode, _: OpBuilder) -> NoReturn:
    """tf.NonMaxSuppressionWithOverlaps: refused, because the runtime computes the overlaps of boxes itself."""
    node.fail("the runtime has no suppression by given overlaps", hint="cut the model in front of this node")


@tf.lowers("CombinedNonMaxSuppression")
def combined_suppression(node: LoweringNode, op: OpBuilder) -> Replacement:
    """tf.CombinedNonMaxSuppression(boxes [N, n, q, 4], scores [N, n, classes], …)
    -> the best of the boxes that opset9.NonMaxSuppression selects

    The scores of selected boxes are scattered into a table of zeros [N, classes * n], from which opset11.TopK takes the
    largest.
    """
    boxes, scores = node.operand(0), node.operand(1)
    shape, classes_of = node.shape(0), node.shape(1)
    if shape is None or len(shape) != 4 or shape[2] < 0:
        node.fail("whether classes have boxes of their own is unknown", hint="give the boxes a static third dimension")
    per_class, total = node.constant_integers(2), node.constant_integers(3)
    if total is None or total[0] < 1:
        node.fail("max_total_size is computed or below 1", hint="make it a positive constant")
    own_boxes = shape[2] > 1
    table = op.Transpose(scores, [0, 2, 1])
    sizes = op.ShapeOf(table)
    count = total[0]
    if node.flag("pad_per_class"):
        if per_class is None or classes_of is None or len(classes_of) != 3 or classes_of[2] < 0:
            node.fail("the number of results depends on unknown numbers")
        count = min(count, per_class[0] * classes_of[2])
    if own_boxes:
        many = op.Gather(sizes, [2], 0)
        flat_boxes = op.Reshape(op.Transpose(boxes, [0, 2, 1, 3]), op.Concat([-1], many, [4], axis=0), special_zero=False)
        flat_scores = op.Reshape(table, op.Concat([-1, 1], many, axis=0), special_zero=False)
    else:
        flat_boxes, flat_scores = op.Reshape(boxes, [0, -1, 4], special_zero=True), table
    threshold = as_scalar(op, node.operand(5))
    rows, found, _ = op.NonMaxSuppression.results(
        flat_boxes,
        flat_scores,
        as_scalar(op, node.operand(2)),
        exclusive(op, node.operand(4)),
        threshold,
        box_encoding="corner",
        sort_result_descending=False,
    )
    nothing = op.constant_like(float(np.finfo(np.float32).min), table)
    empty = op.Broadcast(nothing, op.ShapeOf(flat_scores))
    kept = op.ScatterNDUpdate(empty, rows, column(op, found))
    kept = op.Reshape(kept, op.Concat(op.Gather(sizes, [0], 0), [-1], axis=0), special_zero=False)
    # A table with fewer entries than the result is padded.
    kept = op.Pad(kept, [0, 0], [0, count], nothing, pad_mode="constant")
    best, places = op.TopK.results(kept, count, axis=1, mode="max", sort="value", index_element_type=si64)
    valid = op.Greater(best, op.Divide(nothing, 2.0))
    boxes_each = op.Gather(sizes, 2, 0)
    places = op.Select(valid, places, 0)
    category = op.Divide(places, boxes_each)
    if own_boxes:
        per_image = op.Reshape(flat_boxes, op.Concat(op.Gather(sizes, [0], 0), [-1, 4], axis=0), special_zero=False)
        chosen = op.Gather(per_image, places, 1, batch_dims=1)
    else:
        chosen = op.Gather(flat_boxes, op.FloorMod(places, boxes_each), 1, batch_dims=1)
    if node.flag("clip_boxes", True):
        chosen = op.Clamp(chosen, min=0.0, max=1.0)
    factor = op.convert(valid, f32)
    return [
        op.Multiply(chosen, op.Unsqueeze(factor, [2])),
        op.Select(valid, best, 0.0),
        op.Multiply(op.convert(category, f32), factor),
        op.ReduceSum(op.convert(valid, si32), [1], keep_dims=False),
    ]


@tf.lowers("CropAndResize")
def crop_and_resize(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.CropAndResize(x, boxes, images, size)
    -> Transpose(opset2.ROIPooling(Transpose(x), [images, x1, y1, x2, y2]) {method = bilinear})

    ROIPooling supports no extrapolation value, no nearest neighbours and no computed size; then opset9.GridSample
    samples the crops. A transformation of an extension may have given it regions [images, x1, y1, x2, y2] for boxes.
    """
    size = node.constant_integers(3)
    method, outside = node.text("method", "bilinear"), node.number("extrapolation_value", 0.0)
    if method not in ("bilinear", "nearest"):
        node.fail(f"method {method!r} does not exist")
    if size is not None and (len(size) != 2 or min(size) < 1):
        node.fail(f"crop_size {list(size)} is not two positive numbers")
    if (boxes := node.shape(1)) is not None and (len(boxes) != 2 or boxes[1] not in (4, 5, -1)):
        node.fail(f"boxes of shape {list(boxes)} are not [boxes, 4]")
    are_regions = boxes is not None and boxes[1] == 5
    if size is None or method == "nearest" or outside != 0:
        if are_regions:
            node.fail("crops of regions [images, x1, y1, x2, y2] are bilinear, zero outside of the image, and of constant size")
        return sampled_crops(node, op, method, outside)
    data = channel_first(op, op.convert(node.operand(0), f32), 4)
    if are_regions:
        regions = op.convert(node.operand(1), f32)
    else:
        corners = op.Gather(op.convert(node.operand(1), f32), [1, 0, 3, 2], 1)
        regions = op.Concat(op.Unsqueeze(op.convert(node.operand(2), f32), [1]), corners, axis=1)
    pooled = op.ROIPooling(
        data, regions, output_size=size, output_roi=size, pooled_h=size[0], pooled_w=size[1], spatial_scale=1.0, method="bilinear"
    )
    return channel_last(op, pooled, 4)


def sampled_crops(node: LoweringNode, op: OpBuilder, method: str, outside: float) -> SSAValue:
    """Crops sampled from one tall image, into which the images of the batch are merged, so that no image is copied."""
    image, boxes = op.convert(node.operand(0), f32), op.convert(node.operand(1), f32)
    sizes = op.ShapeOf(image)
    data = op.Reshape(image, [1, -1, 0, 0], special_zero=True)
    rows = positions(op, boxes, node.operand(3), sizes, 0)
    columns = positions(op, boxes, node.operand(3), sizes, 1)
    inside = op.LogicalAnd(op.Unsqueeze(inside_axis(op, rows, sizes, 1), [2]), op.Unsqueeze(inside_axis(op, columns, sizes, 2), [1]))
    if method == "nearest":
        rows, columns = (op.Floor(op.Add(value, 0.5)) for value in (rows, columns))
    height, total, width = (op.convert(value, f32) for value in (extent(op, sizes, 1), extent_of(op, data, 1), extent(op, sizes, 2)))
    rows = op.Minimum(op.Maximum(rows, 0.0), op.Subtract(height, 1.0))
    rows = op.Add(rows, op.Multiply(op.Unsqueeze(op.convert(node.operand(2), f32), [1]), height))
    lines = [op.Subtract(op.Divide(op.Add(op.Multiply(a, 2.0), 1.0), b), 1.0) for a, b in ((rows, total), (columns, width))]
    shape = op.ShapeOf(inside)
    x, y = op.Broadcast(op.Unsqueeze(lines[1], [1]), shape), op.Broadcast(op.Unsqueeze(lines[0], [2]), shape)
    grid = op.Concat(op.Unsqueeze(x, [3]), op.Unsqueeze(y, [3]), axis=3)
    flat = op.Reshape(grid, op.Concat([1, -1], op.Gather(shape, [2], 0), [2], axis=0), special_zero=False)
    found = op.GridSample(channel_first(op, data, 4), flat, mode="bilinear", padding_mode="border", align_corners=False)
    crops = op.Reshape(channel_last(op, found, 4), op.Concat(shape, [-1], axis=0), special_zero=False)
    return op.Select(op.Unsqueeze(inside, [3]), crops, outside)


def extent(op: OpBuilder, sizes: SSAValue, axis: int) -> SSAValue:
    """An entry of a list of sizes, as a scalar."""
    return op.Gather(sizes, axis, 0)


def extent_of(op: OpBuilder, value: SSAValue, axis: int) -> SSAValue:
    """A dimension of a value, as a scalar; a constant if it is known."""
    shape = shape_of(value)
    return op.constant(shape[axis]) if shape is not None and shape[axis] >= 0 else extent(op, op.ShapeOf(value), axis)


def positions(op: OpBuilder, boxes: SSAValue, size: SSAValue, sizes: SSAValue, axis: int) -> SSAValue:
    """Positions [boxes, rows] of the rows (axis 0) or columns (axis 1) of each crop in its image, in pixels.

    They are computed with the operations of TensorFlow in the same order, so that they are rounded alike.
    """
    start, end = (op.Gather(boxes, [axis + offset], 1) for offset in (0, 2))
    last = op.Subtract(op.convert(extent(op, sizes, axis + 1), f32), 1.0)
    count = op.Gather(size, axis, 0)
    steps = op.convert(op.Range(0, op.convert(count, si64), 1, output_type=si64), f32)
    intervals = op.convert(op.Subtract(count, op.constant_like(1, count)), f32)
    scale = op.Divide(op.Multiply(op.Subtract(end, start), last), op.Maximum(intervals, 1.0))
    several = op.Add(op.Multiply(start, last), op.Multiply(steps, scale))
    known = op.known.integers(size)
    if known is not None and known[axis] > 1:
        return several
    single = op.Multiply(op.Multiply(op.Add(start, end), 0.5), last)
    return single if known is not None else op.Select(op.Greater(intervals, 0.0), several, single)


def inside_axis(op: OpBuilder, places: SSAValue, sizes: SSAValue, axis: int) -> SSAValue:
    """Whether positions lie within the bounds of an image along an axis."""
    last = op.Subtract(op.convert(extent(op, sizes, axis), f32), 1.0)
    return op.LogicalAnd(op.GreaterEqual(places, 0.0), op.LessEqual(places, last))
