"""Operations that move, repeat, join and divide data, and those on shapes.

Source: matrix_op.cc, concat.cc, slice_channel.cc, crop.cc, pad.cc and swapaxis.cc of MXNet 1.9.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si64, to_numpy
from moir.dialects.shapes import normalize_axis
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.array import parts_at
from moir.lowering.mxnet.attributes import axes_of, element, entries, operands, optional_entries, pairs_of, rank_of_operand
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder

END = 2**63 - 1


@mxnet.lowers("amp_multicast")
def amp_multicast(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """mxnet.amp_multicast(a, b, …) {cast_narrow = false} -> all in the widest of their types, or the narrowest"""
    values = operands(node)
    widths = [to_numpy(node.element(index)).itemsize for index in range(len(values))]
    wanted = node.element(widths.index((min if node.flag("cast_narrow") else max)(widths)))
    return [op.convert(value, wanted) for value in values]


@mxnet.lowers("Cast", "cast", "amp_cast", "_npx_cast", "_npi_cast")
def cast(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.Cast(x) {dtype} -> opset1.Convert(x)"""
    return op.convert(node.operand(0), element(node, f32))


@mxnet.lowers("Concat", "concat", "_Concat", "_rnn_param_concat", "_npi_concatenate")
def concat(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.Concat(a, b, …) {dim = 1} -> opset1.Concat(a, b, …) {axis}"""
    axis = node.integer("axis", 0) if node.op.KIND == "_npi_concatenate" else node.integer("dim", 1)
    values = operands(node)
    if node.op.KIND == "_npi_concatenate" and not node.has("axis") and node.has("num_args"):
        values, axis = [op.Reshape(value, [-1], special_zero=False) for value in values], 0
    return op.Concat(*values, axis=normalize_axis(axis, rank_of_operand(node)) if axis < 0 else axis) if len(values) > 1 else values[0]


@mxnet.lowers("stack", "_npi_stack")
def stack(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.stack(a, b, …) {axis = 0} -> opset1.Concat of the operands with a new axis"""
    axis = normalize_axis(node.integer("axis", 0), rank_of_operand(node) + 1)
    return op.Concat(*(op.Unsqueeze(value, [axis]) for value in operands(node)), axis=axis)


@mxnet.lowers("SliceChannel", "split")
def slice_channel(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """mxnet.SliceChannel(x) {num_outputs, axis = 1, squeeze_axis = false} -> opset1.Split(x, axis)"""
    count, axis = node.integer("num_outputs"), node.integer("axis", 1)
    if count != node.result_count:
        node.fail(f"num_outputs is {count} where it has {node.result_count} results")
    parts = op.Split.parts(count, node.operand(0), op.constant(axis), num_splits=count)
    return [op.Squeeze(part, [axis]) for part in parts] if node.flag("squeeze_axis") else parts


@mxnet.lowers("_split_v2", "_npi_split")
def split_v2(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """mxnet._split_v2(x) {indices, axis = 0, sections = 0} -> opset1.Split, or opset1.VariadicSplit at the indices

    The first index is where the first part begins.
    """
    axis = node.integer("axis", 0)
    parts = parts_at(node, op, axis)
    return [op.Squeeze(part, [axis]) for part in parts] if node.flag("squeeze_axis") else parts


@mxnet.lowers("Flatten", "flatten", "_npx_batch_flatten")
def flatten(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.Flatten(x) -> opset1.Reshape(x, [0, -1])"""
    return op.Reshape(node.operand(0), [0, -1], special_zero=True)


_DROPPED = -1000
"""The code of a dimension of 1 that is left out."""


@mxnet.lowers("Reshape", "reshape")
def reshape(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.Reshape(x) {shape, reverse = false} -> opset1.Reshape(x, shape)

    0 copies a dimension, -1 is inferred, -2 copies all that are left, -3 is the product of two, -4 splits one into the
    two that follow it. With `reverse` this is read from the right.
    """
    shape = list(entries(node, "shape"))
    if not shape and (target := entries(node, "target_shape")):
        shape = [0 if node.flag("keep_highest") and index == 0 else size or -1 for index, size in enumerate(target)]
    return reshaped(node, op, shape, node.flag("reverse"))


def reshaped(node: LoweringNode, op: OpBuilder, shape: list[int], reverse: bool) -> SSAValue:
    """Operand 0 in the shape that the codes of a Reshape mean."""
    x, special = node.operand(0), set(shape) & {-2, -3, -4}
    if not special and not (reverse and 0 in shape):
        return op.Reshape(x, shape, special_zero=True) if shape else x
    return op.Reshape(x, _computed_shape(node, op, shape, reverse), special_zero=False)


def _computed_shape(node: LoweringNode, op: OpBuilder, codes: list[int], reverse: bool) -> SSAValue:
    """The shape that codes mean for the shape of the operand."""
    rank = rank_of_operand(node)
    known, sizes = node.shape(0) or (), op.ShapeOf(node.operand(0))

    def size(index: int) -> SSAValue:
        index = rank - 1 - index if reverse else index
        if not 0 <= index < rank:
            node.fail(f"shape {codes} asks for more than the {rank} dimensions of the operand")
        return op.constant([known[index]]) if known[index] >= 0 else op.Gather(sizes, [index], 0)

    parts: list[SSAValue] = []
    source = place = 0
    codes = _reversed_codes(codes) if reverse else codes
    while place < len(codes):
        code = codes[place]
        if code == _DROPPED:
            source += 1
        elif code == -2:
            parts += [size(index) for index in range(source, rank)]
            source = rank
        elif code == -3:
            parts.append(op.Multiply(size(source), size(source + 1)))
            source += 2
        elif code == -4:
            if len(codes) < place + 3:
                node.fail(f"shape {codes} splits a dimension into fewer than two")
            first, second = codes[place + 1 : place + 3]
            whole = size(source)
            parts.append(op.constant([first]) if first > 0 else op.Divide(whole, second))
            parts.append(op.constant([second]) if second > 0 else op.Divide(whole, first))
            source, place = source + 1, place + 2
        else:
            parts.append(size(source) if code == 0 else op.constant([code]))
            # An inferred dimension takes the place of one, as MXNet counts.
            source += 1
        place += 1
    ordered = parts[::-1] if reverse else parts
    return op.Concat(*ordered, axis=0) if len(ordered) > 1 else ordered[0]


def _reversed_codes(codes: list[int]) -> list[int]:
    """Codes from the right: -4 stays in front of the two sizes that it introduces."""
    result: list[int] = []
    place = 0
    while place < len(codes):
        width = 3 if codes[place] == -4 else 1
        group = codes[place : place + width]
        result = [*([-4, group[2], group[1]] if len(group) == 3 else group), *result]
        place += width
    return result


@mxnet.lowers("_np_reshape", "_npi_reshape", "_npx_reshape")
def numpy_reshape(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet._np_reshape(x) {newshape} -> opset1.Reshape(x, newshape)

    In `_npx_reshape` -2 copies a dimension, -3 leaves out one of 1, -4 copies the rest; -5 and -6 are
    -3 and -4 of Reshape.
    """
    shape = list(entries(node, "newshape"))
    if node.op.KIND != "_npx_reshape":
        return op.Reshape(node.operand(0), shape, special_zero=False)
    codes = {-2: 0, -3: _DROPPED, -4: -2, -5: -3, -6: -4}
    return op.Reshape(
        node.operand(0), _computed_shape(node, op, [codes.get(size, size) for size in shape], node.flag("reverse")), special_zero=False
    )


@mxnet.lowers("reshape_like", "_npx_reshape_like")
def reshape_like(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.reshape_like(x, like) {lhs_begin, lhs_end, rhs_begin, rhs_end} -> opset1.Reshape(x, shape of like)

    With bounds, some dimensions of x become some of those of `like`.
    """
    x, like = node.operand(0), node.operand(1)
    if not any(node.has(name) for name in ("lhs_begin", "lhs_end", "rhs_begin", "rhs_end")):
        return op.Reshape(x, op.ShapeOf(like), special_zero=False)
    bounds: list[tuple[int, int]] = []
    for index, side in enumerate(("lhs", "rhs")):
        rank = rank_of_operand(node, index)
        begin = node.integer(f"{side}_begin") if node.has(f"{side}_begin") else 0
        end = node.integer(f"{side}_end") if node.has(f"{side}_end") else rank
        bounds.append((begin + rank if begin < 0 else begin, end + rank if end < 0 else end))
    (first, last), (other_first, other_last) = bounds
    sizes, theirs = op.ShapeOf(x), op.ShapeOf(like)
    parts = [op.Slice(sizes, [0], [first], [1])] if first else []
    parts += [op.Slice(theirs, [other_first], [other_last], [1])] if other_last > other_first else []
    parts += [op.Slice(sizes, [last], [rank_of_operand(node)], [1])] if last < rank_of_operand(node) else []
    return op.Reshape(x, op.Concat(*parts, axis=0) if len(parts) > 1 else parts[0], special_zero=False)


@mxnet.lowers("transpose", "_np_transpose", "_npi_transpose")
def transpose(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.transpose(x) {axes} -> opset1.Transpose(x, axes); without axes all of them in reverse"""
    rank = rank_of_operand(node)
    return op.transposed(node.operand(0), axes_of(node, rank, "axes") or list(range(rank))[::-1])


@mxnet.lowers("SwapAxis", "swapaxes", "_npi_swapaxes")
def swap_axis(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.SwapAxis(x) {dim1 = 0, dim2 = 0} -> opset1.Transpose(x, order)"""
    rank = rank_of_operand(node)
    a, b = (normalize_axis(node.integer(name, 0), rank) for name in ("dim1", "dim2"))
    order = list(range(rank))
    order[a], order[b] = b, a
    return op.transposed(node.operand(0), order)


@mxnet.lowers("expand_dims", "_npi_expand_dims")
def expand_dims(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.expand_dims(x) {axis} -> opset1.Unsqueeze(x, [axis])"""
    return op.Unsqueeze(node.operand(0), [node.integer("axis")])


@mxnet.lowers("squeeze", "_np_squeeze", "_npi_squeeze")
def squeeze(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.squeeze(x) {axis} -> opset1.Squeeze(x, axis); of a single element a list, numpy's is a scalar"""
    axes, shape = entries(node, "axis"), node.shape(0)
    if node.op.KIND == "squeeze" and shape is not None and (len(axes) == len(shape) or (set(shape) == {1} and not axes)):
        return op.Reshape(node.operand(0), [1], special_zero=False)
    return op.Squeeze(node.operand(0), list(axes)) if axes else op.Squeeze(node.operand(0))


@mxnet.lowers("broadcast_to", "_npi_broadcast_to")
def broadcast_to(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.broadcast_to(x) {shape} -> opset3.Broadcast(x, shape), in which 0 keeps a dimension"""
    shape = [size if size > 0 else 1 for size in entries(node, "shape")]
    return op.Broadcast(node.operand(0), shape, mode="bidirectional")


@mxnet.lowers("broadcast_axis", "broadcast_axes")
def broadcast_axis(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.broadcast_axis(x) {axis, size} -> opset3.Broadcast(x, shape)"""
    rank = rank_of_operand(node)
    shape = [1] * rank
    for axis, size in zip(axes_of(node, rank) or (), entries(node, "size"), strict=True):
        shape[axis] = size
    return op.Broadcast(node.operand(0), shape, mode="bidirectional")


@mxnet.lowers("broadcast_like")
def broadcast_like(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.broadcast_like(x, like) {lhs_axes, rhs_axes} -> opset3.Broadcast(x, shape of like, or some of its sizes)"""
    x, like = node.operand(0), node.operand(1)
    if not node.has("lhs_axes"):
        return op.Broadcast(x, op.ShapeOf(like), mode="bidirectional")
    rank, other = rank_of_operand(node), rank_of_operand(node, 1)
    own, theirs = axes_of(node, rank, "lhs_axes") or [], [normalize_axis(axis, other) for axis in entries(node, "rhs_axes")]
    pairs = dict(zip(own, theirs, strict=True))
    parts = [op.Gather(op.ShapeOf(like), [pairs[axis]], 0) if axis in pairs else op.constant([1]) for axis in range(rank)]
    return op.Broadcast(x, op.Concat(*parts, axis=0), mode="bidirectional")


@mxnet.lowers("tile", "_npi_tile")
def tile(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.tile(x) {reps} -> opset1.Tile(x, reps)"""
    return op.Tile(node.operand(0), list(entries(node, "reps")))


@mxnet.lowers("repeat", "_npi_repeat")
def repeat(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.repeat(x) {repeats, axis} -> each element several times; without axis of the flattened operand"""
    count, x = node.integer("repeats"), node.operand(0)
    if not node.has("axis"):
        return op.Reshape(op.Tile(op.Reshape(x, [-1, 1], special_zero=False), [1, count]), [-1], special_zero=False)
    rank = rank_of_operand(node)
    axis = normalize_axis(node.integer("axis"), rank)
    repeats = [1] * (rank + 1)
    repeats[axis + 1] = count
    wide = op.Tile(op.Unsqueeze(x, [axis + 1]), repeats)
    sizes = op.ShapeOf(x)
    parts = [*([op.Slice(sizes, [0], [axis], [1])] if axis else []), op.Multiply(op.Gather(sizes, [axis], 0), count)]
    parts += [op.Slice(sizes, [axis + 1], [rank], [1])] if axis + 1 < rank else []
    return op.Reshape(wide, op.Concat(*parts, axis=0) if len(parts) > 1 else parts[0], special_zero=False)


@mxnet.lowers("reverse", "flip", "_npi_flip")
def reverse(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.reverse(x) {axis} -> opset8.Slice(x) backwards along the axes"""
    axes = axes_of(node, rank_of_operand(node)) or list(range(rank_of_operand(node)))
    count = len(axes)
    return op.Slice(node.operand(0), [-1] * count, [-END] * count, [-1] * count, axes)


_PAD_MODES = {"constant": "constant", "edge": "edge", "reflect": "reflect"}


@mxnet.lowers("Pad", "pad", "_npi_pad")
def pad(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.Pad(x) {mode, pad_width, constant_value = 0} -> opset12.Pad(x, begins, ends, value)"""
    mode, widths = node.text("mode", "constant"), pairs_of(node, "pad_width")
    if mode not in _PAD_MODES or len(widths) % 2 or len(widths) != 2 * rank_of_operand(node):
        node.fail(f"mode {mode!r} with pad_width {list(widths)} is no padding of {rank_of_operand(node)} axes")
    value = op.ConvertLike(op.constant(node.number("constant_value", 0.0)), node.operand(0)) if mode == "constant" else None
    return op.Pad(node.operand(0), list(widths[::2]), list(widths[1::2]), value, pad_mode=_PAD_MODES[mode])


@mxnet.lowers("space_to_depth")
def space_to_depth(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.space_to_depth(x) {block_size} -> opset1.SpaceToDepth(x) {mode = "blocks_first"}"""
    return op.SpaceToDepth(node.operand(0), block_size=node.integer("block_size"), mode="blocks_first")


@mxnet.lowers("depth_to_space")
def depth_to_space(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.depth_to_space(x) {block_size} -> opset1.DepthToSpace(x) {mode = "blocks_first"}"""
    return op.DepthToSpace(node.operand(0), block_size=node.integer("block_size"), mode="blocks_first")


@mxnet.lowers("slice", "crop", "_npx_slice", "_npi_slice")
def slice_(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.slice(x) {begin, end, step} -> opset8.Slice(x, begin, end, step, axes); None is the end of an axis"""
    begins, ends = optional_entries(node, "begin"), optional_entries(node, "end")
    steps = optional_entries(node, "step") or [None]
    steps = steps * len(begins) if len(steps) == 1 else steps
    if not len(begins) == len(ends) == len(steps):
        node.fail(f"begin {begins}, end {ends} and step {steps} have different lengths")
    return _sliced(op, node.operand(0), begins, ends, [step or 1 for step in steps], list(range(len(begins))))


def _sliced(
    op: OpBuilder, x: SSAValue, begins: Sequence[int | None], ends: Sequence[int | None], steps: Sequence[int], axes: Sequence[int]
) -> SSAValue:
    first = [(0 if step > 0 else END) if begin is None else begin for begin, step in zip(begins, steps, strict=True)]
    last = [(END if step > 0 else -END) if end is None else end for end, step in zip(ends, steps, strict=True)]
    return op.Slice(x, first, last, list(steps), list(axes))


@mxnet.lowers("slice_axis")
def slice_axis(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.slice_axis(x) {axis, begin, end} -> opset8.Slice(x, begin, end, 1, axis)"""
    end = node.integer("end") if node.has("end") else None
    return _sliced(op, node.operand(0), [node.integer("begin", 0)], [end], [1], [node.integer("axis")])


@mxnet.lowers("slice_like")
def slice_like(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.slice_like(x, like) {axes} -> opset8.Slice(x, 0, sizes of like, 1, axes)"""
    rank = rank_of_operand(node)
    axes = axes_of(node, rank, "axes") or list(range(rank))
    sizes = op.Gather(op.ShapeOf(node.operand(1)), axes, 0)
    return op.Slice(node.operand(0), [0] * len(axes), sizes, [1] * len(axes), axes)


@mxnet.lowers("Crop")
def crop(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.Crop(x, like) {offset = (0, 0), h_w, center_crop = false} -> opset8.Slice along height and width"""
    x = node.operand(0)
    like = node.optional(1)
    sizes = op.constant(list(entries(node, "h_w"))) if like is None else op.Slice(op.ShapeOf(like), [2], [4], [1])
    if node.flag("center_crop"):
        offsets = op.Divide(op.Subtract(op.Slice(op.ShapeOf(x), [2], [4], [1]), sizes), 2)
    else:
        offsets = op.constant(list(entries(node, "offset", (0, 0))))
    return op.Slice(x, offsets, op.Add(offsets, sizes), [1, 1], [2, 3])


@mxnet.lowers("_np_roll", "_npi_roll")
def roll(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet._np_roll(x) {shift, axis} -> opset7.Roll(x, shift, axis); without axis of the flattened operand"""
    shift, x = entries(node, "shift"), node.operand(0)
    if not node.has("axis"):
        flat = op.Roll(op.Reshape(x, [-1], special_zero=False), op.constant(list(shift)), op.constant([0]))
        return op.Reshape(flat, op.ShapeOf(x), special_zero=False)
    axes = entries(node, "axis")
    shifts = shift * len(axes) if len(shift) == 1 else shift
    return op.Roll(x, op.constant(list(shifts)), op.constant(list(axes)))


@mxnet.lowers("shape_array", "_npx_shape_array")
def shape_array(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.shape_array(x) -> opset3.ShapeOf(x)"""
    return op.ShapeOf(node.operand(0), output_type=si64)


@mxnet.lowers("size_array")
def size_array(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.size_array(x) -> the number of elements of x, [1]"""
    return op.ReduceProd(op.ShapeOf(node.operand(0), output_type=si64), [0], keep_dims=True)


@mxnet.lowers("_contrib_boolean_mask")
def boolean_mask(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet._contrib_boolean_mask(x, mask) {axis = 0} -> opset8.Gather(x, the places where the mask is not 0, axis)"""
    places = op.Squeeze(op.NonZero(op.NotEqual(node.operand(1), 0), output_type=si64), [0])
    return op.Gather(node.operand(0), places, node.integer("axis", 0))
