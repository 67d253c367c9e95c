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


GENERATED_TABLES = ("reference/operations-", "reference/lowerings", "reference/passes", "onnx-backend-suite", "tensorflow-layers",
                    "model-optimizer-names", "plugin-faults", "runtimes", "changelog", "LICENSE")  # fmt: skip
"""The beginnings of pages that are lists of names: a search finds each word of them hundreds of times."""
QUESTIONS = "faq.md"
"""The page whose headings are the words that users search for."""


def search_boost(place: str) -> float:
    """The factor of a page's score in the search: tables of names come after texts, and questions before all."""
    if place == QUESTIONS:
        return 2.0
    return 0.1 if place.startswith(GENERATED_TABLES) else 0.5 if place in REFERENCES else 1.0


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
