"""Giving back the memory of views of memory-mapped files.

Pages of a memory map that were read stay resident until the kernel reclaims them; `release` drops them at once.
"""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]


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
    low, high = (bound - origin for bound in _byte_bounds(array))
    start = max(0, low) & -mmap.PAGESIZE
    stop = min(high, len(owner))
    if start < stop:
        owner.madvise(mmap.MADV_DONTNEED, start, stop - start)


def _byte_bounds(array: Array) -> tuple[int, int]:
    """The address of the first byte of an array, and that after its last one.

    numpy 1 and 2 have a function for it under different names.
    """
    first = array.__array_interface__["data"][0]
    if array.size == 0:
        return first, first
    spans = [(size - 1) * stride for size, stride in zip(array.shape, array.strides, strict=True)]
    return first + sum(each for each in spans if each < 0), first + sum(each for each in spans if each > 0) + array.itemsize


def _memory_map_of(array: Array) -> mmap.mmap | None:
    """The memory map that an array is a view of, found along the chain of its bases; None for other arrays."""
    base: Any = array
    while base is not None:
        if isinstance(base, mmap.mmap):
            return base if hasattr(base, "madvise") and not base.closed else None
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return None
