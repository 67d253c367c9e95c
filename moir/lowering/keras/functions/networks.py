"""Functions that layers are made of: convolutions, normalizations, blocks, losses.

%y = keras.ops.Conv(%x, %k) {strides = 2, padding = "same"}  ->  %y = opset1.Convolution(%x, %k) with channels first
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si64
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.expansions.windows import SlidingWindow
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import Arguments, axis_list, by_axis, is_channel_last, is_tensor, numbers_of
from moir.lowering.keras.convolution import (
    axes_of,
    channels_first,
    channels_last,
    convolved,
    depthwise,
    kernel_shape,
    transposed_convolved,
    window_of,
)
from moir.lowering.keras.functions.reduction import norm_of
from moir.lowering.keras.normalization import along, along_last
from moir.lowering.keras.promotion import promoted
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder


def tensor_argument(op: OpBuilder, arguments: Arguments, name: str, like: SSAValue) -> SSAValue:
    """The argument `name` as a tensor: an operand, or a constant in the element type of `like`."""
    value = arguments.get(name)
    return value if is_tensor(value) else op.constant_like(numbers_of(value), like)


# Convolutions


@keras.lowers("ops.Conv", "ops.DepthwiseConv", "ops.SeparableConv")
def convolution(
    node: LoweringNode,
    op: OpBuilder,
    *,
    strides: tuple[int, ...] = (1,),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: tuple[int, ...] = (1,),
) -> SSAValue:
    """keras.ops.Conv(x, kernel) {strides, padding} -> opset1.Convolution, opset1.GroupConvolution

    Likewise DepthwiseConv, and SeparableConv, which a convolution by kernels of size 1 follows.
    """
    names = ("inputs", "depthwise_kernel", "pointwise_kernel") if node.op.KIND == "ops.SeparableConv" else ("inputs", "kernel")
    arguments, axes, last = Arguments(node, *names), axes_of(node), is_channel_last(node, data_format)
    inputs = arguments.tensor("inputs")
    kernels = promoted(op, [inputs, *(tensor_argument(op, arguments, name, inputs) for name in names[1:])])
    inputs, kernels = kernels[0], kernels[1:]
    shape = kernel_shape(node, kernels[0], axes)
    window = window_of(node, axes, strides, dilation_rate, padding, shape)
    data = channels_first(op, inputs, axes + 2, last=last)
    if node.op.KIND == "ops.Conv":
        channels = (shape_of(data) or (-1, -1))[1]
        if channels < 1 or channels % shape[-2] or shape[-1] % (channels // shape[-2]):
            node.fail(f"kernels of {shape[-2]} channels for data of {channels}")
        convolved_ = convolved(op, data, kernels[0], shape, channels, window)
    else:
        convolved_ = depthwise(op, data, kernels[0], axes, window)
    if node.op.KIND == "ops.SeparableConv":
        points = kernel_shape(node, kernels[1], axes)
        single = SlidingWindow((1,) * axes, (1,) * axes, (0,) * axes, (0,) * axes, "valid")
        convolved_ = convolved(op, convolved_, kernels[1], points, points[-2], single)
    return channels_last(op, convolved_, axes + 2, last=last)


@keras.lowers("ops.ConvTranspose")
def transposed_convolution(
    node: LoweringNode,
    op: OpBuilder,
    *,
    strides: tuple[int, ...] = (1,),
    padding: str = "valid",
    output_padding: tuple[int, ...] | None = None,
    data_format: str | None = None,
    dilation_rate: tuple[int, ...] = (1,),
) -> SSAValue:
    """keras.ops.ConvTranspose(x, kernel [spatial…, C_out, C_in]) -> opset1.ConvolutionBackpropData"""
    arguments, axes, last = Arguments(node, "inputs", "kernel"), axes_of(node), is_channel_last(node, data_format)
    inputs, kernel = promoted(op, [arguments.tensor("inputs"), tensor_argument(op, arguments, "kernel", arguments.tensor("inputs"))])
    data = channels_first(op, inputs, axes + 2, last=last)
    convolved_ = transposed_convolved(node, op, data, kernel, axes, (strides, dilation_rate, output_padding), padding)
    return channels_last(op, convolved_, axes + 2, last=last)


# Normalizations


@keras.lowers("ops.BatchNorm")
def batch_normalization(node: LoweringNode, op: OpBuilder, *, axis: int, epsilon: float = 0.001) -> SSAValue:
    """keras.ops.BatchNorm(x, mean, variance, offset, scale) {axis} -> x · scale / √(variance + epsilon) + shift"""
    arguments, rank = Arguments(node, "x", "mean", "variance", "offset", "scale"), node.known_rank(0)
    x = arguments.tensor("x")
    mean, variance = (tensor_argument(op, arguments, name, x) for name in ("mean", "variance"))
    factor = op.Divide(op.constant_like(1.0, variance), op.Sqrt(op.Add(variance, epsilon)))
    if arguments.get("scale") is not None:
        factor = op.Multiply(factor, tensor_argument(op, arguments, "scale", x))
    shift = op.Negative(op.Multiply(mean, factor))
    if arguments.get("offset") is not None:
        shift = op.Add(shift, tensor_argument(op, arguments, "offset", x))
    axes = axis_list(node, axis, rank)
    return op.Add(op.Multiply(x, along(op, factor, axes, rank)), along(op, shift, axes, rank))


SMALLEST = 1e-7
"""The number that Keras adds to variances if the layer does not give one."""


@keras.lowers("ops.LayerNorm", "ops.RMSNorm")
def layer_normalization(
    node: LoweringNode, op: OpBuilder, *, axis: object = -1, epsilon: object | None = None, rms_scaling: bool = False
) -> SSAValue:
    """keras.ops.LayerNorm(x, gamma, beta) {axis} -> opset6.MVN(x, axes) · gamma + beta; likewise RMSNorm without
    mean
    """
    is_root = node.op.KIND == "ops.RMSNorm"
    arguments, rank = Arguments(node, *(("x", "scale") if is_root else ("x", "gamma", "beta"))), node.known_rank(0)
    x, axes = arguments.tensor("x"), sorted(axis_list(node, axis, rank))
    least = SMALLEST if epsilon is None else node.number("epsilon")
    data = op.convert(x, f32)
    if is_root or rms_scaling:
        centred = data if is_root else op.Subtract(data, op.ReduceMean(data, axes, keep_dims=True))
        mean = op.ReduceMean(op.Multiply(centred, centred), axes, keep_dims=True)
        normalized = op.Divide(data, op.Sqrt(op.Add(mean, least)))
    else:
        normalized = op.MVN(data, axes, normalize_variance=True, eps=least, eps_mode="INSIDE_SQRT")
    name = "scale" if is_root else "gamma"
    if arguments.get(name) is not None:
        scale = op.convert(tensor_argument(op, arguments, name, data), f32)
        normalized = op.Multiply(normalized, along_last(op, scale, axes, data, rank) if is_root else along(op, scale, axes, rank))
    if not is_root and not rms_scaling and arguments.get("beta") is not None:
        normalized = op.Add(normalized, along(op, op.convert(tensor_argument(op, arguments, "beta", data), f32), axes, rank))
    return op.convert(normalized, element_of(x))


# Blocks and windows


@keras.lowers("ops.DepthToSpace", "ops.SpaceToDepth")
def blocks(node: LoweringNode, op: OpBuilder, *, block_size: int, data_format: str = "channels_last") -> SSAValue:
    """keras.ops.DepthToSpace(x) {block_size} -> opset1.DepthToSpace(x), whose blocks come first if channels are last

    Likewise SpaceToDepth.
    """
    last = is_channel_last(node, data_format)
    x = channels_first(op, Arguments(node, "x").tensor("x"), 4, last=last)
    mode = "blocks_first" if last else "depth_first"
    kind = op.DepthToSpace if node.op.KIND == "ops.DepthToSpace" else op.SpaceToDepth
    return channels_last(op, kind(x, mode=mode, block_size=block_size), 4, last=last)


@keras.lowers("ops.Unfold")
def unfold(
    node: LoweringNode,
    op: OpBuilder,
    *,
    kernel_size: tuple[int, ...],
    dilation: tuple[int, ...] = (1,),
    padding: tuple[int, ...] = (0,),
    stride: tuple[int, ...] = (1,),
) -> SSAValue:
    """keras.ops.Unfold(x [N, C, H, W]) {kernel_size} -> the patches [N, C · kh · kw, windows]"""
    x = Arguments(node, "x").tensor("x")
    kernel, pads = by_axis(node, "kernel_size", kernel_size, 2), by_axis(node, "padding", padding, 2)
    spread, steps = by_axis(node, "dilation", dilation, 2), by_axis(node, "stride", stride, 2)
    x = op.Pad(x, [0, 0, *pads], [0, 0, *pads], op.constant_like(0, x), pad_mode="constant") if any(pads) else x
    sizes = (shape_of(x) or ())[1:]
    if len(sizes) != 3 or min(sizes) < 1:
        node.fail("the sizes of its images are dynamic", hint="give the model's inputs static shapes")
    windows = 1
    for axis, size in enumerate(sizes[1:]):
        count = (size - spread[axis] * (kernel[axis] - 1) - 1) // steps[axis] + 1
        if count < 1:
            node.fail("its kernel is larger than the images")
        indices = np.arange(kernel[axis])[:, None] * spread[axis] + np.arange(count) * steps[axis]
        # [N, C, kh, windows, W] -> [N, C, kh, windows, kw, windows]
        x = op.Gather(x, op.constant(indices, si64), 2 + 2 * axis)
        windows *= count
    x = op.transposed(x, [0, 1, 2, 4, 3, 5])
    return op.Reshape(x, [-1, sizes[0] * kernel[0] * kernel[1], windows], special_zero=False)


@keras.lowers("ops.CDist")
def distances(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """keras.ops.CDist(x […, N, D], y […, M, D]) -> the distances […, N, M] of the vectors"""
    arguments = Arguments(node, "x", "y")
    x, y = promoted(op, [arguments.tensor("x"), arguments.tensor("y")])
    rank = max(rank_of(x) or 2, rank_of(y) or 2) + 1
    return norm_of(node, op, op.Subtract(op.Unsqueeze(x, [-2]), op.Unsqueeze(y, [-3])), 2, [rank - 1], keepdims=False)
