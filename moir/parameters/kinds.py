"""The kinds of values that parameters of a conversion have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from moir.parameters.arguments import FLAG, NAME, NAMES, PATH, PATHS, Expected
from moir.parameters.parameter import Kind, Plain
from moir.support.suggestions import alternatives

T = TypeVar("T")
V = TypeVar("V")

_TRUTHS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def truth(text: str) -> bool:
    """The boolean that a text stands for: True or False, in any of the usual words.

    Raises ValueError for any other text.
    """
    if text.lower() not in _TRUTHS:
        raise ValueError(f"{text!r} is neither true nor false")
    return _TRUTHS[text.lower()]


def listed(text: str) -> tuple[str, ...]:
    """The parts of a text between commas, without those that are empty."""
    return tuple(part for each in text.split(",") if (part := each.strip()))


def _same(value: T) -> T:
    return value


def or_none(kind: Kind[V]) -> Kind[V | None]:
    """The kind whose values are those of another kind, and None if no value is given."""

    def of_python(value: Any) -> V | None:
        return None if value is None else kind.of_python(value)

    def plain(value: V | None) -> Plain:
        return "" if value is None else kind.plain(value)

    return Kind(kind.expected.or_none(), of_python, kind.of_text, plain, choices=kind.choices, is_private=kind.is_private)


def choice(values: Mapping[str, V], expected: Expected) -> Kind[V]:
    """A kind of parameter whose values are selected by words; `values` has the value of each word.

    Args:
        values: the value of each word.
        expected: what `convert_model` accepts: the words, the values or both.
    """

    def of_text(text: str) -> V:
        if text not in values:
            raise ValueError(f"{text!r} is not {alternatives(values)}")
        return values[text]

    def of_python(value: Any) -> V:
        return values[value] if isinstance(value, str) else value

    def plain(value: V) -> Plain:
        return next(word for word, each in values.items() if each == value)

    return Kind(expected, of_python, of_text, plain, choices=tuple(values))


def structured(description: str, reader: Callable[[Any], T], plain: Callable[[T], Plain]) -> Kind[T]:
    """A kind of parameter whose values have a notation of their own.

    Args:
        description: what `convert_model` expects, a noun clause.
        reader: reads texts and objects. Raises ValueError or TypeError for an invalid one. It imports the notation
            when it is called: most conversions do without.
        plain: the notation of a value.
    """

    def reason(value: Any) -> str | None:
        try:
            reader(value)
        except (ValueError, TypeError) as error:
            return str(error)
        return None

    return Kind(Expected(description, lambda value: reason(value) is None, reason), reader, reader, plain)


def integer(least: int) -> Kind[int]:
    """The kind of integers that are 0 (none) or at least `least`, such as a size."""

    def accepts(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and (value >= least or value == 0)

    def of_text(text: str) -> int:
        number = int(text) if text.strip().lstrip("+-").isdecimal() else None
        if number is None or number < least:
            raise ValueError(f"{text!r} is not a whole number from {least} on")
        return number

    return Kind(Expected(f"a whole number from {least} on", accepts), int, of_text, _same)


def _paths(value: Any) -> tuple[str, ...]:
    return (str(value),) if isinstance(value, str | Path) else tuple(map(str, value))


SWITCH: Kind[bool] = Kind(FLAG, bool, truth, _same, is_flag=True)
UNLESS: Kind[bool] = SWITCH.with_fields(switched=False)
"""A switch whose option sets it to False."""
TEXT: Kind[str] = Kind(NAME, str, str, _same)
LIST: Kind[tuple[str, ...]] = Kind(NAMES, tuple, listed, list)
FILE: Kind[Path] = Kind(PATH, Path, Path, str, is_private=True)
FILES: Kind[tuple[str, ...]] = Kind(PATHS, _paths, listed, list, is_private=True)
