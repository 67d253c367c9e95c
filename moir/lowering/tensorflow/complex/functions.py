"""Kinds of TensorFlow whose results for complex numbers are formulas on their parts.

    %y = tf.Log(%x) {T = complex<f32>}
->  %y = (Log of the magnitude, the angle)
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.expansions.complex_numbers import (
    FUNCTIONS,
    Binary,
    Number,
    Unary,
    is_zero,
    logarithm,
    over,
    paired,
    parts,
    power,
    shifted,
    squared_difference,
    times,
    zero_where,
)
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder

_BY_NAME = (
    *("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh", "Expm1", "Inv", "Log", "Log1p", "Reciprocal", "Rsqrt"),
    *("Sigmoid", "Sign", "Sin", "Sinh", "Sqrt", "Square", "Tan", "Tanh"),
)
UNARY: Mapping[str, Unary] = {
    **{kind: FUNCTIONS[kind.lower()] for kind in _BY_NAME},
    "OnesLike": lambda op, a: Number(op.Add(op.Multiply(a.real, 0.0), 1.0), op.Multiply(a.real, 0.0)),
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
