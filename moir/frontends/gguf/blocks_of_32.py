"""Decoders of blocks of 32 numbers: their quantized values (codes) and scales.

    Q4_0     f16 d, 16 bytes            d · (code - 8)
    Q4_1     f16 d, f16 m, 16 bytes     d · code + m
    Q5_0     f16 d, u32, 16 bytes       d · (code - 16), the bits of the u32 are the highest ones of the codes
    Q5_1     f16 d, f16 m, u32, 16 bytes
    Q8_0     f16 d, 32 × i8
    IQ4_NL   f16 d, 16 bytes            d · table[code]
    MXFP4    u8 e, 16 bytes             2^(e - 127) · e2m1(code)

The 16 bytes have the codes of the first 16 numbers in their low halves, those of the others in their high halves. A
function takes blocks as bytes [rows …, blocks, bytes of a block].
"""

from __future__ import annotations

import numpy as np

from moir.dialects.memory_map import Array

NON_LINEAR = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.int8)
"""The values of the codes of IQ4_NL and IQ4_XS."""


def half_at(blocks: Array, offset: int) -> Array:
    """The f16 number at a byte offset of each block, [rows …, blocks, 1]."""
    return np.ascontiguousarray(blocks[..., offset : offset + 2]).view(np.float16)


def half(blocks: Array) -> Array:
    """The scale at the beginning of each block, f16 [rows …, blocks, 1]."""
    return half_at(blocks, 0)


def scale(blocks: Array) -> Array:
    """The scale at the beginning of each block, as f32 [rows …, blocks, 1]."""
    return half_at(blocks, 0).astype(np.float32)


def minimum(blocks: Array) -> Array:
    """The minimum after the scale of each block, as f32 [rows …, blocks, 1]."""
    return half_at(blocks, 2).astype(np.float32)


def exponents(blocks: Array) -> Array:
    """The scale of each MXFP4 block, as a byte of f8e8m0 [rows …, blocks, 1]."""
    return blocks[..., :1]


def low_and_high(stored: Array) -> Array:
    """Unpack bytes [… , n] to 4-bit values u8 [… , 2 n]: those of all low halves, then those of all high halves."""
    return np.concatenate([stored & 15, stored >> 4], -1)


def packed_low_and_high(stored: Array) -> Array:
    """The values of `low_and_high`, packed as in constants of the IR, the first of two in the low half: [… ,
    2, n / 2].
    """
    pairs = np.ascontiguousarray(stored).view(np.uint16)
    low = pairs & 0x000F | pairs >> 4 & 0x00F0
    high = pairs >> 4 & 0x000F | pairs >> 8 & 0x00F0
    return np.stack([low, high], -2).astype(np.uint8)


def _packed(stored: Array) -> Array:
    return packed_low_and_high(stored).reshape(*stored.shape[:-1], 1, 16)


def _with_fifth_bits(blocks: Array, offset: int) -> Array:
    """The 5-bit values u8 [rows …, blocks, 1, 32] whose highest bits are at a byte offset, the four others
    after them.
    """
    highest = np.unpackbits(np.ascontiguousarray(blocks[..., offset : offset + 4]), axis=-1, bitorder="little")
    return (low_and_high(blocks[..., offset + 4 :]) | highest << 4)[..., None, :]


def codes_q4_0(blocks: Array) -> Array:
    """The 4-bit quantized values of Q4_0 blocks minus 8, as i4 packed in pairs, u8 [rows …, blocks, 1, 16]."""
    return _packed(blocks[..., 2:]) ^ 0x88


def codes_q4_1(blocks: Array) -> Array:
    """The 4-bit quantized values of Q4_1 blocks, as u4 packed in pairs, u8 [rows …, blocks, 1, 16]."""
    return _packed(blocks[..., 4:])


def codes_q5_0(blocks: Array) -> Array:
    """The 5-bit quantized values of Q5_0 blocks minus 16, i8 [rows …, blocks, 1, 32]."""
    return _with_fifth_bits(blocks, 2).view(np.int8) - np.int8(16)


def codes_q5_1(blocks: Array) -> Array:
    """The 5-bit quantized values of Q5_1 blocks, u8 [rows …, blocks, 1, 32]."""
    return _with_fifth_bits(blocks, 4)


def codes_q8_0(blocks: Array) -> Array:
    """The 8-bit quantized values of Q8_0 blocks, i8 [rows …, blocks, 1, 32]."""
    return np.ascontiguousarray(blocks[..., None, 2:]).view(np.int8)


def codes_iq4_nl(blocks: Array) -> Array:
    """The entries of the table `NON_LINEAR` for the 4-bit values of IQ4_NL blocks, i8 [rows …, blocks, 1, 32]."""
    return NON_LINEAR[low_and_high(blocks[..., None, 2:])]


def codes_mxfp4(blocks: Array) -> Array:
    """The elements of MXFP4 blocks as f4e2m1 packed in pairs, u8 [rows …, blocks, 1, 16]."""
    return _packed(blocks[..., 1:])
