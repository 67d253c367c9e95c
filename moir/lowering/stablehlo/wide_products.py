"""Products of integers that need twice the bits of their factors."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import describe
from moir.dialects.shapes import element_of
from moir.rewriting.builder import OpBuilder


def upper_product(op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """The upper half of the bits of x · y, by products of halves; both have one type of integers of 32 or 64 bits.

    Source: Warren, "Hacker's Delight", 2013, section 8-2.
    """
    half = describe(element_of(x)).bits // 2
    bits = op.constant_like((1 << half) - 1, x)

    def lower(value: SSAValue) -> SSAValue:
        return op.BitwiseAnd(value, bits)

    def upper(value: SSAValue) -> SSAValue:
        return op.BitwiseRightShift(value, op.constant_like(half, x))

    low, high, other_low, other_high = lower(x), upper(x), lower(y), upper(y)
    # The product of the lower halves is unsigned, so the shift must be a logical one.
    middle = op.Add(op.Multiply(high, other_low), lower(upper(op.Multiply(low, other_low))))
    carried = op.Add(lower(middle), op.Multiply(low, other_high))
    return op.Add(op.Add(op.Multiply(high, other_high), upper(middle)), upper(carried))
