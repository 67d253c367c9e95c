"""`fuse-prelu`: the forms of max(x, 0) + slope * min(x, 0) become one operation.

    %a = opset1.Multiply(%x, 0.1)
    %y = opset1.Maximum(%x, %a)
->  %y = opset1.PRelu(%x, [0.1])

Broadcasting a slope of more than one element must not change the shape of x.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.shapes import element_of, shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.rules import FusionRule, Match, PatternFunction, Rewrite, RulePass

Condition: TypeAlias = Callable[[Array], bool] | None
"""A condition on the slopes under which a form is a PRelu; None if there is no condition."""


def slope_for(slope: Array, x: SSAValue) -> Array | None:
    """The slope in a shape that PRelu accepts: one element, or the rank of x; None if its shape does not fit x."""
    if slope.size == 1:
        return slope.reshape(1)
    shape = shape_of(x)
    if shape is None or slope.ndim > len(shape) or len(shape) < 2:
        return None
    slope = slope.reshape((1,) * (len(shape) - slope.ndim) + slope.shape)
    return slope if all(own in (1, size) for own, size in zip(slope.shape, shape, strict=True)) else None


def _at_most_one(slope: Array) -> bool:
    return bool(np.all(slope <= 1))


def _at_least_one(slope: Array) -> bool:
    return bool(np.all(slope >= 1))


def _not_negative(slope: Array) -> bool:
    return bool(np.all(slope >= 0))


def _prelu(factor: float, condition: Condition) -> Rewrite:
    """A rewrite to PRelu, whose slope is the matched slope times a factor (±1 or ±2, which are exact).

    The rewrite declines slopes for which `condition` is false; a condition of None accepts all.
    """

    def rewrite(op: OpBuilder, match: Match) -> SSAValue | None:
        x, slope = match["x"], match.constant("slope")
        fitting = slope_for(slope, x) if match.is_real("x") and (condition is None or condition(slope)) else None
        if fitting is None:
            return None
        scaled = fitting if factor == 1 else (fitting * np.asarray(factor, fitting.dtype)).astype(fitting.dtype)
        return op.PRelu(x, op.constant(scaled, element_of(x)))

    return rewrite


def _negated(op: Any, x: Any) -> Any:
    return op.one_of(op.Negative(x), op.Multiply(x, -1))


def _positive(op: Any, x: Any) -> Any:
    return op.one_of(op.Greater(x, 0), op.GreaterEqual(x, 0))


def _negative(op: Any, x: Any) -> Any:
    return op.one_of(op.Less(x, 0), op.LessEqual(x, 0))


_FORMS: tuple[tuple[PatternFunction, float, Condition], ...] = (
    (lambda op, x: op.Maximum(x, op.Multiply(x, op.constant("slope"))), 1, _at_most_one),
    (lambda op, x: op.Minimum(x, op.Multiply(x, op.constant("slope"))), 1, _at_least_one),
    (lambda op, x: op.Add(op.one_of(op.Relu(x), op.Maximum(x, 0)), op.Multiply(op.Minimum(x, 0), op.constant("slope"))), 1, None),
    (lambda op, x: op.Add(op.Relu(x), op.Minimum(op.Multiply(x, op.constant("slope")), 0)), 1, _not_negative),
    (lambda op, x: op.Subtract(op.Relu(x), op.Multiply(op.Relu(_negated(op, x)), op.constant("slope"))), 1, None),
    (lambda op, x: op.Add(op.Relu(x), op.Multiply(op.Relu(_negated(op, x)), op.constant("slope"))), -1, None),
    (lambda op, x: op.Add(op.Relu(x), op.Negative(op.Multiply(op.Relu(op.Negative(x)), op.constant("slope")))), 1, None),
    (lambda op, x: op.Add(op.Relu(x), op.Multiply(op.Subtract(x, op.Abs(x)), op.constant("slope"))), 2, None),
    (lambda op, x: op.Add(op.Relu(x), op.Multiply(op.Multiply(op.Subtract(x, op.Abs(x)), op.constant("slope")), 0.5)), 1, None),
    (lambda op, x: op.Add(op.Relu(x), op.Multiply(op.Multiply(op.Subtract(x, op.Abs(x)), 0.5), op.constant("slope"))), 1, None),
    (lambda op, x: op.Select(_positive(op, x), x, op.Multiply(x, op.constant("slope"))), 1, None),
    (lambda op, x: op.Select(_negative(op, x), op.Multiply(x, op.constant("slope")), x), 1, None),
)


class FusePreluPass(RulePass):
    """Fuses leaky and parametric rectifiers, He et al., "Delving Deep into Rectifiers", 2015."""

    name = "fuse-prelu"

    RULES: ClassVar[tuple[FusionRule, ...]] = tuple(
        FusionRule(pattern=form, rewrite=_prelu(factor, condition)) for form, factor, condition in _FORMS
    )
