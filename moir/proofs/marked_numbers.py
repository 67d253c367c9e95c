"""Numbers of a rewrite that stand for any number: `low`, `eps`, a slope.

A rewrite is a function of Python that computes with the numbers of constants and attributes, and decides by them. It
runs on marked numbers: floats that remember the term of z3 that they stand for. Results of arithmetic on marked numbers
are marked, too; comparisons of them become conditions of the path. `paths` runs it again with other numbers until all
paths that conditions admit are taken (concolic execution).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, cast

import numpy as np

from moir.proofs.scalars import Scalar, real
from moir.proofs.smt import limited_solver, z3
from moir.support.records import Record

MOST_PATHS = 40
MOST_TRIES = 12
"""The number of random candidates that are tried before a value at a boundary of the conditions is taken."""

MILLISECONDS = 1000

ROUNDING = 2.0**-22
"""Numbers whose relative difference is at most this are treated as equal, since floats are rounded."""
SEED = 20260101


NUMBERS: tuple[type, ...] = (float, int, np.number)


class Trace:
    """The marked numbers of one run of a rewrite, by value, and the conditions that the run decided.

    Args:
        values: the value of each symbol in this run.
    """

    def __init__(self, values: dict[str, float]) -> None:
        self.symbols = {name: z3.Real(name) for name in values}
        self.values = values
        self.terms: dict[float, Scalar] = {float(np.float32(value)): self.symbols[name] for name, value in values.items()}
        self.conditions: list[Any] = []

    def marked(self, value: float) -> float:
        """The marked number with this value; the number itself if there is none."""
        term = self.terms.get(float(np.float32(value)))
        return float(value) if term is None else MarkedNumber.of(float(value), term, self)

    def marked_array(self, array: Any) -> Any:
        """An array of floats, of dtype object if numbers in it are marked."""
        if array.dtype.kind not in "fV":
            return array
        numbers = [self.marked(float(number)) for number in array.ravel()]
        if not any(isinstance(number, MarkedNumber) for number in numbers):
            return array
        marked: Any = np.empty(array.size, object)
        marked[:] = numbers
        return marked.reshape(array.shape)


class MarkedNumber(float):
    """A float that stands for a term."""

    term: Scalar
    trace: Trace
    is_difference: bool
    """Whether the number is a difference, or its magnitude: that it is below a tolerance means that it is 0."""

    @staticmethod
    def of(value: float, term: Scalar, trace: Trace, is_difference: bool = False) -> MarkedNumber:
        """A float that stands for a term; the trace keeps the first term of each value.

        `is_difference` says that the term is a difference of marked numbers.
        """
        number = MarkedNumber(value)
        number.term, number.trace, number.is_difference = term, trace, is_difference
        trace.terms.setdefault(float(np.float32(value)), term)
        return number

    def _computed(self, value: float, term: Callable[[Scalar, Scalar], Scalar], other: Any) -> float:
        if not math.isfinite(value):
            return value
        return MarkedNumber.of(value, z3.simplify(term(self.term, _term(other))), self.trace)

    def _decided(self, value: bool, condition: Callable[[Scalar, Scalar], Any], other: Any) -> bool:
        if isinstance(other, NUMBERS) and math.isfinite(other):
            statement = condition(self.term, _term(other))
            self.trace.conditions.append(statement if value else z3.Not(statement))
        return value

    def __add__(self, other: Any) -> float:
        return self._computed(float.__add__(self, float(other)), lambda a, b: a + b, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> float:
        difference = self._computed(float.__sub__(self, float(other)), lambda a, b: a - b, other)
        return MarkedNumber.of(difference, difference.term, self.trace, True) if isinstance(difference, MarkedNumber) else difference

    def __rsub__(self, other: Any) -> float:
        return self._computed(float.__rsub__(self, float(other)), lambda a, b: b - a, other)

    def __mul__(self, other: Any) -> float:
        return self._computed(float.__mul__(self, float(other)), lambda a, b: a * b, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> float:
        return self._computed(float.__truediv__(self, float(other)), lambda a, b: a / b, other)

    def __rtruediv__(self, other: Any) -> float:
        return self._computed(float.__rtruediv__(self, float(other)), lambda a, b: b / a, other)

    def __pow__(self, other: Any, modulus: Any = None) -> float:
        if other not in (1, 2):
            raise TypeError("only squares of marked numbers are computed")
        return self if other == 1 else self * self

    def __neg__(self) -> float:
        return self * -1

    def __abs__(self) -> float:
        if self.is_difference:
            magnitude = z3.If(self.term >= 0, self.term, -self.term)
            return MarkedNumber.of(float.__abs__(self), magnitude, self.trace, True)
        return self if self >= 0 else -self

    def _is_tolerated(self, other: Any) -> bool:
        return self.is_difference and float(other) > 0

    def _is_zero(self, tolerance: Any) -> bool:
        return self._decided(float.__lt__(self, float(tolerance)), lambda a, b: a == b, 0)

    def __lt__(self, other: Any) -> bool:
        if self._is_tolerated(other):
            return self._is_zero(other)
        return self._decided(float.__lt__(self, other), lambda a, b: a < b, other)

    def __le__(self, other: Any) -> bool:
        if self._is_tolerated(other):
            return self._is_zero(other)
        return self._decided(float.__le__(self, other), lambda a, b: a <= b, other)

    def __gt__(self, other: Any) -> bool:
        return self._decided(float.__gt__(self, other), lambda a, b: a > b, other)

    def __ge__(self, other: Any) -> bool:
        return self._decided(float.__ge__(self, other), lambda a, b: a >= b, other)

    def __eq__(self, other: object) -> bool:
        close = isinstance(other, NUMBERS) and math.isclose(float(self), float(cast(float, other)), rel_tol=ROUNDING)
        return self._decided(close, lambda a, b: a == b, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        return self != 0

    __hash__ = float.__hash__


def _term(value: Any) -> Scalar:
    return value.term if isinstance(value, MarkedNumber) else real(float(value))


class Path(Record):
    """One run of a function, and the conditions under which every run takes the same branches.

    Args:
        trace: the run.
        result: what the run returned.
    """

    trace: Trace
    result: Any


def paths(names: Sequence[str], run: Callable[[Trace], Any], hints: Sequence[Any] = ()) -> Iterator[Path]:
    """Yields a run for each sequence of branches that a function of marked numbers can take.

    Args:
        names: the names of the numbers.
        run: the function; it is called with the numbers of each run.
        hints: conditions on `z3.Real(name)`. For each, the function also runs once with numbers that satisfy it, since
            branches that compare with rare numbers are not taken otherwise.

    Raises LookupError if there are more than MOST_PATHS ways.
    """
    generator = random.Random(SEED)
    pending: list[list[Any]] = [[], *([hint] for hint in hints)]
    done: set[str] = set()
    taken = 0
    while pending:
        wanted = pending.pop()
        key = " ".join(sorted(each.sexpr() for each in wanted))
        if key in done:
            continue
        done.add(key)
        values = values_for(names, wanted, generator)
        if values is None:
            continue
        trace = Trace(values)
        result = run(trace)
        signature = " ".join(each.sexpr() for each in trace.conditions)
        for number, condition in enumerate(trace.conditions):
            pending.append([*trace.conditions[:number], z3.simplify(z3.Not(condition))])
        if signature and f"path {signature}" in done:
            continue
        done.add(f"path {signature}")
        taken += 1
        if taken > MOST_PATHS:
            raise LookupError(f"a rewrite goes more than {MOST_PATHS} ways")
        yield Path(trace, result)


def values_for(names: Sequence[str], conditions: Sequence[Any], generator: random.Random) -> dict[str, float] | None:
    """Distinct values, with few binary digits, that satisfy the conditions; None if there are none.

    Unless the conditions prevent it, values are unusual numbers, so that no constant of a rewrite equals them by
    chance.
    """
    if not names:
        return {}
    solver = limited_solver(MILLISECONDS)
    solver.add(*conditions)
    if solver.check() != z3.sat:
        return None
    for name in names:
        for _ in range(MOST_TRIES):
            value = _unusual(generator)
            solver.push()
            solver.add(z3.Real(name) == z3.Q(*Fraction(value).as_integer_ratio()))
            if solver.check() == z3.sat:
                break
            solver.pop()
    if solver.check() != z3.sat:
        return None
    model = solver.model()
    return {name: _float(model.eval(z3.Real(name), model_completion=True)) for name in names}


def _unusual(generator: random.Random) -> float:
    """A random number that f16 can hold: of either sign, below or above 1."""
    magnitude = (generator.randrange(1025, 2047) | 1) / 1024
    return generator.choice((1, -1)) * magnitude * 2.0 ** generator.choice((-6, -3, -2, -1, 0, 1, 2, 4))


def _float(value: Any) -> float:
    if z3.is_algebraic_value(value):
        value = value.approx(20)
    return float(np.float32(Fraction(value.numerator_as_long(), value.denominator_as_long())))
