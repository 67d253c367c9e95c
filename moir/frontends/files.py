"""Mapping model files into memory."""

from __future__ import annotations

import mmap
import os
import stat
from pathlib import Path

from moir.errors import ModelFileError


def map_file(path: Path) -> mmap.mmap | None:
    """A read-only memory map of a regular file; None for an empty one. Raises ModelFileError if it cannot be read."""
    try:
        # Only regular files are opened: a named pipe would block, and a device has no end.
        if not stat.S_ISREG(path.stat().st_mode):
            raise ModelFileError("not a regular file", location=str(path))
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                return None
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise ModelFileError(f"cannot be read: {getattr(error, 'strerror', None) or error}", location=str(path)) from error
