"""The conditions under which a symbolic evaluation holds: premises, requirements of the model, and marked numbers."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from moir.proofs.scalars import Scalar, UnprovableError, real
from moir.proofs.smt import z3

if TYPE_CHECKING:
    from collections.abc import Generator


class Assumptions:
    """The conditions that are collected while a model is evaluated.

    Args:
        numbers: the term of each marked number (`moir.proofs.marked_numbers`), by its value in f32.
    """

    def __init__(self, numbers: dict[float, Scalar] | None = None) -> None:
        self.premises: list[Any] = []
        """What is known of all inputs: sizes are not negative, for example."""
        self.required: dict[int, Any] = {}
        """The conditions under which the model is defined, by their ids: a divisor is not 0, sizes fit."""
        self.numbers = numbers or {}

    @property
    def conditions(self) -> list[Any]:
        """All conditions of the evaluation, under which the model is defined: premises, and what it requires."""
        return [*self.premises, *self.required.values()]

    def number(self, number: float) -> Scalar:
        """The real number that a float stands for: a symbol if the float is marked, otherwise its own value."""
        term = self.numbers.get(float(np.float32(number)))
        return real(number) if term is None else term


_CURRENT: ContextVar[Assumptions] = ContextVar("assumptions")


def current() -> Assumptions:
    """The assumptions of the present evaluation."""
    return _CURRENT.get()


def assume(premise: Any) -> None:
    """Add a premise, a condition that holds for all inputs, to the current evaluation."""
    if premise is not True:
        current().premises.append(premise)


def require(condition: Any) -> None:
    """Add a requirement, a condition without which the model is not defined, to the current evaluation.

    Raises UnprovableError if it is false.
    """
    if condition is True or z3.is_true(condition):
        return
    if condition is False:
        raise UnprovableError("a model that is not defined")
    current().required.setdefault(condition.get_id(), condition)


class collecting:
    """A context that collects required conditions on their own; yields them by id, and then restores the outer ones."""

    __slots__ = ("_context", "_outer")

    def __enter__(self) -> dict[int, Any]:
        self._context = current()
        self._outer, self._context.required = self._context.required, {}
        return self._context.required

    def __exit__(self, *_: object) -> None:
        self._context.required = self._outer


@contextmanager
def guarded(guard: Any) -> Generator[None]:
    """A context in which requirements need to hold only where `guard` is true: for the elements that a Select takes."""
    with collecting() as required:
        yield
    if guard is not True:
        for condition in required.values():
            require(z3.simplify(z3.Implies(guard, condition)))
    else:
        for condition in required.values():
            require(condition)


@contextmanager
def assuming(assumptions: Assumptions) -> Generator[Assumptions]:
    """Collect the conditions of an evaluation."""
    token = _CURRENT.set(assumptions)
    try:
        yield assumptions
    finally:
        _CURRENT.reset(token)
