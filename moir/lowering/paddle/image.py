"""Resizing, sampling at coordinates, and patches of images.

Source: interpolate_v2_op.cc, interpolate_op.cc, grid_sampler_op.cc, affine_grid_op.cc, unfold_op.cc and fold_op.cc of
PaddlePaddle 2.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si64
from moir.dialects.properties import value_of
from moir.dialects.shapes import shape_of
from moir.expansions.resizing.resampling import resized_to
from moir.expansions.resizing.sampling_grids import affine_coordinates, sampled_volume
from moir.expansions.windows import padded_window
from moir.lowering.binder import LoweringNode
from moir.lowering.paddle.operands import vector_of
from moir.lowering.paddle.table import paddle
from moir.lowering.paddle.windows import by_axis, channel_first, channel_last, is_channel_last, pads_of, with_channels_first
from moir.rewriting.builder import OpBuilder

_MODES = {"linear": "linear_onnx", "bilinear": "linear_onnx", "trilinear": "linear_onnx", "nearest": "nearest", "bicubic": "cubic"}
_AXES = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}
_SIZES = ("out_d", "out_h", "out_w")


def _coordinates(mode: str, *, align_corners: bool, align_mode: int) -> dict[str, Any]:
    """The attributes of opset11.Interpolate that map coordinates of the result to coordinates of the data."""
    if align_corners:
        properties: dict[str, Any] = {"coordinate_transformation_mode": "align_corners"}
    elif mode == "nearest" or (mode != "cubic" and align_mode == 1):
        properties = {"coordinate_transformation_mode": "asymmetric"}
    else:
        properties = {"coordinate_transformation_mode": "half_pixel"}
    if mode == "nearest":
        properties["nearest_mode"] = "round_prefer_ceil" if align_corners else "floor"
    elif mode == "cubic":
        properties["cube_coeff"] = -0.75
    return properties


def _scales(node: LoweringNode, axes: int) -> list[float]:
    """The scales in the attribute `scale`, one for each axis; empty if one is not positive, or their number does not
    fit.
    """
    attribute = node.op.properties.get("scale")
    value: Any = [] if attribute is None else value_of(attribute)
    factors = (
        [float(each) for each in cast("Sequence[float]", value)]
        if isinstance(value, tuple | list)
        else [float(value)]
        if isinstance(value, int | float)
        else []
    )
    factors = factors * axes if len(factors) == 1 else factors
    return factors if len(factors) == axes and min(factors) > 0 else []


@paddle.lowers(
    *("linear_interp_v2", "bilinear_interp_v2", "trilinear_interp_v2", "nearest_interp_v2", "bicubic_interp_v2"),
    *("linear_interp", "bilinear_interp", "trilinear_interp", "nearest_interp", "bicubic_interp"),
)
def interpolation(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    out_size: SSAValue | None = None,
    sizes: SSAValue | None = None,
    scale_tensor: SSAValue | None = None,
    *,
    align_corners: bool = True,
    align_mode: int = 1,
) -> SSAValue:
    """paddle.bilinear_interp_v2(x, out_size) {out_h, scale, align_corners, align_mode} -> opset11.Interpolate(x, …);
    likewise the other modes

    The sizes of the result are given by the first of these that is present: the list of tensors, the tensor of sizes,
    the scales (which multiply the sizes of x), the attributes. The first version of the operation computes positions
    from the quotient of the sizes, the second from the scale if there is one.
    """
    kind = node.op.KIND.partition("_")[0]
    rank, mode = node.known_rank(0), _MODES[kind]
    axes = _AXES.get(kind, rank - 2)
    if rank != axes + 2:
        node.fail(f"its operand is of rank {rank}, not {axes + 2}")
    is_last = is_channel_last(node, "data_layout")
    data = channel_first(op, x, rank) if is_last else x
    spatial = list(range(2, rank))
    mode_attributes = _coordinates(mode, align_corners=align_corners, align_mode=align_mode)
    size_operand = sizes if sizes is not None else out_size
    scales = _scales(node, axes)
    is_first_version = not node.op.KIND.endswith("_v2")
    attributes = [node.integer(name, 0) for name in _SIZES[3 - axes :]]
    if size_operand is not None:
        result = resized_to(op, data, vector_of(op, size_operand), spatial, mode, **_split(mode_attributes))
    elif scale_tensor is not None or scales:
        factors = op.constant(scales) if scale_tensor is None else _axis_scales(op, scale_tensor, axes)
        if is_first_version:
            own = op.convert(op.Slice(op.ShapeOf(data), [2], [rank], [1]), f32)
            target = op.convert(op.Floor(op.Multiply(own, factors)), si64)
            result = resized_to(op, data, target, spatial, mode, **_split(mode_attributes))
        else:
            result = op.Interpolate(data, factors, spatial, mode=mode, shape_calculation_mode="scales", **mode_attributes)
    else:
        if min(attributes) < 1:
            node.fail(f"it has no size: {attributes}")
        result = resized_to(op, data, attributes, spatial, mode, **_split(mode_attributes))
    return channel_last(op, result, rank) if is_last else result


def _split(attributes: dict[str, Any]) -> dict[str, Any]:
    """The attributes of opset11.Interpolate under the names of the parameters of `resized_to`."""
    others = dict(attributes)
    return {"coordinates": others.pop("coordinate_transformation_mode"), **others}


def _axis_scales(op: OpBuilder, scales: SSAValue, axes: int) -> SSAValue:
    """A tensor of one scale or several as a 1-D tensor with one scale for each axis."""
    flat = op.convert(op.Reshape(scales, [-1], special_zero=False), f32)
    return op.Broadcast(flat, [axes])


@paddle.lowers("grid_sampler")
def grid_sampler(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    grid: SSAValue,
    *,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = True,
) -> SSAValue:
    """paddle.grid_sampler(x, grid) {mode, padding_mode, align_corners} -> opset9.GridSample(x, grid)"""
    if node.known_rank(0) == 5:
        return sampled_volume(op, x, grid, mode=mode, padding=padding_mode, aligned=align_corners)
    return op.GridSample(x, grid, mode=mode, padding_mode=padding_mode, align_corners=align_corners)


@paddle.lowers("affine_grid")
def affine_grid(node: LoweringNode, op: OpBuilder, theta: SSAValue, size: SSAValue, *, align_corners: bool = True) -> SSAValue:
    """paddle.affine_grid(theta [N, 2, 3], [N, C, H, W]) -> opset1.MatMul of points (x, y, 1) and theta: [N, H, W, 2]"""
    size = vector_of(op, size)
    count = (shape_of(size) or (-1,))[0]
    if count not in (4, 5) or min(op.known.integers(size) or (1,)) < 1:
        node.fail("output_shape is not a shape of images or volumes")
    return affine_coordinates(op, theta, size, count, align_corners=align_corners)


@paddle.lowers("unfold")
def unfold(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    *,
    kernel_sizes: tuple[int, ...],
    strides: tuple[int, ...] = (1, 1),
    paddings: tuple[int, ...] = (0, 0),
    dilations: tuple[int, ...] = (1, 1),
) -> SSAValue:
    """paddle.unfold(x) {kernel_sizes} -> opset3.ExtractImagePatches(x), as [N, C · elements of a window, windows]"""
    begins, ends = _pads(node, paddings)
    kernel = by_axis(node, "kernel_sizes", kernel_sizes, 2)
    channels = (shape_of(x) or (-1, -1))[1]
    if channels < 0:
        node.fail("the number of channels is dynamic", hint="give the model's inputs a static number of channels")
    if any((*begins, *ends)):
        x = op.Pad(x, [0, 0, *begins], [0, 0, *ends], op.constant_like(0.0, x), pad_mode="constant")
    patches = op.ExtractImagePatches(
        x,
        sizes=kernel,
        strides=by_axis(node, "strides", strides, 2),
        rates=by_axis(node, "dilations", dilations, 2),
        auto_pad="valid",
    )
    count = kernel[0] * kernel[1]
    apart = op.Reshape(patches, [0, count, channels, -1], special_zero=True)
    return op.Reshape(op.transposed(apart, [0, 2, 1, 3]), [0, channels * count, -1], special_zero=True)


def _pads(node: LoweringNode, paddings: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The paddings before (top, left) and after (bottom, right) images, from an attribute of 1, 2 or 4 numbers."""
    if len(paddings) == 4:
        return paddings[:2], paddings[2:]
    return pads_of(node, paddings, 2, is_last=False)


