"""Crops of regions of images."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si64
from moir.dialects.shapes import shape_of
from moir.frameworks.traits import SAYS_LAYOUT
from moir.lowering.binder import LoweringNode
from moir.lowering.ranks import fixed
from moir.lowering.tensorflow.attributes.data_format import channel_first, channel_last
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


@tf.lowers("CropAndResize", rank=fixed(4, 2, 1, 1), traits=(SAYS_LAYOUT,))
def crop_and_resize(
    node: LoweringNode,
    op: OpBuilder,
    image: SSAValue,
    boxes_: SSAValue,
    box_ind: SSAValue,
    crop_size: SSAValue,
    *,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> SSAValue:
    """tf.CropAndResize(x, boxes, images, size)
    -> Transpose(opset2.ROIPooling(Transpose(x), [images, x1, y1, x2, y2]) {method = bilinear})

    ROIPooling supports no extrapolation value, no nearest neighbours and no computed size; then opset9.GridSample
    samples the crops. An extension may have replaced the boxes by regions [images, x1, y1, x2, y2].
    """
    size = op.known.integers(crop_size)
    if method not in ("bilinear", "nearest"):
        node.fail(f"method {method!r} does not exist")
    if size is not None and (len(size) != 2 or min(size) < 1):
        node.fail(f"crop_size {list(size)} is not two positive numbers")
    if (boxes := shape_of(boxes_)) is not None and (len(boxes) != 2 or boxes[1] not in (4, 5, -1)):
        node.fail(f"boxes of shape {list(boxes)} are not [boxes, 4]")
    are_regions = boxes is not None and boxes[1] == 5
    if size is None or method == "nearest" or extrapolation_value != 0:
        if are_regions:
            node.fail("crops of regions [images, x1, y1, x2, y2] are bilinear, zero outside of the image, and of constant size")
        return sampled_crops(node, op, method, extrapolation_value)
    data = channel_first(op, op.convert(image, f32), 4)
    if are_regions:
        regions = op.convert(boxes_, f32)
    else:
        corners = op.Gather(op.convert(boxes_, f32), [1, 0, 3, 2], 1)
        regions = op.Concat(op.Unsqueeze(op.convert(box_ind, f32), [1]), corners, axis=1)
    pooled = op.ROIPooling(
        data, regions, output_size=size, output_roi=size, pooled_h=size[0], pooled_w=size[1], spatial_scale=1.0, method="bilinear"
    )
    return channel_last(op, pooled, 4)


def sampled_crops(node: LoweringNode, op: OpBuilder, method: str, outside: float) -> SSAValue:
    """Crops sampled from one tall image that concatenates the images of the batch, so that no image is copied per box.

    `method` is `bilinear` or `nearest`; pixels outside of the image have the value `outside`.
    """
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
    samples = op.GridSample(channel_first(op, data, 4), flat, mode="bilinear", padding_mode="border", align_corners=False)
    crops = op.Reshape(channel_last(op, samples, 4), op.Concat(shape, [-1], axis=0), special_zero=False)
    return op.Select(op.Unsqueeze(inside, [3]), crops, outside)


def extent(op: OpBuilder, sizes: SSAValue, axis: int) -> SSAValue:
    """Element `axis` of a 1-D tensor of sizes, as a scalar."""
    return op.Gather(sizes, axis, 0)


def extent_of(op: OpBuilder, value: SSAValue, axis: int) -> SSAValue:
    """Dimension `axis` of a value, as a scalar; a constant if it is static."""
    shape = shape_of(value)
    return op.constant(shape[axis]) if shape is not None and shape[axis] >= 0 else extent(op, op.ShapeOf(value), axis)


def positions(op: OpBuilder, boxes: SSAValue, size: SSAValue, sizes: SSAValue, axis: int) -> SSAValue:
    """Positions [boxes, rows] of the rows (axis 0) or columns (axis 1) of each crop in its image, in pixels.

    `size` is the size of the crops [2], `sizes` the shape of the images. The order of operations is that of TensorFlow,
    so that rounding is the same.
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


def inside_axis(op: OpBuilder, coordinates: SSAValue, sizes: SSAValue, axis: int) -> SSAValue:
    """Whether positions are from 0 to the size of an axis minus 1; `sizes` is the shape of the images."""
    last = op.Subtract(op.convert(extent(op, sizes, axis), f32), 1.0)
    return op.LogicalAnd(op.GreaterEqual(coordinates, 0.0), op.LessEqual(coordinates, last))
