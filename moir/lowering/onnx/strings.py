"""Strings by their bytes: concatenation and comparison."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.lowering.texts import Texts, concatenated, flat, matrix, together, unpacked
from moir.rewriting.builder import OpBuilder


def broadcast_pair(node: LoweringNode, op: OpBuilder) -> tuple[Texts, Texts, SSAValue]:
    """The strings of operands 0 and 1 as flat lists in one list of bytes, and the shape to which both are broadcast."""
    both = together(op, [unpacked(op, node.operand(index)) for index in (0, 1)])
    shape = op.ShapeOf(op.Add(both[0].begins, both[1].begins))
    first, second = (
        Texts(flat(op, op.Broadcast(texts.begins, shape)), flat(op, op.Broadcast(texts.ends, shape)), texts.symbols) for texts in both
    )
    return first, second, shape


@onnx.lowers("StringConcat")
def concatenation(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.StringConcat(a, b) -> opset15.StringTensorPack of the bytes of each a and b"""
    first, second, shape = broadcast_pair(node, op)
    begins, ends = (op.Concat(*(op.Unsqueeze(each, [-1]) for each in pair), axis=-1) for pair in zip(first[:2], second[:2], strict=True))
    return concatenated(op, Texts(begins, ends, first.symbols), shape)


def equal_strings(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """Whether strings have the same bytes, as a boolean of the broadcast shape."""
    first, second, shape = broadcast_pair(node, op)
    begins, ends = (op.Concat(*pair, axis=0) for pair in zip(first[:2], second[:2], strict=True))
    rows, lengths = matrix(op, Texts(begins, ends, first.symbols))
    a, b = op.Split.results(rows, 0, num_splits=2)
    size, other = op.Split.results(lengths, 0, num_splits=2)
    equal = op.LogicalAnd(op.ReduceLogicalAnd(op.Equal(a, b), [1], keep_dims=False), op.Equal(size, other))
    return op.Reshape(equal, shape, special_zero=False)
