"""What is known of a rule: the status of its proof, and a model for which it fails."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from moir.support.records import Record

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


class Status(Enum):
    """How a rule is known to keep the meaning of a model."""

    PROVED = "proved"
    REALS = "proved over the reals"
    BOUNDED = "bounded"
    TESTED = "tested"
    OPEN = "open"
    REFUTED = "refuted"


class Failure(Record):
    """A model for which an equation is not proved.

    Args:
        reason: why not.
        before: the model before the rule.
        after: the model after it.
        values: the model of z3 in which they differ, if there is one.
        is_refuted: whether they certainly differ.
    """

    reason: str
    before: ModuleOp | None
    after: ModuleOp | None
    values: Any
    is_refuted: bool = False


class Outcome(Record):
    """The outcome of a proof.

    Args:
        status: the status.
        obligations: the number of equations that were proved.
        failures: what was not.
    """

    status: Status
    obligations: int
    failures: list[Failure]
