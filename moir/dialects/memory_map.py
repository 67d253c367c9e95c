"""Reading large arrays in pieces, so that a memory-mapped weight is never resident in memory as a whole.

Pages of a memory map that were read stay resident until the kernel reclaims them; `release` drops them at once.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

CHUNK_BYTES = 4 << 20
"""Size in bytes of the pieces in which large arrays are processed."""

WINDOW_BYTES = 64
WINDOWS = 4
"""Size in bytes and number of the windows of a large array that are compared before all its bytes are."""

WORTH_RELEASING = 64 << 10
"""Minimum size in bytes of an array whose pages are released: the kernel maps about as many around each read byte."""


def pieces(array: Array, limit: int = CHUNK_BYTES) -> Iterator[Array]:
    """The elements of an array in C order, as contiguous one-dimensional pieces of about `limit` bytes at most.

    The pieces of a contiguous array are views; those of a strided array are copied one at a time.
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
    """Drop the pages of a view of a read-only memory map from memory; the next access reads them from the file.

    Any other array is left alone: the contents of pages that were written to, or that no file backs, would be lost.
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
    """The memory map that an array is a view of, found along the chain of its bases; None for other arrays."""
    base: Any = array
    while base is not None:
        if isinstance(base, mmap.mmap):
            return base if hasattr(base, "madvise") and not base.closed else None
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return None


def is_small(array: Array) -> bool:
    """Whether an array is so small that `windows` returns all of its bytes."""
    return array.nbytes <= WINDOWS * WINDOW_BYTES


def window(array: Array, start: int, stop: int) -> bytes:
    """The bytes from `start` up to, but not including, `stop` of an array in C order."""
    size = array.itemsize
    first, last = start // size, -(-stop // size)
    elements = array.reshape(-1)[first:last] if array.flags.c_contiguous else array.flat[first:last]
    found = elements.tobytes()[start - first * size : stop - first * size]
    if array.nbytes >= WORTH_RELEASING:
        release(elements)
    return found


def windows(array: Array) -> bytes:
    """All bytes of a small array, evenly spaced windows of a large one; equal for arrays with equal bytes."""
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
