"""Side files: the weights of modules in text form, which would be too large for the text.

A side file consists of the bytes of values; the text has the offset of each value. Values are 64-byte aligned, equal
values are written once, and a file only grows, so that all dumps of a conversion can share one file.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import BinaryIO

import numpy as np

from moir.dialects.data import Array, DataAttr
from moir.dialects.large_arrays import pieces
from moir.errors import ModelFileError

ALIGNMENT = 64


class WeightsWriter:
    """Appends values to a side file (a `SideFileWriter`).

    Args:
        file: an empty file.
        name: the name by which the text refers to the file, which has to be in the folder of the text.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.file = file
        self.name = name
        self._size = 0
        self._places: dict[DataAttr, int] = {}

    def store(self, data: DataAttr) -> tuple[str, int]:
        """Write the bytes of a value unless an equal value was written; returns the file's name and the offset."""
        offset = self._places.get(data)
        if offset is None:
            padding = -self._size % ALIGNMENT
            self.file.write(bytes(padding))
            offset = self._places[data] = self._size + padding
            self._size = offset + self._write(data)
        return self.name, offset

    def _write(self, data: DataAttr) -> int:
        size = 0
        for piece in pieces(data.values):
            size += self.file.write(piece.view(np.uint8).data)
        return size


class WeightsReader:
    """Reads values from the side files in one folder (a `SideFileReader`); each file is mapped once.

    Args:
        folder: the folder of the text. A text cannot refer to files in other folders.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[str, mmap.mmap | None] = {}

    def load(self, file_name: str, offset: int, size: int) -> Array:
        """`size` bytes at `offset` of a file, as a view of its memory map. Raises ModelFileError if it is shorter."""
        if file_name not in self._files:
            self._files[file_name] = self._open(file_name)
        mapped = self._files[file_name]
        available = 0 if mapped is None else len(mapped)
        if offset < 0 or offset + size > available:
            reason = f"bytes {offset} to {offset + size} are beyond the end of the side file ({available} bytes)"
            raise ModelFileError(reason, location=str(self.folder / file_name))
        if mapped is None or size == 0:
            return np.empty(0, np.uint8)
        return np.frombuffer(mapped, np.uint8, size, offset)

    def _open(self, file_name: str) -> mmap.mmap | None:
        from moir.files.reading import map_file

        outside = file_name in ("", ".", "..") or any(mark in file_name for mark in "/\\\0")
        path = self.folder / file_name
        if outside or os.path.realpath(path) != os.path.join(os.path.realpath(self.folder), file_name):
            raise ModelFileError(f"the side file {file_name!r} is not in the folder of the text, {str(self.folder)!r}")
        return map_file(path)
