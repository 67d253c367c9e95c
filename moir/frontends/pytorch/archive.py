"""The zip archive of a program: names -> records as ranges of the memory map.

PyTorch does not compress the records of an archive, so that a record is a view of the mapped file. The directory is
read by Python's `zipfile`; where a record begins is read from its own header.

Source: PyTorchStreamWriter in inline_container.cc of PyTorch 2.9, and .ZIP File Format Specification 6.3.10.
"""

from __future__ import annotations

import struct
import zipfile
from io import BytesIO
from pathlib import Path
from typing import IO, cast

from moir.errors import ModelFileError

_HEADER = struct.Struct("<4s22xHH")
"""The header of a record: its mark, and the sizes of its name and of its extra field."""


class Archive:
    """The records of an archive.

    Args:
        content: the archive, a part of the mapped file.
        path: the file, for messages.
        place: what the archive is within the file; empty for the file itself.
    """

    def __init__(self, content: memoryview, path: Path, place: str = "") -> None:
        self.content = content
        self.path = path
        self.place = place
        self._ranges: dict[str, tuple[int, int]] = {}
        try:
            with zipfile.ZipFile(cast("IO[bytes]", _View(content))) as archive:
                for each in archive.infolist():
                    self._add(each)
        except (zipfile.BadZipFile, struct.error, ValueError, NotImplementedError, OverflowError, EOFError, KeyError) as error:
            raise self.error(f"a damaged zip archive: {error}") from None

    def _add(self, entry: zipfile.ZipInfo) -> None:
        """Note the range of a record. Raises ModelFileError if it is compressed, encrypted or beyond the file."""
        if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
            raise self.error(f"the record {entry.filename!r} is compressed or encrypted; torch.export.save stores it as it is")
        start = entry.header_offset
        if not 0 <= start <= len(self.content) - _HEADER.size:
            raise self.error(f"the record {entry.filename!r} lies beyond the file; is it complete?")
        mark, name, extra = _HEADER.unpack_from(self.content, start)
        start += 30 + name + extra
        if mark != b"PK\x03\x04" or entry.file_size != entry.compress_size or start + entry.file_size > len(self.content):
            raise self.error(f"the record {entry.filename!r} lies beyond the file; is it complete?")
        self._ranges[entry.filename] = (start, start + entry.file_size)

    def __contains__(self, name: str) -> bool:
        return name in self._ranges

    @property
    def names(self) -> list[str]:
        """The names of the records, in the order of the directory."""
        return list(self._ranges)

    def record(self, name: str) -> memoryview:
        """A record as a view of the file. Raises ModelFileError if there is none of that name."""
        if name not in self._ranges:
            raise self.error(f"the record {name!r} is missing; is the file complete?")
        start, stop = self._ranges[name]
        return self.content[start:stop]

    def inner(self, name: str) -> Archive:
        """A record that is an archive itself."""
        return Archive(self.record(name), self.path, name)

    def error(self, reason: str, hint: str | None = None) -> ModelFileError:
        """The error about this archive."""
        return ModelFileError(reason, location=f"{self.path}, {self.place}" if self.place else str(self.path), hint=hint)


class _View(BytesIO):
    """A range of the mapped file with the interface of a file, without a copy."""

    def __init__(self, content: memoryview) -> None:
        super().__init__()
        self._content = content
        self._position = 0

    def read(self, size: int | None = -1, /) -> bytes:
        stop = len(self._content) if size is None or size < 0 else self._position + size
        found = bytes(self._content[self._position : stop])
        self._position += len(found)
        return found

    def seek(self, offset: int, whence: int = 0, /) -> int:
        target = offset + (0, self._position, len(self._content))[whence]
        if target < 0:
            raise ValueError("a place in front of the file")
        self._position = target
        return target

    def tell(self) -> int:
        return self._position
