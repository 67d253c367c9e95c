"""Decoders of blocks of 256 numbers in groups, whose scales and minima have few bits.

Q2_K     16 × u4 s and u4 m, 64 bytes, f16 d, f16 dmin             d · s · code - dmin · m, groups of 16
Q3_K     32 bytes, 64 bytes, 16 × 6 bits s, f16 d                  d · (s - 32) · (code - 4), groups of 16
Q4_K     f16 d, f16 dmin, 8 × 6 bits s and m, 128 bytes            d · s · code - dmin · m, groups of 32
Q5_K     the same with 32 bytes of highest bits before the 128
Q6_K     128 bytes, 64 bytes, 16 × i8 s, f16 d                     d · s · (code - 32), groups of 16
Q8_K     f32 d, 256 × i8, 16 sums                                  d · code
IQ4_XS   f16 d, 8 × 6 bits s, 128 bytes                            d · (s - 32) · table[code], groups of 32

A function takes blocks as bytes [rows …, blocks, bytes of a block]; codes are the quantized values of a block.
"""

from __future__ import annotations

import numpy as np

from moir.dialects.memory_map import Array
from moir.frontends.gguf.blocks_of_32 import NON_LINEAR, half_at, low_and_high, packed_low_and_high
from moir.frontends.quantized_checkpoints.codes import packed


def _codes_of_two_bits(stored: Array) -> Array:
    """Unpack bytes [… , 64] to 2-bit values u8 [… , 16, 16]: of each half of the bytes first all the lowest bits, and
    so on.
    """
    halves = stored.reshape(*stored.shape[:-1], 2, 1, 32)
    shifts = np.array([0, 2, 4, 6], np.uint8).reshape(4, 1)
    return (halves >> shifts & 3).reshape(*stored.shape[:-1], 16, 16)


def codes_q2_k(blocks: Array, bits: int = 2) -> Array:
    """The quantized values of Q2_K blocks, as packed u2, or u4 if `bits` is 4: [… , 16 groups, bytes of 16 values]."""
    return packed(_codes_of_two_bits(blocks[..., 16:80]), bits)


def scale_q2_k(blocks: Array) -> Array:
    """The scales of the groups of Q2_K blocks, f32 [… , 16]."""
    return half_at(blocks, 80) * (blocks[..., :16] & 15).astype(np.float32)


def minimum_q2_k(blocks: Array) -> Array:
    """The minima of the groups of Q2_K blocks, f32 [… , 16]."""
    return -half_at(blocks, 82) * (blocks[..., :16] >> 4).astype(np.float32)


def codes_q3_k(blocks: Array) -> Array:
    """The 3-bit quantized values of Q3_K blocks minus 4, as packed i4 [… , 16, 8]; the highest bit of each is stored
    apart.
    """
    shifts = np.arange(8, dtype=np.uint8).reshape(8, 1)
    highest = (blocks[..., None, :32] >> shifts & 1).reshape(*blocks.shape[:-1], 16, 16)
    return packed((_codes_of_two_bits(blocks[..., 32:96]) | highest << 2) - np.uint8(4) & np.uint8(15), 4)


def scale_q3_k(blocks: Array) -> Array:
    """The scales of the groups of Q3_K blocks, f32 [… , 16]."""
    stored = blocks[..., 96:108]
    upper = np.concatenate([stored[..., 8:] >> shift & 3 for shift in (0, 2, 4, 6)], -1)
    codes = low_and_high(stored[..., :8]) | upper << 4
    return half_at(blocks, 108) * (codes.astype(np.float32) - np.float32(32))


def _codes_of_four_bits(stored: Array) -> Array:
    """Repack bytes [… , 128] to packed u4 [… , 8, 16]: of each 32 bytes the values in the low halves, then the high
    ones.
    """
    return packed_low_and_high(stored.reshape(*stored.shape[:-1], 4, 32)).reshape(*stored.shape[:-1], 8, 16)


def codes_q4_k(blocks: Array) -> Array:
    """The quantized values of Q4_K blocks, as packed u4 [… , 8, 16]."""
    return _codes_of_four_bits(blocks[..., 16:])


