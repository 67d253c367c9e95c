"""Tables with terms of z3 as keys, by their ids; the tables keep the terms alive.

z3 reuses the id of a term that was deleted.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Generic, TypeVar

from moir.proofs.smt import z3

MOST_KEPT = 200_000
"""The maximum number of entries of a table; a full table is cleared."""

Value = TypeVar("Value")


def key_of(entries: Sequence[Any]) -> tuple[Hashable, ...]:
    """A key for terms and integers, which is the same for the same terms as long as they are alive."""
    return tuple([(entry,) if type(entry) is int or not isinstance(entry, z3.AstRef) else entry.get_id() for entry in entries])


class TermTable(Generic[Value]):
    """A table of values by one or several terms or integers."""

    def __init__(self) -> None:
        self._values: dict[tuple[Hashable, ...], tuple[Any, Value]] = {}

    def get(self, *terms: Any) -> Value | None:
        """The value kept for these terms; None if none was kept."""
        kept = self._values.get(key_of(terms))
        return None if kept is None else kept[1]

    def put(self, value: Value, *terms: Any) -> Value:
        """Keep a value, and return it."""
        if len(self._values) >= MOST_KEPT:
            self._values.clear()
        self._values[key_of(terms)] = (terms, value)
        return value