@paddle.lowers("fold")
def fold(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    *,
    output_sizes: tuple[int, ...],
    kernel_sizes: tuple[int, ...],
    strides: tuple[int, ...] = (1, 1),
    paddings: tuple[int, ...] = (0, 0),
    dilations: tuple[int, ...] = (1, 1),
) -> SSAValue:
    """paddle.fold(x) {output_sizes, kernel_sizes} -> opset15.Col2Im(x, output_sizes, kernel_sizes)"""
    begins, ends = _pads(node, paddings)
    steps, spread = by_axis(node, "strides", strides, 2), by_axis(node, "dilations", dilations, 2)
    kernel = list(by_axis(node, "kernel_sizes", kernel_sizes, 2))
    return op.Col2Im(x, list(output_sizes), kernel, **padded_window(None, steps, begins, ends, spread))


@paddle.lowers("pixel_shuffle")
def pixel_shuffle(node: LoweringNode, op: OpBuilder, x: SSAValue, *, upscale_factor: int = 1) -> SSAValue:
    """paddle.pixel_shuffle(x) {upscale_factor} -> opset1.DepthToSpace(x) {mode = "depth_first"}"""
    return with_channels_first(node, op, x, lambda data: op.DepthToSpace(data, mode="depth_first", block_size=upscale_factor))


