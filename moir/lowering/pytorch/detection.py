"""The operations of torchvision: suppression, pooling of regions, convolutions whose windows are displaced."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si32
from moir.dialects.shapes import element_of
from moir.expansions.images import pooled_regions
from moir.expansions.suppression import exclusive, selected_boxes
from moir.lowering.pytorch.table import aten
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
    found = op["opset8.DeformableConvolution"](
        *operands,
        strides=[stride_h, stride_w],
        pads_begin=[pad_h, pad_w],
        pads_end=[pad_h, pad_w],
        dilations=[dilation_h, dilation_w],
        group=groups,
        deformable_group=offset_groups,
        bilinear_interpolation_pad=True,
    )
    return op.Add(found, op.Reshape(bias, [1, -1, 1, 1], special_zero=False))


@aten.lowers("torchvision.nms.default")
def nms(op: OpBuilder, dets: SSAValue, scores: SSAValue, *, iou_threshold: float) -> SSAValue:
    """aten.torchvision.nms.default(boxes [N, 4], scores [N]) {iou_threshold} -> opset9.NonMaxSuppression(…)"""
    count = op.Gather(op.ShapeOf(scores), op.constant(0), 0)
    boxes, rows = op.Unsqueeze(op.convert(dets, f32), [0]), op.Unsqueeze(op.convert(scores, f32), [0, 1])
    overlap, least = exclusive(op, op.constant(iou_threshold)), op.constant(float(np.finfo(np.float32).min))
    found, *_ = selected_boxes(op, boxes, rows, count, overlap, least)
    return op.Gather(found, op.constant(2), 1)


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
    boxes = op.Slice(rois, [1], [5], [1], [1])
    images = op.convert(op.Gather(rois, op.constant(0), 1), si32)
    boxes, size = op.convert(boxes, element_of(input)), (pooled_height, pooled_width)
    return pooled_regions.roi_align(op, input, boxes, images, size, spatial_scale, sampling_ratio, aligned=aligned)
