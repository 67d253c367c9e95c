"""Shifts, counts of bits, and the upper halves of products.

    %n = stablehlo.shift_left(%x, %c)
->  opset15.BitwiseLeftShift(%x, %c), and 0 where %c is not less than the width of the integers
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import INTEGER_TYPES, describe, si8, si16, si32, si64, ui8, ui16, ui32, ui64
from moir.dialects.shapes import element_of
from moir.expansions.quotients import is_not_negative
from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.table import stablehlo
from moir.lowering.stablehlo.wide_products import upper_product
from moir.rewriting.builder import OpBuilder

SIGNED: Mapping[Attribute, Attribute] = {ui8: si8, ui16: si16, ui32: si32, ui64: si64}
"""The signed type for each unsigned type of integers."""


def _bits(value: SSAValue) -> int:
    return describe(element_of(value)).bits


def _is_unsigned(value: SSAValue) -> bool:
    return describe(element_of(value)).xml.startswith("u")


def _known_counts(op: OpBuilder, counts: SSAValue) -> tuple[int, int] | None:
    """The smallest and the largest count of a shift; None if the counts are not constant."""
    known = op.known.constant(counts)
    return (int(known.min()), int(known.max())) if known is not None and known.size else None


def _within(op: OpBuilder, shifted: SSAValue, x: SSAValue, counts: SSAValue) -> SSAValue:
    """`shifted`, the result of a shift of x by `counts`, with 0 where the count is not less than the number of bits."""
    known = _known_counts(op, counts)
    if known is not None and known[0] >= 0 and known[1] < _bits(x):
        return shifted
    inside = op.Less(counts, _bits(x))
    if not _is_unsigned(counts):
        inside = op.LogicalAnd(op.GreaterEqual(counts, 0), inside)
    return op.BitwiseAnd(shifted, op.Subtract(0, op.convert(inside, element_of(x))))


def shifted_left(op: OpBuilder, x: SSAValue, counts: SSAValue) -> SSAValue:
    """A left shift, x · 2ⁿ for n = counts."""
    return _within(op, op.BitwiseLeftShift(x, counts), x, counts)


def shifted_right(op: OpBuilder, x: SSAValue, counts: SSAValue) -> SSAValue:
    """An arithmetic right shift, x / 2ⁿ rounded down, of signed and unsigned integers: copies of the highest bit enter
    on the left.
    """
    amounts = op.Minimum(counts, _bits(x) - 1)
    if (signed := SIGNED.get(element_of(x))) is None:
        return op.BitwiseRightShift(x, amounts)
    return op.convert(op.BitwiseRightShift(op.convert(x, signed), op.convert(amounts, signed)), element_of(x))


def shifted_logically(op: OpBuilder, x: SSAValue, counts: SSAValue) -> SSAValue:
    """A logical right shift of signed and unsigned integers: zeros enter on the left."""
    bits = _bits(x)
    if _is_unsigned(x):
        return _within(op, op.BitwiseRightShift(x, counts), x, counts)
    known = _known_counts(op, counts)
    amounts = counts if known is not None and known[0] >= 0 and known[1] < bits else op.Maximum(op.Minimum(counts, bits - 1), 0)
    # The copies of the sign that an arithmetic shift leaves in the upper bits are cleared.
    mask = op.BitwiseNot(op.BitwiseLeftShift(op.constant_like(-2, x), op.Subtract(bits - 1, amounts)))
    return _within(op, op.BitwiseAnd(op.BitwiseRightShift(x, amounts), mask), x, counts)


SHIFTS: Mapping[str, Callable[[OpBuilder, SSAValue, SSAValue], SSAValue]] = {
    "shift_left": shifted_left,
    "shift_right_arithmetic": shifted_right,
    "shift_right_logical": shifted_logically,
}


@stablehlo.lowers(*SHIFTS)
def shift(node: LoweringNode, op: OpBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """stablehlo.shift_left(a, b) -> opset15.BitwiseLeftShift(a, b), and 0 for counts of all bits

    Likewise shift_right_arithmetic and shift_right_logical.
    """
    if element_of(lhs) not in INTEGER_TYPES:
        node.fail("it is not defined for truth values")
    if node.op.KIND == "shift_right_logical" and element_of(lhs) == si64:
        return _shifted_int64(node, op, lhs, rhs)
    return SHIFTS[node.op.KIND](op, lhs, rhs)


def _shifted_int64(node: LoweringNode, op: OpBuilder, x: SSAValue, counts: SSAValue) -> SSAValue:
    """A logical right shift of signed integers of 64 bits: zeros enter on the left."""
    known, constant = _known_counts(op, counts), op.known.constant(x)
    if known is None:
        node.fail("the counts by which it shifts integers of 64 bits are computed", hint="shift integers of 32 bits, or without a sign")
    if known[0] >= 0 and (is_not_negative(op, x) if constant is None else (constant >= 0).all()):
        return op.BitwiseRightShift(x, op.Minimum(counts, 63)) if known[1] else x
    return shifted_logically(op, x, counts) if known != (0, 0) else x


# Counts


def _int32_parts(op: OpBuilder, x: SSAValue) -> list[SSAValue]:
    """Split integers into i32, the lowest bits first; narrower integers are zero-extended."""
    bits, integers = _bits(x), op.convert(x, si32)
    if bits > 32:
        return [integers, op.convert(op.BitwiseRightShift(x, op.constant_like(32, x)), si32)]
    return [integers if bits == 32 else op.BitwiseAnd(integers, (1 << bits) - 1)]


def population(op: OpBuilder, integers: SSAValue) -> SSAValue:
    """The number of bits that are 1 in integers of 32 bits, by sums of neighbouring fields of 1, 2, 4, 8 and
    16 bits.
    """

    def field(value: SSAValue, distance: int, mask: int) -> SSAValue:
        return op.BitwiseAnd(op.BitwiseRightShift(value, op.constant(distance, si32)), mask)

    integers = op.Subtract(integers, field(integers, 1, 0x55555555))
    integers = op.Add(op.BitwiseAnd(integers, 0x33333333), field(integers, 2, 0x33333333))
    integers = op.BitwiseAnd(op.Add(integers, field(integers, 4, 0x0FFFFFFF)), 0x0F0F0F0F)
    integers = op.Add(integers, field(integers, 8, 0x00FFFFFF))
    return op.BitwiseAnd(op.Add(integers, field(integers, 16, 0xFFFF)), 0x3F)


@stablehlo.lowers("popcnt")
def popcnt(op: OpBuilder, operand: SSAValue) -> SSAValue:
    """stablehlo.popcnt(x) -> sums of fields of bits"""
    return op.convert(reduce(op.Add, [population(op, integers) for integers in _int32_parts(op, operand)]), element_of(operand))


@stablehlo.lowers("count_leading_zeros")
def count_leading_zeros(op: OpBuilder, operand: SSAValue) -> SSAValue:
    """stablehlo.count_leading_zeros(x) -> the width minus the number of ones, after each one is copied to all
    positions to its right
    """
    lowest, *upper = _int32_parts(op, operand)
    zeros = _leading_zeros(op, lowest, min(_bits(operand), 32))
    for integers in upper:
        zeros = op.Add(_leading_zeros(op, integers, 32), op.Select(op.Equal(integers, 0), zeros, op.constant_like(0, zeros)))
    return op.convert(zeros, element_of(operand))


def _leading_zeros(op: OpBuilder, integers: SSAValue, bits: int) -> SSAValue:
    """The number of leading zeros of integers of `bits` bits, in 32 bits."""
    for distance in (1, 2, 4, 8, 16):
        integers = op.BitwiseOr(integers, shifted_logically(op, integers, op.constant(distance, si32)))
    return op.Subtract(bits, population(op, integers))


@stablehlo.lowers("chlo.mulhi")
def upper_half_of_product(op: OpBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """stablehlo.chlo.mulhi(x, y) -> the upper half of the bits of x · y, from products of halves

    It needs integers of the operands' width only; the decomposition of the composite has integers of twice the width.
    """
    element = element_of(lhs)
    bits = describe(element).bits
    if bits >= 32:
        return upper_product(op, lhs, rhs)
    wide = ui32 if _is_unsigned(lhs) else si32
    product = op.Multiply(op.convert(lhs, wide), op.convert(rhs, wide))
    return op.convert(op.BitwiseRightShift(product, op.constant_like(bits, product)), element)
