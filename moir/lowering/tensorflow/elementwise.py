"""Elementwise functions of one operand.

    %y = tf.Log1p(%x)
->  %0 = opset1.Add(%x, 1.0)
    %y = opset1.Log(%0)
"""

from __future__ import annotations

from functools import partial

from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES
from moir.dialects.shapes import element_of
from moir.expansions.gamma import in_single
from moir.expansions.normal_quantile import inverse_error_function, quantile
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

_SAME_MEANING = {
    "Abs": "Abs",
    "Acos": "Acos",
    "Acosh": "Acosh",
    "Asin": "Asin",
    "Asinh": "Asinh",
    "Atan": "Atan",
    "Atanh": "Atanh",
    "Ceil": "Ceiling",
    "Cos": "Cos",
    "Cosh": "Cosh",
    "Erf": "Erf",
    "Floor": "Floor",
    "Invert": "BitwiseNot",
    "Log": "Log",
    "Neg": "Negative",
    "Sign": "Sign",
    "Sin": "Sin",
    "Sinh": "Sinh",
    "Sqrt": "Sqrt",
    "Tan": "Tan",
    "Tanh": "Tanh",
}


@tf.lowers(*_SAME_MEANING)
def renamed(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.Ceil(x) -> opset1.Ceiling(x)"""
    return getattr(op, _SAME_MEANING[node.op.KIND])(x)


@tf.lowers("Round", "Rint")
def rounded(op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.Round(x) -> opset5.Round(x) {mode = "half_to_even"}; x itself for integers"""
    return x if element_of(x) in INTEGER_TYPES else op.Round(x, mode="half_to_even")


@tf.lowers("Square")
def square(op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.Square(x) -> opset1.Multiply(x, x)"""
    return op.Multiply(x, x)


@tf.lowers("Rsqrt")
def reciprocal_root(op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.Rsqrt(x) -> opset1.Power(x, -0.5)"""
    return op.Power(x, -0.5)


@tf.lowers("Inv", "Reciprocal")
def reciprocal(op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.Reciprocal(x) -> opset1.Divide(1, x)"""
    return op.Divide(1, x)


@tf.lowers("Expm1")
def exponential_less_one(op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.Expm1(x) -> opset1.Subtract(opset1.Exp(x), 1)"""
    return op.Subtract(op.Exp(x), 1)


@tf.lowers("Log1p")
def logarithm_of_one_more(op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.Log1p(x) -> opset1.Log(opset1.Add(x, 1))"""
    return op.Log(op.Add(x, 1))


@tf.lowers("Erfc")
def complementary_error(op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.Erfc(x) -> opset1.Subtract(1, opset1.Erf(x))"""
    return op.Subtract(1, op.Erf(x))


@tf.lowers("Ndtri")
def normal_quantile(op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.Ndtri(p) -> the rational approximations of the quantile around 1/2 and in the tails"""
    return in_single(op, partial(quantile, op), x)


@tf.lowers("Erfinv")
def inverse_error(op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.Erfinv(x) -> the normal quantile of (x + 1) / 2, times Sqrt(1/2)"""
    return in_single(op, partial(inverse_error_function, op), x)
