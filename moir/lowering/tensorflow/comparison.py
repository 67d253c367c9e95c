"""Comparisons, predicates, logic, and Select.

    %y = tf.SelectV2(%condition, %a, %b)
->  %y = opset1.Select(%condition, %a, %b)
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, string
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.functions import operation
from moir.expansions.shape_values import rank_value
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_formula, by_parts
from moir.lowering.ranks import as_result
from moir.lowering.tensorflow.ranks import broadcast
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


def has_strings(node: LoweringNode) -> bool:
    """Whether an operand is known to have the element type string."""
    return string in (node.op.properties.get("T"), *(node.element(index) for index in range(len(node.op.operands))))


def refuse_strings(node: LoweringNode) -> None:
    """Raises ConversionError if an operand is known to have the element type string."""
    if has_strings(node):
        node.fail("the operation sets do not compare strings", hint="cut the model after this node, where the values are numbers")


@tf.lowers("Greater", "GreaterEqual", "Less", "LessEqual", "LogicalAnd", "LogicalOr", rank=broadcast)
@tf.lowers("Equal", rank=broadcast, complex=by_formula("tensorflow.complex.comparison:equality", is_real=True))
@tf.lowers("NotEqual", rank=broadcast, complex=by_formula("tensorflow.complex.comparison:inequality", is_real=True))
def binary(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """tf.Less(a, b) -> opset1.Less(a, b); likewise the other comparisons, and LogicalAnd and LogicalOr

    Strings are compared for equality byte by byte; for other comparisons of strings ConversionError is raised.
    """
    if node.op.KIND in ("Equal", "NotEqual") and has_strings(node):
        from moir.expansions.strings.comparison import equal_strings

        equal = equal_strings(op, x, y)
        return equal if node.op.KIND == "Equal" else op.LogicalNot(equal)
    refuse_strings(node)
    return operation(op, node.op.KIND)(x, y)


@tf.lowers("IsFinite", "IsInf", "IsNan", "LogicalNot", rank=as_result)
def unary(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.IsNan(x) -> opset10.IsNaN(x); likewise IsFinite, IsInf and LogicalNot"""
    return operation(op, node.op.KIND)(x)


@tf.lowers("ApproximateEqual")
def approximately_equal(op: OpBuilder, x: SSAValue, y: SSAValue, *, tolerance: float = 1e-5) -> SSAValue:
    """tf.ApproximateEqual(a, b) {tolerance} -> opset1.Less(opset1.Abs(opset1.Subtract(a, b)), tolerance)"""
    return op.Less(op.Abs(op.Subtract(x, y)), tolerance)


# Selection


@tf.lowers("ToBool")
def truth(node: LoweringNode, op: OpBuilder, input: SSAValue) -> SSAValue:
    """tf.ToBool(input) -> opset1.NotEqual(x, 0), where x is a number itself, the length of a string, or the size of a
    tensor
    """
    if node.known_rank(0):
        return op.NotEqual(op.ReduceProd(op.ShapeOf(input), [0], keep_dims=False), 0)
    if element_of(input) == string:
        begins, ends, _ = op.StringTensorUnpack.results(input)
        return op.NotEqual(begins, ends)
    return input if element_of(input) == boolean else op.NotEqual(input, 0)


@tf.lowers("SelectV2", complex=by_parts(1, 2))
def select(node: LoweringNode, op: OpBuilder, condition: SSAValue, t: SSAValue, e: SSAValue) -> SSAValue:
    """tf.SelectV2(condition, a, b) -> opset1.Select(condition, a, b); for strings, Selects of their begins and ends"""
    return _selected(node, op, condition, t, e)


@tf.lowers("Select", complex=by_parts(1, 2))
def select_rows(node: LoweringNode, op: OpBuilder, condition: SSAValue, t: SSAValue, e: SSAValue) -> SSAValue:
    """tf.Select(condition, t, e) -> opset1.Select(condition, t, e); for strings, Selects of their begins and ends

    A 1-D condition selects whole rows: dimensions of 1 are appended to it.
    """
    return _selected(node, op, _before_rows(op, condition, t if rank_of(t) is not None else e), t, e)


def _selected(node: LoweringNode, op: OpBuilder, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
    if has_strings(node):
        from moir.expansions.strings.comparison import selected_strings

        return selected_strings(op, condition, a, b)
    return op.Select(condition, a, b)


def _before_rows(op: OpBuilder, condition: SSAValue, data: SSAValue) -> SSAValue:
    """A 1-D condition with dimensions of 1 appended, so that it selects along the first dimension of the data."""
    own, rank = rank_of(condition), rank_of(data)
    if own == 0 or (own is not None and own == rank) or (own is not None and own > 1):
        return condition
    if rank is not None and rank <= 1:
        return condition
    if own is not None and rank is not None:
        return op.Unsqueeze(condition, list(range(own, rank)))
    missing = op.Subtract(rank_value(op, data), rank_value(op, condition))
    shape = op.Concat(op.ShapeOf(condition), op.Broadcast(op.constant([1]), missing), axis=0)
    return op.Reshape(condition, shape, special_zero=False)
