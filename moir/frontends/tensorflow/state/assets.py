"""The assets of a model: files besides its graph and its variables, such as vocabularies.

A model may refer to files in its own folder only, see `ModelFolder`.
"""

from __future__ import annotations

import mmap
from pathlib import Path, PureWindowsPath
from typing import NamedTuple

from moir.errors import ModelFileError
from moir.files.reading import ModelFolder, map_file


class OpenedAsset(NamedTuple):
    """The file of an asset, and its memory map; None if it is empty."""

    path: Path
    mapped: mmap.mmap | None


class Assets:
    """The assets of one model.

    Args:
        model: path of the model file.
        folder: the folder of the assets, in or below the model's folder.
    """

    def __init__(self, model: Path, folder: Path) -> None:
        self.model = model
        self.folder = folder

    def open(self, name: str) -> OpenedAsset:
        """An asset, mapped into memory.

        Args:
            name: its path in the folder of assets. An absolute path was valid on the machine that saved the model:
                only its last component is used.

        Raises ModelFileError if it is outside the model's folder or missing.
        """
        last = PureWindowsPath(name).name
        if not last or "\0" in name or ModelFolder.leads_upward(name):
            raise ModelFileError(f"asset {name!r} is outside the folder of the model", location=str(self.model))
        path = self.folder / (last if ModelFolder.is_absolute(name) else name)
        if not path.exists():
            raise ModelFileError(f"asset {name!r} is missing", location=str(path), hint="copy all files of the model")
        return OpenedAsset(path, map_file(path, self.model))
