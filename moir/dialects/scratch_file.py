"""Arrays that wait on the disk until they are written: many small ones, which together are too large for memory."""

from __future__ import annotations

import mmap
import os
import tempfile

import numpy as np

from moir.dialects.memory_map import Array, release


class ScratchFile:
    """A file without a name, which is deleted when the last array in it is.

    Args:
        size: its size in bytes; the parts that nothing is written to take no space.

    Raises OSError if there is no room for files.
    """

    def __init__(self, size: int) -> None:
        # The mapped view keeps the file.
        with tempfile.TemporaryFile() as file:
            file.truncate(max(1, size))
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._descriptor = os.dup(file.fileno())
        self._size = size
        self._end = 0

    def __del__(self) -> None:
        descriptor, self._descriptor = getattr(self, "_descriptor", -1), -1
        if descriptor >= 0:
            os.close(descriptor)

    def keep(self, array: Array) -> Array:
        """The array itself, or a read-only view of the file with the same elements, as long as there is room."""
        start = -(-self._end // 64) * 64
        stop = start + array.nbytes
        if stop > self._size or not array.size:
            return array
        try:
            content = memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
            while content:
                written = os.pwrite(self._descriptor, content, stop - len(content))
                content = content[written:]
        except OSError:
            return array
        self._end = stop
        view = np.frombuffer(self._map, array.dtype, array.size, start).reshape(array.shape)
        release(view)
        return view
