"""Output files of commands: which older files they may replace, and how they replace them completely or not at all.

The two files of a converted model have other rules (moir/emit/files.py).
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from moir.errors import ConversionError
from moir.support.records import Record


class OutputKind(Record):
    """A kind of files that a command writes, which replaces only a file of its own kind.

    Args:
        name: the name of the kind, with its article.
        beginning: the text at the beginning of such a file, in lower case, or several such texts; None if such files
            have no common beginning; then any file except a model is replaced.
    """

    name: str
    beginning: bytes | tuple[bytes, ...] | None = None


PAGE_FILE = OutputKind("a page of a report", b"<!doctype html>")
GRAPHS_FILE = OutputKind("a file of Model Explorer", b'{"label":')
CERTIFICATE_FILE = OutputKind("a certificate", b'{\n "certificate":')
ARRAYS_FILE = OutputKind("an .npz of arrays", (b"pk\x03\x04", b"pk\x05\x06"))
TEXT_FILE = OutputKind("a text")
WEIGHTS_FILE = OutputKind("a file of weights")
ONNX_FILE = OutputKind("an ONNX model", b"\x08")


def check_replaceable(path: Path, kind: OutputKind, *, updated: Path | None = None) -> None:
    """Check that a command may write a file.

    Args:
        path: the file.
        kind: the kind of file that the command writes.
        updated: a file of which the command writes a new version, so that it may be the one that was read.

    Raises ConversionError for another file that the command has read, and for one of another kind.
    """
    if not path.is_file() or path.stat().st_size == 0:
        return
    from moir.files.reading import was_read

    if was_read(path) and not (updated is not None and os.path.samefile(path, updated)):
        raise ConversionError("the file would be overwritten, but it was read", location=str(path), hint="choose another output")
    if not _is_of_kind(path, kind):
        hint = "choose another output, or remove the file"
        raise ConversionError(f"the file would be overwritten, but it is not {kind.name}", location=str(path), hint=hint)


def _is_of_kind(path: Path, kind: OutputKind) -> bool:
    from moir.frameworks import readable
    from moir.frameworks.record import SAMPLE

    with path.open("rb") as file:
        beginning = file.read(SAMPLE)
    if kind.beginning is not None:
        return beginning.lower().startswith(kind.beginning)
    return not any(framework.begins(beginning) for framework in readable())


@contextmanager
def replacing_file(path: Path, kind: OutputKind, *, updated: Path | None = None) -> Generator[BinaryIO]:
    """Create a file under a temporary name, and rename it when the context ends.

    After an exception in the context, the older file is unchanged. A link is followed; a device or a named pipe is
    written to directly. The arguments are those of `check_replaceable`, which raises ConversionError for a file that
    may not be replaced. Raises OSError, with the name of the file, for errors of the file system.
    """
    path = Path(os.path.realpath(path))
    try:
        check_replaceable(path, kind, updated=updated)
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
