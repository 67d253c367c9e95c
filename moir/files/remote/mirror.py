"""The folder of this machine to which files that lie elsewhere are downloaded.

    MOIR_DOWNLOADS, by default ~/.cache/moir/downloads
      <digest of the address>/        one model, with the files beside it
        lock                          is held by a process that downloads it
        in-use                        is shared by the processes that convert it (`download_folder.py`)
        versions.json                 the tag of each file, and the state that it has on this disk
        partial/<digest>              a file that is not complete, named by its address and version
        <name of its folder>/         the files, under the names that they have there

A file is downloaded again if its tag has changed, or if somebody has changed it here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from moir.errors import ModelFileError
from moir.files.remote.addresses import identity
from moir.files.remote.download import download
from moir.files.remote.download_folder import downloads, used
from moir.files.remote.local_files import Progress
from moir.files.remote.store import RemoteFile, Store
from moir.files.unchanged_files import FileState

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None


class Mirror:
    """The local files of one model.

    Args:
        store: the store of the model.
        address: the address of the model.
        name: the name of the folder in which its files are.
    """

    def __init__(self, store: Store, address: str, name: str) -> None:
        self._store = store
        self._root = downloads() / _digest(identity(address))
        self.folder = self._root / name
        self.files: dict[str, RemoteFile] = {}
        """The files that belong to the model, by their names in its folder."""
        self._versions: dict[str, list[Any]] = {}

    @contextmanager
    def used(self) -> Generator[None]:
        """A context in which the files of the model are not removed, while they are fetched and read."""
        with used(self._root):
            yield

    @contextmanager
    def locked(self) -> Generator[None]:
        """A context that holds the lock of the model, so that two processes do not download it at the same time."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self._root / "partial").mkdir(exist_ok=True)
            with (self._root / "lock").open("wb") as file:
                if fcntl is not None:
                    with suppress(OSError):  # of a file system without locks
                        fcntl.flock(file, fcntl.LOCK_EX)
                self._versions = self._read_versions()
                yield
        except OSError as error:
            raise ModelFileError(f"cannot be written: {error.strerror or error}", location=str(error.filename or self._root)) from error

    def fetch(self, name: str, file: RemoteFile, progress: Progress | None = None) -> Path:
        """The local path of a file of the model. The file is downloaded unless the local one is of its present version.

        Args:
            name: its name in the folder of the model, which `addresses.is_inside` has accepted.
            file: its version.
            progress: is called after each block.

        Raises ModelFileError.
        """
        path = self.folder / name
        self.files[name] = file
        if file.tag and self._versions.get(name) == [file.tag, identity(file.address), *_state(path)]:
            return path
        partial = self._root / "partial" / _digest(f"{file.tag} {identity(file.address)}")
        self.files[name] = file = download(self._store, file, partial, progress)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.touch()
        partial.replace(path)
        self._versions[name] = [file.tag, identity(file.address), *_state(path)]
        self._write_versions()
        return path

    def remove_others(self) -> None:
        """Remove the local files that do not belong to the model any more, and parts of files of older versions."""
        for path in (self._root / "partial").iterdir():
            path.unlink(missing_ok=True)
        for folder, _, names in os.walk(self.folder):
            for path in (Path(folder, each) for each in names):
                if path.relative_to(self.folder).as_posix() not in self.files:
                    path.unlink(missing_ok=True)

    def _read_versions(self) -> dict[str, list[Any]]:
        try:
            versions: object = json.loads((self._root / "versions.json").read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return cast("dict[str, list[Any]]", versions) if isinstance(versions, dict) else {}

    def _write_versions(self) -> None:
        new = self._root / "versions.json.new"
        new.write_text(json.dumps(self._versions), encoding="utf-8")
        new.replace(self._root / "versions.json")


def _state(path: Path) -> tuple[int, int]:
    """The size and the time of change of a file; (-1, -1) if there is none."""
    try:
        state = FileState.of(path.stat())
    except OSError:
        return (-1, -1)
    return state.size, state.changed


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:24]
