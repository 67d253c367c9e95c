"""Replacing an existing pair of files by a new one, so that one complete pair exists whenever the process ends.

The temporary names of one writer contain a random mark, by which files of a killed process are recognized:

    .m.xml.3f0a.tmp   .m.bin.3f0a.tmp    the new files, until they are complete
    .m.xml.3f0a.old   .m.bin.3f0a.old    the older files, from the first rename of an exchange to the last

The older `.xml` is moved aside first and the new `.xml` gets its name last. So an exchange is done if there is an
`.xml`, and is undone from the `.old` files if there is none: after an exception by the process itself, after its death
by the next one (`settle`). Processes that write into the same folder wait for each other: a lock on the folder is held
during an exchange, one on its own `.tmp` files by each writer.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from moir.errors import EmissionError
from moir.records import Record

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None

_LONGEST_WAIT = 10.0
"""Seconds to wait for another exchange in the folder, which takes milliseconds unless its process was stopped."""


class Names(Record):
    """The temporary names that one writer uses for one file of a pair."""

    path: Path
    mark: str

    @property
    def new(self) -> Path:
        """The path under which the new file is written."""
        return self.path.parent / f".{self.path.name}.{self.mark}.tmp"

    @property
    def old(self) -> Path:
        """The path to which the existing file is moved."""
        return self.path.parent / f".{self.path.name}.{self.mark}.old"


def exchange(xml: Names, weights: Names) -> None:
    """Rename new files to their final names.

    After an exception the existing files keep them. Needs the folder's lock.
    """
    try:
        for names in (xml, weights):
            with suppress(FileNotFoundError):
                os.replace(names.path, names.old)
        os.replace(weights.new, weights.path)
        os.replace(xml.new, xml.path)
        synchronize(xml.path.parent)
    finally:
        _settle_one(xml, weights)


def _settle_one(xml: Names, weights: Names) -> None:
    """Complete or undo the exchange of one writer; after an error of the file system, the next process does it."""
    with suppress(OSError):
        if xml.path.exists():
            for names in (xml, weights):
                names.old.unlink(missing_ok=True)
            return
        # A process that ends between these two renames leaves the state after its first rename.
        for names in (weights, xml):
            with suppress(FileNotFoundError):
                os.replace(names.old, names.path)


def settle(xml_path: Path, bin_path: Path) -> None:
    """Complete or undo the exchanges during which a process was killed. Needs the lock of the folder."""
    marks = {mark for path in (xml_path, bin_path) for mark in _marks(path, "old")}
    for mark in sorted(marks):
        _settle_one(Names(xml_path, mark), Names(bin_path, mark))


def sweep(xml_path: Path, bin_path: Path) -> None:
    """Remove new files whose writer was killed, which is why they are not locked. Needs the lock of the folder."""
    for path in (xml_path, bin_path):
        for mark in _marks(path, "tmp"):
            with suppress(OSError):
                _remove_unlocked(Names(path, mark).new)


def temporary_files(xml_path: Path) -> list[Path]:
    """The temporary files for an `.xml` under the names of all writers, complete or not."""
    return [path for end in ("old", "tmp") for path in _files(xml_path, end)]


def _files(path: Path, end: str) -> list[Path]:
    """The temporary files of all writers for a path, given the ending of their names."""
    before, after = f".{path.name}.", f".{end}"
    try:
        names = os.listdir(path.parent)
    except OSError:
        return []
    written = [name for name in names if name.startswith(before) and name.endswith(after)]
    return [path.parent / name for name in sorted(written) if _is_mark(name[len(before) : -len(after)])]


def _is_mark(text: str) -> bool:
    """Whether a part of a name is the mark of a writer: hexadecimal digits."""
    return bool(text) and not text.strip("0123456789abcdef")


def _marks(path: Path, end: str) -> list[str]:
    return [file.name.rsplit(".", 2)[1] for file in _files(path, end)]


def _remove_unlocked(path: Path) -> None:
    if fcntl is None:
        return
    # A link or a named pipe under such a name was not written by moir.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
    finally:
        os.close(descriptor)


def lock_own(descriptor: int) -> None:
    """Lock a new file to show that its writer is alive, on file systems that have locks."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def locked(directory: Path) -> Generator[None]:
    """Hold the lock of a folder, on file systems that have locks.

    Raises EmissionError if another process holds it for long, OSError if the folder cannot be opened.
    """
    if fcntl is None:
        yield
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        _wait_for_lock(descriptor, directory)
        yield
    finally:
        os.close(descriptor)


def _wait_for_lock(descriptor: int, directory: Path) -> None:
    assert fcntl is not None
    end = time.monotonic() + _LONGEST_WAIT
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                return None  # a file system without locks
        if time.monotonic() > end:
            raise EmissionError(
                "the model cannot be written: another process has been writing into this folder for too long",
                location=str(directory),
                hint="end that process, or choose another output",
            )
        time.sleep(0.01)


def synchronize(directory: Path) -> None:
    """Flush the entries of a directory to the disk, on platforms that allow that."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
