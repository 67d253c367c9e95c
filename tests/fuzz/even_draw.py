"""Choices that are spread evenly over a few draws, for tests that are to meet every mode of an operation once.

[EvenDraw("Pad", variant).one_of(("SAME", "VALID")) for variant in range(4)]   each of them twice
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from typing import Any

import numpy as np

from tests.fuzz.draw import Array, Choice, Draw

SIZES = (1, 2, 3, 4, 5, 6)


@cache
def steps() -> Array:
    """Square roots of primes: how far each decision moves on from one variant to the next.

    Multiples of numbers that are independent over the rationals fill the unit cube evenly: R. D. Richtmyer, "The evaluation
    of definite integrals, and a quasi-Monte-Carlo method based on the properties of algebraic numbers", 1951.
    """
    numbers = np.arange(2, 3000)
    primes = [number for number in numbers if all(number % divisor for divisor in range(2, int(number**0.5) + 1))]
    return np.sqrt(np.array(primes, np.float64))


class EvenDraw(Draw):
    """Draws of a subject: no special values, no empty arrays, and every choice about equally often in a few variants.

    Args:
        subject: what is drawn.
        variant: which draw of it.
        attempt: how many earlier attempts did not give a case.
    """

    def __init__(self, subject: str, variant: int, attempt: int = 0) -> None:
        super().__init__(int.from_bytes(blake2b(subject.encode(), digest_size=6).digest(), "big"), variant, attempt)
        offsets = np.random.default_rng((int.from_bytes(blake2b(subject.encode(), digest_size=6).digest(), "big"), attempt))
        self._places = (offsets.random(len(steps())) + variant * steps()) % 1.0
        self._decisions = 0

    def _place(self) -> float:
        self._decisions += 1
        return float(self._places[self._decisions % len(self._places)])

    def chance(self, probability: float) -> bool:
        """True with a probability."""
        return self._place() < probability

    def one_of(self, choices: Sequence[Choice]) -> Choice:
        """One of several."""
        return choices[int(self._place() * len(choices))]

    def integer(self, low: int, high: int) -> int:
        """A number between two, both included."""
        return low + int(self._place() * (high - low + 1))

    def size(self) -> int:
        """A dimension; never 0."""
        return self.one_of(SIZES)

    def array(self, dtype: np.dtype[Any], shape: Sequence[int], special: float = 0.0) -> Array:
        """An array of an element type, without special values."""
        del special
        return super().array(dtype, shape, 0.0)
