"""The pages of the site that no file in `docs` has: documents elsewhere in the repository, and the references."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from scripts.site import commands, lowerings, operations, passes, python_interface

ROOT = Path(__file__).parents[2]

REFERENCES: Mapping[str, Callable[[], str]] = {
    "reference/commands.md": commands.document,
    "reference/python.md": python_interface.document,
    "reference/passes.md": passes.document,
    "reference/lowerings.md": lowerings.document,
    **operations.PAGES,
}
"""The pages that are made of the code, with the functions that return their text."""

MOVED: Mapping[str, str] = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "editors/README.md": "editors.md",
    "LICENSE": "LICENSE",
}
"""Files outside of `docs`, with their places in the site."""


def moved(text: str) -> str:
    """The text of a file outside of `docs`, with its links, which are from the root, as they are from `docs`."""

    def link(match: re.Match[str]) -> str:
        target = match[1].removeprefix("docs/")
        return f"]({MOVED.get(target, target)})"

    return re.sub(r"\]\(([^):]+)\)", link, text)


def pages() -> dict[str, str]:
    """The text of each page by its place below `docs`."""
    texts = {place: moved((ROOT / name).read_text(encoding="utf-8")) for name, place in MOVED.items()}
    return texts | {place: document() for place, document in REFERENCES.items()}
