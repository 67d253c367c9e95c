"""The kinds of operations that graphs are drawn from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.fuzz.fusions.draft import Draft, Value

Apply = Callable[[Draft, Value], Value]
"""Appends an operation, or a composition that exporters write for one, to a value. Raises NoCase if it does not apply."""


@dataclass(frozen=True)
class Kind:
    """A kind of operation.

    Args:
        name: its name in reports.
        family: what it belongs to; styles of networks prefer families.
        apply: appends it to a value.
        weight: how often it is drawn in comparison with others of its family.
    """

    name: str
    family: str
    apply: Apply
    weight: float = 1.0


KINDS: dict[str, Kind] = {}
"""All kinds, by their names."""


def kind(name: str, family: str, weight: float = 1.0) -> Callable[[Apply], Apply]:
    """Register a function that appends an operation."""

    def register(function: Apply) -> Apply:
        add(Kind(name, family, function, weight))
        return function

    return register


def add(each: Kind) -> None:
    """Register a kind."""
    assert each.name not in KINDS, each.name
    KINDS[each.name] = each
