"""What holds while a model is evaluated symbolically: assumptions, and the meaning of marked numbers."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from moir.proofs.scalars import Scalar, real
from moir.proofs.smt import z3

if TYPE_CHECKING:
    from collections.abc import Generator


class Assumptions:
    """The conditions under which a model is defined, collected while it is evaluated.

    Args:
        numbers: the term of each marked number (`moir.proofs.marked_numbers`), by its value in f32.
    """

    def __init__(self, numbers: dict[float, Scalar] | None = None) -> None:
        self.conditions: list[Any] = []
        self.numbers = numbers or {}

    def assume(self, condition: Any) -> None:
        """Add a condition, unless it is a constant that is true."""
        if condition is not True:
            self.conditions.append(condition)

    def number(self, number: float) -> Scalar:
        """The real number for which a float stands: a symbol if it is marked, otherwise itself."""
        term = self.numbers.get(float(np.float32(number)))
        return real(number) if term is None else term


_CURRENT: ContextVar[Assumptions] = ContextVar("assumptions")


def current() -> Assumptions:
    """The assumptions of the present evaluation."""
    return _CURRENT.get()


def assume(condition: Any) -> None:
    """Add a condition to those of the present evaluation."""
    current().assume(condition)


@contextmanager
def assuming(assumptions: Assumptions) -> Generator[Assumptions]:
    """Collect the conditions of an evaluation."""
    token = _CURRENT.set(assumptions)
    try:
        yield assumptions
    finally:
        _CURRENT.reset(token)


def is_certain(condition: Any) -> bool:
    """Whether a condition simplifies to true."""
    return condition is True or (z3.is_expr(condition) and z3.is_true(z3.simplify(condition)))
