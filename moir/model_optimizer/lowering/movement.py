"""Movement of data whose axes, sizes or offsets are attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import bf16, f16, f32, f64, si32
from moir.dialects.shapes import element_of, normalize_axis
from moir.frameworks.records import TENSORFLOW
from moir.lowering.table import Replacement
from moir.model_optimizer.lowering.node import MoLoweringNode
from moir.model_optimizer.lowering.table import lowers
from moir.model_optimizer.values.python_values import is_true
from moir.rewriting.builder import OpBuilder

FLOATS = (f16, bf16, f32, f64)

LARGEST = (1 << 63) - 1


@lowers("Concat")
def concat(node: MoLoweringNode, op: OpBuilder) -> Any:
    """mo.Concat(a, b, …) {axis} -> opset1.Concat; if operands are integers and floats, integers become floats, since
    former releases had no types
    """
    elements = [element_of(value) for value in node.operands]
    real = next((element for element in elements if element in FLOATS), None)
    if real is not None:
        for index, value in enumerate(node.operands):
            node.op.operands[index] = op.convert(value, real)
    return NotImplemented


@lowers("Pack")
def pack(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.Pack(a, b, …) {axis} -> opset1.Concat(opset1.Unsqueeze(a, axis), …)"""
    axis = node.integer("axis", 0)
    return op.Concat(*[op.Unsqueeze(value, [axis]) for value in node.operands], axis=axis)


