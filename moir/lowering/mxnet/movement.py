"""Operations that move, concatenate and split data.

Source: matrix_op.cc, concat.cc, slice_channel.cc, crop.cc, pad.cc and swapaxis.cc of MXNet 1.9.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import normalize_axis
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.array import parts_at
from moir.lowering.mxnet.attributes import axes_of, rank_of_operand
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder

END = 2**63 - 1


@mxnet.lowers("Concat", "concat", "_Concat", "_rnn_param_concat", "_npi_concatenate")
def concat(node: LoweringNode, op: OpBuilder, first: SSAValue, *others: SSAValue, axis_: int = 0, dim: int = 1) -> SSAValue:
    """mxnet.Concat(a, b, …) {dim = 1} -> opset1.Concat(a, b, …) {axis}"""
    axis = axis_ if node.op.KIND == "_npi_concatenate" else dim
    values = [first, *others]
    if node.op.KIND == "_npi_concatenate" and not node.has("axis") and node.has("num_args"):
        values, axis = [op.Reshape(value, [-1], special_zero=False) for value in values], 0
    return op.Concat(*values, axis=normalize_axis(axis, rank_of_operand(node)) if axis < 0 else axis) if len(values) > 1 else values[0]


@mxnet.lowers("stack", "_npi_stack")
def stack(node: LoweringNode, op: OpBuilder, first: SSAValue, *others: SSAValue, axis: int = 0) -> SSAValue:
    """mxnet.stack(a, b, …) {axis = 0} -> opset1.Concat of the operands with a new axis"""
    axis = normalize_axis(axis, rank_of_operand(node) + 1)
    return op.Concat(*(op.Unsqueeze(value, [axis]) for value in [first, *others]), axis=axis)


@mxnet.lowers("SliceChannel", "split")
def slice_channel(
    node: LoweringNode, op: OpBuilder, x: SSAValue, *, num_outputs: int, axis: int = 1, squeeze_axis: bool = False
) -> Sequence[SSAValue]:
    """mxnet.SliceChannel(x) {num_outputs, axis = 1, squeeze_axis = false} -> opset1.Split(x, axis)"""
    if num_outputs != node.result_count:
        node.fail(f"num_outputs is {num_outputs} where it has {node.result_count} results")
    parts = op.Split.parts(num_outputs, x, op.constant(axis), num_splits=num_outputs)
    return [op.Squeeze(part, [axis]) for part in parts] if squeeze_axis else parts


@mxnet.lowers("_split_v2", "_npi_split")
def split_v2(node: LoweringNode, op: OpBuilder, *, axis: int = 1, squeeze_axis: bool = False) -> Sequence[SSAValue]:
    """mxnet._split_v2(x) {indices, axis = 1, sections = 0} -> opset1.Split, or opset1.VariadicSplit at the indices

    The first index is the beginning of the first part.
    """
    parts = parts_at(node, op, axis)
    return [op.Squeeze(part, [axis]) for part in parts] if squeeze_axis else parts


_DROPPED = -1000
"""The code, in a computed target shape, of a dimension of 1 that is removed."""


def reshaped(node: LoweringNode, op: OpBuilder, shape: list[int], reverse: bool) -> SSAValue:
    """Operand 0 reshaped to a shape with the special values 0 to -4 of Reshape; with `reverse`, matched from the last
    dimension.
    """
    x, special = node.operand(0), set(shape) & {-2, -3, -4}
    if not special and not (reverse and 0 in shape):
        return op.Reshape(x, shape, special_zero=True) if shape else x
    return op.Reshape(x, _computed_shape(node, op, shape, reverse), special_zero=False)


def _computed_shape(node: LoweringNode, op: OpBuilder, target: list[int], reverse: bool) -> SSAValue:
    """The target shape of a Reshape, whose special values are replaced by sizes of operand 0.

    `target` are the sizes and special values; with `reverse` they are matched from the right. Raises ConversionError if
    they do not fit the rank.
    """
    rank = rank_of_operand(node)
    known, sizes = node.shape(0) or (), op.ShapeOf(node.operand(0))

    def size(index: int) -> SSAValue:
        index = rank - 1 - index if reverse else index
        if not 0 <= index < rank:
            node.fail(f"shape {target} asks for more than the {rank} dimensions of the operand")
        return op.constant([known[index]]) if known[index] >= 0 else op.Gather(sizes, [index], 0)

    parts: list[SSAValue] = []
    source = position = 0
    target = _reversed_codes(target) if reverse else target
    while position < len(target):
        code = target[position]
        if code == _DROPPED:
            source += 1
        elif code == -2:
            parts += [size(index) for index in range(source, rank)]
            source = rank
        elif code == -3:
            parts.append(op.Multiply(size(source), size(source + 1)))
            source += 2
        elif code == -4:
            if len(target) < position + 3:
                node.fail(f"shape {target} splits a dimension into fewer than two")
            first, second = target[position + 1 : position + 3]
            whole = size(source)
            parts.append(op.constant([first]) if first > 0 else op.Divide(whole, second))
            parts.append(op.constant([second]) if second > 0 else op.Divide(whole, first))
            source, position = source + 1, position + 2
        else:
            parts.append(size(source) if code == 0 else op.constant([code]))
            # An inferred dimension consumes one dimension of the operand, as in MXNet.
            source += 1
        position += 1
    if not parts:
        node.fail(f"shape {target} has no dimensions")
    ordered = parts[::-1] if reverse else parts
    return op.Concat(*ordered, axis=0) if len(ordered) > 1 else ordered[0]


def _reversed_codes(codes: list[int]) -> list[int]:
    """The sizes and special values of a Reshape in reverse order, but with -4 still before the two sizes that belong to
    it.
    """
    result: list[int] = []
    position = 0
    while position < len(codes):
        width = 3 if codes[position] == -4 else 1
        group = codes[position : position + width]
        result = [*([-4, group[2], group[1]] if len(group) == 3 else group), *result]
        position += width
    return result


@mxnet.lowers("_np_reshape", "_npi_reshape", "_npx_reshape")
def numpy_reshape(node: LoweringNode, op: OpBuilder, x: SSAValue, *, reverse: bool = False, newshape: tuple[int, ...] = ()) -> SSAValue:
    """mxnet._np_reshape(x) {newshape} -> opset1.Reshape(x, newshape)

    In `_npx_reshape` -2 copies a dimension, -3 leaves out one of 1, -4 copies the rest; -5 and -6 are
    -3 and -4 of Reshape.
    """
    shape = list(newshape)
    if node.op.KIND != "_npx_reshape":
        return op.Reshape(x, shape, special_zero=False)
    codes = {-2: 0, -3: _DROPPED, -4: -2, -5: -3, -6: -4}
    return op.Reshape(x, _computed_shape(node, op, [codes.get(size, size) for size in shape], reverse), special_zero=False)


@mxnet.lowers("transpose", "_np_transpose", "_npi_transpose")
def transpose(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """mxnet.transpose(x) {axes} -> opset1.Transpose(x, axes); without axes all of them in reverse"""
    rank = rank_of_operand(node)
    return op.transposed(x, axes_of(node, rank, "axes") or list(range(rank))[::-1])


@mxnet.lowers("SwapAxis", "swapaxes", "_npi_swapaxes")
def swap_axis(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """mxnet.SwapAxis(x) {dim1 = 0, dim2 = 0} -> opset1.Transpose(x, order)"""
    rank = rank_of_operand(node)
    a, b = (normalize_axis(node.integer(name, 0), rank) for name in ("dim1", "dim2"))
    order = list(range(rank))
    order[a], order[b] = b, a
    return op.transposed(x, order)


@mxnet.lowers("reverse", "flip", "_npi_flip")
def reverse(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """mxnet.reverse(x) {axis} -> opset8.Slice(x) backwards along the axes"""
    axes = axes_of(node, rank_of_operand(node)) or list(range(rank_of_operand(node)))
    count = len(axes)
    return op.Slice(x, [-1] * count, [-END] * count, [-1] * count, axes)


@mxnet.lowers("_np_roll", "_npi_roll")
def roll(node: LoweringNode, op: OpBuilder, x: SSAValue, *, shift: tuple[int, ...] = (), axis: tuple[int, ...] = ()) -> SSAValue:
    """mxnet._np_roll(x) {shift, axis} -> opset7.Roll(x, shift, axis); without axis of the flattened operand"""
    if not node.has("axis"):
        flat = op.Roll(op.Reshape(x, [-1], special_zero=False), op.constant(list(shift)), op.constant([0]))
        return op.Reshape(flat, op.ShapeOf(x), special_zero=False)
    shifts = shift * len(axis) if len(shift) == 1 else shift
    return op.Roll(x, op.constant(list(shifts)), op.constant(list(axis)))


@mxnet.lowers("_contrib_boolean_mask")
def boolean_mask(op: OpBuilder, x: SSAValue, mask: SSAValue, *, axis: int = 0) -> SSAValue:
    """mxnet._contrib_boolean_mask(x, mask) {axis = 0} -> opset8.Gather(x, the indices where the mask is not 0, axis)"""
    indices = op.Squeeze(op.NonZero(op.NotEqual(mask, 0), output_type=si64), [0])
    return op.Gather(x, indices, axis)
