"""Temporary folders in which files are written before they are moved to their places in the folder around it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

_FORGOTTEN = 86_400.0
"""The age in seconds from which on a temporary folder counts as left over by a process that died."""


@contextmanager
def staging_folder(parent: Path, prefix: str) -> Generator[Path]:
    """A new folder in an existing one, removed when the context ends; folders that dead processes left are removed too.

    Args:
        parent: the folder in which it is created.
        prefix: the beginning of its name, which nothing else in the parent may have.
    """
    for each in parent.glob(f"{prefix}*"):
        with suppress(OSError):
            if time.time() - each.stat().st_mtime > _FORGOTTEN:
                shutil.rmtree(each, ignore_errors=True)
    with TemporaryDirectory(prefix=prefix, dir=parent) as folder:
        yield Path(folder)
