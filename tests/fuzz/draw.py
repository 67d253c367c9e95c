"""Random choices of one case: sizes, axes, arrays. All come from one generator, so that a seed and a number say which case it is."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np

Array = np.ndarray[Any, Any]
Choice = TypeVar("Choice")

WORDS = ("", "a", "B", "abc", "Ä", "a b", "x1", "monday", "Tuesday", "a.b.c", "user@host.org")
REAL_SPECIALS = (np.nan, np.inf, -np.inf, -0.0, 0.0, 0.5, 1.5, 2.5, -0.5, -2.5, 1e-30, -1e30, 1e30, 65504.0, 3.0000002)


ATTEMPTS_EACH = 8
"""Attempts at one operation before another one is drawn."""


class NoCase(Exception):
    """The drawn model is invalid, or no reference computes it: it cannot be a case."""


class Draw:
    """Random choices.

    Args:
        seed, number: which case it is.
        attempt: how many attempts at it were no case.
    """

    def __init__(self, seed: int, number: int, attempt: int = 0) -> None:
        self.random = np.random.default_rng((seed, number, attempt))
        # An operation that is hard to draw is tried several times, or it would hardly ever be drawn.
        self._case = f"{seed},{number},{attempt // ATTEMPTS_EACH}"

    def subject(self, names: Sequence[str]) -> str:
        """One of several names. A name that is added or removed changes the cases that are about it, and no others.

        Raises NoCase if there is none.
        """
        if not names:
            raise NoCase("nothing of that name")
        return max(names, key=lambda name: blake2b(f"{self._case},{name}".encode(), digest_size=8).digest())

    def chance(self, probability: float) -> bool:
        """True with a probability."""
        return bool(self.random.random() < probability)

    def one_of(self, choices: Sequence[Choice]) -> Choice:
        """One of several."""
        return choices[int(self.random.integers(len(choices)))]

    def integer(self, low: int, high: int) -> int:
        """A number between two, both included."""
        return int(self.random.integers(low, high + 1))

    def integers(self, count: int, low: int, high: int) -> list[int]:
        """Several numbers between two, both included."""
        return [self.integer(low, high) for _ in range(count)]

    def size(self) -> int:
        """A dimension: mostly 2 to 5, often 1, now and then 0."""
        return self.one_of((0, 1, 1, 1, *(2, 3, 4, 5) * 5))

    def shape(self, least: int = 0, most: int = 5) -> list[int]:
        """A shape of a rank between two, both included."""
        ranks = [rank for rank in (0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5) if least <= rank <= most] or [least]
        return [self.size() for _ in range(self.one_of(ranks))]

    def filled(self, least: int = 0, most: int = 5) -> list[int]:
        """A shape without a 0."""
        return [max(1, size) for size in self.shape(least, most)]

    def broadcasts_to(self, shape: Sequence[int]) -> list[int]:
        """A shape that broadcasts to another one: dimensions left out in front, or 1."""
        kept = self.integer(0, len(shape)) if self.chance(0.3) else len(shape)
        return [1 if self.chance(0.25) else size for size in shape[len(shape) - kept :]]

    def axis(self, rank: int) -> int:
        """An axis, perhaps counted from the end."""
        return self.integer(-rank, rank - 1) if rank else self.integer(-1, 0)

    def axes(self, rank: int, least: int = 0) -> list[int]:
        """Different axes in any order, some counted from the end."""
        count = self.integer(min(least, rank), rank)
        chosen = self.random.permutation(rank)[:count]
        return [int(axis) - rank if self.chance(0.3) else int(axis) for axis in chosen]

    def permutation(self, count: int) -> list[int]:
        """The numbers up to a count in any order."""
        return [int(each) for each in self.random.permutation(count)]

    def array(self, dtype: np.dtype[Any], shape: Sequence[int], special: float = 0.15) -> Array:
        """An array of an element type; with a probability it has special values among the others."""
        dtype, shape = np.dtype(dtype), tuple(shape)
        if dtype.kind in "OUS":
            return np.array([self.one_of(WORDS) for _ in range(int(np.prod(shape)))], dtype=object).reshape(shape)
        if dtype.kind == "b":
            return self.random.random(shape) < 0.5
        if dtype.kind == "c":
            return (self.random.normal(size=shape) + 1j * self.random.normal(size=shape)).astype(dtype)
        if dtype.kind in "iu" or dtype.name in NARROW_INTEGERS:
            return self._integers(dtype, shape, special)
        numbers = np.asarray(self.random.normal(scale=self.one_of((0.5, 2.0, 2.0, 8.0)), size=shape))
        if self.chance(0.1):
            numbers = np.round(numbers * 2) / 2
        if self.chance(special):
            chosen = self.random.random(shape) < 0.4
            specials = np.array(REAL_SPECIALS)
            if dtype == np.float64:
                # The CPU plugin computes f64 in f32, where the square of these is infinite.
                specials = np.where(np.abs(specials) == 1e30, specials * 1e-20, specials)
            numbers = np.where(chosen, self.random.choice(specials, size=shape), numbers)
        with np.errstate(all="ignore"):
            return np.asarray(numbers.astype(np.float32)).astype(dtype)

    def _integers(self, dtype: np.dtype[Any], shape: Sequence[int], special: float) -> Array:
        low, high = integer_limits(dtype)
        numbers = np.asarray(self.random.integers(max(low, -6), min(high, 9), size=shape, endpoint=True))
        if self.chance(special):
            limits = np.array([low, low + 1, high - 1, high, 0, 1])
            numbers = np.where(self.random.random(shape) < 0.4, self.random.choice(limits, size=shape), numbers)
        return numbers.astype(dtype)

    def positive(self, dtype: np.dtype[Any] | type, shape: Sequence[int]) -> Array:
        """An array of positive numbers."""
        if np.dtype(dtype).kind in "iu":
            return np.asarray(self.random.integers(1, 6, size=tuple(shape))).astype(dtype)
        return np.asarray(self.random.uniform(0.1, 2.0, size=tuple(shape))).astype(dtype)

    def between(self, dtype: np.dtype[Any] | type, shape: Sequence[int], low: int, high: int) -> Array:
        """An array of integers between two numbers, both included. Raises NoCase if there is none but the array wants some."""
        if high < low and np.prod(shape):
            raise NoCase("no number in an empty range")
        return np.asarray(self.random.integers(low, max(low, high) + 1, size=tuple(shape))).astype(dtype)


NARROW_INTEGERS = {"int4": (-8, 7), "uint4": (0, 15), "int2": (-2, 1), "uint2": (0, 3)}
"""Integers that numpy does not know, with their limits."""


WIDE_LIMIT = 40_000
"""The largest 64-bit integer that is drawn: its square is one of 32 bits."""


def integer_limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    """Limits of an integer type; less for wide ones, because the CPU plugin computes 64-bit integers in 32, u32 as i32."""
    if dtype.name in NARROW_INTEGERS:
        return NARROW_INTEGERS[dtype.name]
    info = np.iinfo(dtype)
    if dtype.itemsize == 8:
        return max(int(info.min), -WIDE_LIMIT), WIDE_LIMIT
    return int(info.min), min(int(info.max), int(np.iinfo(np.int32).max))
