"""Layers that move, repeat, join and divide data.

Source: the layers of these names in BVLC Caffe 1.0; Permute is of SSD, ShuffleChannel of ShuffleNet.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.shapes import normalize_axis, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.layer_parameters import LayerParameters, bottoms, parameters
from moir.lowering.caffe.table import caffe
from moir.rewriting.builder import OpBuilder


@caffe.lowers("Split")
def split(node: LoweringNode, _: OpBuilder) -> list[SSAValue]:
    """caffe.Split(x) -> x, once for each result"""
    return [node.operand(0)] * node.result_count


@caffe.lowers("Dropout")
def dropout(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Dropout(x) -> x; x times the share that is kept where a fork does not scale in training"""
    given = parameters(node, "dropout_param")
    if given.flag("scale_train", True):
        return node.operand(0)
    return op.Multiply(node.operand(0), 1 - given.number("dropout_ratio", 0.5))


def _axis(node: LoweringNode, given: LayerParameters, old_name: str) -> int:
    """The axis of Concat and Slice, which has another name in old models."""
    axis = given.integer(old_name) if given.has(old_name) else given.integer("axis", 1)
    return axis if axis >= 0 else normalize_axis(axis, node.known_rank(0))


@caffe.lowers("Concat")
def concat(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Concat(a, b, …) {axis = 1} -> opset1.Concat(a, b, …) {axis}"""
    values = bottoms(node)
    return op.Concat(*values, axis=_axis(node, parameters(node, "concat_param"), "concat_dim")) if len(values) > 1 else values[0]


@caffe.lowers("Slice")
def slice_(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """caffe.Slice(x) {axis = 1, slice_point} -> opset1.VariadicSplit(x, axis, lengths); without points: opset1.Split"""
    given = parameters(node, "slice_param")
    axis, points, count = _axis(node, given, "slice_dim"), given.integers("slice_point"), node.result_count
    if count == 1:
        return [node.operand(0)]
    if not points:
        return op.Split.parts(count, node.operand(0), op.constant(axis), num_splits=count)
    if len(points) != count - 1 or any(b <= a for a, b in zip([0, *points], points, strict=False)):
        node.fail(f"slice_point {points} does not divide into {count} parts")
    lengths = [b - a for a, b in zip([0, *points], points, strict=False)]
    return op.VariadicSplit.parts(count, node.operand(0), op.constant(axis), [*lengths, -1])


@caffe.lowers("Flatten")
def flatten(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Flatten(x) {axis = 1, end_axis = -1} -> opset1.Reshape: the axes from `axis` to `end_axis` become one"""
    given = parameters(node, "flatten_param")
    start, end = given.integer("axis", 1), given.integer("end_axis", -1)
    if start >= 0 and end == -1:
        return op.Reshape(node.operand(0), [*[0] * start, -1], special_zero=True)
    rank = node.known_rank(0)
    start, end = normalize_axis(start, rank), normalize_axis(end, rank)
    if end < start:
        node.fail(f"end_axis {end} is in front of axis {start}")
    sizes = op.ShapeOf(node.operand(0))
    parts = [*([op.Slice(sizes, [0], [start], [1])] if start else []), op.constant([-1])]
    parts += [op.Slice(sizes, [end + 1], [rank], [1])] if end + 1 < rank else []
    return op.Reshape(node.operand(0), op.Concat(*parts, axis=0) if len(parts) > 1 else parts[0], special_zero=False)


@caffe.lowers("Reshape")
def reshape(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Reshape(x) {shape, axis = 0, num_axes = -1} -> opset1.Reshape(x, shape)

    `num_axes` dimensions from `axis` on are replaced by `shape`, in which 0 copies the dimension at its place.
    """
    given = parameters(node, "reshape_param")
    wanted, axis, count = given.message("shape").integers("dim"), given.integer("axis", 0), given.integer("num_axes", -1)
    x = node.operand(0)
    if axis == 0 and count == -1:
        return op.Reshape(x, wanted or [0], special_zero=True) if wanted else op.Reshape(x, op.constant([]), special_zero=False)
    rank = node.known_rank(0)
    # -1 is the place behind the last axis.
    start = axis if axis >= 0 else rank + axis + 1
    end = rank if count == -1 else start + count
    if not 0 <= start <= end <= rank:
        node.fail(f"axes {start} to {end} of a blob of {rank} dimensions")
    sizes = op.ShapeOf(x)
    middle = [
        op.Slice(sizes, [start + index], [start + index + 1], [1]) if size == 0 else op.constant([size])
        for index, size in enumerate(wanted)
    ]
    before = [op.Slice(sizes, [0], [start], [1])] if start else []
    behind = [op.Slice(sizes, [end], [rank], [1])] if end < rank else []
    parts = [*before, *middle, *behind]
    return op.Reshape(x, op.Concat(*parts, axis=0) if len(parts) > 1 else parts[0], special_zero=False)


@caffe.lowers("Permute")
def permute(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Permute(x) {order} -> opset1.Transpose(x, order); axes that are not named follow in their order"""
    rank, order = node.known_rank(0), parameters(node, "permute_param").integers("order")
    if len(set(order)) < len(order) or any(not 0 <= axis < rank for axis in order):
        node.fail(f"order {order} is no order of {rank} axes")
    return op.transposed(node.operand(0), [*order, *(axis for axis in range(rank) if axis not in order)])


@caffe.lowers("Tile")
def tile(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Tile(x) {axis = 1, tiles} -> opset1.Tile(x, repeats)"""
    given = parameters(node, "tile_param")
    rank = node.known_rank(0)
    repeats = [1] * rank
    repeats[normalize_axis(given.integer("axis", 1), rank)] = given.integer("tiles")
    return op.Tile(node.operand(0), repeats)


@caffe.lowers("ShuffleChannel")
def shuffle_channel(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.ShuffleChannel(x) {group} -> opset1.ShuffleChannels(x) {axis = 1, group}"""
    return op.ShuffleChannels(node.operand(0), axis=1, group=parameters(node, "shuffle_channel_param").integer("group", 1))


@caffe.lowers("Crop")
def crop(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """caffe.Crop(x, like) {axis = 2, offset}
    -> opset8.Slice(x, offset, offset + sizes of like, 1, axes from `axis` on)
    """
    given = parameters(node, "crop_param")
    x, like = bottoms(node, 2, 2)
    rank = node.known_rank(0)
    start = normalize_axis(given.integer("axis", 2), rank)
    axes = list(range(start, rank))
    offsets = given.integers("offset") or [0]
    if len(offsets) not in (1, len(axes)):
        node.fail(f"{len(offsets)} offsets for {len(axes)} axes")
    offsets = offsets * len(axes) if len(offsets) == 1 else offsets
    shape, own = shape_of(like), shape_of(x)
    if shape is not None and own is not None and len(shape) == rank:
        for axis, offset in zip(axes, offsets, strict=True):
            if min(shape[axis], own[axis]) >= 0 and offset + shape[axis] > own[axis]:
                node.fail(f"{shape[axis]} elements from {offset} on of an axis of {own[axis]}")
    sizes = op.Slice(op.ShapeOf(like), [start], [rank], [1])
    return op.Slice(x, offsets, op.Add(sizes, offsets), [1] * len(axes), axes)
