"""The weights of a model: places in the `.bin`, equal ones shared, written in pieces.

A constant is 64-byte aligned and shares its place with every other one of the same bytes, whatever their shapes and
element types. Candidates are found by their size and a few windows of their bytes; only candidates are compared as a
whole, so nothing is digested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from moir.dialects import element_types
from moir.dialects.data import Array, DataAttr, TensorData
from moir.dialects.memory_map import CHUNK_BYTES, WORTH_RELEASING, is_small, pieces, release, same_bytes, windows
from moir.errors import EmissionError

ALIGNMENT = 64


class Weights:
    """Collects constants and gives each its place.

    Attributes:
        size: bytes of the `.bin` so far.
    """

    def __init__(self) -> None:
        self.size = 0
        self._stored: list[tuple[int, Array]] = []
        self._places: dict[int, tuple[int, int]] = {}
        self._candidates: dict[tuple[int, bytes], list[tuple[int, Array]]] = {}
        self._keep: list[TensorData] = []

    def place(self, data: DataAttr) -> tuple[int, int]:
        """Offset and size in bytes of a constant. Raises ConversionError if its value is not there or contradicts its
        type.
        """
        identity = id(data.data)
        if identity not in self._places:
            self._places[identity] = self._store(_storage(data))
            self._keep.append(data.data)
        return self._places[identity]

    def _store(self, array: Array) -> tuple[int, int]:
        if array.nbytes == 0:
            return 0, 0
        candidates = self._candidates.setdefault((array.nbytes, windows(array)), [])
        for offset, other in candidates:
            if is_small(array) or same_bytes(array, other):
                return offset, array.nbytes
        offset = -(-self.size // ALIGNMENT) * ALIGNMENT
        candidates.append((offset, array))
        self._stored.append((offset, array))
        self.size = offset + array.nbytes
        return offset, array.nbytes

    def write(self, write: Callable[[memoryview], object]) -> None:
        """Pass all bytes of the `.bin`, from its beginning to its end, to `write`."""
        position = 0
        for offset, array in self._stored:
            if offset > position:
                write(memoryview(bytes(offset - position)))
            for piece in _byte_pieces(array):
                write(piece.data)
            position = offset + array.nbytes

    def fill(self, buffer: Array) -> None:
        """Write all bytes into an array of `size` bytes (uint8)."""
        position = 0

        def store(piece: memoryview) -> None:
            nonlocal position
            buffer[position : position + len(piece)] = piece
            position += len(piece)

        self.write(store)


def _storage(data: DataAttr) -> Array:
    """The array whose little-endian bytes in C order stand for the constant in the `.bin`."""
    array = data.array
    if data.element == element_types.string:
        return np.frombuffer(data.contiguous_bytes(), np.uint8)
    if array.dtype == object or array.nbytes != data.nbytes:
        kind = element_types.describe(data.element).xml
        raise EmissionError(f"an array of {array.nbytes} bytes cannot be a constant of type {kind} and shape {list(data.shape)}")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("<"))


def _byte_pieces(array: Array) -> Iterator[Array]:
    """The bytes of an array, piece by piece; pages of a memory map are given back behind the reader."""
    contiguous = array.flags.c_contiguous
    for piece in pieces(array):
        yield piece.view(np.uint8)
        if contiguous and array.nbytes > CHUNK_BYTES:
            release(piece)
    if not (contiguous and array.nbytes > CHUNK_BYTES) and array.nbytes >= WORTH_RELEASING:
        release(array)
