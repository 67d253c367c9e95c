"""Pooling over windows.

    %y = tf.MaxPool(%x) {ksize = [1, 2, 2, 1], strides = [1, 2, 2, 1], padding = "VALID"}
->  %0 = opset14.MaxPool(Transpose(%x, [0, 3, 1, 2])) {kernel = [2, 2], strides = [2, 2], auto_pad = "valid"}
    %y = opset1.Transpose(%0, [0, 2, 3, 1])
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import element_of
from moir.expansions.windows import padded_window
from moir.frameworks.traits import SAYS_LAYOUT
from moir.lowering.binder import LoweringNode
from moir.lowering.ranks import fixed
from moir.lowering.table import Replacement
from moir.lowering.tensorflow.attributes.data_format import channel_first, channel_last, is_channel_last, spatial
from moir.lowering.tensorflow.attributes.sliding_window import checked_entries, default_format, padding
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


@tf.lowers("AvgPool", rank=fixed(4, 1), traits=(SAYS_LAYOUT,))
@tf.lowers("AvgPool3D", rank=fixed(5), traits=(SAYS_LAYOUT,))
def average_pool(node: LoweringNode, op: OpBuilder, value: SSAValue, *, ksize: tuple[int, ...], strides: tuple[int, ...]) -> SSAValue:
    """tf.AvgPool(x) -> Transpose(opset14.AvgPool(Transpose(x)) {exclude-pad = true}); likewise AvgPool3D"""
    axes = 3 if node.op.KIND == "AvgPool3D" else 2
    last = is_channel_last(node, node.text("data_format", default_format(axes)))
    kernel, steps = checked_entries(node, "ksize", ksize, axes, last), checked_entries(node, "strides", strides, axes, last)
    begins, ends, automatic = padding(node, axes, last)
    data, window = channel_first(op, value, axes + 2, last=last), padded_window(kernel, steps, begins, ends)
    result = op["opset14.AvgPool"](data, **window, auto_pad=automatic, exclude_pad=True, rounding_type="floor")
    return channel_last(op, result, axes + 2, last=last)


@tf.lowers("MaxPool", rank=fixed(4, 1), traits=(SAYS_LAYOUT,))
@tf.lowers("MaxPool3D", rank=fixed(5), traits=(SAYS_LAYOUT,))
def max_pool(node: LoweringNode, op: OpBuilder, *, ksize: tuple[int, ...], strides: tuple[int, ...]) -> SSAValue:
    """tf.MaxPool(x) -> Transpose(opset14.MaxPool(Transpose(x))); likewise MaxPool3D"""
    return maxima(node, op, ksize, strides)


@tf.lowers("MaxPoolV2", traits=(SAYS_LAYOUT,))
def max_pool_operands(node: LoweringNode, op: OpBuilder, _input: SSAValue, ksize: SSAValue, strides_: SSAValue) -> SSAValue:
    """tf.MaxPoolV2(x, ksize, strides) -> as MaxPool; kernel and strides must be constant"""
    kernel, strides = op.known.integers(ksize), op.known.integers(strides_)
    if kernel is None or strides is None:
        node.fail("its window is computed", hint="make ksize and strides constant")
    return maxima(node, op, kernel, strides)


def maxima(node: LoweringNode, op: OpBuilder, kernel: Sequence[int], strides: Sequence[int]) -> SSAValue:
    """The maxima of operand 0 over windows; `kernel` and `strides` have an element for every dimension."""
    axes = 3 if node.op.KIND == "MaxPool3D" else 2
    last = is_channel_last(node, node.text("data_format", default_format(axes)))
    if len(kernel) == axes + 2 and kernel[-1 if last else 1] > 1:
        return maxima_of_channels(node, op, kernel, strides, last)
    sizes, steps = checked_entries(node, "ksize", kernel, axes, last), checked_entries(node, "strides", strides, axes, last)
    begins, ends, automatic = padding(node, axes, last)
    first = channel_first(op, node.operand(0), axes + 2, last=last)
    result = op.MaxPool(first, **padded_window(sizes, steps, begins, ends, (1,) * axes), auto_pad=automatic)
    return channel_last(op, result, axes + 2, last=last)


def maxima_of_channels(node: LoweringNode, op: OpBuilder, kernel: Sequence[int], strides: Sequence[int], last: bool) -> SSAValue:
    """Maxima over groups of channels: opset1.ReduceMax(opset1.Reshape(x, [0, 0, 0, -1, group]), -1)

    `kernel` and `strides` have an element for every dimension. Raises ConversionError for windows that overlap, or
    extend along other axes as well.
    """
    group = kernel[-1 if last else 1]
    if (
        spatial(kernel, last=last) != (1, 1)
        or spatial(strides, last=last) != (1, 1)
        or kernel[0] != 1
        or strides[-1 if last else 1] != group
    ):
        node.fail(f"windows {list(kernel)} over channels and other axes, or that overlap, are not supported")
    if last:
        return op.ReduceMax(op.Reshape(node.operand(0), [0, 0, 0, -1, group], special_zero=True), [-1], keep_dims=False)
    split = op.Reshape(channel_last(op, node.operand(0), 4), [0, 0, 0, -1, group], special_zero=True)
    return channel_first(op, op.ReduceMax(split, [-1], keep_dims=False), 4)


@tf.lowers("MaxPoolWithArgmax", rank=fixed(4, 1), traits=(SAYS_LAYOUT,))
def max_pool_with_argmax(
    node: LoweringNode, op: OpBuilder, input: SSAValue, *, include_batch_in_index: bool = False, Targmax: Attribute = si64
) -> Replacement:
    """tf.MaxPoolWithArgmax(x)
    -> Transpose(opset14.MaxPool(Transpose(x))), opset1.Add(opset1.Multiply(its indices, C), [0, …, C - 1])

    Indices of opset14.MaxPool refer to the elements of a channel, those of TensorFlow to the elements of an image with
    all its channels, or of the batch.
    """
    kernel, strides = (checked_entries(node, name, node.integers(name), 2, True) for name in ("ksize", "strides"))
    begins, ends, automatic = padding(node, 2, True)
    window = padded_window(kernel, strides, begins, ends, (1, 1))
    values, argmax = op.MaxPool.parts(2, channel_first(op, input, 4), **window, auto_pad=automatic, index_element_type=Targmax, axis=2)
    values = op.convert(channel_last(op, values, 4), element_of(input))
    if not node.is_used(1):
        return [values, None]
    sizes = op.ShapeOf(input, output_type=Targmax)
    channels = op.Gather(sizes, 3, 0)
    indices = op.Add(op.Multiply(channel_last(op, argmax, 4), channels), op.Range(0, channels, 1, output_type=Targmax))
    if include_batch_in_index:
        images = op.Range(0, op.Gather(sizes, 0, 0), 1, output_type=Targmax)
        image = op.ReduceProd(op.Gather(sizes, [1, 2, 3], 0), [0], keep_dims=False)
        indices = op.Add(indices, op.Reshape(op.Multiply(images, image), [-1, 1, 1, 1], special_zero=False))
    return [values, indices]
