"""Replacing two files together: after a failure, either both are new or both are old.

Both are written under temporary names in their directory, flushed to the disk and exchanged for the older ones
(moir/emit/exchange.py).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO, TextIO

from moir.emit.exchange import OLD, create_new, exchange, locked, settle, sweep, temporary_files
from moir.errors import EmissionError, UsageError
from moir.frameworks.record import SAMPLE
from moir.frameworks.records import OPENVINO_IR
from moir.support.records import Record


class FilePair(Record):
    """The open temporary files of a model: one for the `.xml`, one for the `.bin`."""

    xml: TextIO
    weights: BinaryIO

    def flush(self) -> None:
        """Write what is buffered to the disk. Raises OSError if there is no space."""
        for file in (self.weights, self.xml):
            file.flush()
            os.fsync(file.fileno())


def weights_path(xml_path: Path) -> Path:
    """The path of the `.bin` for an `.xml`. Raises UsageError if the path does not end in `.xml`."""
    if xml_path.suffix.lower() != ".xml":
        hint = f"did you mean {xml_path.with_suffix('.xml')}?" if xml_path.name else None
        raise UsageError("the name of the file to write must end in .xml", location=str(xml_path), hint=hint)
    return xml_path.with_suffix(".bin")


def check_output(xml_path: Path) -> None:
    """Check that the files of a model can be written.

    Changes no file, but restores an older IR whose replacement was interrupted because the process was killed. Only an
    older IR may be replaced: a file of another kind under the same name may be valuable.

    Raises EmissionError that says what prevents writing.
    """
    bin_path = weights_path(xml_path)
    for folder in xml_path.parents:
        if folder.exists():
            if not folder.is_dir():
                raise EmissionError(
                    "the model cannot be written: this is a file, not a folder",
                    location=str(folder),
                    hint="give a folder, or a path that ends in .xml",
                )
            if not os.access(folder, os.W_OK | os.X_OK):
                raise EmissionError(
                    "the model cannot be written: the folder is read-only", location=str(folder), hint="choose another output"
                )
            break
    if any(path.suffix == OLD for path in temporary_files(xml_path, bin_path)):
        with locked(xml_path.parent):
            settle(xml_path, bin_path)
    for path in (xml_path, bin_path):
        if path.is_dir():
            raise EmissionError("the model cannot be written: this is a folder", location=str(path), hint="choose another output")
    for path, reason in ((xml_path, "it is not an OpenVINO IR"), (bin_path, "it is not the weights of an OpenVINO IR")):
        if _has_content(path) and not _is_replaceable(xml_path):
            raise EmissionError(
                f"the file would be overwritten, but {reason}", location=str(path), hint="choose another output, or remove the file"
            )


def _is_replaceable(xml_path: Path) -> bool:
    """Whether the files at a path may be replaced: they are an older IR, or what is left of one whose replacement was
    interrupted.
    """
    if not xml_path.exists():
        return any(OPENVINO_IR.begins(_beginning(path)) for path in temporary_files(xml_path))
    return OPENVINO_IR.begins(_beginning(xml_path))


def _has_content(path: Path) -> bool:
    """Whether a path exists and is not an empty file."""
    return path.exists() and not (path.is_file() and path.stat().st_size == 0)


def _beginning(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(SAMPLE)
    except OSError as error:
        raise EmissionError(f"the file in its place cannot be read: {error.strerror or error}", location=str(path)) from error


@contextmanager
def replacing(xml_path: Path) -> Generator[FilePair]:
    """Create the files of a model under temporary names, and rename them when the context ends.

    After an exception in the context, the files that existed before are unchanged.

    Raises EmissionError for existing files that must not be replaced (`check_output`), and for errors of the file
    system (no permission, no space).
    """
    check_output(xml_path)
    bin_path = weights_path(xml_path)
    directory = xml_path.parent
    temporary: tuple[Path, ...] = ()
    try:
        try:
            directory.mkdir(parents=True, exist_ok=True)
            with ExitStack() as opened:
                with locked(directory):
                    xml_names, weights_names, xml, weights = create_new(xml_path, bin_path)
                    temporary = (xml_names.new, weights_names.new)
                    pair = FilePair(opened.enter_context(TextIOWrapper(xml, "utf-8", newline="")), opened.enter_context(weights))
                yield pair
                pair.flush()
                with locked(directory):
                    settle(xml_path, bin_path)
                    exchange(xml_names, weights_names)
                    sweep(xml_path, bin_path)
        finally:
            for path in temporary:
                with suppress(OSError):
                    path.unlink(missing_ok=True)
    except OSError as error:
        failed = str(xml_path if error.filename in (None, *map(str, temporary)) else error.filename)
        hint = "free space there, or choose another output" if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else None
        raise EmissionError(f"the model cannot be written: {error.strerror or error}", location=failed, hint=hint) from error
