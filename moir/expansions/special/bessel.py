"""Bessel functions of orders 0 and 1, by the polynomial approximations 9.4 and 9.8 of Abramowitz and Stegun.

    modified_first_kind(op, x, 0, is_scaled=True)
->  opset1.Select(opset1.LessEqual(|x|, 3.75), exp(-|x|) p((x / 3.75)²), q(3.75 / |x|) / sqrt(|x|))

Their errors are about 1e-7 of the largest value nearby. Operands and results are floats of any width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import bf16, f16, f32
from moir.dialects.shapes import element_of
from moir.expansions.special.gamma import polynomial
from moir.rewriting.builder import OpBuilder


@dataclass(frozen=True)
class Modified:
    """Coefficients of the modified Bessel function of an order.

    Near 0 those of powers of x; elsewhere those of powers of 1 / x, in a polynomial that is multiplied by exp(±x) /
    sqrt(x).
    """

    near: tuple[float, ...]
    far: tuple[float, ...]


@dataclass(frozen=True)
class Oscillating:
    """Coefficients of the Bessel functions J and Y of an order.

    Up to x = 3 those of powers of (x / 3)²; above, those of the amplitude and of the phase in powers of 3 / x.
    """

    first: tuple[float, ...]
    second: tuple[float, ...]
    amplitude: tuple[float, ...]
    phase: tuple[float, ...]


NEAR_I, NEAR_K, NEAR_J = 3.75, 2.0, 3.0
"""The upper limits of the ranges in which the first approximations of I, of K, and of J and Y hold."""

OF_I = (
    Modified(
        (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813),
        (0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537, -0.01647633, 0.00392377),
    ),
    Modified(
        (0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411),
        (0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555, 0.02282967, -0.02895312, 0.01787654, -0.00420059),
    ),
)
OF_K = (
    Modified(
        (-0.57721566, 0.42278420, 0.23069756, 0.03488590, 0.00262698, 0.00010750, 0.00000740),
        (1.25331414, -0.07832358, 0.02189568, -0.01062446, 0.00587872, -0.00251540, 0.00053208),
    ),
    Modified(
        (1.0, 0.15443144, -0.67278579, -0.18156897, -0.01919402, -0.00110404, -0.00004686),
        (1.25331414, 0.23498619, -0.03655620, 0.01504268, -0.00780353, 0.00325614, -0.00068245),
    ),
)
OF_J = (
    Oscillating(
        (1.0, -2.2499997, 1.2656208, -0.3163866, 0.0444479, -0.0039444, 0.0002100),
        (0.36746691, 0.60559366, -0.74350384, 0.25300117, -0.04261214, 0.00427916, -0.00024846),
        (0.79788456, -0.00000077, -0.00552740, -0.00009512, 0.00137237, -0.00072805, 0.00014476),
        (-0.78539816, -0.04166397, -0.00003954, 0.00262573, -0.00054125, -0.00029333, 0.00013558),
    ),
    Oscillating(
        (0.5, -0.56249985, 0.21093573, -0.03954289, 0.00443319, -0.00031761, 0.00001109),
        (-0.6366198, 0.2212091, 2.1682709, -1.3164827, 0.3123951, -0.0400976, 0.0027873),
        (0.79788456, 0.00000156, 0.01659667, 0.00017105, -0.00249511, 0.00113653, -0.00020033),
        (-2.35619449, 0.12499612, 0.00005650, -0.00637879, 0.00074348, 0.00079824, -0.00029166),
    ),
)


def single(op: OpBuilder, x: SSAValue) -> SSAValue:
    """Convert 16-bit floats to f32, in which these functions are computed; other values are returned unchanged."""
    return op.convert(x, f32) if element_of(x) in (f16, bf16) else x


def squared_ratio(op: OpBuilder, x: SSAValue, limit: float) -> SSAValue:
    """(x / limit)²."""
    ratio = op.Multiply(x, 1 / limit)
    return op.Multiply(ratio, ratio)


def first_kind_near(op: OpBuilder, x: SSAValue, order: int) -> SSAValue:
    """The modified Bessel function I of an order, 0 or 1, at x near 0."""
    value = polynomial(op, squared_ratio(op, x, NEAR_I), OF_I[order].near)
    return op.Multiply(x, value) if order else value


def modified_first_kind(op: OpBuilder, x_: SSAValue, order: int, *, is_scaled: bool = False) -> SSAValue:
    """The modified Bessel function I of an order, 0 or 1.

    A polynomial in x² up to 3.75; elsewhere exp(|x|) / sqrt(|x|) times a polynomial in 1 / |x|. The exponentially
    scaled function is exp(-|x|) times that.
    """
    x = single(op, x_)
    distance = op.Abs(x)
    near = first_kind_near(op, x, order)
    far = op.Divide(polynomial(op, op.Divide(NEAR_I, distance), OF_I[order].far), op.Sqrt(distance))
    if order:
        far = op.Multiply(far, op.Sign(x))
    if is_scaled:
        near = op.Multiply(near, op.Exp(op.Negative(distance)))
    else:
        # The exponential overflows before the function does.
        root = op.Exp(op.Multiply(distance, 0.5))
        far = op.Multiply(op.Multiply(far, root), root)
    return op.convert(op.Select(op.LessEqual(distance, NEAR_I), near, far), element_of(x_))


def modified_second_kind(op: OpBuilder, x_: SSAValue, order: int, *, is_scaled: bool = False) -> SSAValue:
    """The modified Bessel function K of an order, 0 or 1.

    ∓ln(x / 2) I(x) plus a polynomial in x² up to 2; elsewhere exp(-x) / sqrt(x) times another one. The exponentially
    scaled function is exp(x) times that. The result is infinite at 0 and below.
    """
    x = single(op, x_)
    logarithm = op.Multiply(op.Log(op.Multiply(x, 0.5)), first_kind_near(op, x, order))
    near = polynomial(op, squared_ratio(op, x, NEAR_K), OF_K[order].near)
    near = op.Add(op.Divide(near, x), logarithm) if order else op.Subtract(near, logarithm)
    far = op.Divide(polynomial(op, op.Divide(NEAR_K, x), OF_K[order].far), op.Sqrt(x))
    if is_scaled:
        near = op.Multiply(near, op.Exp(x))
    else:
        far = op.Multiply(far, op.Exp(op.Negative(x)))
    value = op.Select(op.Greater(x, NEAR_K), far, near)
    return op.convert(op.Select(op.LessEqual(x, 0.0), op.constant_like(np.inf, x), value), element_of(x_))


def first_kind(op: OpBuilder, x_: SSAValue, order: int) -> SSAValue:
    """The Bessel function J of an order, 0 or 1.

    A polynomial in x² up to 3; elsewhere a(3 / |x|) cos(|x| + p(3 / |x|)) / sqrt(|x|).
    """
    x = single(op, x_)
    distance = op.Abs(x)
    far = op.Multiply(amplitude(op, distance, order), op.Cos(phase(op, distance, order)))
    if order:
        far = op.Multiply(far, op.Sign(x))
    return op.convert(op.Select(op.LessEqual(distance, NEAR_J), oscillating_near(op, x, order), far), element_of(x_))


def second_kind(op: OpBuilder, x_: SSAValue, order: int) -> SSAValue:
    """The Bessel function Y of an order, 0 or 1; negative infinity at 0 and below.

    2 / π ln(x / 2) J(x) plus a polynomial in x² up to 3; elsewhere a(3 / x) sin(x + p(3 / x)) / sqrt(x).
    """
    x = single(op, x_)
    logarithm = op.Multiply(op.Log(op.Multiply(x, 0.5)), op.Multiply(oscillating_near(op, x, order), 2 / math.pi))
    near = polynomial(op, squared_ratio(op, x, NEAR_J), OF_J[order].second)
    near = op.Add(op.Divide(near, x) if order else near, logarithm)
    near = op.Select(op.LessEqual(x, 0.0), op.constant_like(-np.inf, x), near)
    far = op.Multiply(amplitude(op, x, order), op.Sin(phase(op, x, order)))
    return op.convert(op.Select(op.Greater(x, NEAR_J), far, near), element_of(x_))


def oscillating_near(op: OpBuilder, x: SSAValue, order: int) -> SSAValue:
    """The Bessel function J of an order, 0 or 1, at x near 0."""
    value = polynomial(op, squared_ratio(op, x, NEAR_J), OF_J[order].first)
    return op.Multiply(x, value) if order else value


def amplitude(op: OpBuilder, x: SSAValue, order: int) -> SSAValue:
    """The amplitude of the Bessel functions J and Y of an order at large positive numbers."""
    return op.Divide(polynomial(op, op.Divide(NEAR_J, x), OF_J[order].amplitude), op.Sqrt(x))


def phase(op: OpBuilder, x: SSAValue, order: int) -> SSAValue:
    """The phase of the Bessel functions J and Y of an order at large positive numbers."""
    return op.Add(polynomial(op, op.Divide(NEAR_J, x), OF_J[order].phase), x)
