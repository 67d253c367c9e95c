"""Suppression of overlapping boxes, and features of regions."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f32, si64
from moir.dialects.shapes import element_of, rank_of
from moir.lowering.binder import LoweringNode
from moir.lowering.to_onnx.builder import OnnxBuilder
from moir.lowering.to_onnx.table import opset


def _limit(op: OnnxBuilder, value: SSAValue | None, element: Attribute) -> SSAValue | None:
    if value is None:
        return None
    value = op.cast(value, element)
    return value if rank_of(value) == 1 else op.Reshape(value, [1])


def _suppressed(
    node: LoweringNode, op: OnnxBuilder, operands: tuple[SSAValue, SSAValue, SSAValue | None, SSAValue | None, SSAValue | None]
) -> tuple[SSAValue, SSAValue]:
    """The indices (batch, class, box) of the boxes that are kept, [boxes, 3] in i64, and their scores.

    They are sorted by score if the node's `sort_result_descending` is true. `operands` are the boxes, the scores, the
    largest number of boxes, and the thresholds of overlap and score.
    """
    boxes, scores, count, overlap, threshold = operands
    center = int(node.text("box_encoding", "corner") == "center")
    indices = op.NonMaxSuppression(
        op.cast(boxes, f32),
        op.cast(scores, f32),
        _limit(op, count, si64),
        _limit(op, overlap, f32),
        _limit(op, threshold, f32),
        center_point_box=center,
    )
    # [batch, class, box] indexes the scores.
    of_boxes = op.GatherND(scores, indices)
    if node.flag("sort_result_descending", True):
        number = op.Slice(op.Shape(indices), [0], [1], [0])
        order = op.TopK.results(2, of_boxes, number, axis=0, largest=1, sorted=1)[1]
        indices, of_boxes = op.Gather(indices, order, axis=0), op.Gather(of_boxes, order, axis=0)
    return indices, of_boxes


@opset.lowers("NonMaxSuppression")
def non_max_suppression(
    node: LoweringNode,
    op: OnnxBuilder,
    boxes: SSAValue,
    scores: SSAValue,
    count: SSAValue | None = None,
    overlap: SSAValue | None = None,
    threshold: SSAValue | None = None,
    _sigma: SSAValue | None = None,
    *,
    output_type: Attribute = si64,
) -> list[SSAValue | None]:
    """opset9.NonMaxSuppression(…) -> onnx.NonMaxSuppression: the indices of the boxes that are kept, their scores with
    these indices, and their number
    """
    if node.optional(5) is not None:
        sigma = node.constant(5)
        if sigma is None or sigma.any():
            node.fail("it lowers scores instead of leaving boxes out (soft_nms_sigma), which ONNX's does not")
    if count is None:
        # No box is kept by default, as in ONNX.
        count = op.constant([0])
    indices, of_boxes = _suppressed(node, op, (boxes, scores, count, overlap, threshold))
    results: list[SSAValue | None] = [op.cast(indices, output_type), None, None]
    if node.is_used(1):
        own = op.cast(indices, node.element(1))
        results[1] = op.Concat(op.Slice(own, [0], [2], [1]), op.Unsqueeze(of_boxes, [1]), axis=1)
    if node.is_used(2):
        results[2] = op.cast(op.Slice(op.Shape(indices), [0], [1], [0]), output_type)
    return results


@opset.lowers("opset1.NonMaxSuppression", "opset3.NonMaxSuppression", "opset4.NonMaxSuppression")
def non_max_suppression_1(node: LoweringNode) -> SSAValue:
    """opset1.NonMaxSuppression, opset3 and opset4: refused, because their result is padded to a static size."""
    node.fail("its result is filled up to a static size, which ONNX's is not", hint="use opset9.NonMaxSuppression")


@opset.lowers("ROIAlign", since=16)
def roi_align(
    node: LoweringNode,
    op: OnnxBuilder,
    x: SSAValue,
    regions: SSAValue,
    batches: SSAValue,
    *,
    pooled_h: int,
    pooled_w: int,
    sampling_ratio: int,
    spatial_scale: float,
    mode: str,
    aligned_mode: str = "asymmetric",
) -> SSAValue:
    """opset9.ROIAlign(x, regions, batches) -> onnx.RoiAlign(x, regions, batches)"""
    if mode == "max":
        node.fail("it takes the greatest of interpolated samples, ONNX's RoiAlign that of their weighted corners")
    if aligned_mode == "half_pixel_for_nn":
        node.fail("its coordinates are half_pixel_for_nn, which ONNX's RoiAlign does not have")
    return op.RoiAlign(
        x,
        regions,
        op.vector(batches),
        output_height=pooled_h,
        output_width=pooled_w,
        sampling_ratio=sampling_ratio,
        spatial_scale=spatial_scale,
        mode=mode,
        coordinate_transformation_mode="half_pixel" if aligned_mode == "half_pixel" else "output_half_pixel",
    )


@opset.lowers("ROIPooling")
def roi_pooling(
    node: LoweringNode,
    op: OnnxBuilder,
    x: SSAValue,
    regions: SSAValue,
    *,
    pooled_h: int,
    pooled_w: int,
    spatial_scale: float,
    method: str = "max",
) -> SSAValue:
    """opset2.ROIPooling(x, regions [R, 5]) -> onnx.MaxRoiPool(x, regions), or onnx.GridSample of each region's image

    With `method` "bilinear" the corners of a region are relative to the image, and its samples begin and end at them;
    a sample outside of the image is 0.
    """
    if method == "max":
        return op.MaxRoiPool(x, regions, pooled_shape=(pooled_h, pooled_w), spatial_scale=spatial_scale)
    if op.version < 16:
        node.fail("it interpolates between pixels", hint="write version 16 of the operator set or a newer one")
    images = op.Gather(x, op.cast(op.Squeeze(op.Slice(regions, [0], [1], [1]), [1]), si64), axis=0)
    element = element_of(x)
    count = op.sizes(regions, 0, 1)
    axes: list[SSAValue] = []
    inside: list[SSAValue] = []
    # Along x, then along y, as in the grid.
    for column, size, axis in ((1, pooled_w, 2), (2, pooled_h, 1)):
        first, last = (op.Slice(regions, [index], [index + 1], [1]) for index in (column, column + 2))
        weights = np.linspace(0, 1, size) if size > 1 else np.array([0.5])
        # A position from -1 to 1 is one between the first and the last pixel.
        position = op.Add(op.Mul(first, op.constant(1 - weights, element)), op.Mul(last, op.constant(weights, element)))
        positions = op.Unsqueeze(position, [3 - axis])
        axes.append(op.Expand(op.Sub(op.Mul(positions, 2.0), 1.0), op.joined(count, [pooled_h, pooled_w])))
        inside.append(op.And(op.Not(op.Less(positions, 0.0)), op.Not(op.Greater(positions, 1.0))))
    grid = op.Concat(*(op.Unsqueeze(each, [3]) for each in axes), axis=3)
    mode = "linear" if op.version >= 20 else "bilinear"
    samples = op.GridSample(images, grid, align_corners=1, mode=mode, padding_mode="border")
    return op.Where(op.Unsqueeze(op.And(*inside), [1]), samples, 0.0)
