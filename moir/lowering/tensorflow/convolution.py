"""Convolutions, transposed convolutions and dilations.

    %y = tf.Conv2D(%x, %w) {strides = [1, 2, 2, 1], padding = "SAME"}
->  %0 = opset1.Convolution(Transpose(%x, [0, 3, 1, 2]), Transpose(%w, [3, 2, 0, 1]))
             {strides = [2, 2], auto_pad = "same_upper"}
    %y = opset1.Transpose(%0, [0, 2, 3, 1])

Filters are [kernel…, C_in, C_out] in TensorFlow.
"""

from __future__ import annotations

from math import prod

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import INTEGER_TYPES, to_numpy
from moir.dialects.shapes import element_of, is_static, shape_of
from moir.dialects.symbols import Symbol
from moir.expansions.shape_values import dimension_list
from moir.expansions.windows import SlidingWindow
from moir.frameworks.traits import SAYS_LAYOUT
from moir.lowering.binder import LoweringNode
from moir.lowering.ranks import fixed
from moir.lowering.tensorflow.attributes.data_format import channel_first, channel_last, is_channel_last
from moir.lowering.tensorflow.attributes.fused_operations import with_fused_operations
from moir.lowering.tensorflow.attributes.sliding_window import default_format, sliding_window
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

MAXIMUM_TAPS = 1024
"""The largest number of window elements for which a morphological dilation is unrolled."""


def filters_first(op: OpBuilder, filters: SSAValue, axes: int) -> SSAValue:
    """Filters [kernel…, a, b] transposed to [b, a, kernel…]."""
    return op.Transpose(filters, [axes + 1, axes, *range(axes)])


def filters_by_channel(op: OpBuilder, filters: SSAValue) -> SSAValue:
    """Depthwise filters [kernel…, C, multiplier] reshaped to [C, multiplier, 1, kernel…]."""
    return op.Unsqueeze(op.Transpose(filters, [2, 3, 0, 1]), [2])


def group_count(node: LoweringNode, axes: int, last: bool) -> int:
    """The number of groups: channels of the data divided by input channels of the filters; 1 if one of them is dynamic.

    Raises ConversionError if the former is not a multiple of the latter.
    """
    data, filters = node.shape(0), node.shape(1)
    if data is None or filters is None or len(data) != axes + 2 or len(filters) != axes + 2:
        return 1
    channels, own = data[-1 if last else 1], filters[axes]
    if channels < 1 or own < 1 or channels == own:
        return 1
    if channels % own:
        node.fail(f"{channels} channels are not a multiple of the {own} of the filters")
    return channels // own


@tf.lowers("Conv2D", "_FusedConv2D", rank=fixed(4, 4), traits=(SAYS_LAYOUT,))
@tf.lowers("Conv3D", rank=fixed(5, 5), traits=(SAYS_LAYOUT,))
def convolution(node: LoweringNode, op: OpBuilder, input: SSAValue, filter: SSAValue) -> SSAValue:
    """tf.Conv2D(x, w) -> Transpose(opset1.Convolution(Transpose(x), Transpose(w))); likewise Conv3D

    If the filters have fewer input channels than x: opset1.GroupConvolution(Transpose(x), Reshape(Transpose(w))).
    """
    axes = 3 if node.op.KIND == "Conv3D" else 2
    last = is_channel_last(node, node.text("data_format", default_format(axes)))
    window = sliding_window(node, axes)
    data = channel_first(op, input, axes + 2, last=last)
    filters = filters_first(op, filter, axes)
    result = convolved(node, op, data, filters, window, group_count(node, axes, last))
    return finished(node, op, result, axes + 2, last)


