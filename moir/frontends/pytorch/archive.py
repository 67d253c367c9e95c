"""The zip archive of a program: names -> records as ranges of the memory map.

PyTorch does not compress the records of an archive, so that a record is a view of the mapped file. The directory is
read by Python's `zipfile`.

Source: PyTorchStreamWriter in inline_container.cc of PyTorch 2.9.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import IO, cast

from moir.errors import ModelFileError
from moir.files.zip_members import ERRORS, Window, is_stored, range_of


class Archive:
    """The records of an archive.

    Args:
        content: the archive, a part of the mapped file.
        path: the file, for messages.
        place: the name of the record that is this archive; empty if the whole file is the archive.
    """

    def __init__(self, content: memoryview, path: Path, place: str = "") -> None:
        self.content = content
        self.path = path
        self.place = place
        self._ranges: dict[str, tuple[int, int]] = {}
        try:
            with zipfile.ZipFile(cast("IO[bytes]", Window(content))) as archive:
                for each in archive.infolist():
                    self._add(each)
        except ERRORS as error:
            raise self.error(f"a damaged zip archive: {error}") from None

    def _add(self, entry: zipfile.ZipInfo) -> None:
        """Store where a record is in the file.

        Raises ModelFileError if it is compressed, encrypted or beyond the file.
        """
        if not is_stored(entry):
            raise self.error(f"the record {entry.filename!r} is compressed or encrypted; torch.export.save stores it as it is")
        if (record_range := range_of(self.content, entry)) is None:
            raise self.error(f"the record {entry.filename!r} lies beyond the file; is it complete?")
        self._ranges[entry.filename] = record_range

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
