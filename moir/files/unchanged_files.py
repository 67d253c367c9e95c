"""Checks that files do not change while a model is read from them and converted; otherwise the result could mix two
states of a file.

The size and the time of change of each file are noted when it is opened, and compared when its content is no longer
needed. A file that was replaced by another one keeps its content as long as it is mapped.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from moir.errors import ModelFileError
from moir.files.shrunken_maps import SHRUNKEN_MAPS
from moir.support.records import Record


class FileState(Record):
    """The state of a file: device and inode number, size in bytes, and time of change in nanoseconds."""

    device: int
    number: int
    size: int
    changed: int

    @staticmethod
    def of(status: os.stat_result) -> FileState:
        """The state of a file."""
        return FileState(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def check_unchanged(files: Mapping[Path, FileState], cause: Exception | None = None) -> None:
    """Check that files have not changed since they were opened; `cause` is an error that a change may have caused.

    Raises ModelFileError that names a file that has changed.
    """
    for path, state in files.items():
        if has_changed(path, state):
            raise _change(path) from cause


def check_not_shrunken() -> None:
    """Raises ModelFileError if a memory-mapped file has become shorter than its map."""
    for path in SHRUNKEN_MAPS.files.values():
        raise _change(path)


def _change(path: Path) -> ModelFileError:
    hint = "convert it again when nothing writes to it"
    return ModelFileError("the file has changed while it was read", location=str(path), hint=hint)


def has_changed(path: Path, state: FileState) -> bool:
    """Whether the state of a file differs from the state when it was opened."""
    if state in SHRUNKEN_MAPS.files:
        return True
    try:
        now = FileState.of(os.stat(path))
    except OSError:
        return False
    return (now.device, now.number) == (state.device, state.number) and now != state
