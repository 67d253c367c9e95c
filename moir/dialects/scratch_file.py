"""Arrays that wait on the disk until they are written: many small ones, which together are too large for memory."""

from __future__ import annotations

import mmap
import tempfile

import numpy as np

from moir.dialects.memory_map import Array, release

ALIGNMENT = 64
"""Arrays begin at multiples of this number of bytes."""


class ScratchFile:
    """A file without a name for arrays, which is deleted together with the last array in it.

    Args:
        size: its size in bytes; the parts that nothing is written to take no space.

    Raises OSError if there is no room for files.
    """

    def __init__(self, size: int) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 -- open as long as this object
        self._file.truncate(max(1, size))
        self._map = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        self._size = size
        self._end = 0

    def keep(self, array: Array) -> Array:
        """A read-only view of the file with the same elements as `array`; `array` itself if there is no room in the
        file.
        """
        start = -(-self._end // ALIGNMENT) * ALIGNMENT
        stop = start + array.nbytes
        if stop > self._size or not array.size:
            return array
        try:
            self._file.seek(start)
            self._file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
            self._file.flush()
        except OSError:
            return array
        self._end = stop
        view = np.frombuffer(memoryview(self._map), array.dtype, array.size, start).reshape(array.shape)
        release(view)
        return view
