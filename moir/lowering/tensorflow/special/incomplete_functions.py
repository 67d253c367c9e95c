"""The incomplete gamma and beta functions: series and continued fractions in a Loop that ends when all elements have
converged.

    %y = tf.Betainc(%a, %b, %x)
->  %y = opset1.Select(%x < (%a + 1) / (%a + %b + 2), continued fraction, 1 - continued fraction)

Source: W. Press et al., "Numerical Recipes", sections 6.2 and 6.4; the continued fractions by Lentz's method.
"""

from __future__ import annotations

import math
from functools import partial

from xdsl.ir import SSAValue

from moir.dialects.shapes import element_count, shape_of
from moir.expansions.loops.built_loops import Step, repeated_steps
from moir.expansions.shape_values import all_axes
from moir.expansions.special.gamma import in_single, logarithm_of_gamma
from moir.expansions.special.incomplete_gamma import lower_gamma, upper_gamma
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

MOST_STEPS = 2000
"""The largest number of terms of a series or continued fraction, as in TensorFlow."""

PRECISION = 1e-7
"""The change by a term, relative to the sum, below which the series has converged."""

SMALLEST = 1e-30
"""A tiny number that replaces divisors of 0."""


def broadcast_to_all(op: OpBuilder, *values: SSAValue) -> list[SSAValue]:
    """Values broadcast to their common shape, so that their shapes do not change in a Loop."""
    total = values[0]
    for value in values[1:]:
        total = op.Broadcast(total, op.ShapeOf(value), mode="bidirectional")
    return [op.Broadcast(value, op.ShapeOf(total), mode="bidirectional") for value in values]


def has_nothing(node: LoweringNode) -> bool:
    """Whether an operand is known to be empty, so that the result is empty and no loop is needed."""
    return any(element_count(shape_of(value)) == 0 for value in node.operands)


def exceeds(op: OpBuilder, change: SSAValue, limit: SSAValue | float) -> SSAValue:
    """Whether the absolute value of any element of `change` is above its limit, as a scalar."""
    return op.ReduceLogicalOr(op.Greater(op.Abs(change), limit), all_axes(op, change), keep_dims=False)


def nonzero(op: OpBuilder, value: SSAValue) -> SSAValue:
    """A value in which elements with an absolute value below SMALLEST are replaced by SMALLEST, for a division."""
    return op.Select(op.Less(op.Abs(value), SMALLEST), op.constant_like(SMALLEST, value), value)


# Gamma


@tf.lowers("Igamma", "Igammac")
def incomplete_gamma(node: LoweringNode, op: OpBuilder, a: SSAValue, x: SSAValue) -> SSAValue:
    """tf.Igamma(a, x) -> xᵃ exp(-x) / Γ(a + 1) times a series below a + 1; above, 1 minus the continued fraction of
    tf.Igammac. Not a number unless a is positive, but 0 for x = 0 in tf.Igamma.
    """
    is_lower = node.op.KIND == "Igamma"
    value = in_single(op, partial(lower_gamma if is_lower else upper_gamma, op), a, x)
    value = op.Select(op.Greater(a, 0.0), value, math.nan)
    return op.Select(op.Equal(x, 0.0), 0.0, value) if is_lower else value


# Beta


def fraction_of_beta(op: OpBuilder, a: SSAValue, b: SSAValue, x: SSAValue) -> SSAValue:
    """The continued fraction 1 / (1 + d₁ / (1 + d₂ / (1 + …))) of the incomplete beta function.

    d₂ₘ = m (b - m) x / ((a + 2 m - 1) (a + 2 m)) and d₂ₘ₊₁ = -(a + m) (a + b + m) x / ((a + 2 m) (a + 2 m + 1))
    """
    total = op.Add(a, b)
    first = op.Subtract(1.0, op.Divide(op.Multiply(total, x), op.Add(a, 1.0)))
    start = op.Divide(1.0, nonzero(op, first))

    def step(inside: OpBuilder, states: list[SSAValue], _: list[SSAValue], fixed: list[SSAValue]) -> Step:
        m, c, d, fraction = states
        a, b, total, x = fixed
        m = inside.Add(m, 1.0)
        order = inside.Add(a, inside.Multiply(m, 2.0))
        even = inside.Divide(
            inside.Multiply(inside.Multiply(m, inside.Subtract(b, m)), x), inside.Multiply(inside.Subtract(order, 1.0), order)
        )
        odd = inside.Divide(
            inside.Multiply(inside.Multiply(inside.Add(a, m), inside.Add(total, m)), x), inside.Multiply(order, inside.Add(order, 1.0))
        )
        factor = x
        for numerator in (even, inside.Negative(odd)):
            d = inside.Divide(1.0, nonzero(inside, inside.Add(inside.Multiply(numerator, d), 1.0)))
            c = nonzero(inside, inside.Add(inside.Divide(numerator, c), 1.0))
            factor = inside.Multiply(c, d)
            fraction = inside.Multiply(fraction, factor)
        return Step([m, c, d, fraction], goes_on=exceeds(inside, inside.Subtract(factor, 1.0), PRECISION))

    zero, one = (op.Broadcast(op.constant_like(value, x), op.ShapeOf(x)) for value in (0, 1))
    return repeated_steps(op, step, [zero, one, start, start], invariants=[a, b, total, x], most=MOST_STEPS)[3]


@tf.lowers("Betainc")
def incomplete_beta(node: LoweringNode, op: OpBuilder, a_: SSAValue, b_: SSAValue, x_: SSAValue) -> SSAValue:
    """tf.Betainc(a, b, x) -> xᵃ (1 - x)ᵇ / (a B(a, b)) times a continued fraction, or 1 minus Betainc(b, a, 1 - x)"""
    if has_nothing(node):
        return op.Add(op.Add(a_, b_), x_)
    a, b, x = broadcast_to_all(op, *node.operands)
    is_far = op.Greater(x, op.Divide(op.Add(a, 1.0), op.Add(op.Add(a, b), 2.0)))
    rest = op.Subtract(1.0, x)
    p, q = op.Select(is_far, b, a), op.Select(is_far, a, b)
    y, z = op.Select(is_far, rest, x), op.Select(is_far, x, rest)
    logarithms = [logarithm_of_gamma(op, value) for value in (op.Add(a, b), a, b)]
    constant = op.Subtract(logarithms[0], op.Add(logarithms[1], logarithms[2]))
    powers = op.Add(op.Multiply(p, op.Log(y)), op.Multiply(q, op.Log(z)))
    part = op.Divide(op.Multiply(op.Exp(op.Add(powers, constant)), fraction_of_beta(op, p, q, y)), p)
    result = op.Select(is_far, op.Subtract(1.0, part), part)
    is_defined = op.LogicalAnd(
        op.LogicalAnd(op.Greater(a, 0.0), op.Greater(b, 0.0)), op.LogicalAnd(op.GreaterEqual(x, 0.0), op.LessEqual(x, 1.0))
    )
    return op.Select(is_defined, result, math.nan)
