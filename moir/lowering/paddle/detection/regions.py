"""Regions of interest: pooling, proposals, and their distribution to levels of a pyramid.

Source: roi_align_op.cc, roi_pool_op.cc, generate_proposals_v2_op.cc and distribute_fpn_proposals_op.cc of
PaddlePaddle 2.6.
"""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si32, si64
from moir.dialects.shapes import element_of, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.paddle.table import paddle
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


def _images(node: LoweringNode, op: OpBuilder, x: SSAValue, regions: SSAValue, counts: SSAValue | None) -> SSAValue:
    """The image of each region, of the numbers of regions of the images: [regions]."""
    number = op.Slice(op.ShapeOf(regions), [0], [1], [1])
    if (shape_of(x) or (-1,))[0] == 1:
        return op.Broadcast(op.constant(0, si32), number)
    if counts is None:
        node.fail("the numbers of regions of the images are missing", hint="give the model a batch of 1")
    # An image begins where the regions of those before it end.
    ends = op.CumSum(op.convert(counts, si64), op.constant(0))
    places = op.Range(op.constant(0), op.Squeeze(number, [0]), op.constant(1), output_type=si64)
    is_behind = op.GreaterEqual(op.Unsqueeze(places, [1]), op.Unsqueeze(ends, [0]))
    return op.ReduceSum(op.convert(is_behind, si32), [1], keep_dims=False)


@paddle.lowers("roi_align")
def roi_align(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    regions: SSAValue,
    counts: SSAValue | None = None,
    *,
    pooled_height: int = 1,
    pooled_width: int = 1,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = False,
) -> SSAValue:
    """paddle.roi_align(x, regions, counts) -> opset9.ROIAlign(x, regions, image of each region)"""
    return op.ROIAlign(
        x,
        regions,
        _images(node, op, x, regions, counts),
        pooled_h=pooled_height,
        pooled_w=pooled_width,
        sampling_ratio=max(sampling_ratio, 0),
        spatial_scale=spatial_scale,
        mode="avg",
        aligned_mode="half_pixel_for_nn" if aligned else "asymmetric",
    )


@paddle.lowers("roi_pool")
def roi_pool(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    regions: SSAValue,
    counts: SSAValue | None = None,
    *,
    pooled_height: int = 1,
    pooled_width: int = 1,
    spatial_scale: float = 1.0,
) -> Replacement:
    """paddle.roi_pool(x, regions, counts) -> opset1.ROIPooling(x, (image, region)) {method = "max"}"""
    images = op.convert(op.Unsqueeze(_images(node, op, x, regions, counts), [1]), element_of(regions))
    rows = op.Concat(images, regions, axis=1)
    result = op.ROIPooling(x, rows, output_size=[pooled_height, pooled_width], spatial_scale=spatial_scale, method="max")
    return [result, *[None] * (node.result_count - 1)]


@paddle.lowers("generate_proposals_v2")
def generate_proposals(
    node: LoweringNode,
    op: OpBuilder,
    scores: SSAValue,
    deltas: SSAValue,
    image_shape: SSAValue,
    anchors: SSAValue,
    variances: SSAValue | None = None,
    *,
    pre_nms_topN: int,
    post_nms_topN: int,
    nms_thresh: float,
    min_size: float,
    eta: float = 1.0,
    pixel_offset: bool = True,
) -> Replacement:
    """paddle.generate_proposals_v2(scores, deltas, image shape, anchors, variances) -> opset9.GenerateProposals

    Variances are multiplied into the deltas.
    """
    if variances is not None:
        known = op.known.constant(variances)
        if known is None or not np.all(known == 1):
            # [H, W, A, 4] -> [1, A · 4, H, W]
            shares = op.Transpose(op.Reshape(variances, op.ShapeOf(anchors), special_zero=False), [2, 3, 0, 1])
            shape = op.Concat(op.constant([1]), op.Slice(op.ShapeOf(deltas), [1], [4], [1]), axis=0)
            deltas = op.Multiply(deltas, op.Reshape(shares, shape, special_zero=False))
    ones = op.Broadcast(
        op.constant_like(1.0, image_shape), op.Concat(op.Slice(op.ShapeOf(image_shape), [0], [1], [1]), op.constant([1]), axis=0)
    )
    results = op.GenerateProposals.results(
        op.Concat(image_shape, ones, axis=1),
        anchors,
        deltas,
        scores,
        min_size=max(min_size, 1.0),
        nms_threshold=nms_thresh,
        pre_nms_count=pre_nms_topN,
        post_nms_count=post_nms_topN,
        normalized=not pixel_offset,
        nms_eta=eta,
        roi_num_type=si32,
    )
    return [results[0], op.Unsqueeze(results[1], [1]), results[2]][: node.result_count]


@paddle.lowers("distribute_fpn_proposals")
def distribute_proposals(
    node: LoweringNode,
    op: OpBuilder,
    regions: SSAValue,
    counts: SSAValue | None = None,
    *,
    min_level: int,
    max_level: int,
    refer_level: int,
    refer_scale: int,
    pixel_offset: bool = True,
) -> Replacement:
    """paddle.distribute_fpn_proposals(regions, counts) -> regions of each level, their numbers, places of all"""
    levels = max_level - min_level + 1
    if not 0 < levels <= 100:
        node.fail(f"levels from {min_level} to {max_level}")
    margin = 1.0 if pixel_offset else 0.0
    left, top, right, bottom = (op.Gather(regions, index, 1) for index in range(4))
    area = op.Multiply(*(op.Add(op.Subtract(end, start), margin) for start, end in ((left, right), (top, bottom))))
    scaled = op.Add(op.Divide(op.Sqrt(area), float(refer_scale)), 1e-8)
    level = op.Add(op.Floor(op.Multiply(op.Log(scaled), 1 / math.log(2))), float(refer_level))
    level = op.Clamp(level, min=float(min_level), max=float(max_level))
    parts: list[SSAValue] = []
    places: list[SSAValue] = []
    numbers: list[SSAValue] = []
    images = None
    if counts is not None:
        ends = op.CumSum(op.convert(counts, si64), op.constant(0))
        begins = op.Subtract(ends, op.convert(counts, si64))
        order = op.Range(op.constant(0), op.Gather(op.ShapeOf(regions), 0, 0), op.constant(1), output_type=si64)
        column = op.Unsqueeze(order, [1])
        images = op.LogicalAnd(op.GreaterEqual(column, begins), op.Less(column, ends))
    for number in range(min_level, max_level + 1):
        chosen = op.Equal(level, float(number))
        place = op.Squeeze(op.NonZero(chosen, output_type=si64), [0])
        parts.append(op.Gather(regions, place, 0))
        places.append(place)
        if images is None:
            numbers.append(op.convert(op.ShapeOf(place), si32))
        else:
            numbers.append(op.ReduceSum(op.convert(op.LogicalAnd(op.Unsqueeze(chosen, [1]), images), si32), [0], keep_dims=False))
    joined = op.Concat(*places, axis=0) if levels > 1 else places[0]
    size = op.Gather(op.ShapeOf(joined), 0, 0)
    _, restore = op.TopK.results(op.convert(joined, si32), size, axis=0, mode="min", sort="value", index_element_type=si32)
    results: list[SSAValue | None] = [*parts, *numbers, op.Unsqueeze(restore, [1])]
    return results[: node.result_count]
