"""`fuse-clamp`: lower and upper limits become one Clamp, or a Relu if the only limit is a lower limit of 0.

    %a = opset1.Maximum(%x, 0.0)
    %b = opset1.Minimum(%a, 6.0)
    %y = opset1.Clamp(%b) {min = 1.0, max = 9.0}
->  %y = opset1.Clamp(%x) {min = 1.0, max = 6.0}

    %b = opset1.Select(opset1.Less(%x, -1.0), -1.0, %x)
    %y = opset1.Select(opset1.Greater(%x, 1.0), 1.0, %b)
->  %y = opset1.Clamp(%x) {min = -1.0, max = 1.0}

Limits are floats of one element. Limits between which at most one number lies are left alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

from xdsl.ir import SSAValue

from moir.rewriting.builder import OpBuilder
from moir.rewriting.rules import FusionRule, Match, PatternFunction, Rewrite, RulePass
from moir.support.records import Record


class Interval(Record):
    """The closed interval of numbers to which an operation limits its operand."""

    low: float = -math.inf
    high: float = math.inf

    def within(self, outer: Interval) -> Interval:
        """The interval that results from clamping to this interval first and then to `outer`."""
        return Interval(*(min(max(end, outer.low), outer.high) for end in (self.low, self.high)))


Limit: TypeAlias = Interval | Callable[[Match], Interval]
"""The limits of an operation as an interval, or a function that reads them from a match."""

POSITIVE = Interval(low=0.0)
"""The limits of Relu."""


def _clamp_limits(index: int) -> Limit:
    """A function that reads the limits of the `index`-th matched Clamp; the innermost Clamp has the highest index."""

    def limits(match: Match) -> Interval:
        op = [op for op in match.operations if op.name == "opset1.Clamp"][index]
        return Interval(match.number(op, "min"), match.number(op, "max"))

    return limits


def _lower_limit(match: Match) -> Interval:
    low = match.scalar("low")
    return Interval(low=math.nan if low is None else low)


def _upper_limit(match: Match) -> Interval:
    high = match.scalar("high")
    return Interval(high=math.nan if high is None else high)


def _limited(inner: Limit, outer: Limit) -> Rewrite:
    def rewrite(op: OpBuilder, match: Match) -> SSAValue | None:
        first, second = (limit if isinstance(limit, Interval) else limit(match) for limit in (inner, outer))
        if not match.is_real("x") or any(map(math.isnan, (first.low, first.high, second.low, second.high))):
            return None
        both = first.within(second)
        if both == POSITIVE:
            return op.Relu(match["x"])
        return op.Clamp(match["x"], min=both.low, max=both.high) if -math.inf < both.low < both.high < math.inf else None

    return rewrite


_FORMS: tuple[tuple[PatternFunction, Limit, Limit], ...] = (
    (lambda op, x: op.Minimum(op.Maximum(x, op.constant("low")), op.constant("high")), _lower_limit, _upper_limit),
    (lambda op, x: op.Maximum(op.Minimum(x, op.constant("high")), op.constant("low")), _upper_limit, _lower_limit),
    (lambda op, x: op.Minimum(op.Relu(x), op.constant("high")), POSITIVE, _upper_limit),
    (lambda op, x: op.Relu(op.Minimum(x, op.constant("high"))), _upper_limit, POSITIVE),
    (lambda op, x: op.Clamp(op.Relu(x)), POSITIVE, _clamp_limits(0)),
    (lambda op, x: op.Relu(op.Clamp(x)), _clamp_limits(0), POSITIVE),
    (lambda op, x: op.Clamp(op.Maximum(x, op.constant("low"))), _lower_limit, _clamp_limits(0)),
    (lambda op, x: op.Maximum(op.Clamp(x), op.constant("low")), _clamp_limits(0), _lower_limit),
    (lambda op, x: op.Clamp(op.Minimum(x, op.constant("high"))), _upper_limit, _clamp_limits(0)),
    (lambda op, x: op.Minimum(op.Clamp(x), op.constant("high")), _clamp_limits(0), _upper_limit),
    (lambda op, x: op.Clamp(op.Clamp(x)), _clamp_limits(-1), _clamp_limits(0)),
    (lambda op, x: op.Relu(op.Relu(x)), POSITIVE, POSITIVE),
)


def _above(op: Any, x: Any) -> Any:
    return op.one_of(op.Greater(x, op.constant("high")), op.GreaterEqual(x, op.constant("high")), op.Less(op.constant("high"), x))


def _below(op: Any, x: Any) -> Any:
    return op.one_of(op.Less(x, op.constant("low")), op.LessEqual(x, op.constant("low")), op.Greater(op.constant("low"), x))


def _chosen_limits(op: OpBuilder, match: Match) -> SSAValue | None:
    low, high = match.scalar("low"), match.scalar("high")
    if low is None or high is None or not match.is_real("x"):
        return None
    return op.Clamp(match["x"], min=low, max=high) if -math.inf < low < high < math.inf else None


def _relu(op: OpBuilder, match: Match) -> SSAValue | None:
    return op.Relu(match["x"]) if match.is_real("x") else None


class FuseClampPass(RulePass):
    """Fuses consecutive lower and upper limits."""

    name = "fuse-clamp"

    FIXPOINT: ClassVar[bool] = True

    RULES: ClassVar[tuple[FusionRule, ...]] = (
        *(FusionRule(pattern=form, rewrite=_limited(inner, outer)) for form, inner, outer in _FORMS),
        FusionRule(pattern=lambda op, x: op.Maximum(x, 0), rewrite=_relu),
        FusionRule(
            pattern=lambda op, x: op.Select(_above(op, x), op.constant("high"), op.Select(_below(op, x), op.constant("low"), x)),
            rewrite=_chosen_limits,
            shared=True,
        ),
        FusionRule(
            pattern=lambda op, x: op.Select(_below(op, x), op.constant("low"), op.Select(_above(op, x), op.constant("high"), x)),
            rewrite=_chosen_limits,
            shared=True,
        ),
    )