def convolved(node: LoweringNode, op: OpBuilder, data: SSAValue, filters: SSAValue, window: SlidingWindow, groups: int) -> SSAValue:
    """The convolution of channel-first data by filters [C_out, C_in / groups, kernel…], channel-first.

    Raises ConversionError if there are several groups and the shape of the filters is dynamic.
    """
    if groups == 1:
        return op.Convolution(data, filters, **window.properties())
    shape = shape_of(filters)
    if shape is None or not is_static(shape[1:]):
        node.fail("the shape of grouped filters is unknown")
    grouped = op.Reshape(filters, [groups, -1, *shape[1:]], special_zero=False)
    return op.GroupConvolution(data, grouped, **window.properties())


@tf.lowers("DepthwiseConv2dNative", "_FusedDepthwiseConv2dNative", "FusedDepthwiseConv2dNative", rank=fixed(4, 4), traits=(SAYS_LAYOUT,))
def depthwise_convolution(node: LoweringNode, op: OpBuilder, input: SSAValue, filter: SSAValue, *, data_format: str = "NHWC") -> SSAValue:
    """tf.DepthwiseConv2dNative(x, w) -> Transpose(opset1.GroupConvolution(Transpose(x), Unsqueeze(Transpose(w))))

    Each channel of x has its own filters [kernel…, multiplier]. TensorFlow.js writes the kind with fused operations
    without the underscore.
    """
    last = is_channel_last(node, data_format)
    data = channel_first(op, input, 4, last=last)
    result = op.GroupConvolution(data, filters_by_channel(op, filter), **sliding_window(node, 2).properties())
    return finished(node, op, result, 4, last)


def finished(node: LoweringNode, op: OpBuilder, result: SSAValue, rank: int, last: bool) -> SSAValue:
    """A channel-first result in the data format of the node, after the operations that are fused into the node.

    `rank` is that of the result; `last` is true for a channel-last data format.
    """
    result = channel_last(op, result, rank, last=last)
    if node.op.KIND.lstrip("_").startswith("Fused"):
        result = with_fused_operations(node, op, result, 2, last)
    return result


@tf.lowers("Conv2DBackpropInput", rank=fixed(1, 4, 4), traits=(SAYS_LAYOUT,))
@tf.lowers("Conv3DBackpropInputV2", rank=fixed(1, 5, 5), traits=(SAYS_LAYOUT,))
def transposed_convolution(node: LoweringNode, op: OpBuilder, input_sizes: SSAValue) -> SSAValue:
    """tf.Conv2DBackpropInput(sizes, w, y)
    -> Transpose(opset1.ConvolutionBackpropData(Transpose(y), Transpose(w), spatial sizes))

    If the spatial sizes of the result are known, pads and output padding replace the operand.
    """
    axes = 2 if node.op.KIND == "Conv2DBackpropInput" else 3
    return backpropagated(node, op, input_sizes, axes)


@tf.lowers("Conv2DBackpropInputV2", "Conv3DBackpropInput")
def transposed_convolution_like(node: LoweringNode, op: OpBuilder, input: SSAValue) -> SSAValue:
    """tf.Conv3DBackpropInput(x, w, y): as Conv3DBackpropInputV2 with the shape of x."""
    return backpropagated(node, op, op.ShapeOf(input), node.known_rank(0) - 2)


@tf.lowers("DepthwiseConv2dNativeBackpropInput", rank=fixed(1, 4, 4), traits=(SAYS_LAYOUT,))
def transposed_depthwise_convolution(node: LoweringNode, op: OpBuilder, input_sizes: SSAValue) -> SSAValue:
    """tf.DepthwiseConv2dNativeBackpropInput(sizes, w, y) -> Transpose(opset1.GroupConvolutionBackpropData(…))"""
    return backpropagated(node, op, input_sizes, 2, depthwise=True)


