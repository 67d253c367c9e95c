"""Convolutions.

    %y = tflite.CONV_2D(%x, %w, %b) {padding = "SAME", stride_h = 2, stride_w = 2, …}
->  %0 = opset1.Convolution(Transpose(%x, [0, 3, 1, 2]), Transpose(%w, [0, 3, 1, 2])) {strides = [2, 2], …}
    %y = opset1.Add(opset1.Transpose(%0, [0, 2, 3, 1]), %b)

Filters are [out, kernel…, in]; the number of groups follows from the shapes.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import is_static, shape_of, size_along
from moir.expansions.windows import SlidingWindow
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.attributes.data_format import channel_first, channel_last
from moir.lowering.tensorflow.convolution import pads_for, spatial_list, spatial_sizes
from moir.lowering.tflite.fused_activation import activated
from moir.lowering.tflite.quantization import transposed_weights
from moir.lowering.tflite.table import tflite
from moir.rewriting.builder import OpBuilder

PADDINGS = {"SAME": "same_upper", "VALID": "valid"}


def window_of(node: LoweringNode, axes: str = "hw") -> SlidingWindow:
    """The sliding window of a node.

    `axes` has the letter of each spatial axis in the names of attributes such as `stride_h`. Raises ConversionError for
    a stride or dilation below 1.
    """
    strides = tuple(node.integer(f"stride_{axis}", 0) for axis in axes)
    dilations = tuple(node.integer(f"dilation_{axis}_factor", 1) for axis in axes)
    if min(*strides, *dilations) < 1:
        node.fail(f"strides {list(strides)} or dilations {list(dilations)} are below 1")
    none = (0,) * len(axes)
    return SlidingWindow(strides, dilations, none, none, PADDINGS[node.text("padding", "SAME")])


def with_bias(node: LoweringNode, op: OpBuilder, value: SSAValue, bias: SSAValue | None) -> SSAValue:
    """A result with `bias` added, unless it is None, and the node's fused activation applied."""
    return activated(node, op, value if bias is None else op.Add(value, bias))


