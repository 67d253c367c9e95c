"""Convolutions of any number of axes and batch dimensions, and those that first pad or resize an image.

    %y = tf.Conv(%x, %w) {groups = 2, batch_dims = 2, strides = [1, 1, 1, 1], padding = "SAME"}
->  %0 = opset1.GroupConvolution(Transpose(%x, with both batch dimensions merged), Transpose(%w))
    %y = opset1.Reshape(Transpose(%0), with both batch dimensions restored)
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import is_static, shape_of
from moir.expansions.windows import SlidingWindow
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.attributes.data_format import channel_first, channel_last
from moir.lowering.tensorflow.attributes.sliding_window import padding, sliding_window, spatial_attribute
from moir.lowering.tensorflow.convolution import convolved, filters_first
from moir.lowering.tensorflow.image.sampling import resized_linearly
from moir.lowering.tensorflow.indexing import flattened
from moir.lowering.tensorflow.padding import mirror_mode, padded
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

LAYOUTS = {"CHANNELS_LAST": True, "CHANNELS_FIRST": False}
"""Whether the channels are the last dimension of a layout."""


@tf.lowers("Conv")
def convolution(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    filter: SSAValue,
    *,
    batch_dims: int = 1,
    data_format: str = "CHANNELS_LAST",
    groups: int = 1,
) -> SSAValue:
    """tf.Conv(x, w) {groups = 1, batch_dims = 1, data_format = CHANNELS_LAST}
    -> Transpose(opset1.Convolution(Transpose(x), Transpose(w))), x with its batch dimensions merged
    """
    axes = node.known_rank(1) - 2
    if data_format not in LAYOUTS:
        node.fail(f"the data format {data_format} is not supported", hint=f"formats are {', '.join(LAYOUTS)}")
    last = LAYOUTS[data_format]
    strides, dilations = (spatial_attribute(node, name, axes, last) for name in ("strides", "dilations"))
    window = SlidingWindow(strides, dilations, *padding(node, axes, last))
    data = flattened(op, input, batch_dims)
    data = channel_first(op, data, axes + 2, last=last)
    filters = filters_first(op, filter, axes)
    result = channel_last(op, convolved(node, op, data, filters, window, groups), axes + 2, last=last)
    return with_batch_of(op, result, input, batch_dims)


def with_batch_of(op: OpBuilder, value: SSAValue, data: SSAValue, count: int) -> SSAValue:
    """A value whose first dimension is split into the first `count` dimensions of the data; their product equals it."""
    if count == 1:
        return value
    if count == 0:
        return op.Squeeze(value, [0])
    shape, lead = shape_of(value), shape_of(data)
    if shape is not None and lead is not None and is_static(shape[1:]) and is_static(lead[1:count]):
        return op.Reshape(value, [-1, *lead[1:count], *shape[1:]], special_zero=False)
    rest = op.Slice(op.ShapeOf(value), [1], [2**31 - 1], [1], [0])
    return op.Reshape(value, op.Concat(op.Slice(op.ShapeOf(data), [0], [count], [1], [0]), rest, axis=0), special_zero=False)


@tf.lowers("FusedPadConv2D")
def padded_convolution(node: LoweringNode, op: OpBuilder, input: SSAValue) -> SSAValue:
    """tf.FusedPadConv2D(x, paddings, w) {mode} -> the convolution of opset12.Pad(x, paddings) {pad_mode}"""
    return of_mirrored(node, op, input, 1)


@tf.lowers("FusedResizeAndPadConv2D")
def resized_convolution(
    node: LoweringNode, op: OpBuilder, input: SSAValue, size: SSAValue, *, resize_align_corners: bool = False
) -> SSAValue:
    """tf.FusedResizeAndPadConv2D(x, size, paddings, w) {mode, resize_align_corners}
    -> the convolution of opset12.Pad(opset11.Interpolate(x, size), paddings) {pad_mode}
    """
    mode = "align_corners" if resize_align_corners else "asymmetric"
    return of_mirrored(node, op, resized_linearly(op, op.convert(input, f32), size, mode), 2)


def of_mirrored(node: LoweringNode, op: OpBuilder, data: SSAValue, widths: int) -> SSAValue:
    """The convolution of images with mirrored padding.

    Operand `widths` holds the widths of the padding, operand `widths` + 1 the filters.
    """
    data = padded(op, op.convert(data, node.element(0)), node.operand(widths), mirror_mode(node), None)
    filters = filters_first(op, node.operand(widths + 1), 2)
    products = convolved(node, op, channel_first(op, data, 4), filters, sliding_window(node, 2), 1)
    return channel_last(op, products, 4)
