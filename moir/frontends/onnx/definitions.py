"""The operands and attributes that a kind of ONNX has, in any version.

Source: the schemas of ONNX 1.23.
"""

from __future__ import annotations

from functools import cache

from moir.support.records import Record


class Definition(Record):
    """The largest number of operands of a kind (None: any number), and the names of its attributes, in any version."""

    operands: int | None
    attributes: frozenset[str]


@cache
def definition_of(kind: str) -> Definition | None:
    """The definition of a kind, with its domain as prefix as in the dialect; None for a kind that the table does not
    have.
    """
    from moir.frontends.onnx.definition_table import DEFINITIONS

    row = DEFINITIONS.get(kind)
    if row is None:
        return None
    count, *attributes = row.split()
    return Definition(None if count == "*" else int(count), frozenset(attributes))