def backpropagated(node: LoweringNode, op: OpBuilder, sizes: SSAValue, axes: int, *, depthwise: bool = False) -> SSAValue:
    """The transposed convolution of operand 2 by the filters in operand 1, cut or padded to the given sizes.

    `axes` is the number of spatial axes. With `depthwise` each channel has its own filters.
    """
    last = is_channel_last(node, node.text("data_format", default_format(axes)))
    window = sliding_window(node, axes)
    data = channel_first(op, node.operand(2), axes + 2, last=last)
    filters = filters_by_channel(op, node.operand(1)) if depthwise else filters_first(op, node.operand(1), axes)
    build = op.GroupConvolutionBackpropData if depthwise else op.ConvolutionBackpropData
    wanted = spatial_sizes(op, sizes, axes, last)
    kernel = (node.shape(1) or (-1,) * axes)[:axes]
    if wanted is not None and is_static(kernel):
        explicit, missing = pads_for(node, window, wanted, kernel)
        result = build(data, filters, **explicit.properties(), output_padding=missing)
    else:
        # If the total padding is odd, `same_upper` of ConvolutionBackpropData pads more at the beginning, SAME of
        # TensorFlow at the end.
        window = window.with_fields(auto_pad="same_lower") if window.auto_pad == "same_upper" else window
        result = build(data, filters, spatial_list(op, sizes, axes, last), **window.properties(), output_padding=(0,) * axes)
    return channel_last(op, result, axes + 2, last=last)


def spatial_sizes(op: OpBuilder, sizes: SSAValue, axes: int, last: bool) -> tuple[int, ...] | None:
    """The spatial elements of the constant `sizes` of a result; None if one of them is computed.

    `sizes` has an element per axis, or one per spatial axis.
    """
    entries = op.known.elements(sizes)
    if entries is None or entries.size not in (axes, axes + 2):
        return None
    dimensions = entries.ravel().tolist()
    if len(dimensions) != axes:
        dimensions = dimensions[1:-1] if last else dimensions[2:]
    return None if any(isinstance(entry, Symbol) for entry in dimensions) else tuple(int(entry) for entry in dimensions)


def spatial_list(op: OpBuilder, sizes: SSAValue, axes: int, last: bool) -> SSAValue:
    """The spatial elements of the sizes of a result as a 1-D tensor, computed at run time if necessary.

    `sizes` has an element per axis, or one per spatial axis; `last` is whether they are those of channel-last data.
    """
    if shape_of(sizes) == (axes,):
        return sizes
    first = 1 if last else 2
    sliced = op.Slice(sizes, [first], [first + axes], [1], [0])
    # The length of the 1-D tensor is the number of spatial axes.
    return sliced if shape_of(sliced) == (axes,) else op.Reshape(sliced, [axes], special_zero=False)


