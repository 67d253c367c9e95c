"""The rows of tables that scripts write: what kinds have in common, with the kinds."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Mapping


def quoted(text: str, room: int = 116) -> str:
    """A text as a literal, on several lines if it is longer than the room that it has on one."""
    lines = textwrap.wrap(text, 116 if len(text) <= room else min(116, len(text) - 1), break_long_words=False, break_on_hyphens=False)
    literals = [f'"{line} "' for line in lines[:-1]] + [f'"{lines[-1]}"']
    return literals[0] if len(literals) == 1 else f"({' '.join(literals)})"


def grouped_rows(table: Mapping[str, str]) -> str:
    """The rows of a table for `moir.support.tables.by_member`: each value once, with the kinds that have it."""
    groups: dict[str, list[str]] = defaultdict(list)
    for kind, value in table.items():
        groups[value].append(kind)
    return "".join(f"{quoted(value, 100)}: {quoted(' '.join(kinds), 124 - len(value))},\n" for value, kinds in groups.items())
