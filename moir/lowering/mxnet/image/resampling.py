"""Operations that resample images.

Source: upsampling.cc, contrib/bilinear_resize.cc, contrib/adaptive_avg_pooling.cc, bilinear_sampler.cc and
grid_generator.cc of MXNet 1.9.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si64
from moir.dialects.shapes import shape_of
from moir.expansions.resizing.resampling import resized_to
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder

_AXES = [2, 3]


def _sizes(op: OpBuilder, x: SSAValue) -> SSAValue:
    """Height and width of images [N, C, H, W]."""
    return op.Slice(op.ShapeOf(x), [2], [4], [1])


def _resized(op: OpBuilder, x: SSAValue, sizes: SSAValue, mode: str, coordinates: str) -> SSAValue:
    return resized_to(op, x, sizes, _AXES, mode, coordinates, nearest_mode="floor")


@mxnet.lowers("UpSampling")
def up_sampling(
    node: LoweringNode,
    op: OpBuilder,
    first: SSAValue,
    *others: SSAValue,
    scale: int,
    sample_type: str = "nearest",
    multi_input_mode: str = "concat",
) -> SSAValue:
    """mxnet.UpSampling(x, …) {scale, sample_type = "nearest"} -> opset11.Interpolate, concatenated on axis 1 or summed

    With sample_type = "bilinear" it is a Deconvolution of each channel, whose weights are an operand.
    """
    if sample_type == "bilinear":
        return _deconvolved(node, op, scale)
    values = [first, *others]
    sizes = op.Multiply(_sizes(op, values[0]), scale)
    parts = [_resized(op, value, sizes, "nearest", "asymmetric") for value in values]
    if len(parts) == 1:
        return parts[0]
    if multi_input_mode == "concat":
        return op.Concat(*parts, axis=1)
    total = parts[0]
    for part in parts[1:]:
        total = op.Add(total, part)
    return total


def _deconvolved(node: LoweringNode, op: OpBuilder, scale: int) -> SSAValue:
    x, weights = node.operand(0), node.operand(1)
    shape = shape_of(weights)
    if shape is None or shape[0] < 0:
        node.fail("the number of channels is dynamic")
    pad = -(-(scale - 1) // 2)
    kernel = 2 * scale - scale % 2
    grouped = op.Reshape(weights, [shape[0], 1, 1, kernel, kernel], special_zero=False)
    window = {"strides": [scale] * 2, "dilations": [1, 1], "pads_begin": [pad] * 2, "pads_end": [pad] * 2}
    return op.GroupConvolutionBackpropData(x, grouped, **window, output_padding=[0, 0], auto_pad="explicit")


@mxnet.lowers("_contrib_BilinearResize2D")
def bilinear_resize(node: LoweringNode, op: OpBuilder, x: SSAValue, *, align_corners: bool = True) -> SSAValue:
    """mxnet._contrib_BilinearResize2D(x, like) {height, width, scale_height, scale_width, mode, align_corners = true}
    -> opset11.Interpolate(x, sizes) {linear_onnx}
    """
    sizes = _resized_sizes(node, op, x)
    if not align_corners and (known := op.known.integers(sizes)) is not None:
        # A result of size 1 is the first row, not the middle.
        rows = [axis for axis, size in zip(_AXES, known, strict=True) if size == 1]
        x = op.Slice(x, [0] * len(rows), [1] * len(rows), [1] * len(rows), rows) if rows else x
    return _resized(op, x, sizes, "linear_onnx", "align_corners" if align_corners else "half_pixel")


_ROUNDED: dict[str, Callable[[OpBuilder, SSAValue], SSAValue]] = {
    "to_even_down": lambda op, sizes: op.Subtract(sizes, op.Mod(sizes, 2)),
    "to_even_up": lambda op, sizes: op.Add(sizes, op.Mod(sizes, 2)),
    "to_odd_down": lambda op, sizes: op.Subtract(sizes, op.Subtract(1, op.Mod(sizes, 2))),
    "to_odd_up": lambda op, sizes: op.Add(sizes, op.Subtract(1, op.Mod(sizes, 2))),
}
"""For each mode that changes sizes by at most one: builds the new sizes."""


def _resized_sizes(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """The height and width of the result of a BilinearResize2D, by its `mode`. Raises ConversionError for an unknown
    mode.
    """
    mode = node.text("mode", "size")
    if mode == "like":
        return _sizes(op, node.operand(1))
    if mode in _ROUNDED:
        return _ROUNDED[mode](op, _sizes(op, x))
    if mode == "odd_scale":
        # For odd sizes, the distance between the first and the last row is scaled.
        sizes = _sizes(op, x)
        rest = op.Mod(sizes, 2)
        return op.Add(_scaled(node, op, op.Subtract(sizes, rest)), rest)
    if mode != "size":
        node.fail(f"mode {mode!r} does not exist")
    if not node.has("scale_height"):
        return op.constant([node.integer("height", 1), node.integer("width", 1)])
    return _scaled(node, op, _sizes(op, x))


def _scaled(node: LoweringNode, op: OpBuilder, sizes: SSAValue) -> SSAValue:
    """Height and width multiplied by the attributes `scale_height` and `scale_width`, and rounded down."""
    scales = op.constant([node.number("scale_height"), node.number("scale_width", node.number("scale_height"))])
    return op.convert(op.Floor(op.Multiply(op.convert(sizes, f32), scales)), si64)


@mxnet.lowers("_contrib_AdaptiveAvgPooling2D")
def adaptive_average_pooling(op: OpBuilder, x: SSAValue, *, output_size: tuple[int, ...] = ()) -> SSAValue:
    """mxnet._contrib_AdaptiveAvgPooling2D(x) {output_size = 1} -> opset8.AdaptiveAvgPool(x, output_size)"""
    sizes = output_size or (1,)
    return op.AdaptiveAvgPool(x, op.constant(list(sizes * 2 if len(sizes) == 1 else sizes)))


@mxnet.lowers("BilinearSampler")
def bilinear_sampler(op: OpBuilder, x: SSAValue, grid: SSAValue) -> SSAValue:
    """mxnet.BilinearSampler(x, grid [N, 2, H, W]) -> opset9.GridSample(x, grid as [N, H, W, 2]) {align_corners}"""
    return _sampled(op, x, op.transposed(grid, [0, 2, 3, 1]))


def _sampled(op: OpBuilder, x: SSAValue, grid: SSAValue) -> SSAValue:
    return op.GridSample(x, grid, align_corners=True, mode="bilinear", padding_mode="zeros")


def _affine_grid(node: LoweringNode, op: OpBuilder, theta: SSAValue, size: tuple[int, ...]) -> SSAValue:
    """The grid [N, H, W, 2] of affine maps `theta` [N, 6] of the coordinates from -1 to 1; `size` is (H, W).

    Raises ConversionError for another number of sizes, or one below 1.
    """
    if len(size) != 2 or min(size) < 1:
        node.fail(f"target_shape {list(size)} is not a height and width")
    height, width = size
    y, x = np.meshgrid(np.linspace(-1, 1, height), np.linspace(-1, 1, width), indexing="ij")
    points = np.stack([x, y, np.ones_like(x)], -1).reshape(1, -1, 3).astype(np.float32)
    grid = op.MatMul(op.constant(points), op.Reshape(theta, [-1, 2, 3], special_zero=False), transpose_b=True)
    return op.Reshape(grid, [-1, height, width, 2], special_zero=False)


def _warped_grid(op: OpBuilder, flow: SSAValue) -> SSAValue:
    """The sampling grid, in coordinates from -1 to 1, of a flow [N, 2, H, W], which has the displacement of each pixel
    in pixels.
    """
    sizes = op.ShapeOf(flow)
    coordinates: list[SSAValue] = []
    for channel, axis in ((0, 3), (1, 2)):
        count = op.Gather(sizes, axis, 0)
        indices = op.convert(op.Range(0, count, 1, output_type=si64), f32)
        line = op.Reshape(indices, [1, 1, 1, -1] if axis == 3 else [1, 1, -1, 1], special_zero=False)
        moved = op.Add(op.Slice(flow, [channel], [channel + 1], [1], [1]), line)
        reach = op.Divide(op.convert(op.Subtract(count, 1), f32), 2.0)
        coordinates.append(op.Subtract(op.Divide(moved, reach), 1.0))
    return op.Concat(*coordinates, axis=1)


@mxnet.lowers("GridGenerator")
def grid_generator(
    node: LoweringNode, op: OpBuilder, theta: SSAValue, *, transform_type: str = "affine", target_shape: tuple[int, ...] = ()
) -> SSAValue:
    """mxnet.GridGenerator(theta [N, 6]) {transform_type = "affine", target_shape} -> a grid [N, 2, H, W]"""
    if transform_type == "warp":
        return _warped_grid(op, theta)
    if transform_type != "affine":
        node.fail(f"transform_type {transform_type!r} is neither affine nor warp")
    return op.transposed(_affine_grid(node, op, theta, target_shape), [0, 3, 1, 2])


@mxnet.lowers("SpatialTransformer")
def spatial_transformer(node: LoweringNode, op: OpBuilder, x: SSAValue, theta: SSAValue, *, target_shape: tuple[int, ...] = ()) -> SSAValue:
    """mxnet.SpatialTransformer(x, theta) {target_shape} -> GridSample of x at the grid of the affine maps"""
    size = target_shape
    shape = shape_of(x)
    if not any(size) and shape is not None and min(shape[2:]) > 0:
        size = shape[2:]
    return _sampled(op, x, _affine_grid(node, op, theta, size))
