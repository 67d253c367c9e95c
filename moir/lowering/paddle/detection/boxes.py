"""Boxes of detection networks: boxes of YOLO's heads, prior boxes, and boxes encoded relative to prior boxes.

Source: yolo_box_op.cc, prior_box_op.cc, anchor_generator_op.cc, box_coder_op.cc and box_clip_op.cc of PaddlePaddle 2.6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si64
from moir.dialects.shapes import element_of, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.paddle.table import paddle
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


def _line(op: OpBuilder, x: SSAValue, axis: int, like: SSAValue) -> SSAValue:
    """The numbers 0, 1, … up to the size of x along an axis, in the element type of `like`; computed when the model
    runs.
    """
    size = op.Gather(op.ShapeOf(x), axis, 0)
    return op.ConvertLike(op.Range(op.constant(0), size, op.constant(1), output_type=si64), like)


def _size(op: OpBuilder, x: SSAValue, axis: int, like: SSAValue) -> SSAValue:
    """The size of x along an axis in the element type of `like`, computed when the model runs, since inputs may be
    reshaped.
    """
    return op.ConvertLike(op.Gather(op.ShapeOf(x), axis, 0), like)


@paddle.lowers("yolo_box")
def yolo_box(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    image_size: SSAValue,
    *,
    anchors: tuple[int, ...],
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool = True,
    scale_x_y: float = 1.0,
    iou_aware: bool = False,
    iou_aware_factor: float = 0.5,
) -> Replacement:
    """paddle.yolo_box(x [N, A · (5 + C), H, W], sizes [N, 2]) -> boxes [N, A · H · W, 4], scores [N, A · H · W, C]

    For each cell and anchor there is a box with the center position + sigmoid(t) · scale and the size
    exp(t) · anchor, in pixels of the image. Boxes and scores are 0 if the confidence is not above the threshold.
    """
    count = len(anchors) // 2
    if len(anchors) % 2 or not count or class_num < 1:
        node.fail(f"anchors {list(anchors)} are not pairs of sizes for {class_num} classes")
    overlap = None
    if iou_aware:
        overlap = op.Sigmoid(op.Slice(x, [0], [count], [1], [1]))
        x = op.Slice(x, [count], [2**31 - 1], [1], [1])
    # [N, A, 5 + classes, H, W]
    lead = op.Concat(op.Slice(op.ShapeOf(x), [0], [1], [1]), op.constant([count, 5 + class_num]), axis=0)
    split = op.Reshape(x, op.Concat(lead, op.Slice(op.ShapeOf(x), [2], [4], [1]), axis=0), special_zero=False)

    def channel(index: int) -> SSAValue:
        return op.Gather(split, index, 2)

    # [N, 1, 1, 1]
    sizes = op.ConvertLike(image_size, x)
    height, width = (op.Reshape(op.Gather(sizes, index, 1), [-1, 1, 1, 1], special_zero=False) for index in (0, 1))
    rows, columns = _size(op, x, 2, x), _size(op, x, 3, x)
    shift = -0.5 * (scale_x_y - 1)

    def center(index: int, axis: int, size: SSAValue, extent: SSAValue) -> SSAValue:
        line = _line(op, x, axis, x)
        line = op.Unsqueeze(line, [1]) if axis == 2 else line
        offset = op.Sigmoid(channel(index))
        offset = op.Add(op.Multiply(offset, scale_x_y), shift) if scale_x_y != 1 else offset
        return op.Multiply(op.Divide(op.Add(offset, line), size), extent)

    def extent_of(index: int, lengths: Sequence[int], size: SSAValue, extent: SSAValue) -> SSAValue:
        values = op.constant_like(np.array(lengths, np.float32).reshape(-1, 1, 1), x)
        relative = op.Divide(values, op.Multiply(size, float(downsample_ratio)))
        return op.Multiply(op.Multiply(op.Exp(channel(index)), relative), extent)

    x_center, y_center = center(0, 3, columns, width), center(1, 2, rows, height)
    half_width = op.Multiply(extent_of(2, anchors[0::2], columns, width), 0.5)
    half_height = op.Multiply(extent_of(3, anchors[1::2], rows, height), 0.5)
    confidence = op.Sigmoid(channel(4))
    if overlap is not None:
        confidence = op.Multiply(op.Power(confidence, 1.0 - iou_aware_factor), op.Power(overlap, iou_aware_factor))
    corners = [
        op.Subtract(x_center, half_width),
        op.Subtract(y_center, half_height),
        op.Add(x_center, half_width),
        op.Add(y_center, half_height),
    ]
    if clip_bbox:
        corners[:2] = [op.Maximum(each, 0.0) for each in corners[:2]]
        corners[2:] = [op.Minimum(each, op.Subtract(limit, 1.0)) for each, limit in zip(corners[2:], (width, height), strict=True)]
    kept = op.GreaterEqual(confidence, conf_thresh)
    # [N, A, H, W, 4]
    boxes = op.Concat(*(op.Unsqueeze(each, [4]) for each in corners), axis=4)
    boxes = op.Select(op.Unsqueeze(kept, [4]), boxes, 0.0)
    certain = op.Select(kept, confidence, 0.0)
    classes = op.Slice(split, [5], [2**31 - 1], [1], [2])
    scores = op.Multiply(op.Unsqueeze(certain, [2]), op.Sigmoid(classes))
    scores = op.Transpose(scores, [0, 1, 3, 4, 2])
    return [op.Reshape(each, [0, -1, last], special_zero=True) for each, last in ((boxes, 4), (scores, class_num))]


def _ratios(ratios_: Sequence[float], *, flip: bool) -> list[float]:
    """The distinct aspect ratios of prior boxes: 1, those of the attribute and, with `flip`, their inverses."""
    ratios = [1.0]
    for ratio in ratios_:
        if all(abs(ratio - each) >= 1e-6 for each in ratios):
            ratios += [ratio, 1 / ratio] if flip else [ratio]
    return ratios


@paddle.lowers("prior_box")
def prior_box(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    image: SSAValue,
    *,
    min_sizes: tuple[float, ...],
    max_sizes: tuple[float, ...] = (),
    aspect_ratios: tuple[float, ...] = (1.0,),
    variances: tuple[float, ...] = (0.1, 0.1, 0.2, 0.2),
    flip: bool = False,
    clip: bool = False,
    step_w: float = 0.0,
    step_h: float = 0.0,
    offset: float = 0.5,
    min_max_aspect_ratios_order: bool = False,
) -> Replacement:
    """paddle.prior_box(x, image) -> boxes [H, W, priors, 4] relative to the image, and their variances

    They are the two rows of opset8.PriorBox(sizes of x, sizes of image). This operation has one step for both
    directions; if the steps differ, the boxes are computed by other operations.
    """
    if max_sizes and len(max_sizes) != len(min_sizes):
        node.fail(f"{len(max_sizes)} maximum sizes for {len(min_sizes)} minimum sizes")
    if not min_sizes or min(*min_sizes, *max_sizes, *aspect_ratios) <= 0:
        node.fail(f"boxes of sizes {list(min_sizes)} and aspect ratios {list(aspect_ratios)}, which have to be positive")
    ratios = _ratios(aspect_ratios, flip=flip)
    if step_w == step_h and len(variances) == 4:
        sizes = op.Gather(op.ShapeOf(x), [2, 3], 0)
        rows = op["opset8.PriorBox"](
            sizes,
            op.Gather(op.ShapeOf(image), [2, 3], 0),
            min_size=min_sizes,
            max_size=max_sizes,
            aspect_ratio=ratios[1:],
            clip=clip,
            step=step_w,
            offset=offset,
            variance=variances,
            min_max_aspect_ratios_order=min_max_aspect_ratios_order,
        )
        count = len(min_sizes) * len(ratios) + len(max_sizes)
        target = op.Concat(sizes, op.constant([count, 4]), axis=0)
        return [op.Reshape(row, target, special_zero=False) for row in op.Split.parts(2, rows, op.constant(0), num_splits=2)]
    halves: list[tuple[float, float]] = []
    for index, smallest in enumerate(min_sizes):
        sides = [(smallest * math.sqrt(each) / 2, smallest / math.sqrt(each) / 2) for each in ratios]
        middle = math.sqrt(smallest * max_sizes[index]) / 2 if max_sizes else 0.0
        between = [(middle, middle)] if max_sizes else []
        halves += [sides[0], *between, *sides[1:]] if min_max_aspect_ratios_order else [*sides, *between]
    return _priors(op, x, image, halves, variances, (step_w, step_h), offset, clip=clip)


def _priors(
    op: OpBuilder,
    x: SSAValue,
    image: SSAValue,
    halves: Sequence[tuple[float, float]],
    variances: Sequence[float],
    steps: tuple[float, float],
    offset: float,
    *,
    clip: bool,
    shifts: Sequence[tuple[float, float]] = (),
) -> list[SSAValue]:
    """Boxes around the centre of each cell of x relative to the image, and their variances: both [H, W, priors, 4].

    Args:
        op: the builder.
        x: the feature map [N, C, H, W].
        image: the image [N, C, height, width].
        halves: half of the width and half of the height of each box, in pixels.
        variances: the four variances.
        steps: the distances of the centres in pixels; 0 for the size of the image / the size of x.
        offset: the position of the centre in a cell, 0.5 in its middle.
        clip: whether boxes are limited to the image.
        shifts: pixels by which the centre of each box is moved; none by default.
    """
    like = op.constant(0.0, f32)
    width, height = _size(op, image, 3, like), _size(op, image, 2, like)
    step_x = op.constant(steps[0], f32) if steps[0] else op.Divide(width, _size(op, x, 3, like))
    step_y = op.constant(steps[1], f32) if steps[1] else op.Divide(height, _size(op, x, 2, like))
    center_x = op.Multiply(op.Add(_line(op, x, 3, like), offset), step_x)
    center_y = op.Multiply(op.Add(_line(op, x, 2, like), offset), step_y)
    # [H, W, priors] of each corner
    x_centers, y_centers = op.Unsqueeze(center_x, [0, 2]), op.Unsqueeze(center_y, [1, 2])
    half_x, half_y = (op.constant(np.array(each, np.float32)) for each in zip(*halves, strict=True))
    if shifts:
        across, down = (op.constant(np.array(each, np.float32)) for each in zip(*shifts, strict=True))
        x_centers, y_centers = op.Add(x_centers, across), op.Add(y_centers, down)
    full = op.Concat(op.Slice(op.ShapeOf(x), [2], [4], [1]), op.constant([len(halves)]), axis=0)
    corners = [
        op.Broadcast(op.Divide(value, extent), full)
        for value, extent in (
            (op.Subtract(x_centers, half_x), width),
            (op.Subtract(y_centers, half_y), height),
            (op.Add(x_centers, half_x), width),
            (op.Add(y_centers, half_y), height),
        )
    ]
    boxes = op.Concat(*(op.Unsqueeze(each, [3]) for each in corners), axis=3)
    boxes = op.Clamp(boxes, min=0.0, max=1.0) if clip else boxes
    return [boxes, op.Broadcast(op.constant(np.array(variances, np.float32)), op.Concat(full, op.constant([4]), axis=0))]


@paddle.lowers("density_prior_box")
def density_prior_box(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    image: SSAValue,
    *,
    fixed_sizes: tuple[float, ...],
    fixed_ratios: tuple[float, ...],
    densities: tuple[int, ...],
    variances: tuple[float, ...] = (0.1, 0.1, 0.2, 0.2),
    clip: bool = False,
    flatten_to_2d: bool = False,
    step_w: float = 0.0,
    step_h: float = 0.0,
    offset: float = 0.5,
) -> Replacement:
    """paddle.density_prior_box(x, image) -> boxes [H, W, priors, 4] relative to the image, and their variances

    Around each cell there are density · density boxes for each size and ratio. They are limited to the image, also
    without `clip`.
    """
    del clip
    if len(fixed_sizes) != len(densities) or min(densities, default=0) < 1 or min(fixed_ratios, default=0) <= 0:
        node.fail(f"densities {list(densities)} and ratios {list(fixed_ratios)} of {len(fixed_sizes)} sizes")
    if not (step_w and step_h):
        sizes, counts = (shape_of(image) or (-1,))[2:], (shape_of(x) or (-1,))[2:]
        if len(sizes) != 2 or len(counts) != 2 or min(*sizes, *counts) < 1:
            node.fail("its steps follow from sizes that are dynamic", hint="give the model's inputs static shapes")
        step_h, step_w = (size / count for size, count in zip(sizes, counts, strict=True))
    average = int((step_w + step_h) * 0.5)
    halves: list[tuple[float, float]] = []
    shifts: list[tuple[float, float]] = []
    for size, density in zip(fixed_sizes, densities, strict=True):
        shift = average // density
        line = [-average / 2 + shift / 2 + index * shift for index in range(density)]
        for ratio in fixed_ratios:
            halves += [(size * math.sqrt(ratio) / 2, size / math.sqrt(ratio) / 2)] * density**2
            shifts += [(across, down) for down in line for across in line]
    results = _priors(op, x, image, halves, variances, (step_w, step_h), offset, clip=True, shifts=shifts)
    return [op.Reshape(each, [-1, 4], special_zero=False) for each in results] if flatten_to_2d else results


@paddle.lowers("anchor_generator")
def anchor_generator(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    *,
    anchor_sizes: tuple[float, ...],
    aspect_ratios: tuple[float, ...],
    variances: tuple[float, ...],
    stride: tuple[float, ...],
    offset: float = 0.5,
) -> Replacement:
    """paddle.anchor_generator(x) -> anchors [H, W, ratios · sizes, 4] in pixels, and their variances"""
    if len(stride) != 2 or not anchor_sizes or min(*stride, *anchor_sizes, *aspect_ratios) <= 0:
        node.fail(f"anchors of sizes {list(anchor_sizes)} with aspect ratios {list(aspect_ratios)} and strides {list(stride)}")
    like = op.constant(0.0, f32)
    sides: list[tuple[float, float]] = []
    for ratio in aspect_ratios:
        for size in anchor_sizes:
            base_width = round(math.sqrt(stride[0] * stride[1] / ratio))
            base_height = round(base_width * ratio)
            sides.append((size / stride[0] * base_width, size / stride[1] * base_height))
    center_x, center_y = (
        op.Add(op.Multiply(_line(op, x, axis, like), step), offset * (step - 1)) for axis, step in ((3, stride[0]), (2, stride[1]))
    )
    x_centers, y_centers = op.Unsqueeze(center_x, [0, 2]), op.Unsqueeze(center_y, [1, 2])
    half_x, half_y = (op.constant(0.5 * (np.array(each, np.float32) - 1)) for each in zip(*sides, strict=True))
    full = op.Concat(op.Slice(op.ShapeOf(x), [2], [4], [1]), op.constant([len(sides)]), axis=0)
    ends = (op.Subtract(x_centers, half_x), op.Subtract(y_centers, half_y), op.Add(x_centers, half_x), op.Add(y_centers, half_y))
    boxes = op.Concat(*(op.Unsqueeze(op.Broadcast(each, full), [3]) for each in ends), axis=3)
    return [boxes, op.Broadcast(op.constant(np.array(variances, np.float32)), op.Concat(full, op.constant([4]), axis=0))]


@paddle.lowers("box_coder")
def box_coder(
    node: LoweringNode,
    op: OpBuilder,
    prior: SSAValue,
    _variance: SSAValue,
    target: SSAValue,
    *,
    code_type: str = "encode_center_size",
    box_normalized: bool = True,
    axis: int = 0,
    variance: tuple[float, ...] = (),
) -> SSAValue:
    """paddle.box_coder(prior [M, 4], variance, target) -> boxes [N, M, 4]

    `decode_center_size` moves the centre of a prior box by the target times its sizes, and multiplies its sizes by the
    exponential of the target; `encode_center_size` gives the codes of boxes [N, 4]. Codes are in units of the
    variance. With axis 1 a prior box belongs to a row of the target instead of a column.
    """
    margin = 0.0 if box_normalized else 1.0
    is_decoded = code_type == "decode_center_size"
    if not (is_decoded or code_type == "encode_center_size") or axis not in (0, 1):
        node.fail(f"code_type {code_type!r} along axis {axis} does not exist")
    unit = node.optional(1)
    if is_decoded and axis == 1:
        prior = op.Unsqueeze(prior, [1])
        unit = op.Unsqueeze(unit, [1]) if unit is not None else None
    if unit is None and any(each != 1 for each in variance):
        unit = op.constant_like(np.array(variance, np.float32), target)

    def corners(boxes: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
        start, end = op.Split.parts(2, boxes, op.constant(-1), num_splits=2)
        size = op.Subtract(end, start)
        return start, end, op.Add(size, margin) if margin else size

    start, _, size = corners(prior)
    center = op.Add(start, op.Multiply(size, 0.5))
    if is_decoded:
        scaled = target if unit is None else op.Multiply(target, unit)
        shift, growth = op.Split.parts(2, scaled, op.constant(-1), num_splits=2)
        middle, half = op.Add(op.Multiply(shift, size), center), op.Multiply(op.Exp(growth), op.Multiply(size, 0.5))
        end = op.Add(middle, half)
        return op.Concat(op.Subtract(middle, half), op.Subtract(end, margin) if margin else end, axis=-1)
    # The centre of a target does not have the margin.
    start, end, own = corners(op.Unsqueeze(target, [1]))
    shift = op.Divide(op.Subtract(op.Multiply(op.Add(start, end), 0.5), center), size)
    codes = op.Concat(shift, op.Log(op.Abs(op.Divide(own, size))), axis=-1)
    return codes if unit is None else op.Divide(codes, unit)


@paddle.lowers("box_clip")
def box_clip(node: LoweringNode, op: OpBuilder, boxes: SSAValue, info: SSAValue) -> SSAValue:
    """paddle.box_clip(boxes, [height, width, scale]) -> boxes limited to the image, rounded to whole pixels"""
    if node.known_rank(0) != 3:
        node.fail("boxes without a batch are not supported")
    info = op.convert(info, element_of(boxes))
    scale = op.Gather(info, [2], 1)
    limits = [op.Subtract(op.Round(op.Divide(op.Gather(info, [index], 1), scale), mode="half_away_from_zero"), 1.0) for index in (1, 0)]
    limit = op.Unsqueeze(op.Concat(*limits, *limits, axis=1), [1])
    return op.Maximum(op.Minimum(boxes, limit), 0.0)


@paddle.lowers("iou_similarity")
def iou_similarity(op: OpBuilder, x: SSAValue, y: SSAValue, *, box_normalized: bool = True) -> SSAValue:
    """paddle.iou_similarity(x [N, 4], y [M, 4]) -> the intersection of each pair of boxes over their union"""
    margin = 0.0 if box_normalized else 1.0

    def side(start: SSAValue, end: SSAValue) -> SSAValue:
        length = op.Subtract(end, start)
        return op.Add(length, margin) if margin else length

    rows, columns = ([op.Gather(each, [index], 1) for index in range(4)] for each in (x, y))
    columns = [op.Transpose(each, [1, 0]) for each in columns]
    own = [op.Multiply(side(each[0], each[2]), side(each[1], each[3])) for each in (rows, columns)]
    starts = [op.Maximum(rows[index], columns[index]) for index in (0, 1)]
    ends = [op.Minimum(rows[index], columns[index]) for index in (2, 3)]
    shared = op.Multiply(*(op.Maximum(side(start, end), 0.0) for start, end in zip(starts, ends, strict=True)))
    covered = op.Subtract(op.Add(*own), shared)
    return op.Select(op.Greater(covered, 0.0), op.Divide(shared, covered), 0.0)


@paddle.lowers("polygon_box_transform")
def polygon_box_transform(op: OpBuilder, x: SSAValue) -> SSAValue:
    """paddle.polygon_box_transform(x [N, C, H, W]) -> 4 · column - x in even channels, 4 · row - x in odd ones"""
    columns, rows = op.Multiply(_line(op, x, 3, x), 4.0), op.Unsqueeze(op.Multiply(_line(op, x, 2, x), 4.0), [1])
    channels = _line(op, x, 1, x)
    is_odd = op.Reshape(op.Greater(op.Mod(channels, 2.0), 0.5), [-1, 1, 1], special_zero=False)
    return op.Subtract(op.Select(is_odd, rows, columns), x)
