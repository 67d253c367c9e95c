"""A check of the global heaps of an HDF5 file, which hold strings of variable length: their objects have to fit.

The HDF5 library walks from object to object by their declared sizes. A size of 0 would be an endless loop.

Source: HDF5 File Format Specification 3.0, section III.E, "Disk Format: Level 1E - Global Heap".
"""

from __future__ import annotations

import mmap
import struct

SIGNATURE = b"GCOL\1\0\0\0"
"""The signature of a collection, its version, and three reserved bytes."""

_HEADER, _OBJECT = 16, 16
"""The sizes in bytes of a collection's header and of an object's header."""

_FREE_SPACE = 0
"""The index of the object that is the unused rest of a collection, whose size includes its own header."""


def damaged_heap(mapped: mmap.mmap, start: int, size: int) -> int | None:
    """The offset of the first collection whose objects are not within it; None if there is none.

    Args:
        mapped: the memory map of the file.
        start: the offset of the HDF5 file in the map.
        size: its size in bytes.
    """
    end = start + size
    offset = mapped.find(SIGNATURE, start, end)
    while offset >= 0:
        if not _objects_fit(mapped, offset, end):
            return offset - start
        offset = mapped.find(SIGNATURE, offset + len(SIGNATURE), end)
    return None


def _objects_fit(mapped: mmap.mmap, offset: int, end: int) -> bool:
    """Whether each object of the collection from `offset` to `end` begins after the one before, and ends within it."""
    if offset + _HEADER > end:
        return False
    (length,) = struct.unpack_from("<Q", mapped, offset + len(SIGNATURE))
    stop, position = offset + length, offset + _HEADER
    if stop > end:
        return False
    while position + _OBJECT <= stop:
        index, size = struct.unpack_from("<H6xQ", mapped, position)
        step = size if index == _FREE_SPACE else _OBJECT + (size + 7) // 8 * 8
        if step < _OBJECT or position + step > stop:
            return False
        position += step
    return True
