"""A kind of file that moir does not read, and what its user can do next."""

from __future__ import annotations

from pathlib import Path

from moir.errors import ModelFileError
from moir.support.records import Record


class FileKind(Record):
    """A kind of file.

    Args:
        name: the name of the kind of file, with its article.
        step: what the user can do; `{path}`, `{stem}` and `{folder}` stand for those of the file.
        beginning: regular expression for the first bytes.
        suffixes: the file is of this kind if its name ends so and its first bytes identify no kind.
        endings: if there are any, the name must end with one of them, besides having the first bytes.
    """

    name: str
    step: str
    beginning: bytes | None = None
    suffixes: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()

    def is_named(self, name: str) -> bool:
        """Whether a file of this name may be of the kind, if its first bytes are those of the kind."""
        return not self.endings or name.lower().endswith(self.endings)

    def error(self, path: Path) -> ModelFileError:
        """The error for a file of this kind in place of a model."""
        step = self.step.format(path=path, stem=path.stem or "model", folder=path.parent)
        return ModelFileError(f"this is {self.name}", location=str(path), hint=step)


EXPORT_CORE_ML = "convert the PyTorch module or the Keras model that it was made from: no tool writes Core ML back"
"""Advice for the user of a model of Core ML."""
