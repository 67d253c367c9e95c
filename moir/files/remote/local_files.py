"""Records of what a conversion reads and writes on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from moir.files.remote.addresses import folder_of, joined, shown
from moir.support.records import Record

if TYPE_CHECKING:
    from moir.files.remote.store import RemoteFile

Progress: TypeAlias = Callable[[str, int, int], None]
"""Is called with the address of a file that is downloaded or uploaded, the bytes that are done, and its size in bytes
(0 if unknown).
"""

_NONE: Mapping[Path, RemoteFile] = {}


class LocalModel(Record):
    """A model on this machine.

    Args:
        path: its path.
        files: the versions of its files that were downloaded, by their paths; empty for a model that was not
            downloaded.
    """

    path: Path
    files: Mapping[Path, RemoteFile] = _NONE


class LocalOutput(Record):
    """The place on this machine where a conversion writes.

    Args:
        path: the `.xml` or `.onnx`.
        address: the address at which that file appears; empty if the model stays at the path.
    """

    path: Path
    address: str = ""

    def names(self, files: Iterable[Path]) -> tuple[str, ...]:
        """The designations for the user of files of the model: their paths, or their addresses."""
        if not self.address:
            return tuple(map(str, files))
        return tuple(shown(joined(folder_of(self.address), each.relative_to(self.path.parent).as_posix())) for each in files)