def pads_for(
    node: LoweringNode, window: SlidingWindow, wanted: tuple[int, ...], kernel: tuple[int, ...]
) -> tuple[SlidingWindow, tuple[int, ...]]:
    """The window with explicit pads, and the output padding, such that a transposed convolution has the spatial sizes
    `wanted`.

    Raises ConversionError if these are too small for the kernel.
    """
    begins: list[int] = []
    ends: list[int] = []
    missing: list[int] = []
    for axis, (size, length) in enumerate(zip(wanted, kernel, strict=True)):
        stride, extent = window.strides[axis], (length - 1) * window.dilations[axis] + 1
        begin, end = window.pads_begin[axis], window.pads_end[axis]
        if window.auto_pad == "same_upper":
            count = -(-size // stride)
            surplus = max((count - 1) * stride + extent - size, 0)
            begin, end = surplus // 2, surplus - surplus // 2
        else:
            count = (size + begin + end - extent) // stride + 1
        if count < 1:
            node.fail(f"a result of {list(wanted)} is too small for its kernel {list(kernel)}")
        begins.append(begin)
        ends.append(end)
        missing.append(size - ((count - 1) * stride + extent - begin - end))
    return window.with_fields(pads_begin=tuple(begins), pads_end=tuple(ends), auto_pad="explicit"), tuple(missing)


@tf.lowers("Dilation2D")
def dilation(
    node: LoweringNode, op: OpBuilder, input: SSAValue, filter: SSAValue, *, strides: tuple[int, ...], rates: tuple[int, ...]
) -> SSAValue:
    """tf.Dilation2D(x, w) -> the maximum over all taps of opset1.Add(opset8.Slice(padded x), w of the tap)"""
    data = input
    kernel = shape_of(filter)
    if len(strides) != 4 or len(rates) != 4 or min(*strides, *rates) < 1:
        node.fail("strides and rates are not four positive numbers")
    if kernel is None or len(kernel) != 3 or not is_static(kernel[:2]) or not 0 < prod(kernel[:2]) <= MAXIMUM_TAPS:
        node.fail("the size of the filter is unknown or too large")
    extents = [(size - 1) * rate + 1 for size, rate in zip(kernel, rates[1:3], strict=False)]
    element = element_of(input)
    inside: SSAValue | None = None
    if (pads := dilation_pads(node, op, extents, strides[1:3])) is not None:
        begins, ends = pads
        if element in INTEGER_TYPES:
            # The sum of the lowest number and a filter element would be no longer the lowest number.
            ones = op.Broadcast(op.constant(np.array(1, np.uint8)), op.ShapeOf(data))
            inside = op.Equal(op.Pad(ones, begins, ends, None, pad_mode="constant"), 1)
        data = op.Pad(data, begins, ends, lowest_value(node, op, element), pad_mode="constant")
    largest = 2**31 - 1
    result: SSAValue | None = None
    for row, column in np.ndindex(kernel[0], kernel[1]):
        # All windows lie within the padded data, so the slice of a tap ends before the end of the data by the distance
        # of the tap from the last tap.
        start = [row * rates[1], column * rates[2]]
        stop = [begin - extent + 1 or largest for begin, extent in zip(start, extents, strict=True)]
        tap = op.Slice(data, start, stop, list(strides[1:3]), [1, 2])
        moved = op.Add(tap, op.Gather(op.Gather(filter, row, 0), column, 0))
        if inside is not None:
            moved = op.Select(op.Slice(inside, start, stop, list(strides[1:3]), [1, 2]), moved, lowest_value(node, op, element))
        result = moved if result is None else op.Maximum(result, moved)
    assert result is not None
    return result


def lowest_value(node: LoweringNode, op: OpBuilder, element: Attribute) -> SSAValue:
    """The lowest finite value of an element type, with which max pooling pads.

    Raises ConversionError for a type other than integers and floats.
    """
    kind = to_numpy(element)
    if kind.kind not in "iuf":
        node.fail("the element type of operand 0 is unknown")
    return op.constant(np.array(np.finfo(kind).min if kind.kind == "f" else np.iinfo(kind).min, kind), element)


def dilation_pads(node: LoweringNode, op: OpBuilder, extents: list[int], strides: tuple[int, ...]) -> tuple[SSAValue, SSAValue] | None:
    """The padding before and after all four axes of operand 0, as 1-D tensors; None for `padding` VALID.

    `extents` are the sizes of the dilated window along height and width.
    """
    if node.text("padding") == "VALID":
        return None
    begins: list[SSAValue] = []
    ends: list[SSAValue] = []
    for axis, (extent, stride) in enumerate(zip(extents, strides, strict=True), 1):
        if stride == 1:
            total = op.constant([extent - 1])
        else:
            size = dimension_list(op, node.operand(0), axis)
            last = op.Multiply(op.Divide(op.Subtract(size, 1), stride), stride)
            total = op.Maximum(op.Subtract(op.Add(last, extent), size), 0)
        begins.append(op.Divide(total, 2))
        ends.append(op.Subtract(total, begins[-1]))
    pads = [op.Concat([0], *each, [0], axis=0) for each in (begins, ends)]
    known = [op.known.integers(each) for each in pads]
    return None if known == [(0,) * 4] * 2 else (pads[0], pads[1])
