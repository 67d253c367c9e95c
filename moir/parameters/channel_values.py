"""Numbers for the channels of inputs, as `--mean-values` and `--scale-values` have them.

(123.7,116.3,103.5)            for the channels of the only input, or one number for all channels
[123.7,116.3,103.5]            the same
127.5                          the same, for one number
(1,2,3),(0.5)                  for all inputs, in their order; () for an input that gets none
image(1,2,3),depth[0.5]        by name
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from moir.errors import ArgumentError
from moir.parameters.notation import Notation, NotationError, quoted_name

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"


@dataclass(frozen=True)
class ChannelValues:
    """The numbers of an input.

    Args:
        name: the name of the input; empty if it is known by its position.
        values: a number for each channel, one for all of them, or none.
    """

    name: str
    values: tuple[float, ...]

    def __str__(self) -> str:
        return f"{quoted_name(self.name) if self.name else ''}[{','.join(map(repr, self.values))}]"


def notation_of(values: Sequence[ChannelValues]) -> str:
    """The text that `channel_values` reads as these values."""
    return ",".join(map(str, values))


def channel_values(value: object) -> tuple[ChannelValues, ...]:
    """The channel values of inputs that a text or an object gives.

    Args:
        value: a text; a number, or a list of numbers, for the only input; a list of those for all inputs; or a mapping
            of them by name. Arrays are lists.

    All of them have names, or none. Raises NotationError for a mistake in a text, ArgumentError for other objects.
    """
    if isinstance(value, str):
        values = _read(value)
    elif isinstance(value, Mapping):
        values = [ChannelValues(str(name), _numbers(each)) for name, each in cast("Mapping[object, object]", value).items()]
    else:
        plain = _plain(value)
        entries = cast("list[object]", plain) if isinstance(plain, list) else []
        is_list = any(isinstance(_plain(each), list) for each in entries)
        lists = entries if is_list or plain == [] else [cast(object, plain)]
        values = [ChannelValues("", _numbers(each)) for each in lists]
    names = [each.name for each in values if each.name]
    if names and len(names) < len(values):
        raise NotationError(f"{notation_of(values)!r}: some values have the name of an input and some do not")
    for each in values:
        if names.count(each.name) > 1:
            raise NotationError(f"{notation_of(values)!r}: {each.name!r} is there twice")
        if each.name and not each.values:
            raise NotationError(f"{notation_of(values)!r}: {each.name!r} has no values")
    if values and not any(each.values for each in values):
        raise NotationError(f"{notation_of(values)!r}: there are no values")
    return tuple(values)


def divisors(value: object) -> tuple[ChannelValues, ...]:
    """The channel values of inputs that a text or an object gives, as `channel_values`.

    Raises NotationError if one of them is 0, too.
    """
    values = channel_values(value)
    if any(not all(each.values) for each in values):
        raise NotationError(f"{notation_of(values)!r}: division by 0")
    return values


def _read(text: str) -> list[ChannelValues]:
    notation = Notation(text)
    if not {"(", "["} & set(text) and notation.matched(rf"(?={_NUMBER})") is not None:
        values = [ChannelValues("", _read_numbers(notation))]
    else:
        values = notation.items(_read_one)
    notation.end()
    return values


def _read_one(notation: Notation) -> ChannelValues:
    name = notation.name()
    closing = r"\]" if notation.matched(r"\[") is not None else r"\)"
    if closing == r"\)":
        notation.expect(r"\(", "'(' or '['", hint="such as (1,2,3), image(1,2,3) or 127.5")
    values = () if notation.matched(closing) is not None else _read_numbers(notation)
    if values:
        notation.expect(closing, f"',' or {closing[1:]!r}")
    return ChannelValues(name, values)


def _read_numbers(notation: Notation) -> tuple[float, ...]:
    return _finite(notation.items(lambda each: float(each.expect(_NUMBER, "a number"))))


def _plain(value: object) -> object:
    """A value in which arrays and scalars of numpy are replaced by lists and numbers."""
    if hasattr(value, "tolist"):
        return cast(Any, value).tolist()
    return list(cast("Sequence[object]", value)) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else value


def _numbers(value: object) -> tuple[float, ...]:
    plain = _plain(value)
    numbers = [_plain(each) for each in cast("list[object]", plain)] if isinstance(plain, list) else [plain]
    for each in numbers:
        if isinstance(each, bool) or not isinstance(each, int | float):
            raise ArgumentError(f"{each!r} is not a number", hint="write a number, a list of numbers, or a mapping of names to those")
    return _finite([float(cast(float, each)) for each in numbers])


def _finite(numbers: Sequence[float]) -> tuple[float, ...]:
    for number in numbers:
        if not math.isfinite(number):
            raise NotationError(f"{number} is not a number to compute with")
    return tuple(numbers)
