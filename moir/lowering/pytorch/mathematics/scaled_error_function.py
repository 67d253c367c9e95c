"""The complementary error function, scaled so that its tail does not vanish.

    erfcx(x) = e^(x²) erfc(x) = t e^P(t) with t = 1 / (1 + x / 2), for x from 0 on; 2 e^(x²) - erfcx(-x) below

Source: W. Press et al., "Numerical Recipes" (1992), section 6.2, whose relative error is below 1.2e-7.
"""

from __future__ import annotations

from math import sqrt

from xdsl.ir import SSAValue

from moir.expansions.special.gamma import polynomial
from moir.rewriting.builder import OpBuilder

EXPONENT = (
    *(-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806),
    *(0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277),
)
"""The coefficients of P, that of t⁰ first."""


def scaled_complement(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The scaled complementary error function erfcx(x) = e^(x²) erfc(x), elementwise."""
    t = op.Divide(1.0, op.Add(op.Multiply(op.Abs(x), 0.5), 1.0))
    upper = op.Multiply(t, op.Exp(polynomial(op, t, EXPONENT)))
    lower = op.Subtract(op.Multiply(op.Exp(op.Multiply(x, x)), 2.0), upper)
    return op.Select(op.Less(x, 0.0), lower, upper)


def logarithm_of_normal(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The logarithm of the cumulative normal distribution.

    Below -1: ln(erfcx(-x / √2) / 2) - x² / 2; elsewhere ln(1 - erfc(x / √2) / 2).
    """
    scaled = op.Multiply(x, sqrt(0.5))
    complement = scaled_complement(op, op.Abs(scaled))
    tail = op.Subtract(op.Log(op.Multiply(complement, 0.5)), op.Multiply(scaled, scaled))
    half = op.Multiply(op.Add(op.Erf(scaled), 1.0), 0.5)
    # The distance of the logarithm from 0 is that of the probability from 1, where the latter is close to 1.
    upper = op.Multiply(op.Multiply(complement, op.Exp(op.Negative(op.Multiply(scaled, scaled)))), 0.5)
    near = op.Negative(op.Multiply(upper, op.Add(op.Multiply(upper, 0.5), 1.0)))
    inner = op.Select(op.Less(upper, 1e-3), near, op.Log(half))
    return op.Select(op.Less(x, -1.0), tail, op.Select(op.Less(x, 0.0), op.Log(half), inner))
