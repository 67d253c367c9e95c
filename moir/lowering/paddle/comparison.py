"""Comparisons, logic and selection.

Source: compare_op.cc, logical_op.cc, bitwise_op.cc and where_op.cc of PaddlePaddle 3.3.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean
from moir.dialects.shapes import element_of
from moir.expansions.constant_forms import as_type
from moir.lowering.binder import LoweringNode
from moir.lowering.paddle.arithmetic import aligned
from moir.lowering.paddle.table import paddle
from moir.rewriting.builder import OpBuilder

_COMPARISONS = {
    "equal": "Equal",
    "not_equal": "NotEqual",
    "less_than": "Less",
    "less_equal": "LessEqual",
    "greater_than": "Greater",
    "greater_equal": "GreaterEqual",
}
_LOGIC = {"logical_and": "LogicalAnd", "logical_or": "LogicalOr", "logical_xor": "LogicalXor"}


@paddle.lowers(*_COMPARISONS)
def comparison(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue, *, axis: int = -1) -> SSAValue:
    """paddle.less_than(x, y) -> opset1.Less(x, y), and so on"""
    return getattr(op, _COMPARISONS[node.op.KIND])(x, aligned(node, op, x, y, axis))


@paddle.lowers(*_LOGIC)
def logic(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """paddle.logical_and(x, y) -> opset1.LogicalAnd(x, y), and so on; numbers are true if they are not 0"""
    x, y = (each if element_of(each) == boolean else op.NotEqual(each, 0) for each in (x, y))
    return getattr(op, _LOGIC[node.op.KIND])(x, y)


@paddle.lowers("equal_all")
def equal_all(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """paddle.equal_all(x, y) -> whether all elements are equal"""
    return op.ReduceLogicalAnd(op.Equal(x, y), list(range(node.known_rank(0))), keep_dims=False)


@paddle.lowers("where")
def where(op: OpBuilder, condition: SSAValue, x: SSAValue, y: SSAValue) -> SSAValue:
    """paddle.where(condition, x, y) -> opset1.Select(condition, x, y)"""
    return op.Select(condition if element_of(condition) == boolean else op.NotEqual(condition, 0), x, y)


@paddle.lowers("masked_fill")
def masked_fill(op: OpBuilder, x: SSAValue, mask: SSAValue, value: SSAValue) -> SSAValue:
    """paddle.masked_fill(x, mask, value) -> opset1.Select(mask, value, x)"""
    return op.Select(mask, as_type(op, value, element_of(x)), x)
