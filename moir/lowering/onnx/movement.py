"""Concatenation, splitting, transposition, padding, repetition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f4e2m1, si64, string, ui2
from moir.dialects.shapes import element_count, element_of, normalize_axis, shape_of, size_along
from moir.dialects.symbols import Symbol
from moir.expansions.repetition import repeated
from moir.expansions.shape_values import all_axes, as_integer, as_scalar, dimension, dimension_list, rank_value
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.data_types import computed_type, unpacked_type
from moir.lowering.onnx.operands import declared_rank, need_length, of_length
from moir.lowering.onnx.quantization.packed_integers import constant_array
from moir.lowering.onnx.strings.movement import moves_strings
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder, Operand


@onnx.lowers("Concat")
def concat(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Concat(a, b) {axis} -> opset1.Concat(a, b) {axis}; of one operand -> that operand"""
    axis = node.integer("axis", 1) if node.version < 4 else node.integer("axis")
    return node.operand(0) if len(node.operands) < 2 else concatenated(op, node.operands, axis)


def concatenated(op: OpBuilder, values: Sequence[SSAValue], axis: int) -> SSAValue:
    """The Concat of values.

    The CPU plugin (2026.4) leaves out constants without elements, which makes the result shorter if another dimension
    than that of the axis is 0. Then the result has no element, and is made of its sizes.
    """
    shapes = [shape_of(value) for value in values]
    empty = [shape if shape is not None and element_count(shape) == 0 and size_along(shape, axis) else None for shape in shapes]
    others = [value for value, shape in zip(values, empty, strict=True) if shape is None]
    missing = [shape for shape in empty if shape is not None]
    if not missing or not others or element_of(values[0]) == string:
        return op.Concat(*values, axis=axis)
    added = np.zeros(len(missing[0]), np.int64)
    added[axis] = sum(shape[axis] for shape in missing)
    joined = op.Concat(*others, axis=axis) if len(others) > 1 else others[0]
    return op.Broadcast(op.constant_like(0, joined), op.Add(op.ShapeOf(joined), added))


# Splitting


