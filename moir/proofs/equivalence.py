"""Whether two models with the same Parameters have equal results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.ir import Block

from moir.proofs.context import Assumptions, assuming
from moir.proofs.definedness import Definedness
from moir.proofs.evaluation import results_of
from moir.proofs.scalars import Scalar, UnprovableError, alike, is_term
from moir.proofs.smt import z3
from moir.proofs.solver import MILLISECONDS, Answer, EqualityProver, Verdict
from moir.proofs.tensors import Tensor, is_same
from moir.support.records import Record

VACUOUS = "its conditions admit no model"
"""The reason for an equation that says nothing: the model before is never defined, or its conditions contradict each
other.
"""


class Comparison(Record):
    """The answer for two models, why it is not "proved", and the model of z3 in which they differ."""

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
    """
    try:
        with assuming(Assumptions(dict(numbers or {}))) as first:
            old = results_of(before, least)
        with assuming(Assumptions(dict(numbers or {}))) as second:
            new = results_of(after, least)
        return _results(old, new, first, second, conditions, milliseconds, is_checked)
    except UnprovableError as error:
        return Comparison(Answer.UNKNOWN, str(error))
    except z3.Z3Exception as error:
        return Comparison(Answer.UNKNOWN, f"z3: {error}")


def _results(
    old: Sequence[Tensor],
    new: Sequence[Tensor],
    assumptions: Assumptions,
    others: Assumptions,
    conditions: Sequence[Any],
    milliseconds: int,
    is_checked: bool,
) -> Comparison:
    """The comparison of results, with the assumptions of the model before, and those of the one after."""
    for number, (a, b) in enumerate(zip(old, new, strict=True)):
        if a.ndim != b.ndim:
            return Comparison(Answer.REFUTED, f"result {number} has rank {a.ndim} before and {b.ndim} after")
        prover = EqualityProver([*assumptions.conditions, *conditions], milliseconds)
        for axis, (size, other) in enumerate(zip(a.shape, b.shape, strict=True)):
            if not is_same(size, other):
                verdict = prover.decided(size == other)
                if verdict.answer is not Answer.PROVED:
                    return _failed(verdict, f"dimension {axis} of result {number} is {size} before and {other} after")
        index = tuple(0 if isinstance(size, int) and size == 1 else z3.Int(f"i{axis}") for axis, size in enumerate(a.shape))
        bounds = [
            condition for entry, size in zip(index, a.shape, strict=True) if is_term(entry) for condition in (entry >= 0, entry < size)
        ]
        with assuming(assumptions):
            first = a.at(index)
        with assuming(others):
            second = b.at(index)
        first, second = (each if is_term(each) else z3.IntVal(each) for each in alike([first, second], a.dtype))
        verdict = EqualityProver([*assumptions.conditions, *conditions, *bounds], milliseconds).equal(first, second)
        if verdict.answer is not Answer.PROVED:
            return _failed(verdict, f"an element of result {number} differs, or is not proved equal")
        definedness = Definedness(list(assumptions.required.values()), [*assumptions.premises, *conditions], milliseconds)
        for condition in others.required.values():
            verdict = definedness.follows(condition, bounds)
            if verdict.answer is not Answer.PROVED:
                return _failed(verdict, f"result {number} is not defined everywhere after, or is not proved defined: {condition}")
        if is_checked and EqualityProver([*assumptions.conditions, *conditions]).is_vacuous():
            return Comparison(Answer.VACUOUS, VACUOUS)
    return Comparison(Answer.PROVED)


def _failed(verdict: Verdict, reason: str) -> Comparison:
    return Comparison(verdict.answer, reason, verdict.model)
