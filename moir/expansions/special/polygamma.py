"""The derivatives of the logarithm of the gamma function, and the Hurwitz zeta function.

    digamma(op, x)
->  ln z - 1 / (2 z) - … with z = x + 8, minus the reciprocals of x, x + 1, …, x + 7

Operands and results are f32 or f64.
"""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import element_of
from moir.expansions.shape_values import all_axes
from moir.expansions.special.gamma import logarithm_of_gamma, polynomial
from moir.rewriting.builder import OpBuilder

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730)
"""The Bernoulli numbers of even index, from 2 on."""

SHIFT = 8
"""The integer by which recurrences increase the argument, to where asymptotic series are precise."""

FURTHEST = 2.0**16
"""Below the negative of this number, neighbouring f32 numbers are so far apart that periodic functions of them have no
correct digits.
"""


def digamma(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The digamma function, the derivative of ln gamma, at x; NaN for 0 and negative integers.

    With z = x + 8: ln z - 1 / (2 z) - Σ B₂ₖ / (2 k z²ᵏ) - Σ 1 / (x + i) for i from 0 to 7.
    """
    is_negative = op.LessEqual(x, 0.0)
    positive = op.Select(is_negative, op.Subtract(1.0, x), x)
    shifted = op.Add(positive, SHIFT)
    terms = op.Divide(1.0, op.Add(op.Unsqueeze(positive, [-1]), op.constant_like(np.arange(SHIFT), x)))
    reciprocal = op.Divide(1.0, shifted)
    square = op.Multiply(reciprocal, reciprocal)
    series = polynomial(op, square, [coefficient / (2 * index) for index, coefficient in enumerate(BERNOULLI[:4], 1)])
    asymptotic = op.Subtract(op.Subtract(op.Log(shifted), op.Multiply(reciprocal, 0.5)), op.Multiply(square, series))
    upper = op.Subtract(asymptotic, op.ReduceSum(terms, [-1], keep_dims=False))
    # The integer part is subtracted first, so that the tangent is computed with full precision.
    part = op.Subtract(x, op.Floor(x))
    lower = op.Subtract(upper, op.Divide(math.pi, op.Tan(op.Multiply(part, math.pi))))
    return op.Select(op.LogicalAnd(is_negative, op.Equal(part, 0.0)), math.nan, op.Select(is_negative, lower, upper))


def zeta(op: OpBuilder, x: SSAValue, q: SSAValue) -> SSAValue:
    """The Hurwitz zeta function, Σ (q + k)⁻ˣ.

    With w = q + n: Σ (q + k)⁻ˣ over k below n + w¹⁻ˣ / (x - 1) + w⁻ˣ / 2
    + Σ B₂ⱼ / (2 j)! x (x + 1) … (x + 2 j - 2) w¹⁻ˣ⁻²ʲ, where n is 9, or more for negative q, so that w is at least 9.
    """
    lowest = op.ReduceMin(op.Maximum(q, -FURTHEST), all_axes(op, q), keep_dims=False)
    count = op.Add(op.Ceiling(op.Maximum(op.Negative(lowest), 0.0)), 9.0)
    zero, one = op.constant(0, si64), op.constant(1, si64)
    indices = op.convert(op.Range(zero, op.convert(count, si64), one, output_type=si64), element_of(q))
    exponent = op.Negative(x)
    terms = op.Power(op.Add(op.Unsqueeze(q, [-1]), indices), op.Unsqueeze(exponent, [-1]))
    total = op.ReduceSum(terms, [-1], keep_dims=False)
    w = op.Add(q, count)
    power = op.Power(w, exponent)
    # For an infinite w the product with its power would be NaN.
    product = op.Power(w, op.Subtract(1.0, x))
    total = op.Add(total, op.Add(op.Divide(product, op.Subtract(x, 1.0)), op.Multiply(power, 0.5)))
    term = op.Divide(op.Multiply(power, x), w)
    square = op.Multiply(w, w)
    for index, coefficient in enumerate(BERNOULLI, 1):
        total = op.Add(total, op.Multiply(term, coefficient / math.factorial(2 * index)))
        factors = op.Multiply(op.Add(x, 2.0 * index - 1), op.Add(x, 2.0 * index))
        term = op.Divide(op.Multiply(term, factors), square)
    # As in XLA and TensorFlow, it is infinite if the sum has an even power of 0, and undefined if it has an odd one.
    is_odd = op.Equal(op.FloorMod(x, 2.0), 1.0)
    is_pole = op.Equal(q, op.Floor(q))
    is_undefined = op.LogicalOr(op.NotEqual(x, op.Floor(x)), op.LogicalAnd(is_odd, is_pole))
    total = op.Select(op.LessEqual(q, 0.0), op.Select(is_undefined, math.nan, op.Select(is_pole, math.inf, total)), total)
    return op.Select(op.Less(x, 1.0), math.nan, op.Select(op.Equal(x, 1.0), math.inf, total))


def polygamma(op: OpBuilder, n: SSAValue, x: SSAValue) -> SSAValue:
    """The polygamma function, the n-th derivative of digamma at x; n may be a tensor."""
    orders = op.known.constant(n)
    if orders is not None and not orders.any():
        return op.Add(digamma(op, x), n)
    sign = op.Subtract(op.Multiply(op.FloorMod(n, 2.0), 2.0), 1.0)
    following = op.Add(n, 1.0)
    factorial = op.Exp(logarithm_of_gamma(op, following))
    value = op.Multiply(op.Multiply(sign, factorial), zeta(op, following, x))
    value = op.Select(op.LogicalOr(op.Less(n, 0.0), op.NotEqual(n, op.Floor(n))), math.nan, value)
    return value if orders is not None and orders.all() else op.Select(op.Equal(n, 0.0), digamma(op, x), value)
