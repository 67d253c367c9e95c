"""`fuse-mvn`: a value minus its mean, divided by its standard deviation, becomes one operation.

    %m = opset1.ReduceMean(%x, %axes) {keep_dims = true}
    %c = opset1.Subtract(%x, %m)
    %s = opset1.Power(%c, 2.0)
    %v = opset1.ReduceMean(%s, %axes) {keep_dims = true}
    %e = opset1.Add(%v, 0.00001)
    %d = opset1.Sqrt(%e)
    %y = opset1.Divide(%c, %d)
->  %y = opset6.MVN(%x, %axes) {eps = 0.00001, normalize_variance = true, eps_mode = "INSIDE_SQRT"}

The mean may be computed once or twice, and the variance from the difference or by SquaredDifference. A scale and a
shift after the normalization stay. A scale that is first multiplied by the reciprocal of the deviation becomes a factor
of the MVN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeAlias

from xdsl.ir import SSAValue

from moir.dialects.shapes import rank_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.rules import FusionRule, Match, Rewrite, RulePass

Part: TypeAlias = Callable[[Any, Any], Any]
"""A function that builds a part of a pattern from the recorder of the pattern and one operand."""


def _mean(op: Any, x: Any) -> Any:
    return op.ReduceMean(x, op.constant("axes"), keep_dims=True)


def _centred(op: Any, x: Any) -> Any:
    return op.Subtract(x, _mean(op, x))


_SQUARES: tuple[Part, ...] = (
    lambda op, x: op.Power(_centred(op, x), 2),
    lambda op, x: op.Multiply(_centred(op, x), _centred(op, x)),
    lambda op, x: op.SquaredDifference(x, _mean(op, x)),
)

_DEVIATIONS: tuple[tuple[Part, str], ...] = (
    (lambda op, variance: op.Sqrt(op.Add(variance, op.constant("eps"))), "INSIDE_SQRT"),
    (lambda op, variance: op.Power(op.Add(variance, op.constant("eps")), 0.5), "INSIDE_SQRT"),
    (lambda op, variance: op.Add(op.Sqrt(variance), op.constant("eps")), "OUTSIDE_SQRT"),
)

_RECIPROCALS: tuple[tuple[Part, str], ...] = (
    (lambda op, variance: op.Power(op.Add(variance, op.constant("eps")), -0.5), "INSIDE_SQRT"),
    (lambda op, variance: op.Divide(1, op.Sqrt(op.Add(variance, op.constant("eps")))), "INSIDE_SQRT"),
    (lambda op, variance: op.Power(op.Sqrt(op.Add(variance, op.constant("eps"))), -1), "INSIDE_SQRT"),
)


def _normalized(mode: str) -> Rewrite:
    def rewrite(op: OpBuilder, match: Match) -> SSAValue | None:
        eps, axes = match.scalar("eps"), match["axes"]
        if not match.is_real("x") or eps is None or eps <= 0 or rank_of(axes) != 1 or not match.constant("axes").size:
            return None
        return op.MVN(match["x"], axes, eps=eps, normalize_variance=True, eps_mode=mode)

    return rewrite


def _scaled(mode: str) -> Rewrite:
    def rewrite(op: OpBuilder, match: Match) -> SSAValue | None:
        value = _normalized(mode)(op, match)
        return None if value is None else op.Multiply(value, match["scale"])

    return rewrite


def _scaled_and_shifted(mode: str) -> Rewrite:
    def rewrite(op: OpBuilder, match: Match) -> SSAValue | None:
        value = _scaled(mode)(op, match)
        return None if value is None else op.Add(value, match["shift"])

    return rewrite


def _quotient(square: Part, deviation: Part, mode: str) -> FusionRule:
    return FusionRule(
        pattern=lambda op, x: op.Divide(_centred(op, x), deviation(op, _mean(op, square(op, x)))),
        rewrite=_normalized(mode),
    )


def _product(square: Part, reciprocal: Part, mode: str) -> Iterator[FusionRule]:
    def inverse(op: Any, x: Any) -> Any:
        return reciprocal(op, _mean(op, square(op, x)))

    def inverse_times(op: Any, x: Any, scale: Any) -> Any:
        return op.Multiply(inverse(op, x), scale)

    def shifted(op: Any, x: Any, scale: Any, shift: Any) -> Any:
        factor = inverse_times(op, x, scale)
        return op.Add(op.Multiply(x, factor), op.Subtract(shift, op.Multiply(_mean(op, x), factor)))

    yield FusionRule(pattern=lambda op, x: op.Multiply(_centred(op, x), inverse(op, x)), rewrite=_normalized(mode))
    yield FusionRule(pattern=lambda op, x, scale: op.Multiply(_centred(op, x), inverse_times(op, x, scale)), rewrite=_scaled(mode))
    yield FusionRule(pattern=shifted, rewrite=_scaled_and_shifted(mode))


class FuseMvnPass(RulePass):
    """Fuses normalization by mean and variance, as in Ba et al., "Layer Normalization", 2016."""

    name = "fuse-mvn"

    RULES: ClassVar[tuple[FusionRule, ...]] = (
        *(_quotient(square, deviation, mode) for square in _SQUARES for deviation, mode in _DEVIATIONS),
        *(rule for square in _SQUARES for reciprocal, mode in _RECIPROCALS for rule in _product(square, reciprocal, mode)),
    )
