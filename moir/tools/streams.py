"""The standard streams of the tools: opens closed ones, reads `-` as a model, and writes to `-` as the output of a
conversion.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager, nullcontext
from errno import EBADF
from pathlib import Path
from typing import IO

from moir.errors import ConversionError, UsageError
from moir.files.remote.local import local_model
from moir.files.remote.local_files import LocalModel, Progress
from moir.files.temporary_copies import named_as

STANDARD = "-"
"""The argument that stands for standard input or standard output."""

STANDARD_INPUT, STANDARD_OUTPUT = "<stdin>", "standard output"
_PIECE = 1 << 20


def prepare_standard_streams() -> None:
    """Open the standard descriptors that are closed, so that no file of a conversion gets their numbers.

    They are opened in the opposite direction: reading from standard input and writing to standard output fail, as they
    do with closed descriptors. Text that is written to a closed standard error is lost. Characters that the encoding
    of standard output lacks are written as escapes: names in a model are in any language.
    """
    for descriptor, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            # open returns the lowest free descriptor, which is this one.
            os.open(os.devnull, mode)
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
    _reconfigure_output(errors="backslashreplace")


def _reconfigure_output(**settings: str) -> None:
    """Change the encoding of standard output, unless a caller has put a stream without encoding in its place."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(**settings)


def discard_output() -> None:
    """Redirect standard output to the null device, so that flushing its buffer at exit does not fail again."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def print_report(text: str) -> None:
    """Print secondary information; a closed output stream is ignored."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
    except OSError as error:
        discard_output()
        if error.errno != EBADF:
            raise ConversionError(f"the report cannot be written: {error.strerror or error}", location=STANDARD_OUTPUT) from error


def is_stream(argument: str) -> bool:
    """Whether the argument of a tool is standard input, or a path from which bytes can be read only once."""
    if argument == STANDARD:
        return True
    try:
        mode = os.stat(argument).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


@contextmanager
def file_of(argument: str) -> Generator[Path]:
    """A context with the path of a model's file on this machine; `argument` is that of `model_of`."""
    with model_of(argument) as model:
        yield model.path


@contextmanager
def model_of(argument: str, progress: Progress | None = None) -> Generator[LocalModel]:
    """A context with a model on this machine: the argument of a tool itself, a temporary copy of a stream, or a
    downloaded copy.

    Weights are mapped from files, so that a stream is copied first. Errors name the stream or the address, not the
    copy.

    Args:
        argument: a path, an address, or `-` for standard input.
        progress: is called after each block that is downloaded.

    Raises UsageError if standard input is a terminal, and ConversionError if the model cannot be read.
    """
    if not is_stream(argument):
        with local_model(argument, progress) as model:
            yield model
        return
    from tempfile import TemporaryDirectory

    label = STANDARD_INPUT if argument == STANDARD else argument
    with TemporaryDirectory(prefix="moir-") as folder:
        copy = Path(folder) / "model"
        _copy_stream(argument, label, copy)
        with named_as(label, copy, "a model of several files cannot come from a stream; give its path"):
            yield LocalModel(copy)


def _copy_stream(argument: str, label: str, copy: Path) -> None:
    """Copy a stream to a file. Raises UsageError for a terminal, ConversionError if reading or writing fails."""
    if argument == STANDARD and sys.stdin.isatty():
        raise UsageError("standard input is a terminal; redirect a file to it, or give the path of a model")
    try:
        with copy.open("wb") as file, nullcontext(sys.stdin.buffer) if argument == STANDARD else open(argument, "rb") as source:
            while piece := source.read(_PIECE):
                file.write(piece)
    except OSError as error:
        reason = "it is closed" if error.errno == EBADF else error.strerror or str(error)
        raise ConversionError(f"cannot be read: {reason}", location=label) from error


def text_output() -> IO[str]:
    """Standard output for a text that is the result of a tool: in UTF-8, whatever the encoding of the terminal is."""
    _reconfigure_output(encoding="utf-8")
    return sys.stdout


def binary_output() -> IO[bytes]:
    """Standard output for bytes. Raises UsageError if it is a terminal."""
    if sys.stdout.isatty():
        raise UsageError("the files are not printed to a terminal; redirect standard output, e.g. | tar x")
    return sys.stdout.buffer


def write_archive(files: Iterable[Path], stream: IO[bytes]) -> None:
    """Write files as a tar archive, without their folders. Archives of the same files have the same bytes."""
    import tarfile

    with tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        for path in files:
            entry = archive.gettarinfo(path, path.name)
            entry.mtime = entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mode = 0o644
            with path.open("rb") as file:
                archive.addfile(entry, file)
    stream.flush()
