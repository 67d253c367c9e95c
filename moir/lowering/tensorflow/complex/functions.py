"""Arithmetic and functions of complex numbers, by formulas on their parts.

    %y = tf.Log(%x) {T = complex<f32>}
->  %y = (Log of the magnitude, the angle)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.expansions.angles import angle_of
from moir.lowering.binder import LoweringNode
from moir.lowering.complex_parts import paired
from moir.rewriting.builder import OpBuilder


class Number(NamedTuple):
    """A tensor of complex numbers, as its real and imaginary parts."""

    real: SSAValue
    imaginary: SSAValue


Unary = Callable[[OpBuilder, Number], Number]
Binary = Callable[[OpBuilder, Number, Number], Number]
Product = Callable[[SSAValue, SSAValue], SSAValue]


def parts(op: OpBuilder, value: SSAValue) -> Number:
    """The parts of complex numbers."""
    return Number(op.Gather(value, 0, -1), op.Gather(value, 1, -1))


# Arithmetic


def plus(op: OpBuilder, a: Number, b: Number) -> Number:
    """a + b"""
    return Number(op.Add(a.real, b.real), op.Add(a.imaginary, b.imaginary))


def minus(op: OpBuilder, a: Number, b: Number) -> Number:
    """a - b"""
    return Number(op.Subtract(a.real, b.real), op.Subtract(a.imaginary, b.imaginary))


def times(op: OpBuilder, a: Number, b: Number) -> Number:
    """a · b"""
    return bilinear(op, op.Multiply, a, b)


def bilinear(op: OpBuilder, multiply: Product, a: Number, b: Number) -> Number:
    """The product of a and b, for a function that multiplies real tensors in some way."""
    real = op.Subtract(multiply(a.real, b.real), multiply(a.imaginary, b.imaginary))
    return Number(real, op.Add(multiply(a.real, b.imaginary), multiply(a.imaginary, b.real)))


def scaled(op: OpBuilder, a: Number, factor: float | SSAValue) -> Number:
    """a times a real number."""
    return Number(op.Multiply(a.real, factor), op.Multiply(a.imaginary, factor))


def shifted(op: OpBuilder, a: Number, summand: float) -> Number:
    """a plus a real number."""
    return Number(op.Add(a.real, summand), a.imaginary)


def conjugate(op: OpBuilder, a: Number) -> Number:
    """The conjugate of a."""
    return Number(a.real, op.Negative(a.imaginary))


def turned(op: OpBuilder, a: Number) -> Number:
    """i · a"""
    return Number(op.Negative(a.imaginary), a.real)


def turned_back(op: OpBuilder, a: Number) -> Number:
    """-i · a"""
    return Number(a.imaginary, op.Negative(a.real))


def magnitude(op: OpBuilder, a: Number) -> SSAValue:
    """|a|, computed without overflow of the squares."""
    x, y = op.Abs(a.real), op.Abs(a.imaginary)
    large, small = op.Maximum(x, y), op.Minimum(x, y)
    ratio = op.Divide(small, op.Select(op.Equal(large, 0.0), 1.0, large))
    return op.Multiply(large, op.Sqrt(op.Add(op.Multiply(ratio, ratio), 1.0)))


def over(op: OpBuilder, a: Number, b: Number) -> Number:
    """a / b, where b is scaled first so that its square neither overflows nor underflows."""
    scale = op.Maximum(op.Abs(b.real), op.Abs(b.imaginary))
    b = Number(op.Divide(b.real, scale), op.Divide(b.imaginary, scale))
    norm = op.Add(op.Multiply(b.real, b.real), op.Multiply(b.imaginary, b.imaginary))
    quotient = times(op, a, conjugate(op, b))
    divisor = op.Multiply(norm, scale)
    return Number(op.Divide(quotient.real, divisor), op.Divide(quotient.imaginary, divisor))


def reciprocal(op: OpBuilder, a: Number) -> Number:
    """1 / a"""
    one = op.constant_like(1, a.real)
    return over(op, Number(one, op.constant_like(0, a.real)), a)


def is_zero(op: OpBuilder, a: Number) -> SSAValue:
    """Whether both parts are 0."""
    return op.LogicalAnd(op.Equal(a.real, 0.0), op.Equal(a.imaginary, 0.0))


def zero_where(op: OpBuilder, condition: SSAValue, a: Number) -> Number:
    """a, or 0 where a condition holds."""
    return Number(op.Select(condition, 0.0, a.real), op.Select(condition, 0.0, a.imaginary))


# Functions


def exponential(op: OpBuilder, a: Number) -> Number:
    """exp(a)"""
    return scaled(op, Number(op.Cos(a.imaginary), op.Sin(a.imaginary)), op.Exp(a.real))


def logarithm(op: OpBuilder, a: Number) -> Number:
    """The principal value of ln(a)."""
    return Number(op.Log(magnitude(op, a)), angle_of(op, a.imaginary, a.real))


def root(op: OpBuilder, a: Number) -> Number:
    """The square root of a with a non-negative real part."""
    size = magnitude(op, a)
    # The larger part is computed from a sum; the other one follows from the product of both parts, which is b / 2.
    larger = op.Sqrt(op.Multiply(op.Add(size, op.Abs(a.real)), 0.5))
    other = op.Divide(op.Multiply(op.Abs(a.imaginary), 0.5), op.Select(op.Equal(larger, 0.0), 1.0, larger))
    is_right = op.GreaterEqual(a.real, 0.0)
    imaginary = op.Select(is_right, other, larger)
    return Number(op.Select(is_right, larger, other), op.Select(op.Less(a.imaginary, 0.0), op.Negative(imaginary), imaginary))


def power(op: OpBuilder, a: Number, b: Number) -> Number:
    """exp(b · ln(a)); 0 to the power of 0 is 1, 0 to another power is 0."""
    found = zero_where(op, is_zero(op, a), exponential(op, times(op, b, logarithm(op, a))))
    return Number(op.Select(is_zero(op, b), 1.0, found.real), op.Select(is_zero(op, b), 0.0, found.imaginary))


def hyperbolic_sine(op: OpBuilder, a: Number) -> Number:
    """sinh(a)"""
    return Number(op.Multiply(op.Sinh(a.real), op.Cos(a.imaginary)), op.Multiply(op.Cosh(a.real), op.Sin(a.imaginary)))


def hyperbolic_cosine(op: OpBuilder, a: Number) -> Number:
    """cosh(a)"""
    return Number(op.Multiply(op.Cosh(a.real), op.Cos(a.imaginary)), op.Multiply(op.Sinh(a.real), op.Sin(a.imaginary)))


def hyperbolic_tangent(op: OpBuilder, a: Number) -> Number:
    """tanh(a) = (tanh x + i tan y) / (1 + i tanh x tan y), with both tangents multiplied by cos y."""
    x, sine, cosine = op.Tanh(a.real), op.Sin(a.imaginary), op.Cos(a.imaginary)
    return over(op, Number(op.Multiply(x, cosine), sine), Number(cosine, op.Multiply(x, sine)))


def sigmoid(op: OpBuilder, a: Number) -> Number:
    """1 / (1 + exp(-a)) = (1 + tanh(a / 2)) / 2"""
    return scaled(op, shifted(op, hyperbolic_tangent(op, scaled(op, a, 0.5)), 1.0), 0.5)


def inverse_hyperbolic_sine(op: OpBuilder, a: Number) -> Number:
    """ln(a + sqrt(a² + 1)), computed for a or -a, whichever has a positive real part, so that the sum does not
    cancel.
    """
    sign = op.Select(op.Less(a.real, 0.0), op.constant_like(-1, a.real), op.constant_like(1, a.real))
    a = scaled(op, a, sign)
    found = logarithm(op, plus(op, a, root(op, shifted(op, times(op, a, a), 1.0))))
    return scaled(op, found, sign)


def inverse_hyperbolic_cosine(op: OpBuilder, a: Number) -> Number:
    """ln(a + sqrt(a + 1) sqrt(a - 1))"""
    return logarithm(op, plus(op, a, times(op, root(op, shifted(op, a, 1.0)), root(op, shifted(op, a, -1.0)))))


def inverse_hyperbolic_tangent(op: OpBuilder, a: Number) -> Number:
    """(ln(1 + a) - ln(1 - a)) / 2"""
    negative = Number(op.Negative(a.real), op.Negative(a.imaginary))
    difference = minus(op, logarithm(op, shifted(op, a, 1.0)), logarithm(op, shifted(op, negative, 1.0)))
    return scaled(op, difference, 0.5)


def inverse_sine(op: OpBuilder, a: Number) -> Number:
    """-i asinh(i a)"""
    return turned_back(op, inverse_hyperbolic_sine(op, turned(op, a)))


def inverse_cosine(op: OpBuilder, a: Number) -> Number:
    """π / 2 - asin(a)"""
    found = inverse_sine(op, a)
    return Number(op.Subtract(math.pi / 2, found.real), op.Negative(found.imaginary))


def direction(op: OpBuilder, a: Number) -> Number:
    """a / |a|; 0 for 0"""
    size = magnitude(op, a)
    size = op.Select(op.Equal(size, 0.0), 1.0, size)
    return Number(op.Divide(a.real, size), op.Divide(a.imaginary, size))


def squared_difference(op: OpBuilder, a: Number, b: Number) -> Number:
    """(a - b) · conjugate(a - b)"""
    difference = minus(op, a, b)
    return times(op, difference, conjugate(op, difference))


UNARY: Mapping[str, Unary] = {
    "Acos": inverse_cosine,
    "Acosh": inverse_hyperbolic_cosine,
    "Asin": inverse_sine,
    "Asinh": inverse_hyperbolic_sine,
    "Atan": lambda op, a: turned_back(op, inverse_hyperbolic_tangent(op, turned(op, a))),
    "Atanh": inverse_hyperbolic_tangent,
    "Cos": lambda op, a: hyperbolic_cosine(op, turned(op, a)),
    "Cosh": hyperbolic_cosine,
    "Expm1": lambda op, a: shifted(op, exponential(op, a), -1.0),
    "Inv": reciprocal,
    "Log": logarithm,
    "Log1p": lambda op, a: logarithm(op, shifted(op, a, 1.0)),
    "OnesLike": lambda op, a: Number(op.Add(op.Multiply(a.real, 0.0), 1.0), op.Multiply(a.real, 0.0)),
    "Reciprocal": reciprocal,
    "Rsqrt": lambda op, a: reciprocal(op, root(op, a)),
    "Sigmoid": sigmoid,
    "Sign": direction,
    "Sin": lambda op, a: turned_back(op, hyperbolic_sine(op, turned(op, a))),
    "Sinh": hyperbolic_sine,
    "Sqrt": root,
    "Square": lambda op, a: times(op, a, a),
    "Tan": lambda op, a: turned_back(op, hyperbolic_tangent(op, turned(op, a))),
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
