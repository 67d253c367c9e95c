"""Codes of 4 and 2 bits in bytes: from the order of blocks to that of constants of the IR, and to one code a byte."""

from __future__ import annotations

import numpy as np

from moir.dialects.memory_map import Array


def halves_in_pairs(packed: Array) -> Array:
    """Bytes with code i in the low half of byte i, and code i + n in the high half -> bytes with codes 2i and 2i + 1.

    Args:
        packed: ui8 […, n], n even.
    """
    even, odd = packed[..., 0::2], packed[..., 1::2]
    return np.concatenate([even & 15 | odd << 4, even >> 4 | odd & 0xF0], -1)


def bytes_of_nibbles(packed: Array) -> Array:
    """The codes of the same bytes: ui8 […, n] -> ui8 […, 2n], the low halves first."""
    return np.concatenate([packed & 15, packed >> 4], -1)


def pairs_of_nibbles(codes: Array) -> Array:
    """Codes from 0 to 15 -> bytes with two codes each, the first in the low half: ui8 […, 2n] -> ui8 […, n]."""
    return codes[..., 0::2] | codes[..., 1::2] << 4


def quarters(packed: Array) -> Array:
    """Bytes with the codes i, i + n, i + 2n and i + 3n in byte i -> codes of 2 bits: ui8 […, n] -> ui8 […, 4, n]."""
    return np.stack([packed >> shift & 3 for shift in (0, 2, 4, 6)], -2)
