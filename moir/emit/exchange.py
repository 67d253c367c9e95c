"""Replacing an existing pair of files by a new one, so that one complete pair exists whenever the process ends.

The temporary names of one writer contain a mark that no other writer of these files has at the time:

    .m.xml.0.tmp   .m.bin.0.tmp    the new files, until they are complete
    .m.xml.0.old   .m.bin.0.old    the older files, from the first rename of an exchange to the last

Marks are few, so that the files of a killed process are found without reading the folder, which may hold thousands of
models.
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
from typing import BinaryIO

from moir.errors import EmissionError
from moir.support.records import Record

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None

OLD, _NEW = ".old", ".tmp"
"""The endings of temporary names: of files that are moved aside, and of files that are being written."""

_MARKS = "0123456789abcdef"
"""The marks in the temporary names of different writers; a writer takes the first mark that is free."""

_LONGEST_WAIT = 10.0
"""Seconds to wait for another exchange in the folder, which takes milliseconds unless its process was stopped."""


class Names(Record):
    """The temporary names that one writer uses for one file of a pair."""

    path: Path
    mark: str

    @property
    def new(self) -> Path:
        """The path under which the new file is written."""
        return Path(f"{_beginning(self.path)}{self.mark}{_NEW}")

    @property
    def old(self) -> Path:
        """The path to which the existing file is moved."""
        return Path(f"{_beginning(self.path)}{self.mark}{OLD}")


def _beginning(path: Path) -> str:
    """The first part, before mark and ending, of the temporary names for a file."""
    return os.path.join(path.parent, f".{path.name}.")


def exchange(xml: Names, weights: Names) -> None:
    """Rename the new files of a pair to their final names.

    After an exception the final names belong to the older files again. The caller holds the lock of the folder.
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
    """Complete or undo an interrupted exchange of a pair of files.

    An error of the file system is ignored: the next process will try again.
    """
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
    """Finish the replacements of a pair of files during which a process was killed: where there is a new `.xml`, its
    older files are removed; where there is none, the older files get their names back.

    The caller holds the lock of the folder.
    """
    marks = {_mark_of(file) for file in temporary_files(xml_path, bin_path) if file.suffix == OLD}
    for mark in sorted(marks):
        _settle_one(Names(xml_path, mark), Names(bin_path, mark))


def sweep(xml_path: Path, bin_path: Path) -> None:
    """Remove new files whose writer was killed; these are not locked. The caller holds the lock of the folder."""
    for file in temporary_files(xml_path, bin_path):
        if file.suffix == _NEW:
            with suppress(OSError):
                _remove_unlocked(file)


def create_new(xml_path: Path, bin_path: Path) -> tuple[Names, Names, BinaryIO, BinaryIO]:
    """Create and lock the new files of a pair under a free mark. The caller holds the lock of the folder.

    If sixteen writers have left files, or are writing, the mark is a random one; its files are not recognized later.

    Returns the names of the `.xml` and the `.bin`, and their open files. Raises OSError.
    """
    taken = {_mark_of(each) for each in temporary_files(xml_path, bin_path)}
    for mark in (*(each for each in _MARKS if each not in taken), os.urandom(6).hex()):
        xml, weights = Names(xml_path, mark), Names(bin_path, mark)
        # Another process takes the mark at the same time where there are no locks.
        with suppress(FileExistsError):
            file = _create(xml.new)
            try:
                return xml, weights, file, _create(weights.new)
            except BaseException:
                file.close()
                xml.new.unlink()
                raise
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(xml_path))


def _create(path: Path) -> BinaryIO:
    """Create and lock a file with the default permissions of new files."""
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    try:
        _lock_own(descriptor)
        return os.fdopen(descriptor, "wb", buffering=1 << 20)
    except BaseException:
        with suppress(OSError):
            path.unlink()
        os.close(descriptor)
        raise


def temporary_files(*paths: Path) -> list[Path]:
    """The temporary files of all writers for the files of a pair, older files first."""
    # A conversion looks for 160 of these files, in strings, since making a Path takes longer than asking for the file.
    beginnings = [_beginning(path) for path in paths]
    names = [f"{each}{mark}{suffix}" for suffix in (OLD, _NEW) for each in beginnings for mark in _MARKS]
    return [Path(name) for name in names if os.path.lexists(name)]


def _mark_of(file: Path) -> str:
    return file.name.rsplit(".", 2)[1]


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


def _lock_own(descriptor: int) -> None:
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
