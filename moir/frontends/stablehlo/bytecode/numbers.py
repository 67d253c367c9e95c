"""Integers of variable length (varints) and strings in bytecode of MLIR.

The number of trailing zero bits of an integer's first byte is the number of bytes that follow; after a first byte of 0
there are eight.
"""

from __future__ import annotations

from typing import NoReturn

from moir.errors import ModelFileError


class Cursor:
    """An offset in bytecode that reading advances; reading beyond the end raises ModelFileError.

    Args:
        data: the bytes.
        location: the path of the file, for messages.
        position: the offset where it begins.
        end: the offset where it ends.
    """

    def __init__(self, data: bytes, location: str, position: int = 0, end: int | None = None) -> None:
        self.data = data
        self.location = location
        self.position = position
        self.end = len(data) if end is None else end

    def fail(self, reason: str, hint: str = "copy or download the file again") -> NoReturn:
        """Raises ModelFileError with a reason, the current offset in the file, and a hint."""
        raise ModelFileError(reason, location=f"{self.location}, offset {self.position}", hint=hint)

    @property
    def is_at_end(self) -> bool:
        """Whether all bytes are read."""
        return self.position >= self.end

    def byte(self) -> int:
        """The next byte, which is consumed. Raises ModelFileError if none is left."""
        if self.position >= self.end:
            self.fail("the bytecode ends too early")
        self.position += 1
        return self.data[self.position - 1]

    def bytes(self, count: int) -> bytes:
        """The next `count` bytes, which are consumed. Raises ModelFileError if fewer are left."""
        if not 0 <= count <= self.end - self.position:
            self.fail("the bytecode ends too early")
        self.position += count
        return bytes(self.data[self.position - count : self.position])

    def number(self) -> int:
        """The next unsigned integer of variable length. Raises ModelFileError if the data end within it."""
        first = self.byte()
        if first & 1:
            return first >> 1
        if not first:
            return int.from_bytes(self.bytes(8), "little")
        extra = (first & -first).bit_length() - 1
        return int.from_bytes(bytes((first,)) + self.bytes(extra), "little") >> (extra + 1)

    def signed(self) -> int:
        """The next signed integer of variable length. Raises ModelFileError if the data end within it."""
        value = self.number()
        return (value >> 1) ^ -(value & 1)

    def flagged(self) -> tuple[int, bool]:
        """The next unsigned integer without its lowest bit, and that bit as a flag. Raises ModelFileError if the data
        end within it.
        """
        value = self.number()
        return value >> 1, bool(value & 1)

    def count(self, what: str, least: int = 1) -> int:
        """The next integer, a number of `what` (for messages) that follow.

        Raises ModelFileError if `least` bytes for each exceed the rest.
        """
        count = self.number()
        if count * least > self.end - self.position:
            self.fail(f"{count} {what} do not fit into the file")
        return count

    def part(self, size: int) -> Cursor:
        """A cursor over the next `size` bytes alone; this one moves past them.

        Raises ModelFileError if fewer are left.
        """
        if not 0 <= size <= self.end - self.position:
            self.fail("a part of the bytecode ends after its end")
        self.position += size
        return Cursor(self.data, self.location, self.position - size, self.position)

    def text(self) -> str:
        """The next string, which a byte of zero ends. Raises ModelFileError if there is no such byte."""
        end = self.data.find(b"\0", self.position, self.end)
        if end < 0:
            self.fail("a string has no end")
        string = bytes(self.data[self.position : end])
        self.position = end + 1
        return string.decode(errors="replace")