@tflite.lowers("CONV_2D")
def convolution(node: LoweringNode, op: OpBuilder, input: SSAValue, filter: SSAValue, bias: SSAValue | None = None) -> SSAValue:
    """tflite.CONV_2D(x, w, b) -> Add(Transpose(opset1.Convolution(Transpose(x), Transpose(w))), b)

    If the filters have fewer input channels than x: opset1.GroupConvolution(Transpose(x), Reshape(Transpose(w))).
    """
    data, filters = channel_first(op, input, 4), transposed_weights(op, filter, [0, 3, 1, 2])
    channels, own = size_along(shape_of(input) or (-1,) * 4, -1), size_along(shape_of(filter) or (-1,) * 4, -1)
    window = window_of(node)
    if channels < 1 or own < 1 or channels == own:
        return with_bias(node, op, channel_last(op, op.Convolution(data, filters, **window.properties()), 4), bias)
    shape = shape_of(filters)
    if channels % own or shape is None or not is_static(shape) or shape[0] % (channels // own):
        node.fail(f"{channels} channels are not a multiple of the {own} of the filters, or the filters of the groups differ in number")
    groups = channels // own
    grouped = op.Reshape(filters, [groups, shape[0] // groups, *shape[1:]], special_zero=False)
    return with_bias(node, op, channel_last(op, op.GroupConvolution(data, grouped, **window.properties()), 4), bias)


@tflite.lowers("DEPTHWISE_CONV_2D")
def depthwise_convolution(node: LoweringNode, op: OpBuilder, input: SSAValue, filter: SSAValue, bias: SSAValue | None = None) -> SSAValue:
    """tflite.DEPTHWISE_CONV_2D(x, w [1, h, w, C · multiplier], b)
    -> Add(Transpose(opset1.GroupConvolution(Transpose(x), Reshape(Transpose(w), [C, multiplier, 1, h, w]))), b)
    """
    shape, channels = shape_of(filter), size_along(shape_of(input) or (-1,) * 4, -1)
    if shape is None or not is_static(shape) or len(shape) != 4 or shape[0] != 1:
        node.fail(f"its filters have the shape {shape}, not [1, height, width, channels]")
    if channels < 1:
        channels = shape[3] // max(node.integer("depth_multiplier", 0), 1)
    if channels < 1 or shape[3] % channels:
        node.fail(f"the {shape[3]} channels of its filters are not a multiple of the {channels} of the data")
    grouped = transposed_weights(op, filter, [3, 0, 1, 2], [channels, shape[3] // channels, 1, *shape[1:3]])
    result = op.GroupConvolution(channel_first(op, input, 4), grouped, **window_of(node).properties())
    return with_bias(node, op, channel_last(op, result, 4), bias)


@tflite.lowers("CONV_3D")
def convolution_of_volumes(node: LoweringNode, op: OpBuilder, input: SSAValue, filter: SSAValue, bias: SSAValue | None = None) -> SSAValue:
    """tflite.CONV_3D(x, w [d, h, w, in, out], b)
    -> Add(Transpose(opset1.Convolution(Transpose(x), Transpose(w))), b)
    """
    filters = transposed_weights(op, filter, [4, 3, 0, 1, 2])
    result = op.Convolution(channel_first(op, input, 5), filters, **window_of(node, "dhw").properties())
    return with_bias(node, op, channel_last(op, result, 5), bias)


@tflite.lowers("TRANSPOSE_CONV")
def transposed_convolution(
    node: LoweringNode, op: OpBuilder, output_shape: SSAValue, weights: SSAValue, input: SSAValue, bias: SSAValue | None = None
) -> SSAValue:
    """tflite.TRANSPOSE_CONV(shape, w [out, h, w, in], x, b)
    -> Add(Transpose(opset1.ConvolutionBackpropData(Transpose(x), Transpose(w))), b)
    """
    filters = transposed_weights(op, weights, [3, 0, 1, 2])
    kernel = (shape_of(weights) or (-1,) * 4)[1:3]
    return _backpropagated(node, op, output_shape, filters, input, bias, "hw", kernel)


@tflite.lowers("CONV_3D_TRANSPOSE")
def transposed_convolution_of_volumes(
    node: LoweringNode, op: OpBuilder, output_shape: SSAValue, filter: SSAValue, input: SSAValue, bias: SSAValue | None = None
) -> SSAValue:
    """tflite.CONV_3D_TRANSPOSE(shape, w [d, h, w, out, in], x, b)
    -> Add(Transpose(opset1.ConvolutionBackpropData(Transpose(x), Transpose(w))), b)
    """
    filters = transposed_weights(op, filter, [4, 3, 0, 1, 2])
    kernel = (shape_of(filter) or (-1,) * 5)[:3]
    return _backpropagated(node, op, output_shape, filters, input, bias, "dhw", kernel)


def _backpropagated(
    node: LoweringNode,
    op: OpBuilder,
    sizes: SSAValue,
    filters: SSAValue,
    data: SSAValue,
    bias: SSAValue | None,
    axes: str,
    kernel: tuple[int, ...],
) -> SSAValue:
    """The result of a transposed convolution of channel-last data, with bias and activation.

    Args:
        node: the node.
        op: the builder.
        sizes: the sizes of the result.
        filters: [in, out, kernel…].
        data: the data.
        bias: the bias [out]; None if there is none.
        axes: the letter of each spatial axis, see `window_of`.
        kernel: the spatial sizes of the filters; -1 for dynamic ones.
    """
    rank, window, first = len(axes) + 2, window_of(node, axes), channel_first(op, data, len(axes) + 2)
    wanted = spatial_sizes(op, sizes, len(axes), True)
    if wanted is not None and is_static(kernel):
        explicit, missing = pads_for(node, window, wanted, kernel)
        result = op.ConvolutionBackpropData(first, filters, **explicit.properties(), output_padding=missing)
    else:
        # For an odd total of pads `same_upper` of ConvolutionBackpropData adds one at the beginning, SAME at the end.
        window = window.with_fields(auto_pad="same_lower") if window.auto_pad == "same_upper" else window
        lengths = spatial_list(op, sizes, len(axes), True)
        result = op.ConvolutionBackpropData(first, filters, lengths, **window.properties(), output_padding=(0,) * len(axes))
    return with_bias(node, op, channel_last(op, result, rank), bias)
