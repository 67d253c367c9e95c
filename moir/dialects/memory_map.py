"""Reading large arrays piece by piece, so that a memory-mapped weight never stands in memory as a whole.

Pages of a memory map that were read stay in the process until the kernel needs them; `release` hands them back at once.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

CHUNK_BYTES = 4 << 20
"""Size of the pieces large arrays are worked on in."""

WINDOW_BYTES = 64
WINDOWS = 4
"""Of large arrays this many windows of so many bytes are looked at before they are compared as a whole."""

WORTH_RELEASING = 64 << 10
"""Bytes from which on pages are given back: the kernel maps about as many around each byte that is read."""


def pieces(array: Array, limit: int = CHUNK_BYTES) -> Iterator[Array]:
    """The array in C order as contiguous pieces of one dimension and about `limit` bytes at most.

    A contiguous array is only viewed. Of a strided one a piece at a time is copied.
    """
    if array.flags.c_contiguous:
        flat = array.reshape(-1)
        step = max(1, limit // max(1, array.itemsize))
        for start in range(0, flat.size, step):
            yield flat[start : start + step]
    elif array.nbytes <= limit:
        yield np.ascontiguousarray(array).reshape(-1)
    else:
        rows = limit // (array.nbytes // array.shape[0])
        for start in range(0, array.shape[0], max(1, rows)):
            yield from pieces(array[start : start + rows] if rows else array[start], limit)


def release(array: Array) -> None:
    """Drop the pages under an array from memory if it is a view of a read-only memory map; they are read from the file
    when next used.

    Nothing happens for any other array: pages that were written to, or have no file behind them, would be lost.
    """
    owner = _memory_map_of(array)
    if owner is None:
        return
    view = np.frombuffer(owner, np.uint8)
    if view.flags.writeable:
        return
    origin = view.__array_interface__["data"][0]
    low, high = (bound - origin for bound in np.lib.array_utils.byte_bounds(array))
    start = max(0, low) & -mmap.PAGESIZE
    stop = min(high, len(owner))
    if start < stop:
        owner.madvise(mmap.MADV_DONTNEED, start, stop - start)


def _memory_map_of(array: Array) -> mmap.mmap | None:
    """The memory map an array is a view of, found through the chain of its bases."""
    base: Any = array
    while base is not None:
        if isinstance(base, mmap.mmap):
            return base if hasattr(base, "madvise") and not base.closed else None
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return None


def is_small(array: Array) -> bool:
    """Whether the windows of an array are all of its bytes."""
    return array.nbytes <= WINDOWS * WINDOW_BYTES


def window(array: Array, start: int, stop: int) -> bytes:
    """The bytes `start` to `stop` of an array in C order."""
    size = array.itemsize
    first, last = start // size, -(-stop // size)
    elements = array.reshape(-1)[first:last] if array.flags.c_contiguous else array.flat[first:last]
    found = elements.tobytes()[start - first * size : stop - first * size]
    if array.nbytes >= WORTH_RELEASING:
        release(elements)
    return found


def windows(array: Array) -> bytes:
    """All bytes of a small array, evenly spread windows of a large one: equal for arrays of equal bytes."""
    if is_small(array):
        return array.tobytes()
    room = array.nbytes - WINDOW_BYTES
    starts = [index * room // (WINDOWS - 1) for index in range(WINDOWS)]
    return b"".join([window(array, start, start + WINDOW_BYTES) for start in starts])


def same_bytes(a: Array, b: Array) -> bool:
    """Whether two arrays have the same bytes in C order, whatever their shapes and types."""
    if a.nbytes != b.nbytes:
        return False
    step = CHUNK_BYTES
    return all(window(a, start, start + step) == window(b, start, start + step) for start in range(0, a.nbytes, step))
