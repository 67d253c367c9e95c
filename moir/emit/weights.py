"""The weights of a model: the layout of the `.bin`, in which equal constants share their bytes.

Constants are 64-byte aligned. Constants of equal bytes share one position, whatever their shapes and element types. To
find them, sizes and samples of the bytes are compared first, and whole constants only if these are equal; no hash of a
whole constant is computed. Arrays that passes have deferred are computed in pieces while they are written.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from moir.dialects import element_types
from moir.dialects.data import Array, DataAttr, TensorData
from moir.dialects.large_arrays import Values, is_small, pieces, same_bytes, windows
from moir.errors import EmissionError

ALIGNMENT = 64


class Weights:
    """Collects constants and assigns offsets in the `.bin` to them."""

    def __init__(self) -> None:
        self._end = 0
        self._has_empty = False
        self._stored: list[tuple[int, Values]] = []
        self._ranges: dict[int, tuple[int, int]] = {}
        self._candidates: dict[tuple[int, bytes], list[tuple[int, Values]]] = {}
        self._keep: list[TensorData] = []

    @property
    def size(self) -> int:
        """Size of the `.bin` so far, in bytes; never 0 once a constant is placed, since an empty file cannot be
        mapped into memory.
        """
        return self._end or int(self._has_empty)

    def place(self, data: DataAttr) -> tuple[int, int]:
        """The offset and the size of a constant in bytes.

        Raises ConversionError if its value is missing or contradicts its type.
        """
        identity = id(data.data)
        if identity not in self._ranges:
            array = storage(data)
            self._ranges[identity] = self._store(array, data.data.windows if array is data.values else windows(array))
            self._keep.append(data.data)
        return self._ranges[identity]

    def _store(self, array: Values, content: bytes) -> tuple[int, int]:
        if array.nbytes == 0:
            self._has_empty = True
            return 0, 0
        candidates = self._candidates.setdefault((array.nbytes, content), [])
        for offset, other in candidates:
            if is_small(array) or same_bytes(array, other):
                return offset, array.nbytes
        offset = -(-self._end // ALIGNMENT) * ALIGNMENT
        candidates.append((offset, array))
        self._stored.append((offset, array))
        self._end = offset + array.nbytes
        return offset, array.nbytes

    def write(self, write: Callable[[memoryview], object]) -> None:
        """Call `write` with the bytes of the `.bin`, piece by piece."""
        position = 0
        for offset, array in self._stored:
            if offset > position:
                write(memoryview(bytes(offset - position)))
            for piece in pieces(array):
                write(piece.view(np.uint8).data)
            position = offset + array.nbytes
        if self.size > position:
            write(memoryview(bytes(self.size - position)))

    def fill(self, buffer: Array) -> None:
        """Copy the bytes of the `.bin` into an array of `size` bytes (uint8)."""
        position = 0

        def store(piece: memoryview) -> None:
            nonlocal position
            buffer[position : position + len(piece)] = piece
            position += len(piece)

        self.write(store)


def storage(data: DataAttr) -> Values:
    """The array whose bytes, little-endian and in C order, represent the constant in the `.bin`."""
    array = data.values
    if data.element == element_types.string:
        return np.frombuffer(data.contiguous_bytes(), np.uint8)
    if array.dtype == object or array.nbytes != data.nbytes:
        kind = element_types.describe(data.element).xml
        raise EmissionError(f"an array of {array.nbytes} bytes cannot be a constant of type {kind} and shape {list(data.shape)}")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("<"))
