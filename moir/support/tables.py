"""Tables whose keys or values are several words of one text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

Value = TypeVar("Value")


def words(text: str) -> frozenset[str]:
    """The set of the names in a text: "Add Mul" -> {"Add", "Mul"}"""
    return frozenset(text.split())


def by_word(groups: Mapping[str, Value]) -> dict[str, Value]:
    """A table whose keys are several words, by single words: {"Add AddV2": 1} -> {"Add": 1, "AddV2": 1}"""
    return {word: value for group, value in groups.items() for word in group.split()}


def by_member(groups: Mapping[str, str]) -> dict[str, str]:
    """A table whose values are several words, by single words: {"Add": "plus sum"} -> {"plus": "Add", "sum": "Add"}"""
    return {word: name for name, group in groups.items() for word in group.split()}
