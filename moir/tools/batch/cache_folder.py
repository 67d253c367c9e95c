"""The folder of the cache of conversions: a local one, or one at an address, with a local copy of the files that were
used.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from moir.errors import MoirError, UsageError
from moir.files.remote.addresses import is_address, joined, shown
from moir.files.staging import staging_folder
from moir.tools.batch.digests import of_text

if TYPE_CHECKING:
    from moir.files.remote.store import Store


class CacheFolder:
    """The folder of a cache.

    Args:
        place: its path or its address.

    Raises UsageError for an address to which nothing can be written, ModelFileError if the copy cannot be.
    """

    def __init__(self, location: str) -> None:
        self._address = location
        self._store: Store | None = None
        self.path = Path(location)
        """The folder on this machine."""
        if not is_address(location):
            return
        from moir.files.remote.download_folder import CACHE, downloads
        from moir.files.remote.store import Store

        self._store = Store(location)
        if self._store.is_web:
            raise UsageError("a server of the web is only read", location=shown(location), hint="keep the cache in a store, such as s3://")
        self.path = downloads() / f"{CACHE}{of_text(location)[:24]}"

    def present(self, name: str) -> Path:
        """The local path of a file of the cache, which is downloaded first if necessary; there is no file at the path
        if the cache lacks it.

        Args:
            name: its name relative to the folder.
        """
        path = self.path / name
        if self._store is None or path.is_file():
            return path
        from moir.files.remote.download import download

        try:
            if (version := self._store.file(joined(self._address, name))) is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                with staging_folder(self.path, "new-") as folder:
                    download(self._store, version, folder / "file")
                    (folder / "file").replace(path)
        except (MoirError, OSError):
            # What cannot be read counts as missing; writing it says why.
            return path
        return path

    def publish(self, *names: str) -> str | None:
        """Upload files of a cache at an address, in their order.

        Returns a note for the user if that fails; None otherwise, and for a cache on this machine.

        Args:
            names: their names relative to the folder, those of contents (`files/<digest>`) before those that name them.
        """
        if self._store is None:
            return None
        from moir.files.remote.store import described

        for name in names:
            address = joined(self._address, name)
            try:
                path = self.path / name
                there = self._store.file(address) if name.startswith("files/") else None
                if there is None or there.size != path.stat().st_size:
                    self._store.put(path, address)
            except MoirError as error:
                return f"the cache cannot be written: {error}"
            except Exception as error:
                return str(described(address, error, "the cache cannot be written"))
        return None
