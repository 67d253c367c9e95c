"""The assets of a model: files besides its graph and its variables, such as vocabularies.

A model may refer to files in its own folder only. It may come from an untrusted source, and must not be able to copy
other files of the machine into the converted model.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

from moir.errors import ModelFileError


class Assets:
    """The assets of one model.

    Args:
        model: path of the model file.
        folder: the folder of the assets, in or below the model's folder.
    """

    def __init__(self, model: Path, folder: Path) -> None:
        self.model = model
        self.folder = folder
        # If the path of the model is a link, the folder of its target is allowed as well: caches keep all files of a
        # model as links to one folder.
        self.allowed = {model.parent.resolve(), model.resolve().parent}

    def open(self, name: str) -> Path:
        """The file of an asset.

        Args:
            name: its path in the folder of assets. Of an absolute path, which was valid on the machine that saved the
                model, only the last component is used.

        Raises ModelFileError if it is outside the model's folder or missing.
        """
        absolute = PurePosixPath(name).is_absolute() or bool(PureWindowsPath(name).anchor)
        parts = PureWindowsPath(name).parts
        if not parts or "\0" in name or ".." in parts:
            raise ModelFileError(f"asset {name!r} is outside the folder of the model", location=str(self.model))
        path = self.folder / (parts[-1] if absolute else name)
        try:
            target = path.resolve(strict=True)
        except (OSError, RuntimeError) as error:
            reason = f"asset {name!r} cannot be read ({getattr(error, 'strerror', None) or error})"
            raise ModelFileError(reason, location=str(path), hint="copy all files of the model") from error
        if not any(target.is_relative_to(folder) for folder in self.allowed):
            raise ModelFileError(f"asset {name!r} is a link out of the folder of the model", location=str(self.model))
        return target
