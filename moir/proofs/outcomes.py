"""The outcome of a proof: the status of a rule, and a model for which it fails."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

from moir.support.records import Record

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


class Status(Enum):
    """How it is known that a rule does not change the meaning of a model."""

    PROVED = "proved"
    REALS = "proved over the reals"
    BOUNDED = "bounded"
    TESTED = "tested"
    OPEN = "open"
    VACUOUS = "says nothing"
    REFUTED = "refuted"


class Failure(Record):
    """A model for which an equation is not proved.

    Args:
        reason: why not.
        before: the model before the rule.
        after: the model after it.
        values: the model of z3 in which they differ, if there is one.
        is_refuted: whether the results are known to differ.
        is_vacuous: whether the model before is never defined, so that the equation states nothing.
    """

    reason: str
    before: ModuleOp | None
    after: ModuleOp | None
    values: Any
    is_refuted: bool = False
    is_vacuous: bool = False


class Outcome(Record):
    """The outcome of a proof.

    Args:
        status: the status.
        obligations: the number of equations that were proved.
        failures: the models for which an equation was not proved.
    """

    status: Status
    obligations: int
    failures: list[Failure]


def outcome_with(failures: Sequence[Failure], obligations: int) -> Outcome:
    """The outcome with failures (at least one), the worst ones first: refuted, vacuous, open. The first sets the
    status.

    `obligations` is the number of equations.
    """
    ordered = sorted(failures, key=lambda each: (not each.is_refuted, not each.is_vacuous))
    status = Status.REFUTED if ordered[0].is_refuted else Status.VACUOUS if ordered[0].is_vacuous else Status.OPEN
    return Outcome(status, obligations, ordered)
