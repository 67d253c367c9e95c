"""Convolutions in two and three dimensions, channels first or last.

Source: conv_op.cc, conv_transpose_op.cc and deformable_conv_op.cc of PaddlePaddle 2.6.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.shapes import is_static, shape_of
from moir.expansions.constant_forms import along_channels
from moir.expansions.functions import operation
from moir.expansions.windows import SlidingWindow
from moir.lowering.binder import LoweringNode
from moir.lowering.paddle.operands import known_integers
from moir.lowering.paddle.table import paddle
from moir.lowering.paddle.windows import by_axis, channel_first, channel_last, is_channel_last, spatial_axes, window_of
from moir.rewriting.builder import OpBuilder


def _grouped(node: LoweringNode, op: OpBuilder, weights: SSAValue, group: int) -> SSAValue:
    """Weights [C, …] reshaped to [groups, C / groups, …]."""
    shape = shape_of(weights)
    if shape is None or not is_static(shape[1:]) or group < 1 or (shape[0] >= 0 and shape[0] % group):
        node.fail(f"the weights cannot be divided into {group} groups")
    return op.Reshape(weights, [group, shape[0] // group if shape[0] >= 0 else -1, *shape[1:]], special_zero=False)


@paddle.lowers("conv2d", "depthwise_conv2d", "conv3d", "fused_conv2d")
def convolution(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    filters: SSAValue,
    bias: SSAValue | None = None,
    residual: SSAValue | None = None,
    *,
    strides: tuple[int, ...] = (1, 1),
    paddings: tuple[int, ...] = (0, 0),
    dilations: tuple[int, ...] = (1, 1),
    groups: int = 1,
    padding_algorithm: str = "EXPLICIT",
    fuse_activation: str = "",
) -> SSAValue:
    """paddle.conv2d(x, filters [M, C / groups, H, W]) -> opset1.Convolution(x, filters), or opset1.GroupConvolution

    With channels last: between Transposes. Fused kinds also add a bias and another tensor, and apply
    an activation.
    """
    axes, is_last = spatial_axes(node), is_channel_last(node)
    window = window_of(node, axes, strides, paddings, dilations, padding_algorithm, is_last=is_last)
    x = channel_first(op, x, axes + 2) if is_last else x
    if groups == 1:
        result = op.Convolution(x, filters, **window.properties())
    else:
        result = op.GroupConvolution(x, _grouped(node, op, filters, groups), **window.properties())
    if bias is not None:
        result = op.Add(result, along_channels(op, bias, axes))
    result = channel_last(op, result, axes + 2) if is_last else result
    result = result if residual is None else op.Add(result, residual)
    if fuse_activation:
        if fuse_activation not in ("relu", "sigmoid", "tanh", "mish"):
            node.fail(f"fuse_activation {fuse_activation!r} is not supported")
        result = operation(op, fuse_activation)(result)
    return result


@paddle.lowers("conv2d_transpose", "depthwise_conv2d_transpose", "conv3d_transpose")
def transposed_convolution(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    filters: SSAValue,
    size: SSAValue | None = None,
    bias: SSAValue | None = None,
    *,
    strides: tuple[int, ...] = (1, 1),
    paddings: tuple[int, ...] = (0, 0),
    dilations: tuple[int, ...] = (1, 1),
    output_padding: tuple[int, ...] = (),
    groups: int = 1,
    padding_algorithm: str = "EXPLICIT",
) -> SSAValue:
    """paddle.conv2d_transpose(x, filters [C, M / groups, H, W]) -> opset1.ConvolutionBackpropData(x, filters)

    `output_size` may be larger, by less than a stride, than the size that the windows give: the difference is output
    padding.
    """
    axes, is_last = spatial_axes(node), is_channel_last(node)
    window = window_of(node, axes, strides, paddings, dilations, "EXPLICIT", is_last=is_last)
    x = channel_first(op, x, axes + 2) if is_last else x
    if padding_algorithm == "VALID":
        window = window.with_fields(pads_begin=(0,) * axes, pads_end=(0,) * axes)
    cuts = False
    if padding_algorithm == "SAME":
        cuts = max(window.strides) > 1 and not _has_sizes(x)
        window = window.with_fields(dilations=(1,) * axes)
        begins, ends = ((0,) * axes,) * 2 if cuts else _same(x, _kernel(node, filters), window)
        window = window.with_fields(pads_begin=begins, pads_end=ends)
    extra = by_axis(node, "output_padding", output_padding or (0,), axes)
    wanted = () if size is None else known_integers(node, 2, "output_size")
    target = by_axis(node, "output_size", wanted, axes) if wanted else ()
    if target:
        # If sizes are dynamic, the output padding is as large as possible, and the result is cut.
        extra = _surplus(node, x, _kernel(node, filters), window, target) if _has_sizes(x) else tuple(each - 1 for each in window.strides)
    weights = filters if groups == 1 else _grouped(node, op, filters, groups)
    build = op.ConvolutionBackpropData if groups == 1 else op.GroupConvolutionBackpropData
    result = build(x, weights, **window.properties(), output_padding=extra)
    spatial = list(range(2, axes + 2))
    if cuts:
        begin, end = _same_bounds(op, x, _kernel(node, filters), window)
        result = op.Slice(result, begin, end, [1] * axes, spatial)
    if target and not _has_sizes(x):
        result = op.Slice(result, [0] * axes, list(target), [1] * axes, spatial)
    if bias is not None:
        result = op.Add(result, along_channels(op, bias, axes))
    return channel_last(op, result, axes + 2) if is_last else result


def _kernel(node: LoweringNode, filters: SSAValue) -> tuple[int, ...]:
    shape = shape_of(filters)
    if shape is None or not is_static(shape):
        node.fail("the shape of the filters is dynamic")
    return tuple(shape[2:])


def _same(x: SSAValue, kernel: Sequence[int], window: SlidingWindow) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The pads of the padding SAME, from the static sizes of x, before and after each axis.

    For strides of 1 they do not depend on sizes, which may be dynamic.
    """
    sizes = (shape_of(x) or ())[2:]
    surplus = [
        max((-(-size // step) - 1) * step + length - size, 0) for size, step, length in zip(sizes, window.strides, kernel, strict=True)
    ]
    begins = tuple(each // 2 for each in surplus)
    return begins, tuple(each - begin for each, begin in zip(surplus, begins, strict=True))


def _same_bounds(op: OpBuilder, x: SSAValue, kernel: Sequence[int], window: SlidingWindow) -> tuple[SSAValue, SSAValue]:
    """The begins and ends of the part that remains of an unpadded result after the padding SAME, computed from dynamic
    sizes.
    """
    sizes = op.Slice(op.ShapeOf(x), [2], [len(kernel) + 2], [1], [0])
    steps = np.array(window.strides, np.int64)
    whole = op.Multiply(op.Divide(op.Add(sizes, steps - 1), steps), steps)
    surplus = op.Maximum(op.Add(op.Subtract(whole, sizes), np.array(kernel, np.int64) - steps), 0)
    begin = op.Divide(surplus, 2)
    reached = op.Add(op.Multiply(op.Subtract(sizes, 1), steps), np.array(kernel, np.int64))
    return begin, op.Subtract(reached, op.Subtract(surplus, begin))


def _has_sizes(x: SSAValue) -> bool:
    """Whether the spatial sizes of [N, C, …] are static."""
    shape = shape_of(x)
    return shape is not None and is_static(shape[2:])


def _surplus(node: LoweringNode, x: SSAValue, kernel: Sequence[int], window: SlidingWindow, target: Sequence[int]) -> tuple[int, ...]:
    """For each axis, the attribute output_size minus the size that the windows cover.

    Raises ConversionError if it is out of range.
    """
    reached = [
        (size - 1) * step + spread * (length - 1) + 1 - begin - end
        for size, step, spread, length, begin, end in zip(
            (shape_of(x) or ())[2:], window.strides, window.dilations, kernel, window.pads_begin, window.pads_end, strict=True
        )
    ]
    surplus = tuple(wanted - each for wanted, each in zip(target, reached, strict=True))
    if any(not 0 <= each < step for each, step in zip(surplus, window.strides, strict=True)):
        node.fail(f"output_size {list(target)} does not fit {reached}, which the windows reach")
    return surplus


@paddle.lowers("deformable_conv", "deformable_conv_v1")
def deformable_convolution(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    offset: SSAValue,
    filters: SSAValue,
    mask: SSAValue | None = None,
    *,
    strides: tuple[int, ...] = (1, 1),
    paddings: tuple[int, ...] = (0, 0),
    dilations: tuple[int, ...] = (1, 1),
    groups: int = 1,
    deformable_groups: int = 1,
) -> SSAValue:
    """paddle.deformable_conv(x, offset, filters, mask) -> opset8.DeformableConvolution(x, offset, filters, mask)"""
    window = window_of(node, 2, strides, paddings, dilations, "EXPLICIT", is_last=False)
    operands = [x, offset, filters] if mask is None else [x, offset, filters, mask]
    return op.DeformableConvolution(
        *operands, **window.properties(), group=groups, deformable_group=deformable_groups, bilinear_interpolation_pad=True
    )
