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
from moir.expansions.images import pooled_regions
from moir.lowering.binder import LoweringNode
from moir.lowering.paddle.operands import split_lists
from moir.lowering.paddle.table import paddle
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


def _images(node: LoweringNode, op: OpBuilder, x: SSAValue, regions: SSAValue, counts: SSAValue | None) -> SSAValue:
    """The index of the image of each region [regions]; `counts` has the number of regions of each image, None for a
    batch of 1.
    """
    count = op.Slice(op.ShapeOf(regions), [0], [1], [1])
    if (shape_of(x) or (-1,))[0] == 1:
        return op.Broadcast(op.constant(0, si32), count)
    if counts is None:
        node.fail("the numbers of regions of the images are missing", hint="give the model a batch of 1")
    return _images_by_counts(op, regions, counts)


def _rows(node: LoweringNode, op: OpBuilder, x: SSAValue, regions: SSAValue, counts: SSAValue | None) -> SSAValue:
    """For each region, the index of its image and its corners: [regions, 5].

    `counts` has the number of regions of each image.
    """
    images = op.Unsqueeze(_images(node, op, x, regions, counts), [1])
    return op.Concat(op.convert(images, element_of(regions)), regions, axis=1)


def _images_by_counts(op: OpBuilder, regions: SSAValue, counts: SSAValue) -> SSAValue:
    """The index of the image of each region, given the number of regions of each image."""
    count = op.Slice(op.ShapeOf(regions), [0], [1], [1])
    ends = op.CumSum(op.convert(counts, si64), op.constant(0))
    indices = op.Range(op.constant(0), op.Squeeze(count, [0]), op.constant(1), output_type=si64)
    is_past = op.GreaterEqual(op.Unsqueeze(indices, [1]), op.Unsqueeze(ends, [0]))
    return op.ReduceSum(op.convert(is_past, si32), [1], keep_dims=False)


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
    images, size = _images(node, op, x, regions, counts), (pooled_height, pooled_width)
    return pooled_regions.roi_align(op, x, regions, images, size, spatial_scale, sampling_ratio, aligned=aligned)


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
    rows = _rows(node, op, x, regions, counts)
    result = op.ROIPooling(x, rows, pooled_h=pooled_height, pooled_w=pooled_width, spatial_scale=spatial_scale, method="max")
    return [result, *[None] * (node.result_count - 1)]


