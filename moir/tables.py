"""Tables of names, written as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

Value = TypeVar("Value")


def words(text: str) -> frozenset[str]:
    """A set of words: "Add Mul" -> {"Add", "Mul"}"""
    return frozenset(text.split())


def pairs(text: str) -> dict[str, str]:
    """A table of words: "LT Less, GE GreaterEqual" -> {"LT": "Less", "GE": "GreaterEqual"}"""
    return dict([pair.split() for pair in text.split(",")])


def numbers(text: str) -> dict[str, int]:
    """A table of numbers: "FLOAT 1, UINT8 2" -> {"FLOAT": 1, "UINT8": 2}"""
    return {word: int(number) for word, number in pairs(text).items()}


def numbered(text: str) -> dict[int, str]:
    """A table of words by numbers: "1 name, 4 type" -> {1: "name", 4: "type"}"""
    return {int(number): word for number, word in pairs(text).items()}


def listed(text: str) -> dict[str, str]:
    """A table of the words after a name: "sum: Add AddV2 max: Max" -> {"Add": "sum", "AddV2": "sum", "Max": "max"}"""
    found: dict[str, str] = {}
    name = ""
    for word in text.split():
        if word[-1] == ":":
            name = word[:-1]
        else:
            found[word] = name
    return found


def by_word(groups: Mapping[str, Value]) -> dict[str, Value]:
    """A table whose keys are several words, by single words: {"Add AddV2": 1} -> {"Add": 1, "AddV2": 1}"""
    return {word: value for group, value in groups.items() for word in group.split()}


def by_member(groups: Mapping[str, str]) -> dict[str, str]:
    """A table whose values are several words, by single words: {"Add": "plus sum"} -> {"plus": "Add", "sum": "Add"}"""
    return {word: name for name, group in groups.items() for word in group.split()}
