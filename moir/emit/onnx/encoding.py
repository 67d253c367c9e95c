"""Protobuf messages in their binary encoding, with the elements of large tensors written piece by piece.

Source: https://protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable

import numpy as np

from moir.dialects.large_arrays import Values, pieces

_VARINT, _LENGTH, _FIXED32 = 0, 2, 5


def varint(value: int) -> bytes:
    """An integer of 64 bits with variable length; a negative one has ten bytes."""
    value &= (1 << 64) - 1
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


class MessageWriter:
    """A message to which fields are added in the order in which they are written."""

    def __init__(self) -> None:
        self.size = 0
        """The size of the fields in bytes."""
        self._parts: list[bytes | MessageWriter | Values] = []

    def _add(self, encoded: bytes) -> None:
        self._parts.append(encoded)
        self.size += len(encoded)

    def _begin(self, field: int, size: int) -> None:
        self._add(varint(field << 3 | _LENGTH) + varint(size))

    def integer(self, field: int, value: int) -> None:
        """Add an integer or a value of an enumeration."""
        self._add(varint(field << 3 | _VARINT) + varint(value))

    def number(self, field: int, value: float) -> None:
        """Add a float of 32 bits; a number beyond its range becomes infinite."""
        with np.errstate(over="ignore"):
            self._add(varint(field << 3 | _FIXED32) + struct.pack("<f", np.float32(value)))

    def text(self, field: int, value: str) -> None:
        """Add a string."""
        self.content(field, value.encode())

    def content(self, field: int, value: bytes) -> None:
        """Add bytes."""
        self._begin(field, len(value))
        self._add(value)

    def integers(self, field: int, values: Iterable[int]) -> None:
        """Add a list of integers, packed."""
        self.content(field, b"".join(map(varint, values)))

    def numbers(self, field: int, values: Iterable[float]) -> None:
        """Add a list of floats of 32 bits, packed."""
        self.content(field, np.asarray(list(values), "<f4").tobytes())

    def message(self, field: int, value: MessageWriter) -> None:
        """Add a message that is complete: what is added to it later is not written."""
        self._begin(field, value.size)
        self._parts.append(value)
        self.size += value.size

    def include(self, fields: MessageWriter) -> None:
        """Add the fields of another message that is complete."""
        self._parts.append(fields)
        self.size += fields.size

    def elements(self, field: int, values: Values) -> None:
        """Add the elements of an array, little-endian and in C order; they are read when the message is written."""
        self._begin(field, values.nbytes)
        self._parts.append(values)
        self.size += values.nbytes

    def write(self, write: Callable[[bytes | memoryview], object]) -> None:
        """Call `write` with the bytes of the message, piece by piece."""
        for part in self._parts:
            if isinstance(part, bytes):
                write(part)
            elif isinstance(part, MessageWriter):
                part.write(write)
            else:
                for piece in pieces(part):
                    write(piece.view(np.uint8).data)
