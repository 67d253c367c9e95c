"""The operands and attributes that a kind of ONNX has, in any version.

Source: the schemas of ONNX 1.23.
"""

from __future__ import annotations

from functools import cache

from moir.records import Record


class Definition(Record):
    """The greatest number of operands of a kind, None for any number, and the names of its attributes."""

    operands: int | None
    attributes: frozenset[str]


@cache
def definition_of(kind: str) -> Definition | None:
    """The definition of a kind, with its domain in front as in the dialect; None for kinds of other domains."""
    from moir.frontends.onnx.definition_table import DEFINITIONS

    row = DEFINITIONS.get(kind)
    if row is None:
        return None
    count, *attributes = row.split()
    return Definition(None if count == "*" else int(count), frozenset(attributes))
