"""Quantiles of the normal distribution, and with them the inverse of the error function.

The operand of opset17.ErfInv does not distinguish small probabilities: 2 p - 1 is rounded to -1 for all p below 3e-8.

Source: M. Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution" (1988), function PPND7, whose
relative error is about 1e-7.
"""

from __future__ import annotations

import math

from xdsl.ir import SSAValue

from moir.expansions.special.gamma import polynomial
from moir.rewriting.builder import OpBuilder

CENTRE = 0.425
"""The distance of the probability from 1/2 up to which the approximation for the centre is used."""

CENTRAL = ((3.3871327179, 50.434271938, 159.29113202, 59.109374720), (1.0, 17.895169469, 78.757757664, 67.187563600))
NEAR = ((1.4234372777, 2.7568153900, 1.3067284816, 0.17023821103), (1.0, 0.73700164250, 0.12021132975))
FAR = ((6.6579051150, 3.0812263860, 0.42868294337, 0.017337203997), (1.0, 0.24197894225, 0.012258202635))
"""Coefficients of the numerator and the denominator of the approximation for probabilities below e^-25, lowest power
first.
"""


def quantile(op: OpBuilder, probability: SSAValue) -> SSAValue:
    """The quantile of the standard normal distribution for a probability; NaN outside of [0, 1]."""
    return _quantile(op, op.Subtract(probability, 0.5), probability, op.Subtract(1.0, probability))


def inverse_error_function(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The inverse of the error function, erf⁻¹(x); NaN outside of [-1, 1]."""
    half = op.Multiply(x, 0.5)
    # Both tails are computed from x itself: 1 + x and 1 - x are exact where they are small.
    lower, upper = op.Multiply(op.Add(x, 1.0), 0.5), op.Multiply(op.Subtract(1.0, x), 0.5)
    return op.Multiply(_quantile(op, half, lower, upper), math.sqrt(0.5))


def _quantile(op: OpBuilder, distance: SSAValue, lower: SSAValue, upper: SSAValue) -> SSAValue:
    """The quantile for the probability 1/2 + `distance`; `lower` and `upper` are the probabilities of both tails."""

    def ratio(x: SSAValue, parts: tuple[tuple[float, ...], tuple[float, ...]]) -> SSAValue:
        return op.Divide(polynomial(op, x, parts[0]), polynomial(op, x, parts[1]))

    is_central = op.LessEqual(op.Abs(distance), CENTRE)
    central = op.Multiply(distance, ratio(op.Subtract(CENTRE**2, op.Multiply(distance, distance)), CENTRAL))
    tail = op.Minimum(lower, upper)
    depth = op.Sqrt(op.Negative(op.Log(tail)))
    size = op.Select(op.LessEqual(depth, 5.0), ratio(op.Subtract(depth, 1.6), NEAR), ratio(op.Subtract(depth, 5.0), FAR))
    size = op.Select(op.Equal(tail, 0.0), math.inf, size)
    return op.Select(is_central, central, op.Multiply(op.Sign(distance), size))