@paddle.lowers("pixel_unshuffle")
def pixel_unshuffle(node: LoweringNode, op: OpBuilder, x: SSAValue, *, downscale_factor: int = 1) -> SSAValue:
    """paddle.pixel_unshuffle(x) {downscale_factor} -> opset1.SpaceToDepth(x) {mode = "depth_first"}"""
    return with_channels_first(node, op, x, lambda data: op.SpaceToDepth(data, mode="depth_first", block_size=downscale_factor))


@paddle.lowers("space_to_depth")
def space_to_depth(op: OpBuilder, x: SSAValue, *, blocksize: int) -> SSAValue:
    """paddle.space_to_depth(x) {blocksize} -> opset1.SpaceToDepth(x) {mode = "blocks_first"}"""
    return op.SpaceToDepth(x, mode="blocks_first", block_size=blocksize)


@paddle.lowers("shuffle_channel", "channel_shuffle")
def shuffle_channel(node: LoweringNode, op: OpBuilder, x: SSAValue, *, group: int = 1, groups: int = 1) -> SSAValue:
    """paddle.shuffle_channel(x) {group} -> channels [groups, C / groups] transposed: opset1.ShuffleChannels(x)"""
    is_last = is_channel_last(node)
    return op.ShuffleChannels(x, axis=3 if is_last else 1, group=group if node.op.KIND == "shuffle_channel" else groups)


@paddle.lowers("temporal_shift")
def temporal_shift(node: LoweringNode, op: OpBuilder, x: SSAValue, *, seg_num: int, shift_ratio: float = 0.25) -> SSAValue:
    """paddle.temporal_shift(x [N · T, C, H, W]) -> some channels taken from the next image, some from the
    previous one
    """
    return with_channels_first(node, op, x, lambda data: _shifted(node, op, data, seg_num, shift_ratio))


def _shifted(node: LoweringNode, op: OpBuilder, x: SSAValue, count: int, ratio: float) -> SSAValue:
    """Images [N · T, C, H, W], T = `count`, where a part of the channels is shifted between the T images of a video.

    The first part (the fraction `ratio`) comes from the next image, a second part of this size from the previous one;
    zeros beyond the ends. Raises ConversionError if sizes are dynamic.
    """
    shape = shape_of(x)
    if shape is None or min(shape[1:]) < 0 or count < 1:
        node.fail("the sizes of its operand are dynamic", hint="give the model's inputs static shapes")
    channels = shape[1]
    first, second = int(channels * ratio), int(channels * 2 * ratio)
    clips = op.Reshape(x, [-1, count, *shape[1:]], special_zero=False)
    padded = op.Pad(clips, [0, 1, 0, 0, 0], [0, 1, 0, 0, 0], op.constant_like(0.0, x), pad_mode="constant")
    parts = [
        op.Slice(padded, [start, low], [start + count, high], [1, 1], [1, 2])
        for start, low, high in ((0, 0, first), (2, first, second), (1, second, channels))
        if low < high
    ]
    return op.Reshape(op.Concat(*parts, axis=2) if len(parts) > 1 else parts[0], [-1, *shape[1:]], special_zero=False)
