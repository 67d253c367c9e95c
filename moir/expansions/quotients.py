"""Quotients rounded down or up exactly, which no single operation computes."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES, to_numpy
from moir.dialects.shapes import element_of
from moir.dialects.symbols import Symbol
from moir.rewriting.builder import OpBuilder


def is_not_negative(op: OpBuilder, value: SSAValue) -> bool:
    """Whether all elements are known not to be negative: unsigned integers, constants, and sizes of dimensions."""
    element = element_of(value)
    if element in INTEGER_TYPES and to_numpy(element).kind == "u":
        return True
    entries = op.known.elements(value)
    return entries is not None and all(entry.dimension if isinstance(entry, Symbol) else entry >= 0 for entry in entries.flat)


def floored_real_quotient(op: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """The largest whole number that is not above a / b.

    The computed quotient may be slightly less than the exact whole number, for example if it is a multiplied by the
    reciprocal of b. So the next whole number is the result if its product with b does not exceed a.
    """
    rounded = op.Floor(op.Divide(a, b))
    following = op.Add(rounded, 1.0)
    fits = op.LessEqual(op.Multiply(following, op.Abs(b)), op.Multiply(a, op.Sign(b)))
    return op.Select(fits, following, rounded)


def exact_ceiling(op: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """The smallest whole number that is not below a / b, of scalars of type f32 whose quotient is less than 2²².

    The computed quotient is rounded, perhaps to the whole number next to it: 0.3 / 0.1 of f32 is a little more than 3.
    So a is compared with the product of the rounded quotient and b, which is computed exactly: both factors are sums of
    two numbers of 12 bits.

    Source: Dekker, "A floating-point technique for extending the available precision", 1971.
    """
    near = op.Round(op.Divide(a, b))
    upper = op.Multiply(op.Floor(op.Multiply(near, 2.0**-12)), 2.0**12)
    lower = op.Subtract(near, upper)
    scaled = op.Multiply(b, 2.0**12 + 1)
    high = op.Subtract(scaled, op.Subtract(scaled, b))
    rest = a
    for part in (high, op.Subtract(b, high)):
        for count in (upper, lower):
            rest = op.Subtract(rest, op.Multiply(count, part))
    return op.Select(op.Greater(op.Multiply(rest, op.Sign(b)), 0.0), op.Add(near, 1.0), near)
