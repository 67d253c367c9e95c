"""Concatenation, splitting, transposition, reversal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import element_of, normalize_axis, shape_of
from moir.expansions.shape_values import as_scalar, dimension
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS, by_parts
from moir.lowering.tensorflow.complex.types import is_complex, real_axis
from moir.lowering.tensorflow.ranks import as_members, permuted
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

FIRST, LAST = -(2**31), 2**31 - 1
"""Bounds of a slice that lie before the first and after the last element of any axis."""


def constant_axis(node: LoweringNode, index: int, attribute: str = "T") -> int:
    """The axis in constant operand `index`, as an axis of the real tensor.

    `attribute` holds the element type, which tells whether the data are complex. Raises ConversionError if the operand
    is not constant or not a single axis.
    """
    axis = node.constant_integers(index)
    if axis is None or len(axis) != 1:
        node.fail("the axis is computed when the model runs", hint="make the axis a constant")
    return real_axis(node, axis[0], attribute)


# Concatenation


@tf.lowers("Concat", complex=PAIRS)
def concat(node: LoweringNode, op: OpBuilder, _concat_dim: SSAValue, *values: SSAValue) -> SSAValue:
    """tf.Concat(axis, a, b) -> opset1.Concat(a, b) {axis}; of one value -> that value"""
    return joined(op, values, constant_axis(node, 0))


@tf.lowers("ConcatV2", rank=as_members, complex=PAIRS)
def concat_v2(node: LoweringNode, op: OpBuilder, *values: SSAValue) -> SSAValue:
    """tf.ConcatV2(a, b, axis) -> opset1.Concat(a, b) {axis}; of one value -> that value"""
    operands = values
    return joined(op, operands[:-1], constant_axis(node, len(operands) - 1))


@tf.lowers("ParallelConcat", complex=PAIRS)
def parallel_concat(op: OpBuilder, *values: SSAValue) -> SSAValue:
    """tf.ParallelConcat(a, b) -> opset1.Concat(a, b) {axis = 0}"""
    return joined(op, values, 0)


@tf.lowers("ConcatOffset")
def offsets_of_parts(node: LoweringNode, op: OpBuilder, concat_dim: SSAValue, *shape: SSAValue) -> Sequence[SSAValue]:
    """tf.ConcatOffset(axis, shape of a, shape of b) -> the offsets of a and b in their concatenation

    An offset is 0 for all axes but the concatenated one, where it is the sum of the sizes of the earlier operands.
    """
    axis, first = op.convert(as_scalar(op, concat_dim), si64), node.operand(1)
    rank = dimension(op, first, 0)
    axes = op.constant(np.arange(rank)) if isinstance(rank, int) else op.Range(0, rank, 1, output_type=si64)
    is_chosen = op.Equal(axes, op.FloorMod(axis, rank))
    offset = op.Multiply(first, op.constant_like(0, first))
    offsets = [offset]
    for sizes in shape[:-1]:
        offset = op.Add(offset, op.Select(is_chosen, sizes, op.constant_like(0, sizes)))
        offsets.append(offset)
    return offsets[: node.result_count]


def joined(op: OpBuilder, values: Sequence[SSAValue], axis: int) -> SSAValue:
    """The concatenation of values along an axis; for a single value the value itself."""
    return values[0] if len(values) == 1 else op.Concat(*values, axis=axis)


@tf.lowers("Pack", complex=PAIRS)
def pack(node: LoweringNode, op: OpBuilder, *values: SSAValue, axis: int = 0) -> SSAValue:
    """tf.Pack(a, b) {axis = 0} -> opset1.Concat(opset1.Unsqueeze(a, axis), opset1.Unsqueeze(b, axis)) {axis}"""
    axis = real_axis(node, axis)
    return joined(op, [op.Unsqueeze(value, [axis]) for value in values], axis)


# Splitting


@tf.lowers("Unpack", complex=PAIRS)
def unpack(node: LoweringNode, op: OpBuilder, value: SSAValue, *, num: int, axis: int = 0) -> Sequence[SSAValue | None]:
    """tf.Unpack(x) {num, axis = 0}
    -> opset1.Squeeze of each part of opset1.Split(x, axis); opset8.Gather if only one part has uses
    """
    axis = real_axis(node, axis)
    used = [index for index in range(node.result_count) if node.is_used(index)]
    if num == 1:
        return [op.Squeeze(value, [axis])]
    if len(used) == 1:
        return [op.Gather(value, index, axis) if index in used else None for index in range(node.result_count)]
    parts = op.Split.parts(num, value, axis, num_splits=num)
    return [op.Squeeze(parts[index], [axis]) if index in used else None for index in range(node.result_count)]


@tf.lowers("Split", complex=by_parts(1))
def split(node: LoweringNode, op: OpBuilder, split_dim: SSAValue, value: SSAValue, *, num_split: int) -> Sequence[SSAValue]:
    """tf.Split(axis, x) {num_split} -> opset1.Split(x, axis) {num_splits}; x if there is one part"""
    if num_split == 1:
        return [value]
    return op.Split.parts(num_split, value, as_scalar(op, split_dim), num_splits=num_split)[: node.result_count]


@tf.lowers("SplitV", complex=by_parts(0))
def split_lengths(
    node: LoweringNode, op: OpBuilder, value: SSAValue, size_splits: SSAValue, split_dim: SSAValue, *, num_split: int
) -> Sequence[SSAValue]:
    """tf.SplitV(x, lengths, axis) {num_split}
    -> opset1.VariadicSplit(x, axis, lengths), or opset1.Split for equal lengths
    """
    axis, lengths = as_scalar(op, split_dim), op.known.integers(size_splits)
    if num_split == 1:
        return [value]
    if lengths is not None and len(set(lengths)) == 1 and lengths[0] >= 0:
        return op.Split.parts(num_split, value, axis, num_splits=num_split)[: node.result_count]
    sizes = size_splits
    if (shape_of(sizes) or (-1,))[0] < 0:
        sizes = op.Reshape(sizes, [num_split], special_zero=False)
    return op.VariadicSplit.parts(num_split, value, axis, sizes)[: node.result_count]


# Transposition and repetition


@tf.lowers("Transpose", "ConjugateTranspose", rank=permuted, complex=PAIRS)
def transpose(node: LoweringNode, op: OpBuilder, x: SSAValue, perm: SSAValue) -> SSAValue:
    """tf.Transpose(x, perm) -> opset1.Transpose(x, perm); x itself for the identity permutation

    ConjugateTranspose also conjugates complex numbers.
    """
    data, order = x, node.constant_integers(1)
    if node.op.KIND == "ConjugateTranspose" and is_complex(node):
        data = op.Multiply(data, op.constant_like(np.array([1, -1]), data))
    if order is not None:
        order = [normalize_axis(axis, len(order)) for axis in order]
        if is_complex(node):
            order.append(len(order))
        return data if order == list(range(len(order))) else op.Transpose(data, order)
    if is_complex(node):
        perm = op.Concat(perm, op.convert(op.ShapeOf(perm), element_of(perm)), axis=0)
    return op.Transpose(data, perm)


# Reversal


@tf.lowers("Reverse", complex=by_parts(0))
def reverse_flags(op: OpBuilder, tensor: SSAValue, dims: SSAValue) -> SSAValue:
    """tf.Reverse(x, flags)
    -> opset8.Slice(x, -1, first, -1, axes); for computed flags opset8.Slice with bounds that are Selects
    """
    flags = op.known.constant(dims)
    if flags is not None:
        return reversed_along(op, tensor, np.flatnonzero(flags).tolist())
    return reversed_where(op, tensor, dims)


def reversed_where(op: OpBuilder, data: SSAValue, flags: SSAValue) -> SSAValue:
    """Data reversed along the axes for which a flag is true."""
    start, stop, step = (
        op.Select(flags, op.constant(backward, si64), op.constant(forward, si64)) for backward, forward in ((-1, 0), (FIRST, LAST), (-1, 1))
    )
    return op.Slice(data, start, stop, step)


@tf.lowers("ReverseV2", complex=by_parts(0))
def reverse(node: LoweringNode, op: OpBuilder, tensor: SSAValue, axis: SSAValue) -> SSAValue:
    """tf.ReverseV2(x, axes) -> opset8.Slice(x, -1, first, -1, axes); x without axes"""
    axes = op.known.integers(axis)
    if axes is not None:
        return reversed_along(op, tensor, axes)
    # A flag per axis, true if the axis is reversed: the number of computed axes may be dynamic.
    rank = node.known_rank(0)
    chosen = op.OneHot(op.FloorMod(axis, rank), rank, op.constant(1, si64), op.constant(0, si64), axis=-1)
    flags = op.Greater(op.ReduceMax(chosen, [0], keep_dims=False), 0)
    return reversed_where(op, tensor, flags)


def reversed_along(op: OpBuilder, data: SSAValue, axes: Sequence[int]) -> SSAValue:
    """Data reversed along axes."""
    return op.Slice(data, [-1] * len(axes), [FIRST] * len(axes), [-1] * len(axes), list(axes)) if axes else data


@tf.lowers("ReverseSequence", complex=by_parts(0))
def reverse_sequence(op: OpBuilder, input: SSAValue, seq_lengths: SSAValue, *, batch_dim: int = 0, seq_dim: int) -> SSAValue:
    """tf.ReverseSequence(x, lengths) {seq_dim, batch_dim = 0}
    -> opset1.ReverseSequence(x, lengths) {batch_axis, seq_axis}
    """
    return op.ReverseSequence(input, seq_lengths, batch_axis=batch_dim, seq_axis=seq_dim)


@tf.lowers("Roll", complex=PAIRS)
def roll(node: LoweringNode, op: OpBuilder, input: SSAValue, shift: SSAValue, axis_: SSAValue) -> SSAValue:
    """tf.Roll(x, shift, axes) -> opset7.Roll(x, shift, axes)"""
    axes, known = axis_, op.known.integers(axis_)
    if is_complex(node):
        if known is None:
            node.fail("the axes along which complex numbers are shifted are computed when the model runs", hint="make them constants")
        axes = op.constant(np.array([real_axis(node, axis) for axis in known]).reshape(shape_of(axes) or ()))
    return op.Roll(input, shift, axes)
