"""Integers written as decimal text."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si32
from moir.expansions.strings.texts import Texts, concatenated, constant_texts, flat, int32, shape_value
from moir.rewriting.builder import OpBuilder

LOW_DIGITS = 4
DIGITS = 10
"""The number of digits of the largest i32, the type in which digits are computed."""


def written(op: OpBuilder, x: SSAValue, width: int, zeros: bool) -> SSAValue:
    """Integers as decimal strings of at least `width` characters, padded on the left with zeros or blanks."""
    number_of = flat(op, op.convert(x, si32))
    is_negative = op.Less(number_of, int32(0))
    powers = int32(10 ** np.arange(DIGITS - 1, -1, -1))
    # There is one more negative integer than positive ones, so the digits are computed from negative numbers.
    below = op.Select(is_negative, number_of, op.Negative(number_of))
    high, low = halves(op, below)
    quotients = op.Concat(
        *(op.Divide(op.Unsqueeze(half, [1]), part, m_pythondiv=False) for half, part in ((high, powers[4:]), (low, powers[6:]))), axis=1
    )
    digits = op.FloorMod(quotients, int32(10))
    has_high = op.NotEqual(op.Unsqueeze(high, [1]), int32(0))
    is_last = op.LogicalOr(np.arange(DIGITS) == DIGITS - 1, op.LogicalAnd(has_high, np.arange(DIGITS) >= DIGITS - LOW_DIGITS))
    is_written = op.LogicalOr(op.NotEqual(quotients, int32(0)), is_last)
    lengths = op.Add(op.ReduceSum(op.convert(is_written, si32), [1], keep_dims=True), op.Unsqueeze(op.convert(is_negative, si32), [1]))
    # The pieces of each text: blanks, sign, zeros, digits.
    symbols = constant_texts(op, [b"0123456789", b"-", (b"0" if zeros else b" ") * width]).symbols
    begins = op.Select(is_written, digits, int32(0))
    missing = op.Maximum(op.Subtract(int32(width), lengths), int32(0))
    sign = [int32(10), op.Add(op.Unsqueeze(op.convert(is_negative, si32), [1]), int32(10))]
    filling = [int32(11), op.Add(missing, int32(11))]
    front = [sign, filling] if zeros else [filling, sign]
    zero = op.Multiply(missing, int32(0))
    starts = op.Concat(*(op.Add(each[0], zero) if not isinstance(each[0], SSAValue) else each[0] for each in front), begins, axis=1)
    stops = op.Concat(*(each[1] for each in front), op.Add(begins, op.convert(is_written, si32)), axis=1)
    return concatenated(op, Texts(starts, stops, symbols), shape_value(op, x))


def halves(op: OpBuilder, below: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Split the absolute values of `below`, an i32 tensor without positive elements, into a · 10000 + b with
    0 ≤ b < 10000; returns a and b.

    A runtime may compute quotients of i32 in f32, whose result may be off by a few units: the remainder by a rounded
    quotient is small enough to be exact in f32, and corrects it.
    """
    almost = op.Divide(below, int32(10**LOW_DIGITS), m_pythondiv=False)
    rest = op.Subtract(op.Multiply(almost, int32(10**LOW_DIGITS)), below)
    low = op.FloorMod(rest, int32(10**LOW_DIGITS))
    high = op.Subtract(op.Divide(op.Subtract(rest, low), int32(10**LOW_DIGITS), m_pythondiv=False), almost)
    return high, low
