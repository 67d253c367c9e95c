"""Whether two models with the same Parameters have equal results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Block

from moir.proofs.context import Assumptions, assuming
from moir.proofs.definedness import Definedness
from moir.proofs.evaluation import results_of
from moir.proofs.scalars import Scalar, UnprovableError, alike, is_term
from moir.proofs.smt import z3
from moir.proofs.solver import MILLISECONDS, Answer, EqualityProver, Verdict
from moir.proofs.tensors import Index, Tensor, is_same
from moir.support.records import Record

VACUOUS = "its conditions admit no model"
"""The reason for an equation that states nothing: the model before is never defined, or its conditions contradict each
other.
"""


class Comparison(Record):
    """The result of comparing two models: whether they are proved equal, else why not, and the values of z3 for which
    they differ.
    """

    answer: Answer
    reason: str = ""
    values: Any = None


def compare(
    before: Block,
    after: Block,
    numbers: Mapping[float, Scalar] | None = None,
    conditions: Sequence[Any] = (),
    milliseconds: int = MILLISECONDS,
    least: int = 0,
    *,
    is_checked: bool = True,
    each_element: bool = False,
) -> Comparison:
    """Whether a model has equal results before and after a rewrite, for all inputs for which it is defined before.

    Args:
        before: the model before.
        after: the model after, whose Parameters are the same.
        numbers: the terms of marked numbers.
        conditions: what is known of these terms.
        milliseconds: the time for a question to z3.
        least: the smallest size of a dynamic dimension.
        is_checked: whether equal results count only if the model before is defined for some inputs.
        each_element: whether the elements of a result of static shape are compared one by one, not at a symbolic index.
    """
    try:
        with assuming(Assumptions(dict(numbers or {}))) as first:
            old = results_of(before, least)
        with assuming(Assumptions(dict(numbers or {}))) as second:
            new = results_of(after, least)
        return ResultsComparison(first, second, conditions, milliseconds, is_checked, each_element).of(old, new)
    except UnprovableError as error:
        return Comparison(Answer.UNKNOWN, str(error))
    except z3.Z3Exception as error:
        return Comparison(Answer.UNKNOWN, f"z3: {error}")


class ResultsComparison(Record):
    """How results are compared.

    Args:
        assumptions: the assumptions of the model before.
        others: those of the model after.
        conditions, milliseconds, is_checked, each_element: as in `compare`.
    """

    assumptions: Assumptions
    others: Assumptions
    conditions: Sequence[Any]
    milliseconds: int
    is_checked: bool
    each_element: bool

    def of(self, old: Sequence[Tensor], new: Sequence[Tensor]) -> Comparison:
        """The comparison of all results, `old` before and `new` after the rewrite: the first that is not proved equal
        decides.
        """
        for number, (a, b) in enumerate(zip(old, new, strict=True)):
            for compared in (self._shapes, self._elements):
                different = compared(a, b, f"result {number}")
                if different is not None:
                    return different
        if self.is_checked and self._prover().is_vacuous():
            return Comparison(Answer.VACUOUS, VACUOUS)
        return Comparison(Answer.PROVED)

    def _prover(self, bounds: Sequence[Any] = ()) -> EqualityProver:
        return EqualityProver([*self.assumptions.conditions, *self.conditions, *bounds], self.milliseconds)

    def _shapes(self, a: Tensor, b: Tensor, name: str) -> Comparison | None:
        """The comparison of the shapes of a result; None if they are proved equal."""
        if a.ndim != b.ndim:
            return Comparison(Answer.REFUTED, f"{name} has rank {a.ndim} before and {b.ndim} after")
        for axis, (size, other) in enumerate(zip(a.shape, b.shape, strict=True)):
            if not is_same(size, other):
                verdict = self._prover().decided(size == other)
                if verdict.answer is not Answer.PROVED:
                    return _failed(verdict, f"dimension {axis} of {name} is {size} before and {other} after")
        return None

    def _elements(self, a: Tensor, b: Tensor, name: str) -> Comparison | None:
        """The comparison of the elements of a result; None if they are proved equal, and defined after."""
        indices, bounds = self._indices(a)
        with assuming(self.assumptions):
            first = [a.at(index) for index in indices]
        with assuming(self.others):
            second = [b.at(index) for index in indices]
        prover = self._prover(bounds)
        for pair in zip(first, second, strict=True):
            verdict = prover.equal(*(each if is_term(each) else z3.IntVal(each) for each in alike(pair, a.dtype)))
            if verdict.answer is not Answer.PROVED:
                return _failed(verdict, f"an element of {name} differs, or is not proved equal")
        if not self.others.required:
            return None
        known = list(self.assumptions.required.values())
        definedness = Definedness(known, [*self.assumptions.premises, *self.conditions], self.milliseconds)
        for condition in self.others.required.values():
            verdict = definedness.follows(condition, bounds)
            if verdict.answer is not Answer.PROVED:
                return _failed(verdict, f"{name} is not defined everywhere after, or is not proved defined: {condition}")
        return None

    def _indices(self, a: Tensor) -> tuple[list[Index], list[Any]]:
        """The indices at which a result is compared (one symbolic index, or all indices), and the bounds on them."""
        if self.each_element and all(isinstance(size, int) for size in a.shape):
            return list(np.ndindex(*a.shape)), []
        index = tuple(0 if isinstance(size, int) and size == 1 else z3.Int(f"i{axis}") for axis, size in enumerate(a.shape))
        pairs = [(entry, size) for entry, size in zip(index, a.shape, strict=True) if is_term(entry)]
        return [index], [condition for entry, size in pairs for condition in (entry >= 0, entry < size)]


def _failed(verdict: Verdict, reason: str) -> Comparison:
    return Comparison(verdict.answer, reason, verdict.model)
