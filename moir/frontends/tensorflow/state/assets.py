"""The assets of a model: files besides its graph and its variables, such as vocabularies.

A model may refer to files in its own folder only, see `ModelFolder`.
"""

from __future__ import annotations

from pathlib import Path, PureWindowsPath

from moir.errors import ModelFileError
from moir.files.reading import ModelFolder


class Assets:
    """The assets of one model.

    Args:
        model: path of the model file.
        folder: the folder of the assets, in or below the model's folder.
    """

    def __init__(self, model: Path, folder: Path) -> None:
        self.model = model
        self.folder = folder
        self.model_folder = ModelFolder(model)

    def open(self, name: str) -> Path:
        """The file of an asset.

        Args:
            name: its path in the folder of assets. Of an absolute path, which was valid on the machine that saved the
                model, only the last component is used.

        Raises ModelFileError if it is outside the model's folder or missing.
        """
        last = PureWindowsPath(name).name
        if not last or "\0" in name or self.model_folder.leads_upward(name):
            raise ModelFileError(f"asset {name!r} is outside the folder of the model", location=str(self.model))
        path = self.folder / (last if self.model_folder.is_absolute(name) else name)
        try:
            target = self.model_folder.target(path)
        except (OSError, RuntimeError) as error:
            reason = f"asset {name!r} cannot be read ({getattr(error, 'strerror', None) or error})"
            raise ModelFileError(reason, location=str(path), hint="copy all files of the model") from error
        if target is None:
            raise ModelFileError(f"asset {name!r} is a link out of the folder of the model", location=str(self.model))
        return target
