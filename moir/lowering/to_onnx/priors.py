"""Prior boxes of detection networks, which are constants: their sizes follow from static shapes and attributes.

Source: Liu et al., "SSD: Single Shot MultiBox Detector", 2016, section 2.2, and the specification of opset8.PriorBox.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.ir import Block, SSAValue

from moir.analysis.known_values import KnownValues
from moir.dialects import opset as operation_sets
from moir.dialects.data import Array, DataAttr
from moir.dialects.opset.detection.outputs import PriorBoxClustered, PriorOp, SizedPriorOp
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.shapes import tensor
from moir.lowering.binder import LoweringNode
from moir.lowering.to_onnx.builder import OnnxBuilder
from moir.lowering.to_onnx.table import opset

Boxes = list[tuple[float, float, float, float]]
"""Boxes of one position of a feature map: the offset of the centre (x, y) in pixels, half the width, half the height.
"""


def settle_sizes(block: Block, known: KnownValues) -> None:
    """Replace operands of prior-box operations that follow from static dimensions by constants.

    This happens before the lowering of the opset operations that compute the operands.
    """
    for op in block.ops:
        if not isinstance(op, PriorOp):
            continue
        for index, operand in enumerate(op.operands):
            sizes = known.integers(operand)
            if sizes is not None and not isinstance(operand.owner, Constant):
                data = DataAttr.of(np.array(sizes, np.int64))
                constant = operation_sets.operation("opset1.Constant").create(
                    properties={"value": data}, result_types=[tensor(data.shape, data.element)]
                )
                block.insert_op_before(constant, op)
                op.operands[index] = constant.results[0]


def _sizes(node: LoweringNode) -> tuple[tuple[int, int], tuple[int, int]]:
    """The sizes (H, W) of the feature map and of the image. Raises ConversionError if they are not constant."""
    layer, image = node.constant_integers(0), node.constant_integers(1)
    if layer is None or image is None or len(layer) != 2 or len(image) != 2:
        node.fail("the sizes of its feature map or image are computed", hint="give static shapes with --static-shape")
    return (layer[0], layer[1]), (image[0], image[1])


def _constant(op: OnnxBuilder, boxes: Array, variance: Sequence[float], *, clip: bool) -> SSAValue:
    """The constant [2, priors * 4] of the corners of boxes [priors, 4], relative to the image, and their variances.

    With `clip` the corners are clipped to [0, 1].
    """
    corners = np.clip(boxes, 0, 1) if clip else boxes
    variances = np.broadcast_to(np.array(variance or (0.1,), np.float32), corners.shape)
    return op.constant(np.stack([corners.astype(np.float32), variances]).reshape(2, -1))


def _corners(centers: tuple[Array, Array], boxes: Boxes, image: tuple[int, int]) -> Array:
    """The corners x1, y1, x2, y2 [H * W, boxes, 4] of boxes around the centres (y [H], x [W]) of all positions."""
    height, width = image
    y, x = (each.ravel() for each in np.meshgrid(*centers, indexing="ij"))
    if not boxes:
        return np.empty((x.size, 0, 4))
    rows: list[Array] = []
    for shift_x, shift_y, half_width, half_height in boxes:
        left, top = x + shift_x - half_width, y + shift_y - half_height
        right, bottom = x + shift_x + half_width, y + shift_y + half_height
        rows.append(np.stack([left / width, top / height, right / width, bottom / height], axis=-1))
    return np.stack(rows, axis=1)


@opset.lowers("PriorBox")
def prior_box(node: LoweringNode, op: OnnxBuilder, _layer: SSAValue, _image: SSAValue) -> SSAValue:
    """opset8.PriorBox(layer, image) {min_size, …} -> a constant [2, H * W * priors * 4]"""
    box = cast("SizedPriorOp", node.op)
    (rows, columns), image = _sizes(node)
    if box.numbers("fixed_ratio") or len(box.numbers("fixed_size")) != len(box.numbers("density")):
        node.fail("it has boxes of fixed_ratio, or of fixed_size without density", hint="write IR")
    step = box.number("step")
    scales = box.flag("scale_all_sizes")
    smallest = list(box.numbers("min_size"))
    if not scales:
        step = image[0] / rows if step == -1 else step * image[0]
        smallest = [size * image[0] for size in smallest]
    if step == 0:
        y = (np.arange(rows) + 0.5) * (image[0] / rows)
        x = (np.arange(columns) + 0.5) * (image[1] / columns)
    else:
        y, x = ((np.arange(count) + box.number("offset")) * step for count in (rows, columns))
    dense, sized = _dense_boxes(box), _sized_boxes(box, smallest)
    if len(dense) + len(sized) != box.priors():
        node.fail(f"it has {len(dense) + len(sized)} boxes at a position where its attributes count {box.priors()}")
    # Boxes of fixed sizes end at the border of the image in any case.
    corners = np.concatenate([np.clip(_corners((y, x), dense, image), 0, 1), _corners((y, x), sized, image)], axis=1)
    return _constant(op, corners.reshape(-1, 4), box.numbers("variance"), clip=box.flag("clip"))


def _sized_boxes(box: SizedPriorOp, smallest: Sequence[float]) -> Boxes:
    """The boxes of `min_size`, of the geometric mean with `max_size`, and of all aspect ratios."""
    boxes: Boxes = []
    largest = box.numbers("max_size")
    is_first = "min_max_aspect_ratios_order" not in box.properties or box.flag("min_max_aspect_ratios_order")
    for index, size in enumerate(smallest):
        half = size / 2
        squares: Boxes = [(0.0, 0.0, half, half)]
        if index < len(largest):
            mean = math.sqrt(size * largest[index]) / 2
            squares.append((0.0, 0.0, mean, mean))
        shaped: Boxes = []
        if box.flag("scale_all_sizes") or index == len(smallest) - 1:
            base = (smallest[index] if box.flag("scale_all_sizes") else smallest[0]) / 2
            for ratio in box.aspect_ratios()[1:]:
                shaped.append((0.0, 0.0, base * math.sqrt(ratio), base / math.sqrt(ratio)))
        boxes += [*squares, *shaped] if is_first else [squares[0], *shaped, *squares[1:]]
    return boxes


def _dense_boxes(box: SizedPriorOp) -> Boxes:
    """The boxes of `fixed_size`: for each size and aspect ratio a grid with `density` boxes along each side."""
    boxes: Boxes = []
    for size, density in zip(box.numbers("fixed_size"), box.numbers("density"), strict=True):
        for ratio in box.aspect_ratios():
            boxes += _grid(int(density), size, (size * math.sqrt(ratio) / 2, size / math.sqrt(ratio) / 2))
    return boxes


def _grid(density: int, extent: float, half: tuple[float, float]) -> Boxes:
    """Boxes of one size whose centres form a grid of `density` x `density` points in a square of side `extent`."""
    shift = int(extent / density)
    offsets = [-extent / 2 + shift / 2 + index * shift for index in range(density)]
    return [(x, y, *half) for y in offsets for x in offsets]


@opset.lowers("PriorBoxClustered")
def prior_box_clustered(node: LoweringNode, op: OnnxBuilder, _layer: SSAValue, _image: SSAValue) -> SSAValue:
    """opset1.PriorBoxClustered(layer, image) {width, height} -> a constant [2, H * W * priors * 4]"""
    box = cast("PriorBoxClustered", node.op)
    (rows, columns), image = _sizes(node)
    steps = [box.number("step_h"), box.number("step_w")]
    if not any(steps):
        steps = [box.number("step")] * 2 if box.number("step") else [image[0] / rows, image[1] / columns]
    y, x = ((np.arange(count) + box.number("offset")) * step for count, step in zip((rows, columns), steps, strict=True))
    sizes = zip(box.numbers("width"), box.numbers("height"), strict=True)
    boxes: Boxes = [(0.0, 0.0, width / 2, height / 2) for width, height in sizes]
    return _constant(op, _corners((y, x), boxes, image).reshape(-1, 4), box.numbers("variance"), clip=box.flag("clip"))
