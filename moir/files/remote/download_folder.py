"""The folder of this machine for what is downloaded and what waits to be uploaded, and how it is kept small.

When the disk has no space for a download, or the folder would become larger than MOIR_DOWNLOADS_SIZE, the models that
were used longest ago are removed, and parts of the local copy of a cache. Each model in the folder has a file `in-use`:
processes that convert the model share a lock of it, a process that removes the model needs that lock alone. Without
locks, as on Windows, nothing is removed. Only the user may read and write the folder.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from moir.errors import ModelFileError, UsageError
from moir.support.sizes import size_of

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None

VARIABLE = "MOIR_DOWNLOADS"
"""The environment variable that names the folder."""

VARIABLE_OF_SIZE = "MOIR_DOWNLOADS_SIZE"
"""The environment variable that says how large the folder may become."""

CACHE = "cache-"
"""The beginning of the names of folders that are local copies of caches."""

_IN_USE = "in-use"

_UNKNOWN_PART = 0.05
"""The fraction of the largest size that a process may download before it measures the folder again."""

_KEPT_PART = 0.8
"""The fraction of the largest size to which the folder is reduced, so that it is not measured again for each model."""


class _Measured:
    """The size of a folder when it was measured, and what this process has downloaded since; all in bytes."""

    folder: Path | None = None
    size = 0
    since = 0


def downloads() -> Path:
    """The folder of this machine for what is downloaded, and for what waits to be uploaded; it is created."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(os.environ.get(VARIABLE) or Path(cache) / "moir" / "downloads")
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        hint = f"name another folder: {VARIABLE}"
        raise ModelFileError(f"cannot be written: {error.strerror or error}", location=str(folder), hint=hint) from error
    return folder.resolve()


@contextmanager
def used(root: Path) -> Generator[None]:
    """A context in which the downloaded files of a model are not removed.

    Args:
        root: the folder of the model in that of downloads; it is created.

    Raises ModelFileError if it cannot be written.
    """
    try:
        file = _shared(root)
    except OSError as error:
        raise ModelFileError(f"cannot be written: {error.strerror or error}", location=str(root)) from error
    with file:
        yield


def make_room(size: int, reserve: int) -> None:
    """Remove downloaded models, those used longest ago first, until there is room for a download or nothing can be
    removed.

    Args:
        size: the bytes that are about to be downloaded.
        reserve: further bytes of the disk that are to stay free.

    Raises UsageError if the largest size is not a size.
    """
    folder = downloads()
    excess = max(_excess_of_limit(folder, size), size + reserve - shutil.disk_usage(folder).free)
    if excess <= 0:
        return
    for _, path in sorted(_removable(folder)):
        freed = _removed(path)
        excess -= freed
        _Measured.size -= freed
        if excess <= 0:
            return


def _shared(root: Path) -> IO[bytes]:
    """The open file `in-use` of a model's folder, with a shared lock on it."""
    while True:
        root.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # the folder was removed in between
            file = (root / _IN_USE).open("ab")
            if fcntl is not None:
                with suppress(OSError):  # of a file system without locks
                    fcntl.flock(file, fcntl.LOCK_SH)
            # The lock may be that of a file that another process has removed meanwhile.
            if os.path.samestat(os.fstat(file.fileno()), os.stat(root / _IN_USE)):
                os.utime(root / _IN_USE)
                return file
            file.close()


def _excess_of_limit(folder: Path, size: int) -> int:
    """The number of bytes that have to be removed before a download of `size` bytes, because of the largest size of the
    folder.
    """
    text = os.environ.get(VARIABLE_OF_SIZE)
    if not text:
        return 0
    limit = size_of(text)
    if limit is None:
        raise UsageError(f"{VARIABLE_OF_SIZE} is {text!r}, which is not a size", hint="such as 100GB")
    _Measured.since += size
    if _Measured.folder != folder or _Measured.since > _UNKNOWN_PART * limit:
        _Measured.folder, _Measured.size, _Measured.since = folder, _content(folder), size
    total = _Measured.size + _Measured.since
    return 0 if total <= limit else int(total - _KEPT_PART * limit)


def _removable(folder: Path) -> Generator[tuple[float, Path]]:
    """The models and the files of caches in the folder, with the time of their last use."""
    for path in folder.iterdir():
        with suppress(OSError):
            if (path / _IN_USE).exists():
                yield (path / _IN_USE).stat().st_mtime, path
        if path.name.startswith(CACHE):
            for each in path.rglob("*"):
                with suppress(OSError):
                    if each.is_file():
                        yield each.stat().st_mtime, each


def _removed(path: Path) -> int:
    """Remove a model that is not in use, or a file of a cache; returns the bytes that were freed."""
    if fcntl is None:
        return 0
    try:
        if path.is_file():
            size = path.stat().st_size
            path.unlink()
            return size
        with (path / _IN_USE).open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            size = _content(path)
            shutil.rmtree(path)
            return size
    except OSError:
        # In use, or removed by another process.
        return 0


def _content(folder: Path) -> int:
    """The sizes of all files in a folder in bytes."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.stat(os.path.join(parent, name)).st_size
    return total
