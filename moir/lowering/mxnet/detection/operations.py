"""Operations of detection networks: SSD, Faster R-CNN, YOLO of GluonCV.

Source: contrib/multibox_prior.cc, contrib/multibox_detection.cc, contrib/bounding_box-inl.h, roi_pooling.cc,
contrib/roi_align.cc, contrib/psroi_pooling.cc and contrib/deformable_psroi_pooling.cc of MXNet 1.9.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si32, si64
from moir.dialects.shapes import shape_of, size_along
from moir.expansions.extremes import first_extremes
from moir.expansions.images import pooled_regions
from moir.expansions.suppression import is_selected, selected_boxes
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.attributes import rank_of_operand
from moir.lowering.mxnet.table import mxnet
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


@mxnet.lowers("_contrib_MultiBoxPrior")
def multi_box_prior(
    op: OpBuilder,
    x_: SSAValue,
    *,
    clip: bool = False,
    sizes: tuple[float, ...] = (1.0,),
    ratios: tuple[float, ...] = (1.0,),
    steps: tuple[float, ...] = (-1.0, -1.0),
    offsets: tuple[float, ...] = (0.5, 0.5),
) -> SSAValue:
    """mxnet._contrib_MultiBoxPrior(x) {sizes, ratios, clip, steps, offsets} -> boxes [1, H · W · A, 4]

    At each position: boxes of all sizes with the first ratio, then boxes of the first size with the other ratios.
    Corners are fractions of the image; widths are scaled by height / width, so that both are in one unit.
    """
    shape = op.ShapeOf(x_)
    height, width = (op.convert(op.Gather(shape, axis, 0), f32) for axis in (2, 3))
    root = np.sqrt(np.array([ratios[0]] * len(sizes) + list(ratios[1:]), np.float32))
    size = np.array([*sizes, *[sizes[0]] * (len(ratios) - 1)], np.float32)
    half_widths = op.Multiply(op.constant(size * root / 2), op.Divide(height, width))
    half_heights = op.constant(size / root / 2)

    def centres(count: SSAValue, step: float, offset: float) -> SSAValue:
        positions = op.Add(op.convert(op.Range(0, op.convert(count, si64), 1, output_type=si64), f32), offset)
        return op.Multiply(positions, step) if step > 0 else op.Divide(positions, count)

    y = op.Reshape(centres(height, steps[0], offsets[0]), [-1, 1, 1], special_zero=False)
    x = op.Reshape(centres(width, steps[1], offsets[1]), [1, -1, 1], special_zero=False)
    full = op.Concat(op.Slice(shape, [2], [4], [1]), op.constant([len(size)]), axis=0)
    corners = [op.Subtract(x, half_widths), op.Subtract(y, half_heights), op.Add(x, half_widths), op.Add(y, half_heights)]
    boxes = op.Concat(*(op.Unsqueeze(op.Broadcast(corner, full), [3]) for corner in corners), axis=3)
    boxes = op.Reshape(boxes, [1, -1, 4], special_zero=False)
    return op.Clamp(boxes, min=0.0, max=1.0) if clip else boxes


class Candidates(NamedTuple):
    """Boxes [N, A, 4] in descending order of scores [N, A], with classes [N, A]; excluded boxes score -1."""

    scores: SSAValue
    classes: SSAValue
    boxes: SSAValue


def _survivors(op: OpBuilder, candidates: Candidates, threshold: float, class_count: int | None) -> SSAValue:
    """A mask [N, A] of the candidates that remain after non-maximum suppression.

    A candidate is suppressed if a candidate of the same class with a higher score overlaps it by more than the
    threshold. If `class_count` is None, classes are ignored.
    """
    if class_count is None:
        scores = op.Unsqueeze(candidates.scores, [1])
    else:
        class_indices = op.constant(np.arange(class_count, dtype=np.float32).reshape(1, -1, 1))
        scores = op.Select(op.Equal(op.Unsqueeze(candidates.classes, [1]), class_indices), op.Unsqueeze(candidates.scores, [1]), -1.0)
    count = op.Gather(op.ShapeOf(candidates.scores), 1, 0)
    rows, *_ = selected_boxes(op, candidates.boxes, scores, count, op.constant(threshold), op.constant(0.0), output_type=si64)
    return op.Greater(is_selected(op, rows, candidates.scores), 0.0)


def _by_score(op: OpBuilder, scores: SSAValue, *others: SSAValue) -> list[SSAValue]:
    """Scores [N, A] in descending order, and tensors [N, A, …] in the same order."""
    count = op.Gather(op.ShapeOf(scores), 1, 0)
    ordered, order = op.TopK.results(scores, count, axis=1, mode="max", sort="value", index_element_type=si64, stable=True)
    return [ordered, *(op.Gather(other, order, 1, batch_dims=1) for other in others)]


@mxnet.lowers("_contrib_MultiBoxDetection")
def multi_box_detection(
    node: LoweringNode,
    op: OpBuilder,
    scores: SSAValue,
    offsets: SSAValue,
    anchors: SSAValue,
    *,
    nms_topk: int = -1,
    nms_threshold: float = 0.5,
    background_id: int = 0,
    variances: tuple[float, ...] = (0.1, 0.1, 0.2, 0.2),
    clip: bool = True,
    threshold_: float = 0.01,
    force_suppress: bool = False,
) -> SSAValue:
    """mxnet._contrib_MultiBoxDetection(scores [N, C, A], offsets [N, 4 A], anchors [1, A, 4])
    -> [N, A, 6] in descending order of scores

    A row is (class, score, corners). The class of a suppressed row is -1, and all entries of an excluded row are. Rows
    after the first `nms_topk` are not sorted: they are the candidates at these indices in the order of the anchors.
    """
    shape = shape_of(scores)
    if shape is None or len(shape) != 3 or shape[1] < 2:
        node.fail("the number of classes is dynamic", hint="give the model's inputs static shapes")
    if background_id != 0:
        node.fail("another background than class 0 is not supported")
    foreground = op.Slice(scores, [1], [2**31], [1], [1])
    best, class_numbers = first_extremes(op, foreground, 1, "max")
    best, classes = op.Squeeze(best, [1]), op.convert(op.Squeeze(class_numbers, [1]), f32)
    masked_scores = op.Select(op.GreaterEqual(best, threshold_), best, -1.0)
    boxes = _decoded(op, offsets, anchors, variances, clip)
    ordered, classes, ordered_boxes = _by_score(op, masked_scores, classes, boxes)
    considered = _within(op, op.GreaterEqual(ordered, 0.0), nms_topk)
    kept = considered
    if 0 < nms_threshold <= 1:
        candidates = Candidates(op.Select(considered, ordered, -1.0), classes, ordered_boxes)
        kept = _survivors(op, candidates, nms_threshold, None if force_suppress else shape[1] - 1)
    if nms_topk > 0:
        # All candidates in the order of the anchors.
        counts = op.convert(op.GreaterEqual(masked_scores, 0.0), f32)
        _, scores, corners = _by_score(op, counts, masked_scores, boxes)
        ordered, ordered_boxes = op.Select(considered, ordered, scores), op.Select(op.Unsqueeze(considered, [2]), ordered_boxes, corners)
    rows = op.Concat(op.Unsqueeze(op.Select(kept, classes, -1.0), [2]), op.Unsqueeze(ordered, [2]), ordered_boxes, axis=2)
    return op.Select(op.Unsqueeze(op.GreaterEqual(ordered, 0.0), [2]), rows, -1.0)


def _within(op: OpBuilder, counts: SSAValue, limit: int) -> SSAValue:
    """A mask [N, A] of the first `limit` candidates that are not excluded; of all of them if `limit` is not positive.

    `counts` has for each candidate the number of candidates up to it that are not excluded.
    """
    if limit <= 0:
        return counts
    positions = op.Range(0, op.Gather(op.ShapeOf(counts), 1, 0), 1, output_type=si64)
    return op.LogicalAnd(counts, op.Less(op.Unsqueeze(positions, [0]), limit))


def _decoded(op: OpBuilder, offsets: SSAValue, anchors: SSAValue, variances: tuple[float, ...], clips: bool) -> SSAValue:
    """Corners [N, A, 4] from offsets [N, 4 A] of centres and sizes of anchors [1, A, 4].

    The offsets are multiplied by the variances; with `clips` corners are clamped to 0 to 1.
    """
    shifts = op.Multiply(op.Reshape(offsets, [0, -1, 4], special_zero=True), op.constant(list(variances)))
    x1, y1, x2, y2 = op.Split.parts(4, anchors, op.constant(2), num_splits=4)
    dx, dy, dw, dh = op.Split.parts(4, shifts, op.constant(2), num_splits=4)
    width, height = op.Subtract(x2, x1), op.Subtract(y2, y1)
    x = op.Add(op.Multiply(dx, width), op.Divide(op.Add(x1, x2), 2.0))
    y = op.Add(op.Multiply(dy, height), op.Divide(op.Add(y1, y2), 2.0))
    w, h = (op.Divide(op.Multiply(op.Exp(d), size), 2.0) for d, size in ((dw, width), (dh, height)))
    boxes = op.Concat(op.Subtract(x, w), op.Subtract(y, h), op.Add(x, w), op.Add(y, h), axis=2)
    return op.Clamp(boxes, min=0.0, max=1.0) if clips else boxes


@mxnet.lowers("_contrib_box_nms", "_contrib_box_non_maximum_suppression")
def box_nms(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    *,
    coord_start: int = 2,
    score_index: int = 1,
    id_index: int = -1,
    background_id: int = -1,
    valid_thresh: float = 0.0,
    topk: int = -1,
    overlap_thresh: float = 0.5,
    out_format: str = "corner",
    in_format: str = "corner",
    force_suppress: bool = False,
) -> Replacement:
    """mxnet._contrib_box_nms(x [N, A, K]) -> rows in descending order of scores, then rows of -1 for suppressed ones"""
    rank = rank_of_operand(node)
    if rank not in (2, 3):
        node.fail(f"its operand has {rank} dimensions, not 2 or 3")
    if node.is_used(1):
        node.fail("its second result is for training only")
    rows = op.Unsqueeze(x, [0]) if rank == 2 else x
    score = op.Gather(rows, score_index, 2)
    counts = op.Greater(score, valid_thresh)
    if id_index >= 0 and background_id >= 0:
        counts = op.LogicalAnd(counts, op.NotEqual(op.Gather(rows, id_index, 2), background_id))
    ordered, rows = _by_score(op, op.Select(counts, score, -1.0), rows)
    considered = _within(op, op.GreaterEqual(ordered, 0.0), topk)
    coordinates = op.Gather(rows, list(range(coord_start, coord_start + 4)), 2)
    boxes = corners(op, coordinates) if in_format == "center" else coordinates
    is_by_class = id_index >= 0 and not force_suppress
    classes = op.Gather(rows, id_index, 2) if is_by_class else ordered
    candidates = Candidates(op.Select(considered, ordered, -1.0), classes, _apart(op, boxes, classes) if is_by_class else boxes)
    kept = _survivors(op, candidates, overlap_thresh, None)
    if out_format != in_format:
        changed = boxes if out_format == "corner" else centres(op, boxes)
        columns = op.constant(np.arange(coord_start, coord_start + 4, dtype=np.int64).reshape(1, 1, 4))
        sizes = op.Concat(op.Slice(op.ShapeOf(rows), [0], [2], [1]), op.constant([4]), axis=0)
        rows = op.ScatterElementsUpdate(rows, op.Broadcast(columns, sizes), changed, op.constant(2))
    survived, rows = _by_score(op, op.Select(kept, ordered, -1.0), rows)
    result = op.Select(op.Unsqueeze(op.GreaterEqual(survived, 0.0), [2]), rows, -1.0)
    return [op.Squeeze(result, [0]) if rank == 2 else result]


def _apart(op: OpBuilder, boxes: SSAValue, classes: SSAValue) -> SSAValue:
    """Boxes shifted by multiples of their class, so that boxes of different classes do not overlap."""
    reach = op.Add(op.Subtract(op.ReduceMax(boxes, [0, 1, 2], keep_dims=True), op.ReduceMin(boxes, [0, 1, 2], keep_dims=True)), 1.0)
    return op.Add(boxes, op.Multiply(op.Unsqueeze(classes, [2]), reach))


def corners(op: OpBuilder, boxes: SSAValue) -> SSAValue:
    """Corners of boxes that are given by centre and size, along the last axis."""
    centre, size = op.Split.parts(2, boxes, op.constant(-1), num_splits=2)
    half = op.Divide(size, 2.0)
    return op.Concat(op.Subtract(centre, half), op.Add(centre, half), axis=-1)


def centres(op: OpBuilder, boxes: SSAValue) -> SSAValue:
    """Centres and sizes of boxes that are given by corners, along the last axis."""
    low, high = op.Split.parts(2, boxes, op.constant(-1), num_splits=2)
    return op.Concat(op.Divide(op.Add(low, high), 2.0), op.Subtract(high, low), axis=-1)


def _sides(node: LoweringNode, pooled_size: Sequence[int]) -> tuple[int, int]:
    """The height and the width of pooled regions.

    Raises ConversionError if the attribute does not have two elements.
    """
    if len(pooled_size) != 2:
        node.fail(f"pooled_size has {len(pooled_size)} entries, not height and width")
    height, width = pooled_size
    return height, width


@mxnet.lowers("ROIPooling", "_npx_roi_pooling")
def roi_pooling(
    node: LoweringNode, op: OpBuilder, x: SSAValue, regions_: SSAValue, *, spatial_scale: float, pooled_size: tuple[int, ...] = ()
) -> SSAValue:
    """mxnet.ROIPooling(x, regions [R, 5]) {pooled_size, spatial_scale} -> opset2.ROIPooling(x, regions)"""
    height, width = _sides(node, pooled_size)
    regions = op.Reshape(regions_, [-1, 5], special_zero=False)
    return op.ROIPooling(x, regions, pooled_h=height, pooled_w=width, spatial_scale=spatial_scale, method="max")


@mxnet.lowers("_contrib_PSROIPooling")
def psroi_pooling(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    regions: SSAValue,
    *,
    pooled_size: int,
    group_size: int = 0,
    output_dim: int,
    spatial_scale: float,
) -> SSAValue:
    """mxnet._contrib_PSROIPooling(x, regions [R, 5]) -> opset1.PSROIPooling(x, regions) {mode = "average"}"""
    group = group_size or pooled_size
    if group != pooled_size:
        node.fail(f"group_size {group} differs from pooled_size {pooled_size}, the operation sets have one size")
    rows = op.Reshape(regions, [-1, 5], special_zero=False)
    return pooled_regions.position_averages(op, x, rows, output_dim, pooled_size, spatial_scale)


@mxnet.lowers("_contrib_ROIAlign")
def roi_align(
    node: LoweringNode,
    op: OpBuilder,
    *,
    position_sensitive: bool = False,
    spatial_scale: float,
    sample_ratio: int = -1,
    pooled_size: tuple[int, ...] = (),
    aligned_: bool = False,
) -> SSAValue:
    """mxnet._contrib_ROIAlign(x, regions [R, 5]) -> opset9.ROIAlign(x, corners, batch indices) {mode = "avg"}

    With `position_sensitive`, the result at position (i, j) of H x W positions is read from channel (c · H + i) · W +
    j.
    """
    height, width = _sides(node, pooled_size)
    regions = node.operand(1)
    if size_along(node.shape(1) or (-1, 5), 1) == 4:
        # Without a column of batch indices, all regions belong to the first image.
        batches = op.Broadcast(op.constant(0, si32), op.Gather(op.ShapeOf(regions), [0], 0))
    else:
        batches, regions = op.convert(op.Gather(regions, 0, 1), si32), op.Gather(regions, [1, 2, 3, 4], 1)
    size = height, width
    pooled = pooled_regions.roi_align(op, node.operand(0), regions, batches, size, spatial_scale, sample_ratio, aligned=aligned_)
    if not position_sensitive:
        return pooled
    cells = height * width
    pairs = op.Reshape(pooled, [0, -1, cells * cells], special_zero=True)
    return op.Reshape(op.Gather(pairs, np.arange(cells) * (cells + 1), -1), [0, 0, height, width], special_zero=True)


@mxnet.lowers("_contrib_DeformablePSROIPooling")
def deformable_psroi_pooling(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    regions: SSAValue,
    *,
    sample_per_part: int = 1,
    pooled_size: int,
    group_size: int,
    no_trans: bool = False,
    output_dim: int,
    spatial_scale: float,
    trans_std: float = 0.0,
    part_size: int = 0,
) -> Replacement:
    """mxnet._contrib_DeformablePSROIPooling(x, regions, offsets)
    -> opset1.DeformablePSROIPooling(x, regions, offsets)
    """
    if pooled_size != group_size:
        node.fail(f"group_size {group_size} differs from pooled_size {pooled_size}, the operation sets have one size")
    offsets = [] if no_trans else [node.operand(2)]
    pooled = op.DeformablePSROIPooling(
        x,
        op.Reshape(regions, [-1, 5], special_zero=False),
        *offsets,
        output_dim=output_dim,
        group_size=group_size,
        spatial_scale=spatial_scale,
        spatial_bins_x=sample_per_part,
        spatial_bins_y=sample_per_part,
        trans_std=trans_std,
        part_size=part_size or pooled_size,
    )
    return [pooled]
