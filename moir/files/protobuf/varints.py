"""Arrays of integers in protobuf's variable-length encoding.

Source: https://protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from moir.dialects.data import Array

_DECODING_BYTES = 1 << 20


def decode_varints(encoded: Array, most: int) -> Array:
    """Decode integers in variable-length encoding to 64-bit integers (uint64, two's complement).

    Args:
        encoded: the bytes (uint8).
        most: the largest number of integers.

    Raises ValueError if there are more integers, or one has more than 10 bytes.
    """
    chunks: list[Array] = []
    position = count = 0
    while position < encoded.size:
        window = encoded[position : position + _DECODING_BYTES]
        ends = np.flatnonzero(window < 0x80)
        count += ends.size
        if not ends.size or count > most:
            raise ValueError("damaged integers" if not ends.size else f"more than {most} values")
        starts = np.concatenate([[0], ends[:-1] + 1])
        lengths = ends - starts + 1
        longest = int(lengths.max())
        if longest > 10:
            raise ValueError("damaged integers")
        values = np.zeros(ends.size, np.uint64)
        for index in range(longest):
            present = lengths > index
            values[present] |= (window[starts[present] + index] & 0x7F).astype(np.uint64) << np.uint64(7 * index)
        chunks.append(values)
        position += int(ends[-1]) + 1
    return np.concatenate(chunks) if chunks else np.empty(0, np.uint64)


def narrowed(wide: Array, dtype: np.dtype[Any]) -> Array:
    """Convert 64-bit integers (uint64, two's complement) to a smaller type. Raises OverflowError if one does not fit.

    Writers encode bit patterns of small floats and packed bytes with or without sign, so both are accepted.
    """
    values = wide if dtype.kind == "u" and dtype.itemsize >= 4 else wide.view(np.int64)
    half = 1 << 8 * dtype.itemsize - 1
    highest = half - 1 if dtype.kind == "i" else 2 * half - 1
    if values.size and not -half <= int(values.min()) <= int(values.max()) <= highest:
        raise OverflowError
    return values.astype(dtype)
