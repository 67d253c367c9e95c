"""The names in a table of recipes, whose files register them when they are imported."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatch
from importlib import import_module


def matching(recipes: Iterable[str], package: str, families: Iterable[str], only: str) -> list[str]:
    """The names in a table that match a glob.

    Args:
        recipes: the table, which is complete when all files are imported.
        package: the package of the files.
        families: the names of the files.
        only: the glob.
    """
    for family in families:
        import_module(f"{package}.{family}")
    return [name for name in recipes if fnmatch(name, only)]
