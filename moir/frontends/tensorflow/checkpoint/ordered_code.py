"""Keys under which a TensorFlow checkpoint holds the slices of partitioned variables.

The encoding keeps order: comparing encodings as bytes compares the encoded values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable


def encode_natural(value: int) -> bytes:
    """Encode a non-negative integer: the number of its bytes, then the bytes, most significant first."""
    size = (value.bit_length() + 7) // 8
    return bytes([size]) + value.to_bytes(size, "big")


def encode_string(value: bytes) -> bytes:
    """Encode a string: bytes 00 and FF are escaped, and a terminator follows."""
    return re.sub(rb"[\0\xff]", lambda match: match[0] + (b"\xff" if match[0] == b"\0" else b"\0"), value) + b"\0\1"


def encode_signed(value: int) -> bytes:
    """Encode a signed integer of at most 64 bits.

    An encoding of n bytes starts with n bits that are 1 and a bit that is 0; the remaining bits are the value in big
    endian. The encoding of a negative value v is that of ~v with every bit inverted.
    """
    magnitude = ~value if value < 0 else value
    size = magnitude.bit_length() // 7 + 1
    # The header: `size` one bits from the highest bit of the first byte on.
    header = ((1 << size) - 1) << (7 * size)
    return ((value & ((1 << 8 * size) - 1)) ^ header).to_bytes(size, "big")


def slice_key(name: bytes, extents: Iterable[tuple[int, int]]) -> bytes:
    """The key of a slice in the index of the checkpoint.

    Args:
        name: name of the whole tensor.
        extents: start and length in each dimension, in elements; (0, -1) for a whole dimension.
    """
    extents = tuple(extents)
    numbers = b"".join(encode_signed(number) for extent in extents for number in extent)
    return encode_natural(0) + encode_string(name) + encode_natural(len(extents)) + numbers
