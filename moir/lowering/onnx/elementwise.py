"""Elementwise functions of one operand."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES, f32
from moir.dialects.shapes import element_of
from moir.expansions.functions import operation
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.lowering.ranks import as_result
from moir.rewriting.builder import OpBuilder

_UNARY = "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Exp Floor Log Neg Round Sign Sin Sinh Sqrt Tan Tanh"


@onnx.lowers(*_UNARY.split(), rank=as_result)
def unary(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """onnx.Ceil(x) -> opset1.Ceiling(x); likewise Abs, Floor, Neg, Round, Sign, Sqrt, Exp, Log and the (inverse)
    trigonometric and hyperbolic functions
    """
    return operation(op, node.op.KIND)(x)


@onnx.lowers("Erf", rank=as_result)
def error_function(op: OpBuilder, input: SSAValue) -> SSAValue:
    """onnx.Erf(input) -> opset1.Erf(input); for integers in f32, then rounded towards zero"""
    element = element_of(input)
    return op.convert(op.Erf(op.convert(input, f32)), element) if element in INTEGER_TYPES else op.Erf(input)


@onnx.lowers("Reciprocal", rank=as_result)
def reciprocal(op: OpBuilder, x: SSAValue) -> SSAValue:
    """onnx.Reciprocal(x) -> 1 / x"""
    return op.Divide(1.0, x)
