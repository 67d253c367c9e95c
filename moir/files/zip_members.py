"""Zip archives within memory maps: opened without a copy; members that are not compressed are ranges of the map.

Source: .ZIP File Format Specification 6.3.10, section 4.3.7.
"""

from __future__ import annotations

import io
import struct
import zipfile
from typing import Any

ERRORS = (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, OverflowError, EOFError, KeyError, struct.error)
"""The exceptions that reading the directory of a damaged archive may raise; UnicodeError is a ValueError."""

_HEADER = struct.Struct("<4s22xHH")
"""The header before a member: its signature, and the sizes of its name and of its extra field."""


class Window(io.RawIOBase):
    """A range of a memory map as a file that can only be read.

    Args:
        content: the range.
    """

    def __init__(self, content: memoryview) -> None:
        super().__init__()
        self._content = content
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        position = offset + (0, self._position, len(self._content))[whence]
        if position < 0:
            raise ValueError("a place before the file")
        self._position = position
        return position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: Any) -> int:
        data = self._content[self._position : self._position + len(buffer)]
        memoryview(buffer).cast("B")[: len(data)] = data
        self._position += len(data)
        return len(data)


def is_stored(member: zipfile.ZipInfo) -> bool:
    """Whether a member is neither compressed nor encrypted."""
    return member.compress_type == zipfile.ZIP_STORED and not member.flag_bits & 1 and member.file_size == member.compress_size


def range_of(content: memoryview, member: zipfile.ZipInfo) -> tuple[int, int] | None:
    """The offsets in an archive at which a stored member begins and ends; None if they are not within the archive."""
    start = member.header_offset
    if not 0 <= start <= len(content) - _HEADER.size:
        return None
    mark, name, extra = _HEADER.unpack_from(content, start)
    start += _HEADER.size + name + extra
    return (start, start + member.file_size) if mark == b"PK\x03\x04" and start + member.file_size <= len(content) else None
