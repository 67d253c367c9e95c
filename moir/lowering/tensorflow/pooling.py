"""Pooling over windows.

    %y = tf.MaxPool(%x) {ksize = [1, 2, 2, 1], strides = [1, 2, 2, 1], padding = "VALID"}
->  %0 = opset14.MaxPool(Transpose(%x, [0, 3, 1, 2])) {kernel = [2, 2], strides = [2, 2], auto_pad = "valid"}
    %y = opset1.Transpose(%0, [0, 2, 3, 1])
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import si64, to_numpy
from moir.dialects.shapes import element_of, is_static, shape_of
from moir.expansions.windows import padded_window
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Replacement
from moir.lowering.tensorflow.attributes.data_format import channel_first, channel_last, is_channel_last, spatial
from moir.lowering.tensorflow.attributes.sliding_window import checked_entries, default_format, padding
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


@tf.lowers("AvgPool", "AvgPool3D")
def average_pool(node: LoweringNode, op: OpBuilder, value: SSAValue, *, ksize: tuple[int, ...], strides: tuple[int, ...]) -> SSAValue:
    """tf.AvgPool(x) -> Transpose(opset14.AvgPool(Transpose(x)) {exclude-pad = true})"""
    axes = 3 if node.op.KIND == "AvgPool3D" else 2
    last = is_channel_last(node, node.text("data_format", default_format(axes)))
    kernel, steps = checked_entries(node, "ksize", ksize, axes, last), checked_entries(node, "strides", strides, axes, last)
    begins, ends, automatic = padding(node, axes, last)
    data, window = channel_first(op, value, axes + 2, last=last), padded_window(kernel, steps, begins, ends)
    result = op["opset14.AvgPool"](data, **window, auto_pad=automatic, exclude_pad=True, rounding_type="floor")
    return channel_last(op, result, axes + 2, last=last)


@tf.lowers("MaxPool", "MaxPool3D")
def max_pool(node: LoweringNode, op: OpBuilder, *, ksize: tuple[int, ...], strides: tuple[int, ...]) -> SSAValue:
    """tf.MaxPool(x) -> Transpose(opset14.MaxPool(Transpose(x)))"""
    return maxima(node, op, ksize, strides)


@tf.lowers("MaxPoolV2")
def max_pool_operands(node: LoweringNode, op: OpBuilder, _input: SSAValue, ksize: SSAValue, strides_: SSAValue) -> SSAValue:
    """tf.MaxPoolV2(x, ksize, strides) -> as MaxPool; kernel and strides must be constant"""
    kernel, strides = op.known.integers(ksize), op.known.integers(strides_)
    if kernel is None or strides is None:
        node.fail("its window is computed", hint="make ksize and strides constant")
    return maxima(node, op, kernel, strides)


def maxima(node: LoweringNode, op: OpBuilder, kernel: Sequence[int], strides: Sequence[int]) -> SSAValue:
    """The maxima of operand 0 over windows."""
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
    """Maxima over groups of channels: opset1.ReduceMax(opset1.Reshape(x, [0, 0, 0, -1, group]), -1)"""
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


@tf.lowers("MaxPoolWithArgmax")
def max_pool_with_argmax(
    node: LoweringNode, op: OpBuilder, input: SSAValue, *, include_batch_in_index: bool = False, Targmax: Attribute = si64
) -> Replacement:
    """tf.MaxPoolWithArgmax(x)
    -> Transpose(opset14.MaxPool(Transpose(x))), opset1.Add(opset1.Multiply(its indices, C), [0, …, C - 1])

    Indices of the runtime refer to the elements of a channel, those of TensorFlow to the elements of an image with all
    its channels, or of the batch.
    """
    kernel, strides = (checked_entries(node, name, node.integers(name), 2, True) for name in ("ksize", "strides"))
    begins, ends, automatic = padding(node, 2, True)
    shape = shape_of(input)
    x = channel_first(op, input, 4)
    pads: SSAValue | None = None
    if node.is_used(1) and automatic == "same_upper" and (shape is None or not is_static(shape[1:3])):
        # The runtime computes wrong indices if automatic padding depends on sizes that are unknown at compile time.
        automatic, pads = "valid", computed_pads(op, x, kernel, strides)
        x, unpadded = padded(op, x, pads), x
    else:
        unpadded = x
    window = padded_window(kernel, strides, begins, ends, (1, 1))
    values, places = op.MaxPool.parts(2, x, **window, auto_pad=automatic, index_element_type=Targmax, axis=2)
    values = op.convert(channel_last(op, values, 4), element_of(input))
    if not node.is_used(1):
        return [values, None]
    if pads is not None:
        places = without_pads(op, places, op.Gather(pads, 0, 0), x, unpadded)
    sizes = op.ShapeOf(input, output_type=Targmax)
    channels = op.Gather(sizes, 3, 0)
    indices = op.Add(op.Multiply(channel_last(op, places, 4), channels), op.Range(0, channels, 1, output_type=Targmax))
    if include_batch_in_index:
        images = op.Range(0, op.Gather(sizes, 0, 0), 1, output_type=Targmax)
        image = op.ReduceProd(op.Gather(sizes, [1, 2, 3], 0), [0], keep_dims=False)
        indices = op.Add(indices, op.Reshape(op.Multiply(images, image), [-1, 1, 1, 1], special_zero=False))
    return [values, indices]


def computed_pads(op: OpBuilder, x: SSAValue, kernel: Sequence[int], strides: Sequence[int]) -> SSAValue:
    """The numbers of rows and columns that automatic padding adds to x [N, C, H, W] at the beginning and the end, [2,
    2].
    """
    sizes = op.Gather(op.ShapeOf(x), [2, 3], 0)
    steps = op.constant(list(strides))
    windows = op.Divide(op.Add(sizes, op.Subtract(steps, 1)), steps)
    covered = op.Add(op.Multiply(op.Subtract(windows, 1), steps), list(kernel))
    total = op.Maximum(op.Subtract(covered, sizes), 0)
    front = op.Divide(total, 2)
    return op.Concat(op.Unsqueeze(front, [0]), op.Unsqueeze(op.Subtract(total, front), [0]), axis=0)


def padded(op: OpBuilder, x: SSAValue, pads: SSAValue) -> SSAValue:
    """x [N, C, H, W] padded with the lowest number of its element type."""
    front, after = (op.Concat([0, 0], op.Gather(pads, index, 0), axis=0) for index in (0, 1))
    dtype = to_numpy(element_of(x))
    smallest = np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf
    return op.Pad(x, front, after, op.constant_like(smallest, x), pad_mode="constant")


def without_pads(op: OpBuilder, places: SSAValue, front: SSAValue, x: SSAValue, unpadded: SSAValue) -> SSAValue:
    """Indices into padded channels, converted to indices into unpadded channels."""
    element = element_of(places)
    width, original = (op.Gather(op.ShapeOf(each, output_type=element), 3, 0) for each in (x, unpadded))
    top, left = (op.Gather(op.convert(front, element), index, 0) for index in (0, 1))
    column = op.FloorMod(places, width)
    row = op.Divide(op.Subtract(places, column), width)
    return op.Add(op.Multiply(op.Subtract(row, top), original), op.Subtract(column, left))