@onnx.lowers("Split")
@moves_strings(0)
def split_attribute(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """onnx.Split(x) {axis, split} -> opset1.VariadicSplit(x, axis, split), or opset1.Split for equal parts"""
    lengths: Operand = node.integers("split") if node.has("split") else node.optional(1)
    return split_parts(node, op, lengths, node.result_count)


@onnx.lowers("Split", since=13)
@moves_strings(0)
def split(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """onnx.Split(x, split) {axis} -> opset1.VariadicSplit(x, axis, split), or opset1.Split for equal parts"""
    lengths: Operand = node.constant_integers(1)
    if lengths is None and (given := node.optional(1)) is not None:
        lengths = of_length(op, given, node.result_count)
    count = node.integer("num_outputs", node.result_count)
    axis, shape = node.integer("axis", 0), node.shape(0)
    if lengths is None and node.has("num_outputs") and count > 1 and (shape is None or size_along(shape, axis) < 0):
        lengths = _uneven_lengths(op, dimension_list(op, node.operand(0), axis), count)
    return split_parts(node, op, lengths, count)


def _uneven_lengths(op: OpBuilder, size: SSAValue, count: int) -> SSAValue:
    """The lengths of `count` parts of an axis of a computed size, of which all have the same but the last ones."""
    part = op.Divide(op.Add(size, count - 1), count)
    rest = op.Subtract(size, op.Multiply(part, op.constant(list(range(count)))))
    return op.Maximum(op.Minimum(part, rest), 0)


def split_parts(node: LoweringNode, op: OpBuilder, lengths: Operand, count: int) -> Sequence[SSAValue]:
    """The parts of operand 0 along an axis.

    Without lengths all parts have the same length, except that the last one may be shorter.
    """
    data, axis, size = node.operand(0), node.integer("axis", 0), -1
    if (shape := node.shape(0)) is not None:
        axis = normalize_axis(axis, len(shape))
        size = shape[axis]
    if count != node.result_count:
        node.fail(f"num_outputs is {count}, but the node has {node.result_count} outputs")
    if lengths is None and size >= 0 and size % count:
        part = -(-size // count)
        lengths = tuple(min(part, max(size - index * part, 0)) for index in range(count))
    if lengths is None or (isinstance(lengths, tuple) and len(set(lengths)) == 1 and size == sum(lengths) and len(lengths) == count):
        return (data,) if count == 1 else op.Split.parts(count, data, axis, num_splits=count)
    return op.VariadicSplit.parts(node.result_count, data, axis, lengths)


# Transposition and repetition


@onnx.lowers("Transpose")
def transpose(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Transpose(x) {perm} -> opset1.Transpose(x, perm); x itself for the identity permutation"""
    data, rank = node.operand(0), node.rank(0)
    if rank is None and not node.has("perm"):
        last = op.Subtract(op.Squeeze(rank_value(op, data), [0]), 1)
        return op.Transpose(data, op.Range(last, -1, -1, output_type=si64))
    order = node.integers("perm", range(rank or 0)[::-1])
    if rank is not None and order == tuple(range(rank)):
        return data
    # The CPU plugin (2026.4) transposes numbers of less than 8 bits in some orders only, and writes beyond those of u2
    # and f4 if it can merge Transpose and Convert.
    element = element_of(data)
    wide, array = unpacked_type(element), None if unpacked_type(element) == element else constant_array(op, data)
    if array is not None:
        return op.convert(op.constant(array.transpose(order), wide), element)
    moved = op.Transpose(op.convert(data, wide), order)
    return op.convert(op.Clamp(moved, min=-8, max=8) if element in (f4e2m1, ui2) else moved, element)


@onnx.lowers("Tile", since=6)
@moves_strings(0)
def tile(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Tile(x, repeats) -> opset1.Tile(x, repeats); x if nothing is repeated; Gathers if repeats is computed"""
    data, repeats = node.operand(0), node.constant_integers(1)
    if repeats is None:
        counts = [op.Gather(node.operand(1), axis, 0) for axis in range(node.known_rank(0))]
        for axis, count in enumerate(counts):
            data = repeated(op, data, axis, count)
        return data
    return data if all(count == 1 for count in repeats) else op.Tile(data, repeats)


@onnx.lowers("Tile")
@moves_strings(0)
def tile_axis(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Tile(x, tiles, axis) -> opset1.Tile(x, [1, …, tiles, …, 1])"""
    axis = node.constant_integers(2)
    if axis is None:
        node.fail("the axis is no constant")
    rank = node.known_rank(0)
    position = normalize_axis(axis[0], rank)
    tiles = node.constant_integers(1)
    if tiles is not None:
        return op.Tile(node.operand(0), [tiles[0] if index == position else 1 for index in range(rank)])
    return repeated(op, node.operand(0), position, as_scalar(op, as_integer(op, node.operand(1))))


@onnx.lowers("Expand", since=8)
@moves_strings(0)
def expand(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Expand(x, shape) -> opset3.Broadcast(x, shape) {mode = bidirectional}; x if nothing is repeated"""
    target, shape = node.known.elements(node.operand(1)), node.shape(0)
    if target is not None and shape is not None and target.size <= len(shape):
        own = [node.known.dimension(node.operand(0), axis) for axis in range(len(shape) - target.size, len(shape))]
        if all(entry is d or (not isinstance(entry, Symbol) and entry in (1, d)) for entry, d in zip(target.ravel(), own, strict=True)):
            return node.operand(0)
    need_length(node, 1)
    if element_count(shape_of(node.operand(1))) == 0 or declared_rank(node) == 0:
        return node.operand(0)
    return op.Broadcast(node.operand(0), _expanded_shape(node, op), mode="bidirectional")


def _expanded_shape(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """The target of an Expand; one of unknown length gets dimensions of 1 in front, up to the result's known rank."""
    target, rank = node.operand(1), declared_rank(node)
    if rank is None or element_count(shape_of(target)) is not None:
        return target
    padded = op.Concat([1] * rank, target, axis=0)
    return of_length(op, op.Slice(padded, [-rank], [np.iinfo(np.int32).max], [1], [0]), rank)


@onnx.lowers("DepthToSpace")
@moves_strings(0)
def depth_to_space(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.DepthToSpace(x) {blocksize, mode = DCR} -> opset1.DepthToSpace(x) {block_size, mode = blocks_first}"""
    return op.DepthToSpace(node.operand(0), mode=block_mode(node), block_size=node.integer("blocksize"))


def block_mode(node: LoweringNode) -> str:
    """The order of the elements of a block by its name in the runtime. Raises ConversionError for an unknown one."""
    modes = {"DCR": "blocks_first", "CRD": "depth_first"}
    mode = node.text("mode", "DCR")
    if mode not in modes:
        node.fail(f"mode {mode!r} is neither DCR nor CRD")
    return modes[mode]


@onnx.lowers("SpaceToDepth")
@moves_strings(0)
def space_to_depth(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.SpaceToDepth(x) {blocksize, mode = DCR} -> opset1.SpaceToDepth(x) {block_size, mode = blocks_first}"""
    return op.SpaceToDepth(node.operand(0), mode=block_mode(node), block_size=node.integer("blocksize"))


@onnx.lowers("ReverseSequence")
@moves_strings(0)
def reverse_sequence(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.ReverseSequence(x, lengths) {batch_axis = 1, time_axis = 0}
    -> opset1.ReverseSequence(x, lengths) {batch_axis, seq_axis}
    """
    return op.ReverseSequence(
        node.operand(0), node.operand(1), batch_axis=node.integer("batch_axis", 1), seq_axis=node.integer("time_axis", 0)
    )


# Cutting


@onnx.lowers("Compress")
def compress(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Compress(x, condition) {axis} -> opset8.Gather(x, opset1.Squeeze(opset3.NonZero(condition), 0), axis)"""
    data, condition = node.operand(0), node.constant(1)
    if condition is not None and not condition.any():
        # The runtime (2026.4, CPU) crashes on a Gather of nothing.
        data = data if node.has("axis") or node.rank(0) == 1 else op.Reshape(data, [-1], special_zero=False)
        return op.Slice(data, [0], [0], [1], [node.integer("axis", 0)])
    selected = op.Squeeze(op.NonZero(node.operand(1)), [0])
    if node.has("axis"):
        return op.Gather(data, selected, node.integer("axis"))
    return op.Gather(data if node.rank(0) == 1 else op.Reshape(data, [-1], special_zero=False), selected, 0)


# Padding


PAD_MODES = {"constant": "constant", "edge": "edge", "reflect": "reflect"}


@onnx.lowers("Pad")
@moves_strings(0)
def pad_attributes(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Pad(x) {pads, mode, value} -> opset12.Pad(x, begin, end, value) {pad_mode}"""
    pads = node.integers("paddings" if node.version < 2 else "pads")
    value = node.number("value", 0.0)
    return padded(node, op, np.array(pads, np.int64), None if value == 0 else op.constant_like(value, node.operand(0)))


@onnx.lowers("Pad", since=11)
@moves_strings(0, 2)
def pad(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Pad(x, pads, value, axes) {mode} -> opset12.Pad(x, begin, end, value) {pad_mode}"""
    value = node.optional(2)
    if value is not None and (known := node.known.constant(value)) is not None and known.size == 1 and not known.any():
        value = None
    pads, axes = node.constant(1), node.optional(3)
    if pads is not None and axes is None:
        return padded(node, op, pads.ravel(), value)
    if pads is not None and (rank := node.rank(0)) is not None and (positions := node.constant_integers(3)) is not None:
        every = np.zeros((2, rank), np.int64)
        if pads.size != 2 * len(positions):
            node.fail(f"{pads.size} pads are given for {len(positions)} axes")
        every[:, [normalize_axis(axis, rank) for axis in positions]] = pads.reshape(2, -1)
        return padded(node, op, every.ravel(), value)
    begin, end = op.Split.parts(2, node.operand(1), 0, num_splits=2)
    if axes is not None:
        rank_list = rank_value(op, node.operand(0))
        zeros = op.Broadcast(op.constant_like(0, begin), rank_list)
        # The runtime does not accept negative axes here.
        known, rank = node.constant_integers(3), node.rank(0)
        if known is not None and rank is not None:
            positions: Operand = [normalize_axis(axis, rank) for axis in known]
        else:
            positions = op.FloorMod(axes, op.convert(rank_list, node.element(3)))
        begin, end = op.ScatterUpdate(zeros, positions, begin, 0), op.ScatterUpdate(zeros, positions, end, 0)
    if node.text("mode", "constant") == "wrap":
        rank, wide = node.known_rank(0), unpacked_type(node.element(0))
        begins, ends = ([op.Gather(op.convert(widths, si64), axis, 0) for axis in range(rank)] for widths in (begin, end))
        return op.convert(wrapped(op, op.convert(node.operand(0), wide), begins, ends), node.element(0))
    return _padded_wide(op, node.operand(0), begin, end, value, pad_mode(node))


def _padded_wide(op: OpBuilder, data: SSAValue, begin: Operand, end: Operand, value: SSAValue | None, mode: str) -> SSAValue:
    """Data padded; numbers of less than 8 bits, on which the CPU plugin (2026.4) crashes, and f8 as wider ones."""
    element = element_of(data)
    wide = computed_type(unpacked_type(element))
    data, value = op.convert(data, wide), None if value is None else op.convert(value, wide)
    return op.convert(op.Pad(data, begin, end, pad_value(op, value), pad_mode=mode), element)


def pad_mode(node: LoweringNode) -> str:
    """The mode of the padding by its name in the runtime. Raises ConversionError for an unknown one."""
    mode = node.text("mode", "constant")
    if mode not in PAD_MODES:
        node.fail(f"mode {mode!r} is not one of {', '.join(PAD_MODES)}, wrap")
    return PAD_MODES[mode]


def pad_value(op: OpBuilder, value: SSAValue | None) -> SSAValue | None:
    """The value of the padding, as a scalar."""
    return None if value is None else as_scalar(op, value)


def padded(node: LoweringNode, op: OpBuilder, pads: np.ndarray[tuple[int, ...], np.dtype[np.int64]], value: SSAValue | None) -> SSAValue:
    """Operand 0 padded by constant numbers of elements, begins of all axes first."""
    data = node.operand(0)
    if pads.size % 2:
        node.fail(f"{pads.size} pads are an odd number of them")
    if not pads.any():
        return data
    begin, end = pads.reshape(2, -1).tolist()
    if node.text("mode", "constant") == "wrap":
        return op.convert(wrapped(op, op.convert(data, unpacked_type(node.element(0))), begin, end), node.element(0))
    mode = pad_mode(node)
    return _padded_wide(op, data, begin, end, value if mode == "constant" else None, mode)


def wrapped(op: OpBuilder, data: SSAValue, begin: Sequence[int | SSAValue], end: Sequence[int | SSAValue]) -> SSAValue:
    """Data continued periodically.

    Each padded axis is gathered at the positions -begin … size + end - 1, modulo the size.
    """
    for axis, (before, after) in enumerate(zip(begin, end, strict=True)):
        if before == after == 0:
            continue
        size = dimension(op, data, axis)
        if isinstance(size, int) and isinstance(before, int) and isinstance(after, int):
            positions: Operand = op.constant(np.arange(-before, size + after) % max(size, 1))
        else:
            extent = op.constant(size) if isinstance(size, int) else size
            first = -before if isinstance(before, int) else op.Negative(before)
            positions = op.FloorMod(op.Range(first, op.Add(extent, after), 1, output_type=si64), extent)
        data = op.Gather(data, positions, axis)
    return data


@onnx.lowers("CenterCropPad", since=18)
@moves_strings(0)
def center_crop_pad(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.CenterCropPad(x, shape) {axes}
    -> opset8.Slice(opset12.Pad(x, begin, end), start, stop, 1, axes), so that the middle of x stays in the middle
    """
    data, rank = node.operand(0), node.rank(0)
    if rank is None:
        return _cropped_of_unknown_rank(node, op)
    axes = [normalize_axis(axis, rank) for axis in node.integers("axes", range(rank))]
    if not axes:
        return data
    wanted = op.convert(of_length(op, node.operand(1), len(axes)), si64)
    own = op.Concat(*(dimension_list(op, data, axis) for axis in axes), axis=0) if len(axes) > 1 else dimension_list(op, data, axes[0])
    missing = op.Maximum(op.Subtract(wanted, own), 0)
    surplus = op.Maximum(op.Subtract(own, wanted), 0)
    begin, start = (op.Divide(count, 2) for count in (missing, surplus))
    zeros = op.constant([0] * rank)
    pads = [op.ScatterUpdate(zeros, axes, widths, 0) for widths in (begin, op.Subtract(missing, begin))]
    padded = op.Pad(data, *pads, pad_mode="constant")
    return op.Slice(padded, start, op.Add(start, wanted), [1] * len(axes), axes)


def _cropped_of_unknown_rank(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """The result of a CenterCropPad of data of unknown rank: all axes are padded and cut, most by nothing."""
    data, wanted = node.operand(0), op.convert(node.operand(1), si64)
    own, rank = op.ShapeOf(data), rank_value(op, data)
    if node.has("axes"):
        places = op.FloorMod(op.constant(list(node.integers("axes"))), rank)
        wanted = op.ScatterUpdate(own, places, wanted, 0)
    missing, surplus = (op.Maximum(op.Subtract(*pair), 0) for pair in ((wanted, own), (own, wanted)))
    begin, start = (op.Divide(count, 2) for count in (missing, surplus))
    padded = op.Pad(data, begin, op.Subtract(missing, begin), pad_mode="constant")
    return op.Slice(padded, start, op.Add(start, wanted), op.Broadcast(op.constant(1), rank), all_axes(op, data))
