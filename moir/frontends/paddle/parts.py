"""The files with the parameters of a PaddlePaddle program that has no suffix, `__model__`."""

from __future__ import annotations

from pathlib import Path

from moir.frontends.paddle.model import STREAM_NAMES, file_names_of_parameters


def names_of_parts(path: Path) -> list[str]:
    """The usual names of the file of all parameters; if the folder has none of them, also those of a file for each
    parameter.

    Empty for a program with a suffix. Raises ModelFileError for a program that is damaged.
    """
    if path.suffix:
        return []
    names = [each for each in STREAM_NAMES if each != path.name]
    return names if any((path.parent / each).is_file() for each in names) else [*names, *file_names_of_parameters(path)]
