"""Output files that replace an older file completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing_file(path: Path) -> Generator[BinaryIO]:
    """Create a file under a temporary name, and rename it when the context ends.

    After an exception in the context, the older file is unchanged. A link is followed; a device or a named pipe is
    written to directly. Raises OSError, with the name of the file, for errors of the file system.
    """
    path = Path(os.path.realpath(path))
    try:
        with _replacing(path) as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        error.filename = str(path)
        raise


@contextmanager
def _replacing(path: Path) -> Generator[BinaryIO]:
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    temporary = path.parent / f".{path.name}.{os.urandom(6).hex()}.tmp"
    try:
        with temporary.open("xb") as file:
            yield file
        temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
