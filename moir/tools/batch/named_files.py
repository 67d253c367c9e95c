"""The files and folders that the options of a conversion name."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from moir.parameters import parameters
from moir.parameters.extension import EXTENSIONS


def named_paths(name: str, plain: object) -> list[Path]:
    """The files and folders that an option names, installed extensions included.

    Args:
        name: the name of the parameter, whose values are paths.
        plain: its value, as in a file of options.

    Raises ConversionError for an extension that does not exist.
    """
    paths = cast("list[str]", plain) if isinstance(plain, list) else [str(plain)]
    if name != EXTENSIONS.name:
        return [Path(each) for each in paths]
    from moir.extensions.directories import find_directory

    return [find_directory(each) for each in paths]


def resolved(name: str, value: Any, folder: Path) -> Any:
    """The value of the option `name`, with its paths resolved against a folder; values that are no paths are
    unchanged.
    """
    if name not in {each.name for each in parameters() if each.kind.is_private}:
        return value
    if isinstance(value, list):
        return [resolved(name, each, folder) for each in cast("list[Any]", value)]
    # An extension may be the name of an installed one.
    if not isinstance(value, str) or (name == EXTENSIONS.name and not (folder / value).exists()):
        return value
    return str(folder / value)
