"""Replacing two files together: after a failure, either both are new or both are old.

Both are written under temporary names in their directory, flushed to the disk and renamed. The old `.xml` is removed
before the new `.bin` is renamed, and the new `.xml` is renamed last: wherever the process ends, an `.xml` that exists
has its own `.bin` beside it.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from moir.errors import EmissionError


@dataclass
class FilePair:
    """The open temporary files of a model, for the `.xml` and the `.bin`."""

    xml: BinaryIO
    weights: BinaryIO


def weights_path(xml_path: Path) -> Path:
    """The path of the `.bin` for an `.xml`. Raises EmissionError if the path does not end in `.xml`."""
    if xml_path.suffix.lower() != ".xml":
        raise EmissionError("the name of the file to write must end in .xml", location=str(xml_path))
    return xml_path.with_suffix(".bin")


@contextmanager
def replacing(xml_path: Path) -> Generator[FilePair]:
    """Create the files of a model under temporary names, and rename them when the context ends.

    After an exception in the context, the files that existed before are unchanged.

    Raises EmissionError for errors of the file system (no permission, no space, no directory).
    """
    bin_path = weights_path(xml_path)
    directory = xml_path.parent
    mark = secrets.token_hex(6)
    temporary = [directory / f".{path.name}.{mark}.tmp" for path in (xml_path, bin_path)]
    try:
        try:
            directory.mkdir(parents=True, exist_ok=True)
            for path in (xml_path, bin_path):
                if path.is_dir():
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
            with _create(temporary[0]) as xml, _create(temporary[1]) as weights:
                yield FilePair(xml, weights)
                for file in (weights, xml):
                    file.flush()
                    os.fsync(file.fileno())
            xml_path.unlink(missing_ok=True)
            _synchronize(directory)
            temporary[1].replace(bin_path)
            temporary[0].replace(xml_path)
            _synchronize(directory)
        finally:
            for path in temporary:
                with suppress(OSError):
                    path.unlink(missing_ok=True)
    except OSError as error:
        place = str(error.filename or xml_path)
        raise EmissionError(f"the model cannot be written: {error.strerror or error}", location=place) from error


def _create(path: Path) -> BinaryIO:
    """Create a file with the default permissions of new files."""
    return os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666), "wb", buffering=1 << 20)


def _synchronize(directory: Path) -> None:
    """Flush the entries of a directory to the disk, on platforms that allow that."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
