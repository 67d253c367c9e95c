"""Random bits: hashes of counters and keys, as in XLA, in unsigned integers of 32 bits.

Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011. The numbers are exactly those of XLA.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import ui32
from moir.lowering.stablehlo.wide_products import upper_product
from moir.rewriting.builder import OpBuilder

BITS = 32
THREEFRY_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
THREEFRY_PARITY = 0x1BD11BDA
PHILOX_FACTORS = (0xD2511F53, 0xCD9E8D57)
PHILOX_STEPS = (0x9E3779B9, 0xBB67AE85)
PHILOX_ROUNDS = 10

Uint32s = Sequence[SSAValue]
"""Counters or keys of several uint32: a sequence of tensors of one shape, the lowest bits first."""


def uint32(op: OpBuilder, value: int) -> SSAValue:
    """Build a constant scalar of type uint32."""
    return op.constant(np.asarray(value, np.uint32), ui32)


def shifted(op: OpBuilder, x: SSAValue, count: int) -> SSAValue:
    """A logical right shift of a uint32 by `count` bits."""
    return op.BitwiseRightShift(x, uint32(op, count))


def sum_with_carry(op: OpBuilder, a: SSAValue, b: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The sum of two uint32 modulo 2³², and the carry, 0 or 1.

    The carry is computed from the highest bits, without a comparison of uint32.
    """
    total = op.Add(a, b)
    carry = op.BitwiseOr(op.BitwiseAnd(a, b), op.BitwiseAnd(op.BitwiseOr(a, b), op.BitwiseNot(total)))
    return total, shifted(op, carry, BITS - 1)


def counted(op: OpBuilder, start: Uint32s, index: SSAValue) -> list[SSAValue]:
    """The counter `start` plus the uint32 `index`, with carries; a counter is several uint32, the lowest bits first."""
    limbs: list[SSAValue] = []
    carry = index
    for each in start:
        total, carry = sum_with_carry(op, each, carry)
        limbs.append(total)
    return limbs


def _rotated(op: OpBuilder, x: SSAValue, distance: int) -> SSAValue:
    return op.BitwiseOr(op.BitwiseLeftShift(x, uint32(op, distance)), shifted(op, x, BITS - distance))


def threefry(op: OpBuilder, counter: Uint32s, key: Uint32s) -> list[SSAValue]:
    """The Threefry hash of counters and keys of two uint32 each: two uint32.

    Five groups of four rounds, each an addition, a rotation and an exclusive or.
    """
    keys = [*key, op.BitwiseXor(op.BitwiseXor(key[0], key[1]), uint32(op, THREEFRY_PARITY))]
    a, b = (op.Add(each, own) for each, own in zip(counter, keys, strict=False))
    for turn in range(5):
        for distance in THREEFRY_ROTATIONS[turn % 2]:
            a = op.Add(a, b)
            b = op.BitwiseXor(_rotated(op, b, distance), a)
        a = op.Add(a, keys[(turn + 1) % 3])
        b = op.Add(op.Add(b, keys[(turn + 2) % 3]), uint32(op, turn + 1))
    return [a, b]


def philox(op: OpBuilder, counter: Uint32s, key: Uint32s) -> list[SSAValue]:
    """The Philox hash, four uint32, of counters of four uint32 and keys of two uint32, by ten rounds of products."""
    counters, keys = list(counter), list(key)
    for turn in range(PHILOX_ROUNDS):
        if turn:
            keys = [op.Add(each, uint32(op, step)) for each, step in zip(keys, PHILOX_STEPS, strict=True)]
        factors = [(counters[index], uint32(op, factor)) for index, factor in zip((0, 2), PHILOX_FACTORS, strict=True)]
        (high, low), (other_high, other_low) = ((upper_product(op, *pair), op.Multiply(*pair)) for pair in factors)
        counters = [
            op.BitwiseXor(op.BitwiseXor(other_high, counters[1]), keys[0]),
            other_low,
            op.BitwiseXor(op.BitwiseXor(high, counters[3]), keys[1]),
            low,
        ]
    return counters
