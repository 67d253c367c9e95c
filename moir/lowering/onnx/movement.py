"""Concatenation, splitting, transposition, reversal, selection of slices."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import normalize_axis, rank_of, shape_of, size_along
from moir.expansions.shape_values import dimension_list, rank_value
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.operands import of_length
from moir.lowering.onnx.ranks import as_neighbour, permuted
from moir.lowering.onnx.strings.movement import moves_strings
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder, Operand


@onnx.lowers("Concat", rank=as_neighbour)
def concat_channels(op: OpBuilder, first: SSAValue, *others: SSAValue, axis: int = 1) -> SSAValue:
    """onnx.Concat(a, b) {axis = 1} -> opset1.Concat(a, b) {axis}; of one operand -> that operand"""
    return op.Concat(first, *others, axis=axis) if others else first


@onnx.lowers("Concat", since=4)
def concat(op: OpBuilder, first: SSAValue, *others: SSAValue, axis: int) -> SSAValue:
    """onnx.Concat(a, b) {axis} -> opset1.Concat(a, b) {axis}; of one operand -> that operand"""
    return op.Concat(first, *others, axis=axis) if others else first


# Splitting


@onnx.lowers("Split")
@moves_strings(0)
def split_attribute(node: LoweringNode, op: OpBuilder, _input: SSAValue, split: SSAValue | None = None) -> Sequence[SSAValue]:
    """onnx.Split(x) {axis, split} -> opset1.VariadicSplit(x, axis, split), or opset1.Split for equal parts"""
    lengths: Operand = node.integers("split") if node.has("split") else split
    return split_parts(node, op, lengths, node.result_count)


@onnx.lowers("Split", since=13)
@moves_strings(0)
def split(node: LoweringNode, op: OpBuilder, input: SSAValue, split: SSAValue | None = None, *, axis: int = 0) -> Sequence[SSAValue]:
    """onnx.Split(x, split) {axis} -> opset1.VariadicSplit(x, axis, split), or opset1.Split for equal parts"""
    lengths: Operand = op.known.integers(split)
    if lengths is None and (lengths_attribute := split) is not None:
        lengths = of_length(op, lengths_attribute, node.result_count)
    count = node.integer("num_outputs", node.result_count)
    shape = shape_of(input)
    if lengths is None and node.has("num_outputs") and count > 1 and (shape is None or size_along(shape, axis) < 0):
        lengths = _uneven_lengths(op, dimension_list(op, input, axis), count)
    return split_parts(node, op, lengths, count)


def _uneven_lengths(op: OpBuilder, size: SSAValue, count: int) -> SSAValue:
    """The lengths of `count` parts of an axis of computed size: equal lengths, except for the last parts, which may be
    shorter or empty.
    """
    part = op.Divide(op.Add(size, count - 1), count)
    rest = op.Subtract(size, op.Multiply(part, op.constant(list(range(count)))))
    return op.Maximum(op.Minimum(part, rest), 0)


def split_parts(node: LoweringNode, op: OpBuilder, lengths: Operand, count: int) -> Sequence[SSAValue]:
    """Split operand 0 along the attribute `axis` into `count` parts of the given lengths.

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


@onnx.lowers("Transpose", rank=permuted)
def transpose(node: LoweringNode, op: OpBuilder, data: SSAValue) -> SSAValue:
    """onnx.Transpose(x) {perm} -> opset1.Transpose(x, perm); x itself for the identity permutation"""
    rank = rank_of(data)
    if rank is None and not node.has("perm"):
        last = op.Subtract(op.Squeeze(rank_value(op, data), [0]), 1)
        return op.Transpose(data, op.Range(last, -1, -1, output_type=si64))
    order = node.integers("perm", range(rank or 0)[::-1])
    if rank is not None and order == tuple(range(rank)):
        return data
    return op.Transpose(data, order)


@onnx.lowers("ReverseSequence")
@moves_strings(0)
def reverse_sequence(op: OpBuilder, input: SSAValue, sequence_lens: SSAValue, *, batch_axis: int = 1, time_axis: int = 0) -> SSAValue:
    """onnx.ReverseSequence(x, lengths) {batch_axis = 1, time_axis = 0}
    -> opset1.ReverseSequence(x, lengths) {batch_axis, seq_axis}
    """
    return op.ReverseSequence(input, sequence_lens, batch_axis=batch_axis, seq_axis=time_axis)


# Cutting


@onnx.lowers("Compress")
def compress(node: LoweringNode, op: OpBuilder, input: SSAValue, condition: SSAValue) -> SSAValue:
    """onnx.Compress(x, condition) {axis} -> opset8.Gather(x, opset1.Squeeze(opset3.NonZero(condition), 0), axis)"""
    selected = op.Squeeze(op.NonZero(condition), [0])
    if node.has("axis"):
        return op.Gather(input, selected, node.integer("axis"))
    return op.Gather(input if rank_of(input) == 1 else op.Reshape(input, [-1], special_zero=False), selected, 0)


# Padding
