"""Shapes, and movement of whole dimensions."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import rank_of
from moir.lowering.binder import LoweringNode
from moir.lowering.to_onnx.builder import OnnxBuilder
from moir.lowering.to_onnx.table import opset


@opset.lowers("Reshape")
def reshape(node: LoweringNode, op: OnnxBuilder, x: SSAValue, shape: SSAValue, *, special_zero: bool) -> SSAValue:
    """opset1.Reshape(x, shape) {special_zero} -> onnx.Reshape; with `special_zero` a 0 copies a dimension, as always in
    ONNX before version 14
    """
    sizes = node.constant_integers(1)
    if not special_zero and op.version < 14 and (sizes is None or 0 in sizes):
        node.fail("a 0 of its shape is a size, which ONNX has from version 14 of the operator set on", hint="give --opset 14 or newer")
    if special_zero or op.version < 14 or (sizes is not None and 0 not in sizes):
        return op.Reshape(x, op.vector(shape), allowzero=None)
    return op.Reshape(x, op.vector(shape), allowzero=1)


@opset.lowers("ShapeOf")
def shape_of(op: OnnxBuilder, x: SSAValue, *, output_type: Attribute = si64) -> SSAValue:
    """opset3.ShapeOf(x) {output_type} -> onnx.Shape(x)"""
    return op.cast(op.Shape(x), output_type)


@opset.lowers("Squeeze")
def squeeze(node: LoweringNode, op: OnnxBuilder, x: SSAValue, axes: SSAValue | None = None) -> SSAValue:
    """opset1.Squeeze(x, axes) -> onnx.Squeeze(x, axes), without axes of all dimensions of 1"""
    if node.flag("allow_axis_skip"):
        node.fail("dimensions other than 1 are skipped, which ONNX's Squeeze does not", hint="give the inputs static shapes")
    return op.Squeeze(x) if axes is None else op.Squeeze(x, op.vector(axes))


@opset.lowers("Unsqueeze")
def unsqueeze(op: OnnxBuilder, x: SSAValue, axes: SSAValue) -> SSAValue:
    """opset1.Unsqueeze(x, axes) -> onnx.Unsqueeze(x, axes)"""
    return op.Unsqueeze(x, op.vector(axes))


@opset.lowers("Transpose")
def transpose(node: LoweringNode, op: OnnxBuilder, x: SSAValue, _order: SSAValue) -> SSAValue:
    """opset1.Transpose(x, order) -> onnx.Transpose(x) {perm = order}; an empty order reverses the dimensions"""
    order = node.constant_integers(1)
    if order is None:
        node.fail("the order of its dimensions is not constant, as the attribute of ONNX requires")
    rank = len(order)
    return op.Transpose(x, perm=tuple(axis % rank for axis in order)) if order else op.Transpose(x)


@opset.lowers("Concat")
def concat(op: OnnxBuilder, *values: SSAValue, axis: int) -> SSAValue:
    """opset1.Concat(…) {axis} -> onnx.Concat(…) {axis}"""
    return op.Concat(*values, axis=axis)


def constant_axis(node: LoweringNode, index: int) -> int:
    """The axis that is operand `index`, for an attribute of ONNX. Raises ConversionError if it is not constant."""
    axes = node.constant_integers(index)
    if axes is None or len(axes) != 1:
        node.fail("its axis is not constant, as the attribute of ONNX requires")
    return axes[0]


def axis_of(node: LoweringNode, index: int) -> int:
    """The axis that is operand `index`, as a nonnegative integer.

    Raises ConversionError if it is not constant, or negative while data (operand 0) have a dynamic rank.
    """
    axis = constant_axis(node, index)
    return axis if axis >= 0 else axis + node.known_rank(0)


@opset.lowers("Split")
def split(node: LoweringNode, op: OnnxBuilder, x: SSAValue, _axis: SSAValue, *, num_splits: int) -> tuple[SSAValue, ...]:
    """opset1.Split(x, axis) {num_splits} -> onnx.Split(x) into parts of equal size"""
    axis = constant_axis(node, 1)
    shape = node.shape(0)
    if shape is not None and shape[axis] >= 0:
        return op.Split.results(num_splits, x, [shape[axis] // num_splits] * num_splits, axis=axis)
    # Without sizes, versions before 18 have as many parts as results.
    return op.Split.results(num_splits, x, axis=axis, num_outputs=num_splits if op.version >= 18 else None)


@opset.lowers("VariadicSplit")
def variadic_split(node: LoweringNode, op: OnnxBuilder, x: SSAValue, _axis: SSAValue, lengths: SSAValue) -> tuple[SSAValue, ...]:
    """opset1.VariadicSplit(x, axis, lengths) -> onnx.Split(x, lengths), where a length of -1 stands for the rest"""
    axis = axis_of(node, 1)
    count = len(node.op.results)
    sizes = node.constant_integers(2)
    if sizes is None:
        return op.Split.results(count, x, op.vector(lengths), axis=axis)
    if -1 not in sizes:
        return op.Split.results(count, x, list(sizes), axis=axis)
    rest = op.Sub(op.sizes(x, axis, axis + 1), [sum(size for size in sizes if size >= 0)])
    parts = [rest if size < 0 else op.constant([size]) for size in sizes]
    return op.Split.results(count, x, op.joined(*parts) if len(parts) > 1 else parts[0], axis=axis)


@opset.lowers("Tile")
def tile(node: LoweringNode, op: OnnxBuilder, x: SSAValue, repeats: SSAValue) -> SSAValue:
    """opset1.Tile(x, repeats) -> onnx.Tile(x, repeats); the shorter one of shape and repeats is padded with leading
    ones
    """
    counts, rank = node.shape(1), rank_of(x)
    repeats = op.vector(repeats)
    if counts is not None and counts[0] >= 0 and rank is not None:
        if counts[0] > rank:
            x = op.Reshape(x, op.joined([1] * (counts[0] - rank), op.sizes(x, 0)))
        elif counts[0] < rank:
            repeats = op.joined([1] * (rank - counts[0]), repeats)
    return op.Tile(x, repeats)


@opset.lowers("Broadcast")
def broadcast(
    node: LoweringNode, op: OnnxBuilder, x: SSAValue, shape: SSAValue, _axes_mapping: SSAValue | None = None, *, mode: str = "numpy"
) -> SSAValue:
    """opset3.Broadcast(x, shape, axes_mapping) -> onnx.Expand(x, shape)

    In the mode explicit or none the dimensions of x are first put at the axes of `_axes_mapping`. Raises
    ConversionError if these are not constant, and for the mode pdpd.
    """
    if mode in ("explicit", "none") and node.optional(2) is not None:
        axes, target = node.constant_integers(2), node.shape(1)
        if axes is None or target is None or target[0] < 0:
            node.fail("the axes of its dimensions are not constant", hint="use the mode numpy")
        x = op.Unsqueeze(x, [axis for axis in range(target[0]) if axis not in axes])
    elif mode == "pdpd":
        node.fail("it broadcasts by the rule pdpd, which ONNX does not have", hint="reshape the data for numpy's rule")
    return op.Expand(x, op.vector(shape))


@opset.lowers("Reverse")
def reverse(node: LoweringNode, op: OnnxBuilder, x: SSAValue, _axes: SSAValue, *, mode: str) -> SSAValue:
    """opset1.Reverse(x, axes) {mode} -> x with its elements along axes in reverse order; in mode `mask` axes has a
    boolean for each axis
    """
    constant = node.constant(1)
    if constant is None:
        node.fail("its axes are not constant")
    axes = [int(each) for each in constant.ravel()] if mode == "index" else [int(each) for each in constant.ravel().nonzero()[0]]
    if not axes:
        return op.Identity(x)
    return op.Slice(x, [-1] * len(axes), [-(1 << 62)] * len(axes), axes, [-1] * len(axes))


@opset.lowers("ReverseSequence")
def reverse_sequence(
    node: LoweringNode, op: OnnxBuilder, x: SSAValue, lengths: SSAValue, *, batch_axis: int = 0, seq_axis: int = 1
) -> SSAValue:
    """opset1.ReverseSequence(x, lengths) -> onnx.ReverseSequence(x, lengths), whose axes are the first two"""
    if sorted((batch_axis, seq_axis)) == [0, 1]:
        return op.ReverseSequence(x, op.vector(lengths), batch_axis=batch_axis, time_axis=seq_axis)
    rank = node.known_rank(0)
    first = [batch_axis % rank, seq_axis % rank]
    order = [*first, *(axis for axis in range(rank) if axis not in first)]
    result = op.ReverseSequence(op.transposed(x, order), op.vector(lengths), batch_axis=0, time_axis=1)
    return op.transposed(result, [order.index(axis) for axis in range(rank)])


@opset.lowers("Roll")
def roll(node: LoweringNode, op: OnnxBuilder, x: SSAValue, _shift: SSAValue, _axes: SSAValue) -> SSAValue:
    """opset7.Roll(x, shift, axes) -> x rotated along axes: elements that leave at an end come in at the other one"""
    shifts, axes, shape = node.constant_integers(1), node.constant_integers(2), node.shape(0)
    if shifts is None or axes is None or shape is None:
        node.fail("its shifts or axes are not constant")
    for shift, axis in zip(shifts if len(shifts) == len(axes) else shifts * len(axes), axes, strict=True):
        size = shape[axis]
        if size >= 0:
            shift %= max(size, 1)
        if shift:
            last = op.Slice(x, [-shift], [1 << 62], [axis])
            x = op.Concat(last, op.Slice(x, [0], [-shift], [axis]), axis=axis)
    return x if x is not node.operand(0) else op.Identity(x)


@opset.lowers("DepthToSpace")
def depth_to_space(node: LoweringNode, op: OnnxBuilder, x: SSAValue, *, block_size: int = 1, mode: str) -> SSAValue:
    """opset1.DepthToSpace(x) {block_size, mode} -> x with channels moved to blocks of spatial elements"""
    kind = "DCR" if mode == "blocks_first" else "CRD"
    if node.known_rank(0) == 4:
        return op.DepthToSpace(x, blocksize=block_size, mode=kind)
    rank = node.known_rank(0)
    spatial = rank - 2
    sizes = op.sizes(x, 2)
    batch, channels = op.sizes(x, 0, 1), op.Div(op.sizes(x, 1, 2), [block_size**spatial])
    blocks = [block_size] * spatial
    order: list[int] = [0]
    if mode == "blocks_first":
        x = op.Reshape(x, op.joined(batch, blocks, channels, sizes))
        order.append(spatial + 1)
        for axis in range(spatial):
            order += [spatial + 2 + axis, 1 + axis]
    else:
        x = op.Reshape(x, op.joined(batch, channels, blocks, sizes))
        order.append(1)
        for axis in range(spatial):
            order += [spatial + 2 + axis, 2 + axis]
    return op.Reshape(op.Transpose(x, perm=tuple(order)), op.joined(batch, channels, op.Mul(sizes, [block_size] * spatial)))


@opset.lowers("SpaceToDepth")
def space_to_depth(node: LoweringNode, op: OnnxBuilder, x: SSAValue, *, block_size: int = 1, mode: str) -> SSAValue:
    """opset1.SpaceToDepth(x) {block_size, mode} -> x with blocks of spatial elements moved to channels"""
    rank = node.known_rank(0)
    if mode == "blocks_first" and rank == 4:
        return op.SpaceToDepth(x, blocksize=block_size)
    spatial = rank - 2
    sizes, channels, batch = op.Div(op.sizes(x, 2), [block_size] * spatial), op.sizes(x, 1, 2), op.sizes(x, 0, 1)
    parts: list[SSAValue | list[int]] = [batch, channels]
    for axis in range(spatial):
        parts += [op.Slice(sizes, [axis], [axis + 1], [0]), [block_size]]
    x = op.Reshape(x, op.joined(*parts))
    blocks, positions = [3 + 2 * axis for axis in range(spatial)], [2 + 2 * axis for axis in range(spatial)]
    order = [0, *blocks, 1, *positions] if mode == "blocks_first" else [0, 1, *blocks, *positions]
    return op.Reshape(op.Transpose(x, perm=tuple(order)), op.joined(batch, op.Mul(channels, [block_size**spatial]), sizes))


@opset.lowers("ShuffleChannels")
def shuffle_channels(node: LoweringNode, op: OnnxBuilder, x: SSAValue, *, axis: int = 1, group: int = 1) -> SSAValue:
    """opset1.ShuffleChannels(x) {axis, group} -> x with the channels of its groups interleaved"""
    rank = node.known_rank(0)
    axis %= rank
    before, after = op.sizes(x, 0, axis), op.sizes(x, axis + 1, rank)
    channels = op.Div(op.sizes(x, axis, axis + 1), [group])
    parts: list[SSAValue | list[int]] = [*([before] if axis else []), [group], channels, *([after] if axis + 1 < rank else [])]
    order = list(range(rank + 1))
    order[axis], order[axis + 1] = axis + 1, axis
    return op.Reshape(op.Transpose(op.Reshape(x, op.joined(*parts)), perm=tuple(order)), op.sizes(x, 0))
