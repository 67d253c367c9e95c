"""Output files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing_file(path: Path) -> Generator[BinaryIO]:
    """A file to write; it takes its name when the block ends, an exception in it leaves everything as it was.

    A link is followed; a device or a named pipe is written to directly. Raises OSError where the file system refuses.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    temporary = path.parent / f".{path.name}.{secrets.token_hex(6)}.tmp"
    try:
        with temporary.open("xb") as file:
            yield file
        temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
