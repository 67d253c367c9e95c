"""Downloading a file: in pieces, resumed where an earlier attempt or an earlier process has ended."""

from __future__ import annotations

import os
import time
from pathlib import Path
from shutil import disk_usage

from moir.errors import ModelFileError, MoirError
from moir.files.remote.addresses import shown
from moir.files.remote.download_folder import make_room
from moir.files.remote.local_files import Progress
from moir.files.remote.store import RemoteFile, Store, described

_PAUSES = (0.2, 0.5, 1.0, 2.0, 4.0)
"""The pauses in seconds after attempts in which no byte arrived; after the last one the download fails."""

_MOST_VERSIONS = 3
"""How often a download begins anew because the file has changed meanwhile."""

_RESERVE = 256 << 20
"""The number of bytes on the disk that a download must leave free."""


def download(store: Store, file: RemoteFile, partial: Path, progress: Progress | None = None) -> RemoteFile:
    """Download a file to a path of this machine, whose content is the beginning of the file, or which does not exist.

    Only one block of bytes is in memory at a time. After an error the path has what was downloaded.

    Args:
        store: the store of the file.
        file: the version of the file that `partial` has the beginning of.
        partial: the path to write to.
        progress: is called after each block.

    Returns the version that was downloaded, a newer one if the file has changed meanwhile. Raises ModelFileError.
    """
    for _ in range(_MOST_VERSIONS):
        if not file.tag or file.size is None:
            partial.unlink(missing_ok=True)
        _complete(store, file, partial, progress)
        present = store.file(file.address)
        if present is None:
            raise ModelFileError("the file was removed while it was downloaded", location=shown(file.address))
        if present == file:
            return file
        partial.unlink(missing_ok=True)
        file = present
    raise ModelFileError("the file changes while it is downloaded", location=shown(file.address), hint="convert the model again")


def _complete(store: Store, file: RemoteFile, partial: Path, progress: Progress | None) -> None:
    """Download the rest of a file, in as many attempts as it takes while bytes arrive.

    Raises ModelFileError for the failure of an attempt in which none arrived.
    """
    attempts = 0
    while True:
        before = _size(partial)
        try:
            _append(store, file, partial, progress)
            if file.size is None or _size(partial) == file.size:
                return
            if _size(partial) > file.size:
                # Of a server that sends more than it says.
                partial.unlink()
            error: Exception = EOFError(f"{_size(partial)} of {file.size} bytes have arrived")
        except MoirError:
            raise
        except (FileNotFoundError, PermissionError) as exception:
            raise described(file.address, exception, "cannot be downloaded") from None
        except Exception as exception:
            error = exception
        attempts = 0 if _size(partial) > before else attempts + 1
        if attempts > len(_PAUSES):
            # The traceback of the library has the whole address, which --debug would print.
            raise described(file.address, error, "cannot be downloaded") from None
        time.sleep(_PAUSES[max(attempts, 1) - 1])


def _append(store: Store, file: RemoteFile, partial: Path, progress: Progress | None) -> None:
    """Append the content of a file from where the partial file ends, or write it from its beginning."""
    offset = _size(partial)
    if offset == file.size and partial.exists():
        return
    _check_space(file, offset, partial.parent)
    with store.content(file, offset) as (begins, pieces), partial.open("r+b" if offset else "wb") as target:
        target.truncate(begins)
        target.seek(begins)
        done = begins
        for piece in pieces:
            target.write(piece)
            done += len(piece)
            if file.size is None:
                _check_space(file, done, partial.parent)
            elif done > file.size:
                break
            if progress is not None:
                progress(file.address, done, file.size or 0)


def _check_space(file: RemoteFile, done: int, folder: Path) -> None:
    """Check that the disk has space for the rest of a download, and remove models that were used before if it has not.

    Args:
        file: the file, of which the size may be unknown.
        done: the bytes that were downloaded already.
        folder: the folder to which it is downloaded.

    Raises ModelFileError if there is no space even then.
    """
    rest = 0 if file.size is None else file.size - done
    make_room(rest, _RESERVE)
    needed = _RESERVE + rest
    if needed > (free := disk_usage(folder).free):
        reason = f"the rest of it takes {needed} bytes, and the disk of {folder} has {free}"
        raise ModelFileError(reason, location=shown(file.address), hint="free space there, or name another folder: MOIR_DOWNLOADS")


def _size(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