@paddle.lowers("psroi_pool")
def position_pool(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    regions: SSAValue,
    counts: SSAValue | None = None,
    *,
    output_channels: int,
    pooled_height: int = 1,
    pooled_width: int = 1,
    spatial_scale: float = 1.0,
) -> SSAValue:
    """paddle.psroi_pool(x, regions, counts) -> opset1.PSROIPooling(x, (image, region)) {mode = "average"}"""
    if pooled_height != pooled_width:
        node.fail(f"{pooled_height} rows and {pooled_width} columns, which have to be equal")
    rows = _rows(node, op, x, regions, counts)
    return pooled_regions.position_averages(op, x, rows, output_channels, pooled_height, spatial_scale)


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
    """paddle.distribute_fpn_proposals(regions, counts) -> regions of each level, their counts, and the index of each
    region in the levels' concatenation
    """
    level_count = max_level - min_level + 1
    if not 0 < level_count <= 100:
        node.fail(f"levels from {min_level} to {max_level}")
    margin = 1.0 if pixel_offset else 0.0
    left, top, right, bottom = (op.Gather(regions, index, 1) for index in range(4))
    area = op.Multiply(*(op.Add(op.Subtract(end, start), margin) for start, end in ((left, right), (top, bottom))))
    scaled = op.Add(op.Divide(op.Sqrt(area), float(refer_scale)), 1e-8)
    level = op.Add(op.Floor(op.Multiply(op.Log(scaled), 1 / math.log(2))), float(refer_level))
    level = op.Clamp(level, min=float(min_level), max=float(max_level))
    parts: list[SSAValue] = []
    orders: list[SSAValue] = []
    level_counts: list[SSAValue] = []
    images = None
    if counts is not None:
        ends = op.CumSum(op.convert(counts, si64), op.constant(0))
        begins = op.Subtract(ends, op.convert(counts, si64))
        order = op.Range(op.constant(0), op.Gather(op.ShapeOf(regions), 0, 0), op.constant(1), output_type=si64)
        column = op.Unsqueeze(order, [1])
        images = op.LogicalAnd(op.GreaterEqual(column, begins), op.Less(column, ends))
    for level_index in range(min_level, max_level + 1):
        is_of_level = op.Equal(level, float(level_index))
        index = op.Squeeze(op.NonZero(is_of_level, output_type=si64), [0])
        parts.append(op.Gather(regions, index, 0))
        orders.append(index)
        if images is None:
            level_counts.append(op.convert(op.ShapeOf(index), si32))
        else:
            level_counts.append(op.ReduceSum(op.convert(op.LogicalAnd(op.Unsqueeze(is_of_level, [1]), images), si32), [0], keep_dims=False))
    concatenated = op.Concat(*orders, axis=0) if level_count > 1 else orders[0]
    size = op.Gather(op.ShapeOf(concatenated), 0, 0)
    _, restore = op.TopK.results(op.convert(concatenated, si32), size, axis=0, mode="min", sort="value", index_element_type=si32)
    results: list[SSAValue | None] = [*parts, *level_counts, op.Unsqueeze(restore, [1])]
    return results[: node.result_count]


@paddle.lowers("collect_fpn_proposals")
def collect_proposals(node: LoweringNode, op: OpBuilder, *lists: SSAValue, post_nms_topN: int) -> Replacement:
    """paddle.collect_fpn_proposals(regions…, scores…, counts…) -> the regions of the best scores, by image"""
    regions, scores, counts = split_lists(node, lists, 3)
    if not regions or len(scores) != len(regions) or len(counts) not in (0, len(regions)):
        node.fail(f"it has {len(regions)} regions, {len(scores)} scores and {len(counts)} numbers of regions")
    if not counts:
        node.fail("the numbers of regions of the images are missing", hint="export the model with a newer PaddleDetection")
    all_regions = op.Concat(*regions, axis=0) if len(regions) > 1 else regions[0]
    values = [op.Reshape(each, [-1], special_zero=False) for each in scores]
    value = op.Concat(*values, axis=0) if len(values) > 1 else values[0]
    kept = op.Minimum(op.Gather(op.ShapeOf(value), 0, 0), post_nms_topN)
    _, best = op.TopK.results(value, kept, axis=0, mode="max", sort="value", index_element_type=si32, stable=True)
    if shape_of(counts[0]) == (1,):
        return [op.Gather(all_regions, best, 0), op.convert(op.ShapeOf(best), si32)][: node.result_count]
    images = [_images_by_counts(op, each, number) for each, number in zip(regions, counts, strict=True)]
    image = op.Gather(op.Concat(*images, axis=0) if len(images) > 1 else images[0], best, 0)
    indices = op.convert(op.Range(op.constant(0), kept, op.constant(1), output_type=si64), si32)
    keys = op.Add(op.Multiply(image, op.convert(kept, si32)), indices)
    _, order = op.TopK.results(keys, kept, axis=0, mode="min", sort="value", index_element_type=si32)
    every = op.Range(op.constant(0), op.Gather(op.ShapeOf(counts[0]), 0, 0), op.constant(1), output_type=si64)
    is_of = op.Equal(op.Unsqueeze(image, [1]), op.convert(every, si32))
    image_counts = op.ReduceSum(op.convert(is_of, si32), [0], keep_dims=False)
    return [op.Gather(all_regions, op.Gather(best, order, 0), 0), image_counts][: node.result_count]
