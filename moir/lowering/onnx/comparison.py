"""Comparisons, logic, and Select.

    %y = onnx.GreaterOrEqual(%a, %b)
->  %y = opset1.GreaterEqual(%a, %b)
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, string
from moir.dialects.shapes import element_of
from moir.expansions.functions import operation
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.operands import aligned
from moir.lowering.onnx.strings.movement import moves_strings
from moir.lowering.onnx.table import onnx
from moir.lowering.ranks import as_result, broadcast
from moir.rewriting.builder import OpBuilder


@onnx.lowers("And", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Or", "Xor", rank=broadcast)
def binary(node: LoweringNode, op: OpBuilder, a: SSAValue, b: SSAValue, *, axis: int | None = None, broadcast: bool = False) -> SSAValue:
    """onnx.Less(a, b) -> opset1.Less(a, b); likewise Equal, Greater, GreaterOrEqual, LessOrEqual, And, Or and Xor"""
    b = aligned(node, op, b, axis, broadcast)
    if string in (element_of(a), element_of(b)):
        if node.op.KIND == "Equal":
            from moir.expansions.strings.comparison import equal_strings

            return equal_strings(op, a, b)
        node.fail("strings are compared for equality only", hint="cut the model after this node")
    return operation(op, node.op.KIND)(a, b)


@onnx.lowers("Not", rank=as_result)
def negation(op: OpBuilder, x: SSAValue) -> SSAValue:
    """onnx.Not(x) -> opset1.LogicalNot(x)"""
    return op.LogicalNot(x)


@onnx.lowers("IsNaN")
def is_nan(op: OpBuilder, x: SSAValue) -> SSAValue:
    """onnx.IsNaN(x) -> opset10.IsNaN(x)"""
    return op.IsNaN(x)


@onnx.lowers("IsInf")
def is_infinite(op: OpBuilder, x: SSAValue, *, detect_negative: bool = True, detect_positive: bool = True) -> SSAValue:
    """onnx.IsInf(x) {detect_negative, detect_positive} -> opset10.IsInf(x) {detect_negative, detect_positive}"""
    if not detect_negative and not detect_positive:
        # With both attributes false no element is infinite, but the operation reports all infinities on some devices.
        return op.LogicalAnd(op.IsNaN(x), op.constant(False, boolean))
    return op.IsInf(x, detect_negative=detect_negative, detect_positive=detect_positive)


@onnx.lowers("Where", rank=broadcast)
@moves_strings(1, 2)
def where(op: OpBuilder, condition: SSAValue, x: SSAValue, y: SSAValue) -> SSAValue:
    """onnx.Where(condition, x, y) -> opset1.Select(condition, x, y)"""
    return op.Select(condition, x, y)
