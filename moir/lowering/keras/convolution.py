"""Convolutions, transposed convolutions, depthwise and separable ones. Kernels are [spatial…, C_in / groups, C_out].

    %y = keras.Conv2D(%x, %w, %b) {strides = [2, 2], padding = "same"}
->  %0 = opset1.Convolution(Transpose(%x), Transpose(%w)) {strides = [2, 2], auto_pad = "same_upper"}
    %y = opset1.Add(Transpose(%0), %b)
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.shapes import is_static, shape_of
from moir.expansions.windows import SlidingWindow
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.activation_functions import activated
from moir.lowering.keras.attributes import by_axis, is_channel_last, variables
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder

AUTO_PADS = {"same": "same_upper", "valid": "valid"}


def channels_first(op: OpBuilder, x: SSAValue, rank: int, *, last: bool = True) -> SSAValue:
    """[N, …, C] -> [N, C, …]; the value itself if `last` is false."""
    return op.transposed(x, [0, rank - 1, *range(1, rank - 1)]) if last else x


def channels_last(op: OpBuilder, x: SSAValue, rank: int, *, last: bool = True) -> SSAValue:
    """[N, C, …] -> [N, …, C]; the value itself if `last` is false."""
    return op.transposed(x, [0, *range(2, rank), 1]) if last else x


def kernel_shape(node: LoweringNode, kernel: SSAValue, axes: int) -> tuple[int, ...]:
    """The shape of a kernel. Raises ConversionError unless it is static, without zeros, and has rank `axes` + 2."""
    shape = shape_of(kernel)
    if shape is None or len(shape) != axes + 2 or not is_static(shape) or min(shape) < 1:
        node.fail(f"its kernel has the shape {shape}")
    return tuple(shape)


def axes_of(node: LoweringNode) -> int:
    """The number of spatial axes: the rank of the data minus 2."""
    return node.known_rank(0) - 2


def window_of(
    node: LoweringNode, axes: int, strides: Sequence[int], dilations: Sequence[int], padding: str, kernel: Sequence[int]
) -> SlidingWindow:
    """The sliding window of a convolution; `causal` padding is all at the beginning.

    `kernel` has the spatial sizes of the kernel. Raises ConversionError for an unknown padding, or a stride or dilation
    below 1.
    """
    strides, dilations = by_axis(node, "strides", strides, axes), by_axis(node, "dilation_rate", dilations, axes)
    if min(*strides, *dilations) < 1:
        node.fail("a stride or dilation is below 1")
    zeros = (0,) * axes
    if padding == "causal":
        front = tuple(rate * (size - 1) for rate, size in zip(dilations, kernel, strict=False))
        return SlidingWindow(tuple(strides), tuple(dilations), front, zeros, "explicit")
    if padding not in AUTO_PADS:
        node.fail(f"padding {padding!r} does not exist")
    return SlidingWindow(tuple(strides), tuple(dilations), zeros, zeros, AUTO_PADS[padding])


def finished(
    node: LoweringNode, op: OpBuilder, result: SSAValue, bias: SSAValue | None, rank: int, activation: object, *, last: bool
) -> SSAValue:
    """A channel-first result of rank `rank` with bias and activation; transposed to channels last if `last` is true."""
    if bias is not None and not last:
        result = op.Add(result, op.Reshape(bias, [-1, *(1,) * (rank - 2)], special_zero=False))
        bias = None
    result = channels_last(op, result, rank, last=last)
    return activated(node, op, result if bias is None else op.Add(result, bias), activation)


def convolved(op: OpBuilder, data: SSAValue, kernel: SSAValue, shape: Sequence[int], channels: int, window: SlidingWindow) -> SSAValue:
    """A convolution of channel-first data by a kernel with the shape `shape`, [spatial…, C_in / groups, C_out].

    The number of groups is `channels`, the channels of the data, divided by the input channels of the kernel.
    """
    axes = len(shape) - 2
    groups = channels // shape[-2] if channels > 0 else 1
    filters = op.transposed(kernel, [axes + 1, axes, *range(axes)])
    if groups == 1:
        return op.Convolution(data, filters, **window.properties())
    grouped = op.Reshape(filters, [groups, shape[-1] // groups, shape[-2], *shape[:axes]], special_zero=False)
    return op.GroupConvolution(data, grouped, **window.properties())


@keras.lowers("Conv1D", "Conv2D", "Conv3D", "Convolution1D", "Convolution2D", "Convolution3D")
def convolution(
    node: LoweringNode,
    op: OpBuilder,
    inputs: SSAValue,
    *,
    strides: tuple[int, ...] = (1,),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: tuple[int, ...] = (1,),
    groups: int = 1,
    activation: object | None = None,
    use_bias: bool = True,
) -> SSAValue:
    """keras.Conv2D(x, kernel, bias) -> Transpose(opset1.Convolution(Transpose(x), Transpose(kernel))) + bias

    Likewise Conv1D and Conv3D.
    """
    axes, last, weights = axes_of(node), is_channel_last(node, data_format), variables(node)
    if len(weights) != 1 + use_bias:
        node.fail("its kernel or bias is not in the file, or it has more variables than these", hint="merge the factors of LoRA first")
    shape = kernel_shape(node, weights[0], axes)
    window = window_of(node, axes, strides, dilation_rate, padding, shape)
    if groups < 1 or shape[-1] % groups:
        node.fail(f"{shape[-1]} filters in {groups} groups")
    data = channels_first(op, inputs, axes + 2, last=last)
    result = convolved(op, data, weights[0], shape, shape[-2] * groups, window)
    return finished(node, op, result, weights[1] if use_bias else None, axes + 2, activation, last=last)


def depthwise(op: OpBuilder, data: SSAValue, kernel: SSAValue, axes: int, window: SlidingWindow) -> SSAValue:
    """A convolution of channel-first data in which each channel has its own filters: `kernel` is [spatial…, C,
    multiplier].

    `axes` is the number of spatial axes.
    """
    filters = op.Unsqueeze(op.transposed(kernel, [axes, axes + 1, *range(axes)]), [2])
    return op.GroupConvolution(data, filters, **window.properties())


SEPARABLE = ("SeparableConv1D", "SeparableConv2D", "SeparableConvolution1D", "SeparableConvolution2D")


@keras.lowers("DepthwiseConv1D", "DepthwiseConv2D", *SEPARABLE)
def depthwise_convolution(
    node: LoweringNode,
    op: OpBuilder,
    inputs: SSAValue,
    *,
    strides: tuple[int, ...] = (1,),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: tuple[int, ...] = (1,),
    activation: object | None = None,
    use_bias: bool = True,
) -> SSAValue:
    """keras.DepthwiseConv2D(x, kernel, bias) -> opset1.GroupConvolution with a group for each channel

    keras.SeparableConv2D: an opset1.Convolution with kernels of size 1 follows. Likewise in one dimension.
    """
    axes, last, weights = axes_of(node), is_channel_last(node, data_format), variables(node)
    kernels = 2 if node.op.KIND in SEPARABLE else 1
    if len(weights) != kernels + use_bias:
        node.fail("one of its kernels or its bias is not in the file")
    window = window_of(node, axes, strides, dilation_rate, padding, kernel_shape(node, weights[0], axes))
    result = depthwise(op, channels_first(op, inputs, axes + 2, last=last), weights[0], axes, window)
    if kernels == 2:
        points = kernel_shape(node, weights[1], axes)
        single = SlidingWindow((1,) * axes, (1,) * axes, (0,) * axes, (0,) * axes, "valid")
        result = convolved(op, result, weights[1], points, points[-2], single)
    return finished(node, op, result, weights[kernels] if use_bias else None, axes + 2, activation, last=last)


@keras.lowers("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose", "Convolution1DTranspose")
@keras.lowers("Convolution2DTranspose", "Convolution3DTranspose", "Deconvolution2D", "Deconvolution3D")
def transposed_convolution(
    node: LoweringNode,
    op: OpBuilder,
    inputs: SSAValue,
    *,
    strides: tuple[int, ...] = (1,),
    padding: str = "valid",
    output_padding: tuple[int, ...] | None = None,
    data_format: str | None = None,
    dilation_rate: tuple[int, ...] = (1,),
    activation: object | None = None,
    use_bias: bool = True,
) -> SSAValue:
    """keras.Conv2DTranspose(x, kernel [spatial…, C_out, C_in], bias) -> opset1.ConvolutionBackpropData

    Likewise Conv1DTranspose and Conv3DTranspose.
    """
    axes, last, weights = axes_of(node), is_channel_last(node, data_format), variables(node)
    if len(weights) != 1 + use_bias:
        node.fail("its kernel or bias is not in the file")
    data = channels_first(op, inputs, axes + 2, last=last)
    result = transposed_convolved(node, op, data, weights[0], axes, (strides, dilation_rate, output_padding), padding)
    return finished(node, op, result, weights[1] if use_bias else None, axes + 2, activation, last=last)


def transposed_convolved(
    node: LoweringNode,
    op: OpBuilder,
    data: SSAValue,
    kernel: SSAValue,
    axes: int,
    steps: tuple[Sequence[int], Sequence[int], Sequence[int] | None],
    padding: str,
) -> SSAValue:
    """A transposed convolution of channel-first data.

    `axes` is the number of spatial axes; `steps` are the strides, the dilations, and the output padding, which is None
    for Keras' default.
    """
    shape = kernel_shape(node, kernel, axes)
    strides, rates = by_axis(node, "strides", steps[0], axes), by_axis(node, "dilation_rate", steps[1], axes)
    extra = None if steps[2] is None else by_axis(node, "output_padding", steps[2], axes)
    pads = [
        transposed_pads(node, size, strides[axis], rates[axis], padding, None if extra is None else extra[axis])
        for axis, size in enumerate(shape[:axes])
    ]
    return op.ConvolutionBackpropData(
        data,
        op.transposed(kernel, [axes + 1, axes, *range(axes)]),
        strides=strides,
        dilations=rates,
        pads_begin=[begin for begin, _ in pads],
        pads_end=[max(end, 0) for _, end in pads],
        output_padding=[max(-end, 0) for _, end in pads],
        auto_pad="explicit",
    )


def transposed_pads(node: LoweringNode, size: int, stride: int, rate: int, padding: str, extra: int | None) -> tuple[int, int]:
    """The numbers of elements that are cut off at the begin and the end of an axis of a transposed convolution.

    Args:
        node: the layer.
        size, stride, rate: the size of the kernel, the stride and the dilation along the axis.
        padding: `same` or `valid`.
        extra: the output padding; None for results as large as the input times the stride (`same`), or such that the
            last element of the input contributes as many elements as the larger of kernel and stride (`valid`).

    A negative number at the end adds elements. Raises ConversionError for another padding.
    """
    if padding not in AUTO_PADS:
        node.fail(f"padding {padding!r} does not exist")
    extent = (size - 1) * rate + 1
    if padding == "valid":
        return 0, -(max(extent, stride) - extent if extra is None else extra)
    total = stride + extent - 2 if extra is None else extent + extent % 2 - 2 + extra
    left = min(total // 2 + total % 2, extent - 1)
    return extent - 1 - left, extent - 1 - (total - left)
