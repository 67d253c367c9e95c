"""Powers of integers, which wrap around as products of integers do."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES, describe, si32, to_numpy
from moir.dialects.shapes import element_of
from moir.expansions.linear_algebra.matrix_powers import power_by_squares
from moir.expansions.loops.built_loops import Step, repeated_steps
from moir.expansions.shape_values import all_axes
from moir.rewriting.builder import OpBuilder


def integer_power(op: OpBuilder, base: SSAValue, exponent: SSAValue | int) -> SSAValue:
    """The power of integers of one type, by repeated squaring; for a negative exponent it is rounded towards 0.

    A constant exponent results in products, a computed one in a Loop with an iteration for each bit of the largest
    exponent.
    """
    element = element_of(base)
    # Products of fewer than 32 bits wrap around in the Convert at the end.
    wide = si32 if describe(element).bits < 32 else element
    x = op.convert(base, wide)
    one = op.constant_like(1, x)
    if isinstance(exponent, int):
        if exponent == 0:
            return op.convert(op.Broadcast(one, op.ShapeOf(x)), element)
        if exponent < 0:
            return op.convert(_reciprocal(op, x, op.constant_like(exponent, x)), element)
        return op.convert(power_by_squares(op.Multiply, x, exponent), element)
    y = op.convert(exponent, wide)
    shape = op.ShapeOf(op.Add(x, y))
    x, y = op.Broadcast(x, shape), op.Broadcast(y, shape)

    def goes_on(inside: OpBuilder, left: SSAValue) -> SSAValue:
        return inside.ReduceLogicalOr(inside.Greater(left, 0), all_axes(inside, left), keep_dims=False)

    def body(inside: OpBuilder, carried: list[SSAValue], _: list[SSAValue], __: list[SSAValue]) -> Step:
        product, square, left = carried
        unit = inside.constant_like(1, left)
        # The factor is the square where the last bit is 1: without a Select, as this is exact in integers everywhere.
        factor = inside.Add(inside.Multiply(inside.Subtract(square, unit), inside.BitwiseAnd(left, unit)), unit)
        left = inside.BitwiseRightShift(left, unit)
        return Step([inside.Multiply(product, factor), inside.Multiply(square, square), left], (), goes_on(inside, left))

    start = op.Broadcast(one, shape)
    left = op.Maximum(y, op.constant_like(0, y))
    power, *_ = repeated_steps(op, body, [start, x, left], most=64, starts=goes_on(op, left))
    if element not in INTEGER_TYPES or to_numpy(element).kind != "u":
        is_negative = op.convert(op.Less(y, 0), wide)
        power = op.Add(op.Multiply(power, op.Subtract(one, is_negative)), op.Multiply(_reciprocal(op, x, y), is_negative))
    return op.convert(power, element)


def _reciprocal(op: OpBuilder, x: SSAValue, exponent: SSAValue) -> SSAValue:
    """A power with a negative exponent, rounded towards 0: it is not 0 only for 1 and -1."""
    is_odd = op.NotEqual(op.BitwiseAnd(exponent, op.constant_like(1, exponent)), 0)
    of_minus_one = op.Select(is_odd, op.constant_like(-1, x), op.constant_like(1, x))
    reciprocal = op.Select(op.Equal(x, 1), op.constant_like(1, x), op.constant_like(0, x))
    return op.Select(op.Equal(x, -1), of_minus_one, reciprocal)
