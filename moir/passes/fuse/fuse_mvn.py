"""`fuse-mvn`: a value minus its mean, divided by its standard deviation, becomes one operation.

    %m = opset1.ReduceMean(%x, %axes) {keep_dims = true}
    %c = opset1.Subtract(%x, %m)
    %s = opset1.Power(%c, 2.0)
    %v = opset1.ReduceMean(%s, %axes) {keep_dims = true}
    %e = opset1.Add(%v, 0.00001)
    %d = opset1.Sqrt(%e)
    %y = opset1.Divide(%c, %d)
->  %y = opset6.MVN(%x, %axes) {eps = 0.00001, normalize_variance = true, eps_mode = "INSIDE_SQRT"}

The mean may be computed once or twice, and the variance from the difference, by SquaredDifference, or as the mean of
the squares minus the square of the mean, which may be clamped to 0. A scale and a shift after the normalization stay.
Keras multiplies the scale by the reciprocal of the deviation first, and subtracts the mean times this product from the
shift: these become a Multiply and an Add after the MVN, where there are a scale and a shift.
"""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.ir import SSAValue

from moir.dialects.shapes import rank_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.rules import FusionRule, Match, RulePass


def _mean(op: Any, x: Any) -> Any:
    return op.ReduceMean(x, op.constant("axes"), keep_dims=True)


def _centred(op: Any, x: Any) -> Any:
    return op.Subtract(x, _mean(op, x))


def _variance(op: Any, x: Any) -> Any:
    centred = _centred(op, x)
    square = op.one_of(op.Power(centred, 2), op.Multiply(centred, centred), op.SquaredDifference(x, _mean(op, x)))
    # mean(x²) - mean(x)² may be negative by rounding, so programs clamp it at 0.
    rest = op.Subtract(_mean(op, _square(op, x)), _square(op, _mean(op, x)))
    return op.one_of(_mean(op, square), op.Maximum(rest, 0), op.Relu(rest), rest)


def _square(op: Any, x: Any) -> Any:
    return op.one_of(op.Power(x, 2), op.Multiply(x, x))


def _inside(op: Any, x: Any) -> Any:
    return op.Add(_variance(op, x), op.constant("eps"))


def _reciprocal(op: Any, x: Any) -> Any:
    inside = _inside(op, x)
    root = op.Sqrt(inside)
    return op.one_of(op.Power(inside, -0.5), op.Divide(1, root), op.Power(root, -1))


def _deviation(op: Any, x: Any) -> Any:
    inside = _inside(op, x)
    return op.one_of(op.Sqrt(inside), op.Power(inside, 0.5))


def _shifted(op: Any, x: Any, factor: Any, shift: Any) -> Any:
    mean = _mean(op, x)
    negated = op.Multiply(op.Negative(mean), factor)
    rest = op.one_of(op.Subtract(shift, op.Multiply(mean, factor)), op.Add(negated, shift))
    return op.Add(op.Multiply(x, factor), rest)


def _unshifted(op: Any, x: Any, factor: Any) -> Any:
    return op.Subtract(op.Multiply(x, factor), op.Multiply(_mean(op, x), factor))


def _negated(op: Any, x: Any, factor: Any) -> Any:
    return op.Add(op.Multiply(x, factor), op.Multiply(op.Negative(_mean(op, x)), factor))


def _normalized(op: OpBuilder, match: Match, mode: str = "INSIDE_SQRT") -> SSAValue | None:
    eps, axes = match.scalar("eps"), match["axes"]
    if not match.is_real("x") or eps is None or eps <= 0 or not match.constant("axes").size:
        return None
    if rank_of(axes) == 0:
        axes = op.constant(match.constant("axes").reshape(-1))
    return op.MVN(match["x"], axes, eps=eps, normalize_variance=True, eps_mode=mode)


def _scaled(op: OpBuilder, match: Match) -> SSAValue | None:
    value = _normalized(op, match)
    return None if value is None else op.Multiply(value, match["scale"])


def _with_shift(op: OpBuilder, match: Match) -> SSAValue | None:
    value = _normalized(op, match)
    return None if value is None else op.Add(value, match["shift"])


def _scaled_and_shifted(op: OpBuilder, match: Match) -> SSAValue | None:
    value = _scaled(op, match)
    return None if value is None else op.Add(value, match["shift"])


class FuseMvnPass(RulePass):
    """Fuses normalization by mean and variance, as in Ba et al., "Layer Normalization", 2016."""

    name = "fuse-mvn"

    RULES: ClassVar[tuple[FusionRule, ...]] = (
        FusionRule(pattern=lambda op, x: op.Divide(_centred(op, x), _deviation(op, x)), rewrite=_normalized),
        FusionRule(
            pattern=lambda op, x: op.Divide(_centred(op, x), op.Add(op.Sqrt(_variance(op, x)), op.constant("eps"))),
            rewrite=lambda op, match: _normalized(op, match, "OUTSIDE_SQRT"),
        ),
        FusionRule(pattern=lambda op, x: op.Multiply(_centred(op, x), _reciprocal(op, x)), rewrite=_normalized),
        FusionRule(pattern=lambda op, x, scale: op.Multiply(_centred(op, x), op.Multiply(_reciprocal(op, x), scale)), rewrite=_scaled),
        FusionRule(
            pattern=lambda op, x, scale, shift: _shifted(op, x, op.Multiply(_reciprocal(op, x), scale), shift), rewrite=_scaled_and_shifted
        ),
        FusionRule(pattern=lambda op, x, shift: _shifted(op, x, _reciprocal(op, x), shift), rewrite=_with_shift),
        FusionRule(pattern=lambda op, x, scale: _unshifted(op, x, op.Multiply(_reciprocal(op, x), scale)), rewrite=_scaled),
        FusionRule(pattern=lambda op, x: _unshifted(op, x, _reciprocal(op, x)), rewrite=_normalized),
        FusionRule(pattern=lambda op, x, scale: _negated(op, x, op.Multiply(_reciprocal(op, x), scale)), rewrite=_scaled),
        FusionRule(pattern=lambda op, x: _negated(op, x, _reciprocal(op, x)), rewrite=_normalized),
    )
