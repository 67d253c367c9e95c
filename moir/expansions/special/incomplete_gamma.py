"""The regularized incomplete gamma functions.

    P(a, x) = xᵃ e⁻ˣ / Γ(a + 1) · (1 + x / (a + 1) + x² / ((a + 1) (a + 2)) + …)      for x up to a + 1
    Q(a, x) = xᵃ e⁻ˣ / Γ(a) · 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - …))           for larger x
    P + Q   = 1

Both are computed in one Loop, until no element of a result changes any more.

Source: NIST Digital Library of Mathematical Functions, 8.11.4 and 8.9.2; the continued fraction is evaluated by Lentz's
method (1976).
"""

from __future__ import annotations

import math

from xdsl.ir import SSAValue

from moir.dialects.shapes import element_of
from moir.expansions.loops.built_loops import Step, repeated_steps
from moir.expansions.shape_values import all_axes
from moir.expansions.special.gamma import logarithm_of_gamma, polynomial
from moir.rewriting.builder import OpBuilder

MOST_TERMS = 2000
"""The maximum number of terms; near x = a about √(34 a) are needed."""

NEGLIGIBLE = 1e-7
"""Terms that are smaller than this fraction of the sum do not change an f32."""

FIRST_STIRLING = 10.0
"""From this number on Stirling's series for gamma is used, which avoids subtracting large logarithms."""

TINY = 1e-30
"""The number that replaces 0 as a denominator in Lentz's method."""


def lower_gamma(op: OpBuilder, a: SSAValue, x: SSAValue) -> SSAValue:
    """The regularized lower incomplete gamma function P(a, x), from 0 for x = 0 to 1 for x = ∞; NaN for negative
    operands.
    """
    return _incomplete(op, a, x, is_lower=True)


def upper_gamma(op: OpBuilder, a: SSAValue, x: SSAValue) -> SSAValue:
    """The regularized upper incomplete gamma function Q(a, x) = 1 - P(a, x)."""
    return _incomplete(op, a, x, is_lower=False)


def _incomplete(op: OpBuilder, a: SSAValue, x: SSAValue, *, is_lower: bool) -> SSAValue:
    shape = op.ShapeOf(op.Add(a, x))
    a, x = op.Broadcast(a, shape), op.Broadcast(x, shape)
    finite = op.LogicalAnd(op.IsFinite(a), op.IsFinite(x))
    inner = op.LogicalAnd(finite, op.LogicalAnd(op.Greater(a, 0.0), op.Greater(x, 0.0)))
    # Elements at an end of the range are replaced by one for which the sums end at once.
    b, y = op.Select(inner, a, op.constant_like(1, a)), op.Select(inner, x, op.constant_like(1e-6, x))
    is_series = op.LessEqual(y, op.Add(b, 1.0))
    series, fraction = _sums(op, b, y, is_series)
    prefactor = op.Exp(_logarithm_of_prefactor(op, b, y))
    below = op.Multiply(prefactor, series)
    above = op.Multiply(op.Multiply(prefactor, b), fraction)
    if is_lower:
        value = op.Select(is_series, below, op.Subtract(1.0, above))
        ends = (0.0, 1.0)
    else:
        value = op.Select(is_series, op.Subtract(1.0, below), above)
        ends = (1.0, 0.0)
    first, last = (op.constant_like(end, x) for end in ends)
    # For a = 0 all is above 0; an infinite x is above every finite a, and an infinite a above every finite x.
    is_first = op.LogicalOr(op.Equal(x, 0.0), op.Equal(a, math.inf))
    is_last = op.LogicalOr(op.Equal(a, 0.0), op.Equal(x, math.inf))
    both = op.LogicalAnd(is_first, is_last)
    invalid = op.LogicalOr(op.LogicalOr(op.Less(a, 0.0), op.Less(x, 0.0)), op.LogicalOr(op.IsNaN(a), op.IsNaN(x)))
    value = op.Select(is_first, first, op.Select(is_last, last, value))
    return op.Select(op.LogicalOr(both, invalid), op.constant_like(math.nan, x), value)


def _logarithm_of_prefactor(op: OpBuilder, a: SSAValue, x: SSAValue) -> SSAValue:
    """ln(xᵃ e⁻ˣ / Γ(a + 1)).

    For large a: a (ln(1 + t) - t) - ln √(2 π a) - 1 / (12 a) + 1 / (360 a³), with t = x / a - 1.
    """
    small = op.Subtract(op.Subtract(op.Multiply(a, op.Log(x)), x), logarithm_of_gamma(op, op.Add(a, 1.0)))
    t = op.Divide(op.Subtract(x, a), a)
    coefficients = [-((-1) ** n) / n for n in range(2, 10)]
    near = op.Multiply(op.Multiply(t, t), polynomial(op, t, coefficients))
    difference = op.Select(op.Less(op.Abs(t), 0.1), near, op.Subtract(op.Log(op.Divide(x, a)), t))
    reciprocal = op.Divide(1.0, a)
    stirling = op.Multiply(reciprocal, polynomial(op, op.Multiply(reciprocal, reciprocal), [1 / 12, -1 / 360]))
    root = op.Multiply(op.Log(op.Multiply(a, 2 * math.pi)), 0.5)
    large = op.Subtract(op.Multiply(a, difference), op.Add(root, stirling))
    return op.Select(op.GreaterEqual(a, FIRST_STIRLING), large, small)


def _sums(op: OpBuilder, a: SSAValue, x: SSAValue, is_series: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The sum of the series of P, and the continued fraction of Q.

    Of each element only one is right: the series where `is_series` is true, otherwise the continued fraction.
    """
    one = op.constant_like(1, x)
    ones = op.Broadcast(one, op.ShapeOf(x))
    start = op.Add(op.Subtract(x, a), 1.0)
    first = op.Divide(1.0, _not_zero(op, start))
    states = [ones, ones, first, op.Divide(ones, TINY), first, op.constant(1.0, element_of(x))]

    def body(inside: OpBuilder, carried: list[SSAValue], _: list[SSAValue], outer: list[SSAValue]) -> Step:
        term, total, denominator, numerator, fraction, index = carried
        a, x, chosen = outer
        term = inside.Multiply(term, inside.Divide(x, inside.Add(a, index)))
        total = inside.Add(total, term)
        factor = inside.Multiply(inside.Subtract(a, index), index)
        level = inside.Add(inside.Subtract(x, a), inside.Add(inside.Multiply(index, 2.0), 1.0))
        denominator = inside.Divide(1.0, _not_zero(inside, inside.Add(level, inside.Multiply(factor, denominator))))
        numerator = _not_zero(inside, inside.Add(level, inside.Divide(factor, numerator)))
        change = inside.Multiply(denominator, numerator)
        fraction = inside.Multiply(fraction, change)
        moved = inside.Select(chosen, inside.Divide(term, total), inside.Subtract(change, 1.0))
        goes_on = inside.ReduceLogicalOr(inside.Greater(inside.Abs(moved), NEGLIGIBLE), all_axes(inside, moved), keep_dims=False)
        return Step([term, total, denominator, numerator, fraction, inside.Add(index, 1.0)], (), goes_on)

    results = repeated_steps(op, body, states, invariants=[a, x, is_series], most=MOST_TERMS)
    return results[1], results[4]


def _not_zero(op: OpBuilder, x: SSAValue) -> SSAValue:
    return op.Select(op.Equal(x, 0.0), op.constant_like(TINY, x), x)
