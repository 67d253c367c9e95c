"""Reading the values of a GGUF file one after another, all of them little-endian.

string    u64 length, bytes in UTF-8
array     u32 type of the elements, u64 count, the elements
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from moir.errors import ModelFileError

LARGEST_TEXT, LARGEST_TEXTS = 1 << 25, 1 << 27
"""Largest size in bytes of one string, and of all strings of a file."""

LARGEST_NAME = 256
"""Largest size in bytes of a name; llama.cpp has 64 for tensors."""

LARGEST_COUNT = 1 << 22
"""Largest number of strings of an array; vocabularies and their merges have less than a fourth of it."""

STRING, ARRAY, BOOLEAN, FLOAT = 8, 9, 7, 6
"""The type ids of strings, arrays, booleans and f32."""

NUMBERS: Mapping[int, str] = MappingProxyType(
    {0: "<u1", 1: "<i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", FLOAT: "<f4", BOOLEAN: "?", 10: "<u8", 11: "<i8", 12: "<f8"}
)
"""The types of numbers as numpy spells them."""

_LENGTH = struct.Struct("<Q")


class Cursor:
    """A position in the bytes of a file.

    Args:
        data: the bytes.
        location: the file, for messages.
    """

    def __init__(self, data: memoryview, location: str) -> None:
        self.data = data
        self.location = location
        self.position = 0
        self._room = LARGEST_TEXTS

    @property
    def remaining(self) -> int:
        """The number of bytes from the position to the end."""
        return len(self.data) - self.position

    def error(self, reason: str, hint: str | None = "the file is damaged; copy or download it again") -> ModelFileError:
        """An error about the file."""
        return ModelFileError(reason, location=self.location, hint=hint)

    def take(self, size: int) -> memoryview:
        """The next bytes. Raises ModelFileError if the file ends before."""
        if size > self.remaining:
            raise self.error(f"the file ends after {len(self.data)} bytes, within its header; is it complete?")
        start = self.position
        self.position += size
        return self.data[start : self.position]

    def unsigned(self, size: int) -> int:
        """The next unsigned integer, of `size` bytes. Raises ModelFileError if the file ends before."""
        return int.from_bytes(self.take(size), "little")

    def count(self, smallest: int, limit: int, what: str) -> int:
        """The next u64, which counts `what` (for messages), each of at least `smallest` bytes.

        Raises ModelFileError if the count is above `limit`, or the file has no room for so many.
        """
        count = self.unsigned(8)
        if count > limit or count * smallest > self.remaining:
            raise self.error(f"{count} {what} do not fit into the file")
        return count

    def name(self) -> str:
        """The next string, which names a key or a tensor."""
        size = self.unsigned(8)
        stored = bytes(self.take(size)) if size <= LARGEST_NAME else b""
        name = stored.decode(errors="replace")
        if not name or not name.isprintable() or "\ufffd" in name:
            raise self.error(f"the name {stored[:40]!r} of {size} bytes is not possible")
        return name

    def text(self) -> str:
        """The next string. Bytes that are not UTF-8 are decoded with `surrogateescape`."""
        size = self.unsigned(8)
        if size > LARGEST_TEXT or size > self._room:
            raise self.error(f"a string of {size} bytes is too long")
        self._room -= size
        return str(self.take(size), "utf-8", "surrogateescape")

    def value(self, kind: int) -> Any:
        """The next value of type id `kind`: a number, flag or string; an array of numbers as a view, one of strings as
        a list.

        Raises ModelFileError for a type that is not known.
        """
        if kind == STRING:
            return self.text()
        if kind == ARRAY:
            return self._array(self.unsigned(4))
        dtype = self._dtype(kind)
        number = np.frombuffer(self.take(dtype.itemsize), dtype)[0]
        # The number that the writer rounded to f32: 1e-06, not 9.999999974752427e-07.
        return float(str(number)) if kind == FLOAT else number.item()

    def _dtype(self, kind: int) -> np.dtype[Any]:
        name = NUMBERS.get(kind)
        if name is None:
            raise self.error(f"values of the type {kind} are not known")
        return np.dtype(name)

    def _array(self, kind: int) -> Any:
        if kind == STRING:
            return self._texts(self.count(_LENGTH.size, LARGEST_COUNT, "strings"))
        dtype = self._dtype(kind)
        count = self.count(dtype.itemsize, self.remaining, "numbers")
        return np.frombuffer(self.take(count * dtype.itemsize), dtype)

    def _texts(self, count: int) -> list[str]:
        data, position, end = self.data, self.position, len(self.data)
        texts: list[str] = []
        for _ in range(count):
            if end - position < _LENGTH.size:
                raise self.error("the file ends within an array of strings; is it complete?")
            (size,) = _LENGTH.unpack_from(data, position)
            position += _LENGTH.size
            if size > self._room or size > end - position:
                raise self.error(f"a string of {size} bytes is too long")
            self._room -= size
            texts.append(str(data[position : position + size], "utf-8", "surrogateescape"))
            position += size
        self.position = position
        return texts
