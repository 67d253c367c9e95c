"""The file of `jax.export`: a FlatBuffer with the calling convention and the portable artifact of the program.

Slots of the root table: 9 platforms, 10 and 11 effects, 13 the artifact. The names of the arguments are in the
locations of the artifact, those of the results in its attributes.
"""

from __future__ import annotations

import struct
from typing import NoReturn

from moir.errors import ModelFileError

_PLATFORMS, _ORDERED_EFFECTS, _ARTIFACT = 9, 10, 13
MAXIMUM_PLATFORMS = 64
_MARK = b"ML\xefR"


class Table:
    """A table of a FlatBuffer; reading raises ModelFileError if the file is damaged.

    Args:
        data: the file.
        position: the offset of the table.
        location: the path of the file, for messages.
    """

    def __init__(self, data: bytes, position: int, location: str) -> None:
        self._data = data
        self._position = position
        self._location = location
        self._fields = self._vtable()

    def fail(self, reason: str) -> NoReturn:
        """Raises ModelFileError with a reason."""
        hint = "give the file that Exported.serialize() wrote, the text of a module, or its bytecode"
        raise ModelFileError(f"this is not a file of jax.export: {reason}", location=self._location, hint=hint)

    def _number(self, form: str, position: int) -> int:
        if not 0 <= position <= len(self._data) - struct.calcsize(form):
            self.fail("an offset lies outside of it")
        return struct.unpack_from(form, self._data, position)[0]

    def _vtable(self) -> list[int]:
        offset = self._position - self._number("<i", self._position)
        size = self._number("<H", offset)
        if size < 4 or size % 2 or size > 4096:
            self.fail("its table of fields is damaged")
        return [self._number("<H", offset + 4 + 2 * index) for index in range((size - 4) // 2)]

    def _vector(self, slot: int) -> tuple[int, int] | None:
        """The offset and the length of the vector in a slot; None if it is absent."""
        if slot >= len(self._fields) or not self._fields[slot]:
            return None
        offset = self._position + self._fields[slot]
        offset += self._number("<I", offset)
        return offset + 4, self._number("<I", offset)

    def bytes(self, slot: int) -> bytes | None:
        """The bytes of the vector in a slot; None if it is absent."""
        vector = self._vector(slot)
        if vector is None:
            return None
        start, size = vector
        if size > len(self._data) - start:
            self.fail("a field ends after its end")
        return bytes(self._data[start : start + size])

    def length(self, slot: int) -> int:
        """The length of the vector in a slot; 0 if it is absent."""
        vector = self._vector(slot)
        return 0 if vector is None else vector[1]

    def strings(self, slot: int) -> list[str]:
        """The strings of the vector in a slot; empty if it is absent."""
        vector = self._vector(slot)
        if vector is None:
            return []
        start, count = vector
        if count > MAXIMUM_PLATFORMS:
            self.fail("it has too many platforms")
        texts: list[str] = []
        for index in range(count):
            offset = start + 4 * index
            offset += self._number("<I", offset)
            size = self._number("<I", offset)
            if size > len(self._data) - offset - 4:
                self.fail("a string ends after its end")
            texts.append(bytes(self._data[offset + 4 : offset + 4 + size]).decode(errors="replace"))
        return texts


def read_export(data: bytes, location: str) -> tuple[bytes, list[str]]:
    """The artifact in a file, and the platforms that it is for. Raises ModelFileError if the file is damaged."""
    if len(data) < 8:
        raise ModelFileError("this is not a file of jax.export: it is too short", location=location)
    root = Table(data, struct.unpack_from("<I", data)[0], location)
    artifact = root.bytes(_ARTIFACT)
    if artifact is None or artifact[:4] != _MARK:
        root.fail("it has no portable artifact")
    if root.length(_ORDERED_EFFECTS):
        root.fail("its program has effects in order, which an IR does not have")
    return artifact, root.strings(_PLATFORMS)
