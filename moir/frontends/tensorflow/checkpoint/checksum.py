"""CRC-32C, which TensorFlow's checkpoint files carry in a masked form.

Source: RFC 3720, section 12.1 (the polynomial), and LevelDB's table format (the mask).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

_POLYNOMIAL = 0x82F63B78
"""The Castagnoli polynomial with its bits reversed."""
_MASK_OFFSET = 0xA282EAD8


@cache
def _table() -> tuple[int, ...]:
    """The checksums of the bytes 0 to 255, each without the initial and final inversion: those of a ^ b are the
    exclusive or of those of a and b.
    """
    rows = [0]
    for bit in range(8):
        checksum = 1 << bit
        for _ in range(8):
            checksum = checksum >> 1 ^ (_POLYNOMIAL if checksum & 1 else 0)
        rows += [checksum ^ row for row in rows]
    return tuple(rows)


def crc32c(data: Iterable[int]) -> int:
    """The checksum of a sequence of bytes."""
    table = _table()
    state = 0xFFFFFFFF
    for byte in data:
        state = state >> 8 ^ table[(state ^ byte) & 0xFF]
    return state ^ 0xFFFFFFFF


def masked(checksum: int) -> int:
    """The masked form of a checksum, a rotation plus a constant, which is stored beside the data."""
    return ((checksum >> 15 | checksum << 17 & 0xFFFFFFFF) + _MASK_OFFSET) & 0xFFFFFFFF
