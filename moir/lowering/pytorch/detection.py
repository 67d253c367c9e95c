"""The operations of torchvision: suppression, pooling of regions, convolutions whose windows are displaced."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si32, si64
from moir.dialects.shapes import element_of
from moir.expansions.images import pooled_regions
from moir.expansions.shape_values import dimension_value
from moir.expansions.suppression import exclusive, selected_boxes
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


@aten.lowers("torchvision.deform_conv2d.default")
def deform_conv2d(
    op: OpBuilder,
    input: SSAValue,
    weight: SSAValue,
    offset: SSAValue,
    mask: SSAValue,
    bias: SSAValue,
    *,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> SSAValue:
    """aten.torchvision.deform_conv2d.default(x, w, offsets, mask, b)
    -> opset8.DeformableConvolution(x, offsets, w, mask) + b
    """
    operands = [input, offset, weight, *([mask] if use_mask else [])]
    convolved = op["opset8.DeformableConvolution"](
        *operands,
        strides=[stride_h, stride_w],
        pads_begin=[pad_h, pad_w],
        pads_end=[pad_h, pad_w],
        dilations=[dilation_h, dilation_w],
        group=groups,
        deformable_group=offset_groups,
        bilinear_interpolation_pad=True,
    )
    return op.Add(convolved, op.Reshape(bias, [1, -1, 1, 1], special_zero=False))


@aten.lowers("torchvision.nms.default")
def nms(op: OpBuilder, dets: SSAValue, scores: SSAValue, *, iou_threshold: float) -> SSAValue:
    """aten.torchvision.nms.default(boxes [N, 4], scores [N]) {iou_threshold} -> opset9.NonMaxSuppression(…)"""
    count = op.Gather(op.ShapeOf(scores), op.constant(0), 0)
    boxes, rows = op.Unsqueeze(op.convert(dets, f32), [0]), op.Unsqueeze(op.convert(scores, f32), [0, 1])
    overlap, least = exclusive(op, op.constant(iou_threshold)), op.constant(float(np.finfo(np.float32).min))
    selected, *_ = selected_boxes(op, boxes, rows, count, overlap, least)
    return op.Gather(selected, op.constant(2), 1)


@aten.lowers("torchvision.roi_align.default")
def roi_align(
    op: OpBuilder,
    input: SSAValue,
    rois: SSAValue,
    *,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> SSAValue:
    """aten.torchvision.roi_align.default(x, regions [R, 5]) -> opset9.ROIAlign(x, boxes, images)"""
    return _aligned(op, input, rois, (pooled_height, pooled_width), spatial_scale, sampling_ratio, aligned=aligned)


def _aligned(
    op: OpBuilder, input: SSAValue, rois: SSAValue, size: tuple[int, int], spatial_scale: float, sampling_ratio: int, *, aligned: bool
) -> SSAValue:
    boxes = op.Slice(rois, [1], [5], [1], [1])
    images = op.convert(op.Gather(rois, op.constant(0), 1), si32)
    boxes = op.convert(boxes, element_of(input))
    return pooled_regions.roi_align(op, input, boxes, images, size, spatial_scale, sampling_ratio, aligned=aligned)


@aten.lowers("torchvision.roi_pool.default")
def roi_pool(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    rois: SSAValue,
    *,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
) -> Replacement:
    """aten.torchvision.roi_pool.default(x, regions [R, 5]) -> opset2.ROIPooling(x, regions) {method = "max"}"""
    _check_for_training(node)
    size = {"pooled_h": pooled_height, "pooled_w": pooled_width}
    rows = op.convert(rois, element_of(input))
    return [op.ROIPooling(input, rows, spatial_scale=spatial_scale, method="max", **size), None]


@aten.lowers("torchvision.ps_roi_align.default")
def ps_roi_align(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    rois: SSAValue,
    *,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
) -> Replacement:
    """aten.torchvision.ps_roi_align.default(x, regions [R, 5]) -> opset9.ROIAlign(x, boxes, images), of which each cell
    takes channels of its own
    """
    _check_for_training(node)
    size = (pooled_height, pooled_width)
    return [_own_channels(op, _aligned(op, input, rois, size, spatial_scale, sampling_ratio, aligned=True), size), None]


@aten.lowers("torchvision.ps_roi_pool.default")
def ps_roi_pool(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    rois: SSAValue,
    *,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
) -> Replacement:
    """aten.torchvision.ps_roi_pool.default(x, regions [R, 5]) -> averages of cells, each of channels of its own

    The corners of regions are rounded after they are scaled, other than in opset1.PSROIPooling.

    Source: ps_roi_pool_kernel.cpp of torchvision 0.29.
    """
    _check_for_training(node)
    size = (pooled_height, pooled_width)
    images = op.Gather(input, op.convert(op.Gather(rois, op.constant(0), 1), si32), 0)
    corners = op.Round(op.Multiply(op.convert(rois, f32), spatial_scale), mode="half_away_from_zero")
    means = op.convert(images, f32)
    for axis, count in zip((2, 3), size, strict=True):
        # Of the columns (image, x1, y1, x2, y2).
        start, end = (op.Gather(corners, op.constant([first - axis]), 1) for first in (4, 6))
        step = op.Divide(op.Maximum(op.Subtract(end, start), 1.0), float(count))
        cells = op.constant(np.arange(count), f32)
        size_of_axis = dimension_value(op, input, axis)
        edges = op.Floor(op.Multiply(cells, step)), op.Ceiling(op.Multiply(op.Add(cells, 1.0), step))
        # The last row and column belong to no cell.
        limit = op.convert(op.Subtract(size_of_axis, 1), f32)
        first, last = (op.Unsqueeze(op.Minimum(op.Maximum(op.Add(edge, start), 0.0), limit), [2]) for edge in edges)
        position = op.convert(op.Range(0, size_of_axis, 1, output_type=si64), f32)
        inside = op.convert(op.LogicalAnd(op.GreaterEqual(position, first), op.Less(position, last)), f32)
        weights = op.Unsqueeze(op.Divide(inside, op.Maximum(op.Subtract(last, first), 1.0)), [1])
        means = op.MatMul(weights, means) if axis == 2 else op.MatMul(means, weights, transpose_b=True)
    return [op.convert(_own_channels(op, means, size), element_of(input)), None]


def _own_channels(op: OpBuilder, x: SSAValue, size: tuple[int, int]) -> SSAValue:
    """[R, C * cells, rows, columns] -> [R, C, rows, columns], where each cell has channels of its own."""
    cells = size[0] * size[1]
    flat = op.Reshape(x, [0, -1, cells * cells], special_zero=True)
    return op.Reshape(op.Gather(flat, op.constant(np.arange(cells) * (cells + 1)), 2), [0, -1, *size], special_zero=True)


def _check_for_training(node: LoweringNode) -> None:
    """Raises ConversionError if the second result of a node is used: the sampled indices, which only training needs."""
    if node.is_used(1):
        node.fail("its result for training is used", hint="export the model for inference")
