"""Repetition: broadcasting to a shape, tiles."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import normalize_axis
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.attributes import axes_of, check_pairs, rank_of_operand
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder


@mxnet.lowers("broadcast_to", "_npi_broadcast_to")
def broadcast_to(op: OpBuilder, x: SSAValue, *, shape_: tuple[int, ...] = ()) -> SSAValue:
    """mxnet.broadcast_to(x) {shape} -> opset3.Broadcast(x, shape), in which 0 keeps a dimension"""
    shape = [size if size > 0 else 1 for size in shape_]
    return op.Broadcast(x, shape, mode="bidirectional")


@mxnet.lowers("broadcast_axis", "broadcast_axes")
def broadcast_axis(node: LoweringNode, op: OpBuilder, x: SSAValue, *, size_: tuple[int, ...] = ()) -> SSAValue:
    """mxnet.broadcast_axis(x) {axis, size} -> opset3.Broadcast(x, shape)"""
    rank = rank_of_operand(node)
    shape = [1] * rank
    axes = axes_of(node, rank) or []
    check_pairs(node, axes, size_, "axis and size")
    for axis, size in zip(axes, size_, strict=True):
        shape[axis] = size
    return op.Broadcast(x, shape, mode="bidirectional")


@mxnet.lowers("broadcast_like")
def broadcast_like(node: LoweringNode, op: OpBuilder, x: SSAValue, like: SSAValue, *, rhs_axes: tuple[int, ...] = ()) -> SSAValue:
    """mxnet.broadcast_like(x, like) {lhs_axes, rhs_axes} -> opset3.Broadcast(x, shape of like, or some of its sizes)"""
    if not node.has("lhs_axes"):
        return op.Broadcast(x, op.ShapeOf(like), mode="bidirectional")
    rank, other = rank_of_operand(node), rank_of_operand(node, 1)
    own, theirs = axes_of(node, rank, "lhs_axes") or [], [normalize_axis(axis, other) for axis in rhs_axes]
    check_pairs(node, own, theirs, "lhs_axes and rhs_axes")
    pairs = dict(zip(own, theirs, strict=True))
    parts = [op.Gather(op.ShapeOf(like), [pairs[axis]], 0) if axis in pairs else op.constant([1]) for axis in range(rank)]
    return op.Broadcast(x, op.Concat(*parts, axis=0), mode="bidirectional")


@mxnet.lowers("tile", "_npi_tile")
def tile(op: OpBuilder, x: SSAValue, *, reps: tuple[int, ...] = ()) -> SSAValue:
    """mxnet.tile(x) {reps} -> opset1.Tile(x, reps)"""
    return op.Tile(x, list(reps))


@mxnet.lowers("repeat", "_npi_repeat")
def repeat(node: LoweringNode, op: OpBuilder, x: SSAValue, *, repeats_: int) -> SSAValue:
    """mxnet.repeat(x) {repeats, axis} -> each element repeated along the axis; without axis of the flattened operand"""
    if not node.has("axis"):
        return op.Reshape(op.Tile(op.Reshape(x, [-1, 1], special_zero=False), [1, repeats_]), [-1], special_zero=False)
    rank = rank_of_operand(node)
    axis = normalize_axis(node.integer("axis"), rank)
    repeats = [1] * (rank + 1)
    repeats[axis + 1] = repeats_
    wide = op.Tile(op.Unsqueeze(x, [axis + 1]), repeats)
    sizes = op.ShapeOf(x)
    parts = [*([op.Slice(sizes, [0], [axis], [1])] if axis else []), op.Multiply(op.Gather(sizes, [axis], 0), repeats_)]
    parts += [op.Slice(sizes, [axis + 1], [rank], [1])] if axis + 1 < rank else []
    return op.Reshape(wide, op.Concat(*parts, axis=0) if len(parts) > 1 else parts[0], special_zero=False)
