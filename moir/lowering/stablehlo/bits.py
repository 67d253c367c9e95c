"""Shifts, counts of bits, and the bits of floats as integers.

    %y = stablehlo.bitcast_convert(%x) : (tensor<4xf32>) -> tensor<4xi32>
->  sign · 2³¹ + exponent · 2²³ + mantissa, where the exponent is a place among the powers of 2
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import INTEGER_TYPES, bf16, describe, f16, f32, si8, si16, si32, si64, to_numpy, ui8, ui16, ui32, ui64
from moir.dialects.shapes import element_of
from moir.expansions.quotients import is_not_negative
from moir.expansions.special.wide_products import upper_product
from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.random import words_of_state
from moir.lowering.stablehlo.table import stablehlo
from moir.rewriting.builder import OpBuilder

MANTISSA = 23
"""Bits of the mantissa of f32."""

BIAS = 127
"""The bias of the exponent of f32."""

SIGN = -(2**31)
NOT_A_NUMBER = 0x7FC00000
NOT_A_HALF = 0x7E00
SIGNED: Mapping[Attribute, Attribute] = {ui8: si8, ui16: si16, ui32: si32, ui64: si64}
"""The type with a sign for each type of integers without one."""

HALVED = {si16: si32, ui16: ui32}
"""The type of 32 bits for each type of 16 bits: bf16 has the upper half of the bits of f32."""


def _bits(value: SSAValue) -> int:
    return describe(element_of(value)).bits


def _is_unsigned(value: SSAValue) -> bool:
    return describe(element_of(value)).xml.startswith("u")


def _known_counts(op: OpBuilder, counts: SSAValue) -> tuple[int, int] | None:
    """The smallest and the largest count of a shift, where they are known."""
    known = op.known.constant(counts)
    return (int(known.min()), int(known.max())) if known is not None and known.size else None


def _within(op: OpBuilder, found: SSAValue, x: SSAValue, counts: SSAValue) -> SSAValue:
    """A shifted value, and 0 for a count of all bits or more."""
    known = _known_counts(op, counts)
    if known is not None and known[0] >= 0 and known[1] < _bits(x):
        return found
    inside = op.Less(counts, _bits(x))
    if not _is_unsigned(counts):
        inside = op.LogicalAnd(op.GreaterEqual(counts, 0), inside)
    # A mask: the runtime selects among integers as floats.
    return op.BitwiseAnd(found, op.Subtract(0, op.convert(inside, element_of(x))))


def shifted_left(op: OpBuilder, x: SSAValue, counts: SSAValue) -> SSAValue:
    """x · 2ⁿ"""
    return _within(op, op.BitwiseLeftShift(x, counts), x, counts)


def shifted_right(op: OpBuilder, x: SSAValue, counts: SSAValue) -> SSAValue:
    """x / 2ⁿ, rounded down; copies of the highest bit enter on the left, for integers without a sign, too."""
    amounts = op.Minimum(counts, _bits(x) - 1)
    if (signed := SIGNED.get(element_of(x))) is None:
        return op.BitwiseRightShift(x, amounts)
    return op.convert(op.BitwiseRightShift(op.convert(x, signed), op.convert(amounts, signed)), element_of(x))


def shifted_logically(op: OpBuilder, x: SSAValue, counts: SSAValue) -> SSAValue:
    """The bits moved to the right; zeros enter on the left, for negative numbers, too."""
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
    """stablehlo.shift_left(a, b) -> opset15.BitwiseLeftShift(a, b), and 0 for counts of all bits"""
    if element_of(lhs) not in INTEGER_TYPES:
        node.fail("it is not defined for truth values")
    if node.op.KIND == "shift_right_logical" and element_of(lhs) == si64:
        return _shifted_double_word(node, op, lhs, rhs)
    return SHIFTS[node.op.KIND](op, lhs, rhs)


def _shifted_double_word(node: LoweringNode, op: OpBuilder, x: SSAValue, counts: SSAValue) -> SSAValue:
    """Integers of 64 bits with a sign moved to the right, if the results fit into the 32 bits of the runtime.

    A number of 32 bits has copies of its sign in all higher bits. So more than 32 places leave ones or zeros.
    """
    known, constant = _known_counts(op, counts), op.known.constant(x)
    if known == (0, 0):
        return x
    if known is not None and known[0] > 32:
        ones = op.BitwiseNot(op.BitwiseLeftShift(op.constant_like(-1, x), op.Subtract(64, op.Minimum(counts, 64))))
        return op.BitwiseAnd(op.BitwiseRightShift(x, op.constant_like(31, x)), ones)
    if known is None or known[0] < 0 or not (is_not_negative(op, x) if constant is None else (constant >= 0).all()):
        node.fail(
            "the runtime computes with integers of 32 bits, which do not hold what it makes of negative integers of 64 bits",
            hint="shift integers of 32 bits, or integers without a sign",
        )
    return op.BitwiseRightShift(x, op.Minimum(counts, 31))


# Counts


def _as_word(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """Integers in 32 bits, with zeros above their own."""
    bits = _bits(x)
    if bits > 32:
        node.fail("the runtime computes with integers of 32 bits", hint="convert the numbers to 32 bits before it")
    word = op.convert(x, si32)
    return word if bits == 32 else op.BitwiseAnd(word, (1 << bits) - 1)


def population(op: OpBuilder, word: SSAValue) -> SSAValue:
    """The number of ones in integers of 32 bits: sums of neighbouring fields of 1, 2, 4, 8 and 16 bits."""

    def field(value: SSAValue, distance: int, mask: int) -> SSAValue:
        return op.BitwiseAnd(op.BitwiseRightShift(value, op.constant(distance, si32)), mask)

    word = op.Subtract(word, field(word, 1, 0x55555555))
    word = op.Add(op.BitwiseAnd(word, 0x33333333), field(word, 2, 0x33333333))
    word = op.BitwiseAnd(op.Add(word, field(word, 4, 0x0FFFFFFF)), 0x0F0F0F0F)
    word = op.Add(word, field(word, 8, 0x00FFFFFF))
    return op.BitwiseAnd(op.Add(word, field(word, 16, 0xFFFF)), 0x3F)


@stablehlo.lowers("popcnt")
def popcnt(node: LoweringNode, op: OpBuilder, operand: SSAValue) -> SSAValue:
    """stablehlo.popcnt(x) -> sums of fields of bits"""
    return op.convert(population(op, _as_word(node, op, operand)), element_of(operand))


@stablehlo.lowers("count_leading_zeros")
def count_leading_zeros(node: LoweringNode, op: OpBuilder, operand: SSAValue) -> SSAValue:
    """stablehlo.count_leading_zeros(x) -> the width minus the number of ones, after each one is copied to all
    positions to its right
    """
    word, bits = _as_word(node, op, operand), _bits(operand)
    for distance in (1, 2, 4, 8, 16):
        word = op.BitwiseOr(word, shifted_logically(op, word, op.constant(distance, si32)))
    return op.convert(op.Subtract(bits, population(op, word)), element_of(operand))


# Floats and integers


def _powers() -> tuple[np.ndarray[tuple[int], np.dtype[np.float32]], np.ndarray[tuple[int], np.dtype[np.float32]]]:
    """For each exponent field, two factors whose product is 2 to the power of the field minus the bias; each factor is
    a normal number.
    """
    exponents = np.arange(255) - BIAS
    halves = exponents // 2
    return np.exp2(halves).astype(np.float32), np.exp2(exponents - halves).astype(np.float32)


def float_of_bits(op: OpBuilder, word: SSAValue) -> SSAValue:
    """The f32 whose bits an i32 has; numbers below 2⁻¹²⁶ are 0, as in the runtime."""
    magnitude = op.BitwiseAnd(word, 0x7FFFFFFF)
    field = op.BitwiseRightShift(magnitude, op.constant(MANTISSA, si32))
    mantissa = op.convert(op.BitwiseAnd(magnitude, (1 << MANTISSA) - 1), f32)
    value = op.Add(op.Multiply(mantissa, 2.0**-MANTISSA), 1.0)
    first, second = (np.append(factor, np.float32(np.inf)) for factor in _powers())
    first[0] = 0.0
    for factors in (first, second):
        value = op.Multiply(value, op.Gather(op.constant(factors), field, 0))
    is_nan = op.Greater(magnitude, 0x7F800000)
    value = op.Select(is_nan, op.constant_like(np.nan, value), value)
    return op.Select(op.Less(word, 0), op.Negative(value), value)


def bits_of_float(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The bits of an f32 as an i32."""
    magnitude = op.Abs(x)
    bounds = np.append(np.exp2(np.arange(1, 255) - BIAS), np.inf).astype(np.float32)
    field = op.Bucketize(magnitude, op.constant(bounds), with_right_bound=False, output_type=si32)
    first, second = (np.append(1 / factor, np.float32(0)).astype(np.float32) for factor in _powers())
    for factors in (first, second):
        magnitude = op.Multiply(magnitude, op.Gather(op.constant(factors), field, 0))
    mantissa = op.convert(op.Multiply(op.Subtract(magnitude, 1.0), 2.0**MANTISSA), si32)
    is_normal = op.LogicalAnd(op.Greater(field, 0), op.Less(field, 255))
    mantissa = op.BitwiseAnd(mantissa, _all_bits_where(op, is_normal))
    word = op.BitwiseOr(op.BitwiseLeftShift(field, op.constant(MANTISSA, si32)), mantissa)
    is_negative = op.LogicalOr(op.Less(x, 0.0), op.Less(op.Divide(1.0, x), 0.0))
    word = op.BitwiseOr(word, op.BitwiseAnd(_all_bits_where(op, is_negative), SIGN))
    is_nan = _all_bits_where(op, op.NotEqual(x, x))
    return op.BitwiseOr(op.BitwiseAnd(word, op.BitwiseNot(is_nan)), op.BitwiseAnd(is_nan, NOT_A_NUMBER))


HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
"""The f16 of all 2¹⁶ patterns of bits."""

INFINITE_HALF = 0x7C00
"""The bits of infinity in f16; those of finite numbers without a sign are less, in the order of the numbers."""


def half_of_bits(op: OpBuilder, bits: SSAValue) -> SSAValue:
    """The f16 whose bits an integer of 16 bits has."""
    return op.Gather(op.constant(HALVES), op.BitwiseAnd(op.convert(bits, si32), 0xFFFF), 0)


def bits_of_half(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The bits of an f16 as an i32 with the sign of a number of 16 bits."""
    wide = op.convert(x, f32)
    bounds = HALVES[1 : INFINITE_HALF + 1].astype(np.float32)
    word = op.Bucketize(op.Abs(wide), op.constant(bounds), with_right_bound=False, output_type=si32)
    is_negative = op.LogicalOr(op.Less(wide, 0.0), op.Less(op.Divide(1.0, wide), 0.0))
    word = op.BitwiseOr(word, op.BitwiseAnd(_all_bits_where(op, is_negative), -(1 << 15)))
    is_nan = _all_bits_where(op, op.NotEqual(wide, wide))
    return op.BitwiseOr(op.BitwiseAnd(word, op.BitwiseNot(is_nan)), op.BitwiseAnd(is_nan, NOT_A_HALF))


def _all_bits_where(op: OpBuilder, condition: SSAValue) -> SSAValue:
    """A mask of i32: all bits where a condition holds, else 0. The runtime's Select would round large integers."""
    return op.Subtract(0, op.convert(condition, si32))


@stablehlo.lowers("chlo.mulhi")
def upper_half_of_product(op: OpBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """stablehlo.chlo.mulhi(x, y) -> the upper half of the bits of x · y, from products of halves

    Integers of the own width are enough, where the decomposition of the composite has such of twice the width.
    """
    element = element_of(lhs)
    bits = describe(element).bits
    if bits >= 32:
        return upper_product(op, lhs, rhs)
    wide = ui32 if _is_unsigned(lhs) else si32
    product = op.Multiply(op.convert(lhs, wide), op.convert(rhs, wide))
    return op.convert(op.BitwiseRightShift(product, op.constant_like(bits, product)), element)


@stablehlo.lowers("bitcast_convert")
def bitcast_convert(node: LoweringNode, op: OpBuilder, operand: SSAValue) -> SSAValue:
    """stablehlo.bitcast_convert(x) -> a constant, a conversion of integers, or sums of exponents and mantissas"""
    source, target = element_of(operand), element_of(node.op.results[0])
    if (words := words_of_state(node, operand)) is not None:
        return words
    if source == target:
        return operand
    known = node.constant(0)
    if known is not None and to_numpy(target).itemsize == known.dtype.itemsize:
        return op.constant(known.view(to_numpy(target)), target)
    if _bits(operand) == describe(target).bits:
        if source in INTEGER_TYPES and target in INTEGER_TYPES:
            return op.convert(operand, target)
        if source == f32 and target in (si32, ui32):
            return op.convert(bits_of_float(op, operand), target)
        if source in (si32, ui32) and target == f32:
            return float_of_bits(op, op.convert(operand, si32))
        if source == bf16 and target in HALVED:
            upper = op.BitwiseRightShift(bits_of_float(op, op.convert(operand, f32)), op.constant(16, si32))
            return op.convert(upper, target)
        if source in HALVED and target == bf16:
            upper = op.BitwiseLeftShift(op.convert(operand, si32), op.constant(16, si32))
            return op.convert(float_of_bits(op, upper), bf16)
        if source == f16 and target in HALVED:
            return op.convert(bits_of_half(op, operand), target)
        if source in HALVED and target == f16:
            return half_of_bits(op, operand)
    return node.fail(
        f"the bits of {describe(source).xml} as {describe(target).xml} are not computed",
        hint="those of f32, f16 and bf16 are: convert before this operation, or cut the model there",
    )
