"""SHA-256 digests of files and folders, for the cache of conversions."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from moir.files.unchanged_files import FileState

ABSENT = "absent"
"""The digest of a file that does not exist or cannot be read."""

_PIECE = 1 << 20


class Digests:
    """Computes and keeps the digests of files: a file that has not changed is read only once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Path, FileState], str] = {}

    def file(self, path: Path, state: FileState | None = None) -> str:
        """The digest of the content of a file; ABSENT if it cannot be read, or changes while it is read.

        Args:
            path: the file; a named pipe or a device counts as absent.
            state: the state that the file must have; by default its present state.
        """
        try:
            if not path.is_file():
                return ABSENT
            with path.open("rb") as file:
                before = FileState.of(os.fstat(file.fileno()))
                if state is not None and state != before:
                    return ABSENT
                if (path, before) in self._known:
                    return self._known[path, before]
                digest = hashlib.file_digest(file, hashlib.sha256).hexdigest()
                if FileState.of(os.fstat(file.fileno())) != before:
                    return ABSENT
        except OSError:
            return ABSENT
        self._known[path, before] = digest
        return digest

    def any(self, path: Path) -> str:
        """The digest of a file, or of the names and contents of all files in a folder."""
        if not path.is_dir():
            return self.file(path)
        return of_text("".join(f"{each.relative_to(path).as_posix()}\0{self.file(each)}\n" for each in files_in(path)))


def of_text(text: str) -> str:
    """The SHA-256 digest of a text."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def copied(source: BinaryIO, target: BinaryIO) -> str:
    """Copy the rest of an open file to another one; returns the digest of the copied bytes. Raises OSError."""
    digest = hashlib.sha256()
    while piece := source.read(_PIECE):
        digest.update(piece)
        target.write(piece)
    return digest.hexdigest()


def files_in(folder: Path) -> Iterator[Path]:
    """All files in a folder, in order, without Python's caches."""
    for directory, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if each != "__pycache__")
        yield from (Path(directory, each) for each in sorted(names))
