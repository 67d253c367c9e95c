"""Model files: their memory maps, records of reading, and the files that a model may refer to."""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path, PurePosixPath, PureWindowsPath

from moir.errors import ModelFileError
from moir.files.shrunken_maps import SHRUNKEN_MAPS
from moir.files.unchanged_files import FileState
from moir.frameworks import FRAMEWORKS
from moir.frameworks.record import SAMPLE

_FILES_READ: ContextVar[dict[Path, FileState] | None] = ContextVar("files_read", default=None)

LARGEST_CONFIGURATION = 1 << 20
"""Largest size of a configuration in bytes; its parser takes up to some hundred times as much memory."""


@contextmanager
def recorded_files() -> Generator[dict[Path, FileState]]:
    """A context that yields a dictionary of all files that are read in it: their paths, links followed, and their
    states when opened.
    """
    files: dict[Path, FileState] = {}
    token = _FILES_READ.set(files)
    try:
        yield files
    finally:
        _FILES_READ.reset(token)
        if (outer := _FILES_READ.get()) is not None:
            outer.update({path: state for path, state in files.items() if path not in outer})


def record_read(path: Path, status: os.stat_result | None = None) -> None:
    """Record a file that is read; `status` is its status when it was opened, by default its present status."""
    if (files := _FILES_READ.get()) is None:
        return
    try:
        files.setdefault(path.resolve(), FileState.of(status or os.stat(path)))
    except OSError:
        return


def was_read(path: Path) -> bool:
    """Whether an existing file was read in the present context of `recorded_files`, under any of its names."""
    return any(each.exists() and os.path.samefile(path, each) for each in _FILES_READ.get() or ())


def is_present(path: Path) -> bool:
    """Whether there is a file or folder of a name that another file gives; no file has a name that is too long."""
    try:
        return path.exists()
    except OSError:
        return False


def map_file(path: Path, model: Path | None = None) -> mmap.mmap | None:
    """A read-only memory map of a regular file; None for an empty one.

    Args:
        path: the file.
        model: the model file or folder that refers to the file, which must be in the same folder
            (`ModelFolder`); None for a file that the user named.

    Raises ModelFileError if it cannot be read, or is not in the folder of the model.
    """
    try:
        with opened(path, model) as (descriptor, status):
            if status.st_size == 0:
                return None
            mapped = mmap.mmap(descriptor, status.st_size, access=mmap.ACCESS_READ)
            SHRUNKEN_MAPS.watch(mapped, FileState.of(status), path)
            return mapped
    except (OSError, ValueError) as error:
        raise ModelFileError(f"cannot be read: {getattr(error, 'strerror', None) or error}", location=str(path)) from error


def map_content(path: Path, model: Path | None = None) -> mmap.mmap:
    """A read-only memory map of a file, see `map_file`. Raises ModelFileError if it is empty or cannot be read."""
    mapped = map_file(path, model)
    if mapped is None:
        raise ModelFileError("the file is empty", location=str(path), hint="copy or download it again")
    return mapped


def read_whole(path: Path, what: str, limit: int = LARGEST_CONFIGURATION) -> bytes:
    """The content of a small file that the user named, such as a configuration; it may come through a pipe.

    Args:
        path: the file.
        what: what it should be, for messages.
        limit: its largest size in bytes.

    Raises ModelFileError if it cannot be read, or is larger.
    """
    try:
        with path.open("rb") as file:
            record_read(path, os.fstat(file.fileno()))
            # A device has no end, and reports the size 0.
            content = file.read(limit + 1)
    except (OSError, ValueError) as error:
        raise ModelFileError(f"cannot be read: {getattr(error, 'strerror', None) or error}", location=str(path)) from error
    if len(content) > limit:
        size = f"{limit >> 20} MiB" if limit >> 20 else f"{limit} bytes"
        raise ModelFileError(f"larger than {size}", location=str(path), hint=f"is it {what}?")
    return content


@contextmanager
def opened(path: Path, model: Path | None = None) -> Generator[tuple[int, os.stat_result]]:
    """The descriptor of a regular file that is open in the context, and its status; see `map_file`.

    Raises ModelFileError if it is not a regular file or not in the folder of the model, OSError if it cannot be opened.
    """
    # A named pipe would block. The open file is examined, since the file at the path may change in between.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
    try:
        status = os.fstat(descriptor)
        # A device has no end.
        if not stat.S_ISREG(status.st_mode):
            raise ModelFileError("not a regular file", location=str(path))
        if model is not None and path != model:
            ModelFolder(model).check_opened(path, descriptor)
        record_read(path, status)
        yield descriptor, status
    finally:
        os.close(descriptor)


def check_beginning(path: Path, data: mmap.mmap, dialect: str) -> None:
    """Raises ModelFileError if a file begins like a kind that no frontend reads, and not like the files of a
    framework.
    """
    beginning = data[:SAMPLE]
    if not FRAMEWORKS[dialect].begins(beginning):
        # Imported here: this table is needed only for files that may be of a format that moir does not read.
        from moir.files.foreign_files import check_not_foreign

        check_not_foreign(path, beginning)


class ModelFolder:
    """The folder of a model, whose files are the only ones that the model may refer to.

    A model may come from an untrusted source, and must not be able to copy other files of the machine into the
    converted model. If its path is a link, files in the folder of the target are allowed as well: caches keep all files
    of a model as links to one folder.

    Args:
        model: path of the model file, or of its folder where the user named that.
    """

    def __init__(self, model: Path) -> None:
        if model.is_dir():
            self.path = model
            self._allowed = {model.resolve()}
        else:
            self.path = model.parent
            self._allowed = {model.parent.resolve(), model.resolve().parent}

    @staticmethod
    def is_absolute(name: str) -> bool:
        """Whether a name is an absolute path on any platform."""
        return PurePosixPath(name).is_absolute() or bool(PureWindowsPath(name).anchor)

    @staticmethod
    def leads_upward(name: str) -> bool:
        """Whether a name has a component `..` on any platform."""
        return ".." in (*PurePosixPath(name).parts, *PureWindowsPath(name).parts)

    def target(self, path: Path) -> Path | None:
        """The file that a path in the folder means, links followed; None if that is outside of the allowed folders.

        Raises OSError or RuntimeError if there is no such file.
        """
        target = path.resolve(strict=True)
        return target if any(target.is_relative_to(folder) for folder in self._allowed) else None

    def check_opened(self, path: Path, descriptor: int) -> None:
        """Check that an open file is the file at its path, within the allowed folders.

        The check follows the opening: a link that is changed before or after it leads to another file, or out of the
        folders. A file with several hard links is rejected, because another link may be outside of the folders.

        Raises ModelFileError if it is not, OSError if there is no file at the path any more.
        """
        opened = os.fstat(descriptor)
        target = self.target(path)
        hint = "only files in the folder of the model are read"
        if target is None:
            raise ModelFileError("the file is a link out of the folder of the model", location=str(path), hint=hint)
        if not os.path.samestat(opened, os.lstat(target)):
            raise ModelFileError("the file was replaced while it was opened", location=str(path), hint="convert the model again")
        if opened.st_nlink > 1:
            hint += "; copy the file, if it is one of the model"
            raise ModelFileError("the file is a hard link, which may belong elsewhere", location=str(path), hint=hint)
