"""Quotients rounded down, which the runtime does not compute in one operation."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES, describe, si32, to_numpy
from moir.dialects.shapes import element_of
from moir.dialects.symbols import Symbol
from moir.rewriting.builder import OpBuilder


def is_not_negative(op: OpBuilder, value: SSAValue) -> bool:
    """Whether all elements are known to be non-negative, such as sizes of dimensions."""
    element = element_of(value)
    if element in INTEGER_TYPES and to_numpy(element).kind == "u":
        return True
    entries = op.known.elements(value)
    return entries is not None and all(entry.dimension if isinstance(entry, Symbol) else entry >= 0 for entry in entries.flat)


def floored_quotient(op: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """The quotient of integers, rounded down; the runtime rounds towards zero whatever `m_pythondiv` is."""
    if is_not_negative(op, a) and is_not_negative(op, b):
        return op.Divide(a, b)
    element = element_of(a)
    # The difference may not fit into integers of fewer bits.
    a, b = (op.convert(each, si32) if describe(element).bits < 32 else each for each in (a, b))
    return op.convert(op.Divide(op.Subtract(a, op.FloorMod(a, b)), b), element)


def floored_real_quotient(op: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """The largest whole number that is not above a / b.

    The computed quotient may be slightly less than the exact whole number, for example if the plugin multiplies a by
    the reciprocal of b. So the next whole number is the result if its product with b does not exceed a.
    """
    rounded = op.Floor(op.Divide(a, b))
    following = op.Add(rounded, 1.0)
    fits = op.LessEqual(op.Multiply(following, op.Abs(b)), op.Multiply(a, op.Sign(b)))
    return op.Select(fits, following, rounded)
