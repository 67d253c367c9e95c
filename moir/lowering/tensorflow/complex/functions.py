"""Kinds of TensorFlow whose results for complex numbers are formulas on their parts.

    %y = tf.Log(%x) {T = complex<f32>}
->  %y = (Log of the magnitude, the angle)
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.expansions.complex_numbers import (
    Binary,
    Number,
    Unary,
    cosine,
    direction,
    exponential_less_one,
    hyperbolic_cosine,
    hyperbolic_sine,
    hyperbolic_tangent,
    inverse_cosine,
    inverse_hyperbolic_cosine,
    inverse_hyperbolic_sine,
    inverse_hyperbolic_tangent,
    inverse_sine,
    is_zero,
    logarithm,
    logarithm_of_sum,
    over,
    paired,
    parts,
    power,
    reciprocal,
    reciprocal_root,
    root,
    shifted,
    sigmoid,
    sine,
    squared_difference,
    tangent,
    times,
    turned,
    turned_back,
    zero_where,
)
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder

UNARY: Mapping[str, Unary] = {
    "Acos": inverse_cosine,
    "Acosh": inverse_hyperbolic_cosine,
    "Asin": inverse_sine,
    "Asinh": inverse_hyperbolic_sine,
    "Atan": lambda op, a: turned_back(op, inverse_hyperbolic_tangent(op, turned(op, a))),
    "Atanh": inverse_hyperbolic_tangent,
    "Cos": cosine,
    "Cosh": hyperbolic_cosine,
    "Expm1": exponential_less_one,
    "Inv": reciprocal,
    "Log": logarithm,
    "Log1p": logarithm_of_sum,
    "OnesLike": lambda op, a: Number(op.Add(op.Multiply(a.real, 0.0), 1.0), op.Multiply(a.real, 0.0)),
    "Reciprocal": reciprocal,
    "Rsqrt": reciprocal_root,
    "Sigmoid": sigmoid,
    "Sign": direction,
    "Sin": sine,
    "Sinh": hyperbolic_sine,
    "Sqrt": root,
    "Square": lambda op, a: times(op, a, a),
    "Tan": tangent,
    "Tanh": hyperbolic_tangent,
}

BINARY: Mapping[str, Binary] = {
    "Div": over,
    "DivNoNan": lambda op, a, b: zero_where(op, is_zero(op, b), over(op, a, b)),
    "MulNoNan": lambda op, a, b: zero_where(op, is_zero(op, b), times(op, a, b)),
    "Pow": power,
    "RealDiv": over,
    "SquaredDifference": squared_difference,
    "Xdivy": lambda op, a, b: zero_where(op, is_zero(op, a), over(op, a, b)),
    "Xlog1py": lambda op, a, b: zero_where(op, is_zero(op, a), times(op, a, logarithm(op, shifted(op, b, 1.0)))),
    "Xlogy": lambda op, a, b: zero_where(op, is_zero(op, a), times(op, a, logarithm(op, b))),
}


def unary(compute: Unary, node: LoweringNode, op: OpBuilder) -> SSAValue:
    """Apply a function of complex numbers to operand 0."""
    return paired(op, *compute(op, parts(op, node.operand(0))))


def binary(compute: Binary, node: LoweringNode, op: OpBuilder) -> SSAValue:
    """Apply a function of complex numbers to operands 0 and 1."""
    return paired(op, *compute(op, parts(op, node.operand(0)), parts(op, node.operand(1))))


def equality(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """Whether both parts are equal; for tf.NotEqual, whether one of them differs."""
    same = op.ReduceLogicalAnd(op.Equal(node.operand(0), node.operand(1)), [-1], keep_dims=False)
    return same if node.op.KIND == "Equal" else op.LogicalNot(same)


def coordinates(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.Where(x) -> the coordinates of the complex numbers other than 0"""
    differs = op.LogicalNot(is_zero(op, parts(op, node.operand(0))))
    return op.Transpose(op.NonZero(differs, output_type=si64), [1, 0])
