"""Functions for the `type` of argparse's arguments: they parse a text, or raise an error that says what is expected."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import TypeVar

from moir.support.records import Record
from moir.support.sizes import size_of

T = TypeVar("T")


class Shard(Record):
    """One of several parts of a list: its number, from 1 on, and the number of parts."""

    number: int
    count: int

    def of(self, items: Sequence[T]) -> list[T]:
        """The items that belong to this part.

        Each item belongs to exactly one part, and the sizes of parts differ by one at most.
        """
        return list(items[self.number - 1 :: self.count])


def positive_count(text: str) -> int:
    """The integer that a text stands for, at least 1. Raises ArgumentTypeError for another text."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return int(text)


def numbers(text: str) -> tuple[float, ...]:
    """The finite numbers in a text, separated by commas. Raises ArgumentTypeError for another text."""
    try:
        values = tuple(map(float, text.split(",")))
    except ValueError:
        values = (math.nan,)
    if not all(map(math.isfinite, values)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number, or numbers with commas between them")
    return values


def tolerance(text: str) -> float:
    """The finite number that a text stands for, at least 0. Raises ArgumentTypeError for another text."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 on")
    return value


def seconds(text: str) -> float:
    """The number of seconds that a text stands for, finite and above 0. Raises ArgumentTypeError for another text."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return value


def size(text: str) -> int:
    """The number of bytes that a text stands for, with or without a unit: 8GB, 512MiB. Raises ArgumentTypeError for
    another text.
    """
    value = size_of(text)
    if value is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 8GB or 512MB")
    return value


def shard(text: str) -> Shard:
    """A part of a list: 3/16 is the third of sixteen. Raises ArgumentTypeError for another text."""
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a part such as 3/16, from 1/16 to 16/16")
    return Shard(int(number), int(count))