@lowers("Unpack")
def unpack(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.Unpack(x) {axis} -> opset1.Squeeze of each result of opset1.Split(x, axis)"""
    axis, count = node.integer("axis", 0), node.result_count
    parts = op.Split.parts(count, node.operand(0), axis, num_splits=count)
    return [op.Squeeze(part, [axis]) for part in parts]


@lowers("Split")
def split(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """mo.Split(x) {axis, num_splits} -> opset1.Split(x, axis); with the axis as an operand it is opset1.Split.

    With input_port = 1, as for TensorFlow's Split, the axis is before the data.
    """
    if node.optional(1) is None:
        return attributed_split(node, op)
    if node.integer("input_port", 0) != 1:
        return NotImplemented
    count = node.integer("num_splits", node.result_count)
    return op.Split.parts(count, node.operand(1), node.operand(0), num_splits=count)


@lowers("AttributedSplit")
def attributed_split(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.AttributedSplit(x) {axis, num_splits} -> opset1.Split(x, axis); with squeeze_axis the axis is removed"""
    axis, count = node.integer("axis", 0), node.integer("num_splits", node.result_count)
    parts = op.Split.parts(count, node.operand(0), axis, num_splits=count)
    return [op.Squeeze(part, [axis]) for part in parts] if is_true(node.get("squeeze_axis", False)) else parts


@lowers("VariadicSplit")
def variadic_split(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """mo.VariadicSplit(x, sizes, axis) {swap_axis_and_split_size_inputs} -> opset1.VariadicSplit(x, axis, sizes)"""
    if not is_true(node.get("swap_axis_and_split_size_inputs", False)):
        return NotImplemented
    axis = op.Squeeze(node.operand(2))
    return op.VariadicSplit.parts(node.result_count, node.operand(0), axis, node.operand(1))


@lowers("AttributedVariadicSplit")
def attributed_variadic_split(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.AttributedVariadicSplit(x) {axis, size_splits} -> opset1.VariadicSplit(x, axis, sizes)"""
    sizes = node.axes("size_splits", "split_lengths")
    if sizes is None:
        node.fail("it has no attribute size_splits")
    return op.VariadicSplit.parts(len(sizes), node.operand(0), node.integer("axis", 0), list(sizes))


@lowers("CaffeSlice")
def caffe_slice(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.CaffeSlice(x) {axis, slice_point} -> opset1.VariadicSplit at the points; without points into equal parts"""
    axis, points = node.integer("axis", 1), node.axes("slice_point") or ()
    if not points:
        return op.Split.parts(node.result_count, node.operand(0), axis, num_splits=node.result_count)
    sizes = [*np.diff((0, *points)).tolist(), -1]
    return op.VariadicSplit.parts(len(sizes), node.operand(0), axis, sizes)


@lowers("Slice")
def slice_(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """mo.Slice(x, start, end, axes, steps) without a type -> opset8.Slice(x, start, end, steps, axes)"""
    if node.type is not None:
        return NotImplemented
    data, start, stop, axes, steps = (node.optional(index) for index in range(5))
    if data is None or start is None or stop is None:
        return attributed_slice(node, op)
    return op.Slice(data, start, stop, _ones_like(op, start) if steps is None else steps, axes)


def _ones_like(op: OpBuilder, value: SSAValue) -> SSAValue:
    one = op.ConvertLike(1, value) if op.known.constant(value) is None else op.constant_like(1, value)
    return op.Broadcast(one, op.ShapeOf(value))


@lowers("AttributedSlice")
def attributed_slice(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.AttributedSlice(x) {starts, ends, axes, steps} -> opset8.Slice"""
    starts, ends = node.axes("starts", "start"), node.axes("ends", "end")
    if starts is None or ends is None:
        node.fail("it has neither inputs nor attributes that say where the slice starts and ends")
    axes, steps = node.axes("axes", "axis") or tuple(range(len(starts))), node.axes("steps") or (1,) * len(starts)
    return op.Slice(node.operand(0), list(starts), list(ends), list(steps), list(axes))


@lowers("MXSlice")
def mxnet_slice(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.MXSlice(x) {crop_begin, crop_end, step} -> opset8.Slice of the first axes"""
    begin, end = node.axes("crop_begin"), node.axes("crop_end")
    if begin is None or end is None or len(begin) != len(end):
        node.fail("its attributes crop_begin and crop_end do not say where the slice starts and ends")
    return op.Slice(node.operand(0), list(begin), list(end), list(node.axes("step") or (1,) * len(begin)), list(range(len(begin))))


@lowers("TFSlice")
def tf_slice(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.TFSlice(x, begin, size) -> opset8.Slice(x, begin, begin + size); a size of -1 reaches to the end"""
    begin, size = node.operand(1), node.operand(2)
    stop = op.Select(op.Equal(size, -1), op.constant_like(np.iinfo(np.int32).max, size), op.Add(begin, size))
    return op.Slice(node.operand(0), begin, stop, _ones_like(op, begin))


@lowers("Crop")
def crop(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.Crop(x, like) {axis, offset, dim} or {axis, crop_begin, crop_end} -> opset8.Slice

    Without `dim` the sizes are those of `like`; a single axis then means this axis and all after it, and a single
    offset applies to each of them, as in Caffe.
    """
    data, like, axes = node.operand(0), node.optional(1), node.axes("axis")
    if axes is None:
        node.fail("it has no attribute axis")
    begin, end = node.axes("crop_begin"), node.axes("crop_end")
    if begin is not None and end is not None:
        stop: Any = [-amount if amount else LARGEST for amount in end]
        return op.Slice(data, list(begin), stop, [1] * len(axes), list(axes))
    sizes = node.axes("dim")
    if sizes is None and len(axes) == 1:
        rank = node.rank_of_value(data)
        axes = tuple(range(normalize_axis(axes[0], rank), rank))
    offset = list(node.axes("offset") or (0,))
    offset = offset * len(axes) if len(offset) == 1 else offset
    if len(offset) != len(axes):
        node.fail(f"its offset {offset} has no entry for each of the axes {list(axes)}")
    if sizes is not None:
        stop = [start + size for start, size in zip(offset, sizes, strict=True)]
    elif like is not None:
        stop = op.Add(op.Gather(op.ShapeOf(like), list(axes), 0), offset)
    else:
        node.fail("neither attributes nor an input say how much is cropped")
    return op.Slice(data, offset, stop, [1] * len(axes), list(axes))


@lowers("ShuffleChannel")
def shuffled_channels(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.ShuffleChannel(x) {group} -> opset1.ShuffleChannels(x) {axis = 1, group}"""
    return op.ShuffleChannels(node.operand(0), axis=1, group=node.integer("group", 1))


@lowers("AttributedGather")
def attributed_gather(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.AttributedGather(x, indices) {axis} -> opset8.Gather(x, indices, axis)"""
    return op.Gather(node.operand(0), _as_indices(node, op), node.integer("axis", 0))


def _as_indices(node: MoLoweringNode, op: OpBuilder) -> SSAValue:
    """Operand 1 of a node, the indices, as integers: those of MXNet are floats."""
    indices = node.operand(1)
    return op.convert(indices, si32) if element_of(indices) in FLOATS else indices


@lowers("Gather")
def gather(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """mo.Gather(x, indices) {axis} -> opset8.Gather(x, indices, axis); the axis may be an operand"""
    if node.optional(2) is None:
        return attributed_gather(node, op)
    node.op.operands[1] = _as_indices(node, op)
    return NotImplemented


@lowers("Tile")
def tile(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """mo.Tile(x) {reps} or {axis, tiles} -> opset1.Tile(x, repeats); the repeats may be an operand"""
    if node.optional(1) is not None:
        return NotImplemented
    repeats = node.axes("reps", "tile_array")
    return op.Tile(node.operand(0), list(repeats)) if repeats is not None else attributed_tile(node, op)


@lowers("Select")
def select(node: MoLoweringNode, op: OpBuilder) -> Any:
    """mo.Select(condition, a, b) {format} -> opset1.Select; a condition of numbers is true where they are not 0

    If `format` is that of TensorFlow, a condition of one axis selects along the first axis of the data.
    """
    condition = node.operand(0)
    if element_of(condition) in FLOATS:
        condition = op.NotEqual(condition, 0)
    if node.get("format") == TENSORFLOW.dialect and node.rank_of_value(condition) == 1:
        condition = op.Unsqueeze(condition, list(range(1, max(1, node.rank_of_value(node.operand(1))))))
    node.op.operands[0] = condition
    return NotImplemented


@lowers("Pad")
def padded(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """mo.Pad(x) {pads, mode, fill_value} -> opset12.Pad; with the pads as operands it is opset12.Pad.

    A single operand holds a pair of pads for each axis, as in releases until 2019 for TensorFlow. The mode is
    `constant` by default.
    """
    if node.optional(1) is None:
        return attributed_pad(node, op)
    if node.optional(2) is None:
        return pad(node, op)
    if node.first("mode", "pad_mode") is not None:
        return NotImplemented
    data, begin, end = (node.operand(index) for index in range(3))
    return op.Pad(data, begin, end, node.optional(3), pad_mode="constant")


@lowers("AttributedPad")
def attributed_pad(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.AttributedPad(x) {pads, mode, fill_value} -> opset12.Pad(x, begin, end, value)"""
    pads = node.axes("pads")
    if pads is None or len(pads) % 2:
        node.fail("its attribute pads must have two numbers for each axis")
    data = node.operand(0)
    value = op.constant_like(node.number("fill_value", 0.0), data)
    return op.Pad(data, list(pads[::2]), list(pads[1::2]), value, pad_mode=node.text("mode", "constant"))


@lowers("TFPad", "ONNXPad")
def pad(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.TFPad(x, pads, value) {mode} -> opset12.Pad(x, begin, end, value)

    The pads are a pair for each axis; for mo.ONNXPad they are the pads at the beginnings of all axes, then those at
    the ends.
    """
    data, pads, value = node.operand(0), node.operand(1), node.optional(2)
    is_paired = node.kind != "ONNXPad"
    begin, end = op.Split.parts(2, pads, int(is_paired), num_splits=2)
    if is_paired:
        begin, end = (op["opset1.Squeeze"](each, [1]) for each in (begin, end))
    filled = op.constant_like(0, data) if value is None else value
    return op.Pad(data, begin, end, filled, pad_mode=node.text("mode", "constant"))


@lowers("AttributedTile")
def attributed_tile(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.AttributedTile(x) {axis, tiles} -> opset1.Tile(x, repeats)"""
    data = node.operand(0)
    repeats = [1] * node.rank_of_value(data)
    try:
        repeats[node.integer("axis")] = node.integer("tiles")
    except IndexError:
        node.fail(f"there is no axis {node.integer('axis')}")
    return op.Tile(data, repeats)


@lowers("AttributedRoll")
def attributed_roll(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.AttributedRoll(x) {shift, axes} -> opset7.Roll(x, shift, axes); without axes over the flattened data"""
    data, shift, axes = node.operand(0), node.axes("shift"), node.axes("axes")
    if shift is None:
        node.fail("it has no attribute shift")
    if axes is not None:
        return op.Roll(data, list(shift), list(axes))
    flat = op.Roll(op.Reshape(data, [-1], special_zero=False), list(shift), [0])
    return op.Reshape(flat, op.ShapeOf(data), special_zero=False)


@lowers("Fill")
def fill(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.Fill(shape, value) -> opset3.Broadcast(value, shape)"""
    return op.Broadcast(node.operand(1), node.operand(0))


@lowers("Transpose", "Permute")
def transpose(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """mo.Transpose(x) {order} -> opset1.Transpose(x, order); without an order the dimensions are reversed; Permute
    likewise
    """
    if (given := node.optional(1)) is not None:
        return op.Transpose(node.operand(0), given)
    data, order = node.operand(0), node.axes("order")
    if order is None:
        order = tuple(reversed(range(node.rank_of_value(data))))
    return op.Transpose(data, list(order))