def codes_q5_k(blocks: Array) -> Array:
    """The 5-bit quantized values of Q5_K blocks, u8 [… , 8, 32]; the highest bit of each is stored apart."""
    shifts = np.arange(8, dtype=np.uint8).reshape(8, 1)
    highest = blocks[..., None, 16:48] >> shifts & 1
    stored = blocks[..., 48:].reshape(*blocks.shape[:-1], 4, 32)
    return low_and_high(stored).reshape(*blocks.shape[:-1], 8, 32) | highest << 4


def _six_bits(blocks: Array, first: int, shift: int) -> Array:
    """Unpack the eight 6-bit scales, or the eight 6-bit minima, of Q4_K and Q5_K blocks to f32 [… , 8].

    Args:
        blocks: the blocks, whose bytes 4 to 15 have these integers.
        first: the byte with the first of them; the two highest bits of the last four are in the highest of these bytes.
        shift: the bit index of the lowest four bits of the last four in the bytes from 12 on.
    """
    words = np.ascontiguousarray(blocks[..., 4:16]).view(np.uint32)
    word, last = words[..., first // 4 - 1], words[..., 2]
    upper = word >> np.uint32(2) & np.uint32(0x30303030)
    codes = np.stack([word & np.uint32(0x3F3F3F3F), last >> np.uint32(shift) & np.uint32(0x0F0F0F0F) | upper], -1)
    return codes.view(np.uint8).astype(np.float32)


def scale_q4_k(blocks: Array) -> Array:
    """The scales of the groups of Q4_K and Q5_K blocks, f32 [… , 8]."""
    return half_at(blocks, 0) * _six_bits(blocks, 4, 0)


def minimum_q4_k(blocks: Array) -> Array:
    """The minima of the groups of Q4_K and Q5_K blocks, f32 [… , 8]."""
    return -half_at(blocks, 2) * _six_bits(blocks, 8, 4)


def codes_q6_k(blocks: Array) -> Array:
    """The 6-bit quantized values of Q6_K blocks minus 32, i8 [… , 16, 16]; the two highest bits of each are stored
    apart.
    """
    low = blocks[..., :128].reshape(*blocks.shape[:-1], 2, 64)
    shifts = np.array([0, 2, 4, 6], np.uint8).reshape(4, 1)
    upper = (blocks[..., 128:192].reshape(*blocks.shape[:-1], 2, 1, 32) >> shifts & 3).reshape(*blocks.shape[:-1], 2, 128)
    codes = (low_and_high(low) | upper << 4).view(np.int8) - np.int8(32)
    return codes.reshape(*blocks.shape[:-1], 16, 16)


def scale_q6_k(blocks: Array) -> Array:
    """The scales of the groups of Q6_K blocks, f32 [… , 16]."""
    return half_at(blocks, 208) * np.ascontiguousarray(blocks[..., 192:208]).view(np.int8).astype(np.float32)


def codes_q8_k(blocks: Array) -> Array:
    """The 8-bit quantized values of Q8_K blocks, i8 [… , 1, 256]."""
    return np.ascontiguousarray(blocks[..., None, 4:260]).view(np.int8)


def scale_q8_k(blocks: Array) -> Array:
    """The scales of Q8_K blocks, f32 [… , 1]."""
    return np.ascontiguousarray(blocks[..., :4]).view(np.float32)


def codes_iq4_xs(blocks: Array) -> Array:
    """The entries of the table `NON_LINEAR` for the 4-bit values of IQ4_XS blocks, i8 [… , 8, 32]."""
    stored = blocks[..., 8:].reshape(*blocks.shape[:-1], 8, 16)
    return NON_LINEAR[low_and_high(stored)]


def scale_iq4_xs(blocks: Array) -> Array:
    """The scales of the groups, f32 [… , 8]: 6-bit integers, the two highest bits stored apart, times an f16 scale."""
    pairs = blocks[..., 4:8]
    low = np.stack([pairs & 15, pairs >> 4], -1).reshape(*blocks.shape[:-1], 8)
    shifts = np.array([0, 2, 4, 6], np.uint8)
    high = (blocks[..., 2:4, None] >> shifts & 3).reshape(*blocks.shape[:-1], 8)
    return half_at(blocks, 0) * ((low | high << 4).astype(np.float32) - np.float32(32))
