"""Complex numbers by formulas on their real and imaginary parts: arithmetic, functions, and angles of points.

log(z) = (log of the magnitude, the angle)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import REAL_TYPES, f16
from moir.dialects.shapes import element_of
from moir.rewriting.builder import OpBuilder


class Number(NamedTuple):
    """A tensor of complex numbers, as its real and imaginary parts."""

    real: SSAValue
    imaginary: SSAValue


Unary = Callable[[OpBuilder, Number], Number]
Binary = Callable[[OpBuilder, Number, Number], Number]
Product = Callable[[SSAValue, SSAValue], SSAValue]


def parts(op: OpBuilder, value: SSAValue) -> Number:
    """The real and the imaginary parts of complex numbers given as [..., 2]."""
    return Number(part(op, value, 0), part(op, value, 1))


def part(op: OpBuilder, value: SSAValue, index: int) -> SSAValue:
    """The real parts, for index 0, or the imaginary parts, for index 1, of complex numbers given as [..., 2]."""
    return op.Gather(value, index, -1)


def conjugated(op: OpBuilder, value: SSAValue) -> SSAValue:
    """The conjugates of complex numbers given as [..., 2]."""
    return op.Multiply(value, op.constant_like(np.array([1, -1]), value))


def block_matrix(op: OpBuilder, a: Number) -> SSAValue:
    """The real matrix [[real, -imaginary], [imaginary, real]], whose products correspond to those of the complex
    matrix.
    """
    top = op.Concat(a.real, op.Negative(a.imaginary), axis=-1)
    return op.Concat(top, op.Concat(a.imaginary, a.real, axis=-1), axis=-2)


def paired(op: OpBuilder, real: SSAValue, imaginary: SSAValue) -> SSAValue:
    """Complex numbers as [..., 2], from two real tensors of equal shape, their real and imaginary parts."""
    return op.Concat(op.Unsqueeze(real, [-1]), op.Unsqueeze(imaginary, [-1]), axis=-1)


# Angles


def angle_of(op: OpBuilder, y: SSAValue, x: SSAValue) -> SSAValue:
    """The angle atan2(y, x) of the point (x, y) from the x axis; a y of -0 counts as negative, as in C."""
    tiny = float(np.finfo(np.float16 if element_of(x) == f16 else np.float32).tiny)
    is_left = is_negative(op, x)
    # 0 is replaced by the smallest number: then 0 / 0 becomes 0, and any other quotient has the angle ±π/2.
    smallest = op.Select(is_left, op.constant_like(-tiny, x), op.constant_like(tiny, x))
    principal = op.Atan(op.Divide(y, op.Select(op.Equal(x, 0), smallest, x)))
    turn = op.Select(is_negative(op, y), op.constant_like(-math.pi, y), op.constant_like(math.pi, y))
    return op.Select(is_left, op.Add(principal, turn), principal)


def hypotenuse(op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """The distance √(x² + y²) of a point from the origin, as s · √((x / s)² + (y / s)²), which does not overflow.

    It is infinite where a coordinate is, even if the other one is NaN.
    """
    if element_of(x) not in REAL_TYPES:
        return op.Sqrt(op.Add(op.Multiply(x, x), op.Multiply(y, y)))
    scale = op.Add(op.Multiply(op.Abs(x), 0.5), op.Multiply(op.Abs(y), 0.5))
    a, b = (op.Divide(each, scale) for each in (x, y))
    length = op.Multiply(scale, op.Sqrt(op.Add(op.Multiply(a, a), op.Multiply(b, b))))
    length = op.Select(op.Equal(scale, 0), op.constant_like(0, scale), length)
    return op.Select(op.LogicalOr(op.IsInf(x), op.IsInf(y)), op.constant_like(math.inf, scale), length)


def is_negative(op: OpBuilder, x: SSAValue) -> SSAValue:
    """Whether numbers are below 0, or -0."""
    # The reciprocal of -0 is negative, that of the negative infinity is not.
    return op.LogicalOr(op.Less(x, 0), op.Less(op.Divide(1, x), 0))


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
    """A bilinear function of complex a and b, such as their matrix product; `multiply` builds this function of real
    tensors.
    """
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
    """The product i · a"""
    return Number(op.Negative(a.imaginary), a.real)


def turned_back(op: OpBuilder, a: Number) -> Number:
    """The product -i · a"""
    return Number(a.imaginary, op.Negative(a.real))


def magnitude(op: OpBuilder, a: Number) -> SSAValue:
    """|a|, computed without overflow of the squares."""
    x, y = op.Abs(a.real), op.Abs(a.imaginary)
    large, small = op.Maximum(x, y), op.Minimum(x, y)
    ratio = op.Divide(small, op.Select(op.Equal(large, 0.0), 1.0, large))
    return op.Multiply(large, op.Sqrt(op.Add(op.Multiply(ratio, ratio), 1.0)))


def over(op: OpBuilder, a: Number, b: Number) -> Number:
    """The quotient a / b; b is scaled first, so that its square neither overflows nor underflows."""
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
    """a where `condition` is false, 0 where it holds."""
    return Number(op.Select(condition, 0.0, a.real), op.Select(condition, 0.0, a.imaginary))


# Functions


def exponential(op: OpBuilder, a: Number) -> Number:
    """exp(a)"""
    return scaled(op, Number(op.Cos(a.imaginary), op.Sin(a.imaginary)), op.Exp(a.real))


def logarithm(op: OpBuilder, a: Number) -> Number:
    """The principal value of ln(a)."""
    return Number(op.Log(magnitude(op, a)), angle_of(op, a.imaginary, a.real))


def root(op: OpBuilder, a: Number) -> Number:
    """The principal square root of a, whose real part is not negative."""
    size = magnitude(op, a)
    # The larger part is computed from a sum; the other one follows from the product of both parts, which is b / 2.
    larger = op.Sqrt(op.Multiply(op.Add(size, op.Abs(a.real)), 0.5))
    other = op.Divide(op.Multiply(op.Abs(a.imaginary), 0.5), op.Select(op.Equal(larger, 0.0), 1.0, larger))
    is_right = op.GreaterEqual(a.real, 0.0)
    imaginary = op.Select(is_right, other, larger)
    return Number(op.Select(is_right, larger, other), op.Select(op.Less(a.imaginary, 0.0), op.Negative(imaginary), imaginary))


def power(op: OpBuilder, a: Number, b: Number) -> Number:
    """exp(b · ln(a)); 0 to the power of 0 is 1, 0 to another power is 0."""
    product = zero_where(op, is_zero(op, a), exponential(op, times(op, b, logarithm(op, a))))
    return Number(op.Select(is_zero(op, b), 1.0, product.real), op.Select(is_zero(op, b), 0.0, product.imaginary))


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
    value = logarithm(op, plus(op, a, root(op, shifted(op, times(op, a, a), 1.0))))
    return scaled(op, value, sign)


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
    arcsine = inverse_sine(op, a)
    return Number(op.Subtract(math.pi / 2, arcsine.real), op.Negative(arcsine.imaginary))


def inverse_tangent(op: OpBuilder, a: Number) -> Number:
    """-i atanh(i a)"""
    return turned_back(op, inverse_hyperbolic_tangent(op, turned(op, a)))


def angle_of_two(op: OpBuilder, y: Number, x: Number) -> Number:
    """The complex atan2: -i ln((x + i y) / sqrt(x² + y²)), the angle of a point in the plane if both are real."""
    length = root(op, plus(op, times(op, x, x), times(op, y, y)))
    return turned_back(op, logarithm(op, over(op, plus(op, x, turned(op, y)), length)))


def direction(op: OpBuilder, a: Number) -> Number:
    """a / |a|; 0 for 0"""
    size = magnitude(op, a)
    size = op.Select(op.Equal(size, 0.0), 1.0, size)
    return Number(op.Divide(a.real, size), op.Divide(a.imaginary, size))


def squared_difference(op: OpBuilder, a: Number, b: Number) -> Number:
    """(a - b) · conjugate(a - b)"""
    difference = minus(op, a, b)
    return times(op, difference, conjugate(op, difference))


def cosine(op: OpBuilder, a: Number) -> Number:
    """cos a = cosh i a"""
    return hyperbolic_cosine(op, turned(op, a))


def sine(op: OpBuilder, a: Number) -> Number:
    """sin a = -i sinh i a"""
    return turned_back(op, hyperbolic_sine(op, turned(op, a)))


def tangent(op: OpBuilder, a: Number) -> Number:
    """tan a = -i tanh i a"""
    return turned_back(op, hyperbolic_tangent(op, turned(op, a)))


def exponential_less_one(op: OpBuilder, a: Number) -> Number:
    """eᵃ - 1"""
    return shifted(op, exponential(op, a), -1.0)


def logarithm_of_sum(op: OpBuilder, a: Number) -> Number:
    """ln(a + 1)"""
    return logarithm(op, shifted(op, a, 1.0))


def reciprocal_root(op: OpBuilder, a: Number) -> Number:
    """1 / √a"""
    return reciprocal(op, root(op, a))


FUNCTIONS: Mapping[str, Unary] = {
    "acos": inverse_cosine,
    "acosh": inverse_hyperbolic_cosine,
    "asin": inverse_sine,
    "asinh": inverse_hyperbolic_sine,
    "atan": lambda op, a: turned_back(op, inverse_hyperbolic_tangent(op, turned(op, a))),
    "atanh": inverse_hyperbolic_tangent,
    "cos": cosine,
    "cosh": hyperbolic_cosine,
    "exp2": lambda op, a: exponential(op, scaled(op, a, math.log(2))),
    "expm1": exponential_less_one,
    "inv": reciprocal,
    "log": logarithm,
    "log10": lambda op, a: scaled(op, logarithm(op, a), 1 / math.log(10)),
    "log1p": logarithm_of_sum,
    "log2": lambda op, a: scaled(op, logarithm(op, a), 1 / math.log(2)),
    "one": lambda op, a: Number(op.Add(op.Multiply(a.real, 0.0), 1.0), op.Multiply(a.real, 0.0)),
    "reciprocal": reciprocal,
    "rsqrt": reciprocal_root,
    "sigmoid": sigmoid,
    "sign": direction,
    "silu": lambda op, a: times(op, a, sigmoid(op, a)),
    "sin": sine,
    "sinh": hyperbolic_sine,
    "sqrt": root,
    "square": lambda op, a: times(op, a, a),
    "tan": tangent,
    "tanh": hyperbolic_tangent,
}
"""Functions of one complex number, by the names that frameworks have for them, in lower case."""

ARITHMETIC: Mapping[str, Binary] = {
    "divide": over,
    "divnonan": lambda op, a, b: zero_where(op, is_zero(op, b), over(op, a, b)),
    "mulnonan": lambda op, a, b: zero_where(op, is_zero(op, b), times(op, a, b)),
    "power": power,
    "squared_difference": squared_difference,
    "xdivy": lambda op, a, b: zero_where(op, is_zero(op, a), over(op, a, b)),
    "xlog1py": lambda op, a, b: zero_where(op, is_zero(op, a), times(op, a, logarithm_of_sum(op, b))),
    "xlogy": lambda op, a, b: zero_where(op, is_zero(op, a), times(op, a, logarithm(op, b))),
}
"""Functions of two complex numbers, by the names that frameworks have for them, in lower case."""
