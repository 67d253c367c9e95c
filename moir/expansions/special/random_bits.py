"""Random bits: hashes of counters and keys, as in XLA, in unsigned integers of 32 bits.

Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011. The numbers are exactly those of XLA.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import ui32
from moir.expansions.special.wide_products import upper_product
from moir.rewriting.builder import OpBuilder

WORD = 32
THREEFRY_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
THREEFRY_PARITY = 0x1BD11BDA
PHILOX_FACTORS = (0xD2511F53, 0xCD9E8D57)
PHILOX_STEPS = (0x9E3779B9, 0xBB67AE85)
PHILOX_ROUNDS = 10

Words = Sequence[SSAValue]
"""Counters of several words: a tensor for each word, the lowest word first. All tensors have one shape."""


def word(op: OpBuilder, number: int) -> SSAValue:
    """A constant word."""
    return op.constant(np.asarray(number, np.uint32), ui32)


def shifted(op: OpBuilder, x: SSAValue, count: int) -> SSAValue:
    """A word, shifted right so that its lower bits are dropped."""
    return op.BitwiseRightShift(x, word(op, count))


def sum_with_carry(op: OpBuilder, a: SSAValue, b: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The sum of two words, and a carry of 1 where the sum exceeds a word.

    The carry is computed from the highest bits, since the runtime compares words as signed integers.
    """
    total = op.Add(a, b)
    carry = op.BitwiseOr(op.BitwiseAnd(a, b), op.BitwiseAnd(op.BitwiseOr(a, b), op.BitwiseNot(total)))
    return total, shifted(op, carry, WORD - 1)


def counted(op: OpBuilder, start: Words, number: SSAValue) -> list[SSAValue]:
    """A counter of several words, increased by words."""
    found: list[SSAValue] = []
    carry = number
    for each in start:
        total, carry = sum_with_carry(op, each, carry)
        found.append(total)
    return found


def _rotated(op: OpBuilder, x: SSAValue, distance: int) -> SSAValue:
    return op.BitwiseOr(op.BitwiseLeftShift(x, word(op, distance)), shifted(op, x, WORD - distance))


def threefry(op: OpBuilder, counter: Words, key: Words) -> list[SSAValue]:
    """The hash (two words) of counters and keys of two words: five times four rounds of an addition, a rotation and an
    exclusive or.
    """
    keys = [*key, op.BitwiseXor(op.BitwiseXor(key[0], key[1]), word(op, THREEFRY_PARITY))]
    a, b = (op.Add(each, own) for each, own in zip(counter, keys, strict=False))
    for turn in range(5):
        for distance in THREEFRY_ROTATIONS[turn % 2]:
            a = op.Add(a, b)
            b = op.BitwiseXor(_rotated(op, b, distance), a)
        a = op.Add(a, keys[(turn + 1) % 3])
        b = op.Add(op.Add(b, keys[(turn + 2) % 3]), word(op, turn + 1))
    return [a, b]


def philox(op: OpBuilder, counter: Words, key: Words) -> list[SSAValue]:
    """The hash (four words) of counters of four words and keys of two words: ten rounds of products."""
    words, keys = list(counter), list(key)
    for turn in range(PHILOX_ROUNDS):
        if turn:
            keys = [op.Add(each, word(op, step)) for each, step in zip(keys, PHILOX_STEPS, strict=True)]
        factors = [(words[place], word(op, factor)) for place, factor in zip((0, 2), PHILOX_FACTORS, strict=True)]
        (high, low), (other_high, other_low) = ((upper_product(op, *pair), op.Multiply(*pair)) for pair in factors)
        words = [
            op.BitwiseXor(op.BitwiseXor(other_high, words[1]), keys[0]),
            other_low,
            op.BitwiseXor(op.BitwiseXor(high, words[3]), keys[1]),
            low,
        ]
    return words
