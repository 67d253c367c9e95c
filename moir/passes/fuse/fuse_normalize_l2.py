"""`fuse-normalize-l2`: a value divided by its Euclidean norm becomes one operation; `eps` keeps the norm above 0.

    %s = opset1.Multiply(%x, %x)
    %t = opset1.ReduceSum(%s, %axes) {keep_dims = true}
    %a = opset1.Add(%t, 0.00001)
    %d = opset1.Sqrt(%a)
    %y = opset1.Divide(%x, %d)
->  %y = opset1.NormalizeL2(%x, %axes) {eps = 0.00001, eps_mode = "add"}

x / max(‖x‖, eps) becomes a NormalizeL2 with `eps_mode = "max"` and the square of eps, because the operation takes the
maximum before the root. A Broadcast of the norm to the shape of x is matched, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from xdsl.ir import OpResult, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.properties import value_of
from moir.dialects.shapes import is_static, rank_of, shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.rules import FusionRule, Match, Rewrite, RulePass

Part: TypeAlias = Callable[[Any, Any], Any]
"""A function that builds a part of a pattern from the recorder of the pattern and one operand."""

SMALLEST, LARGEST = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)
"""Smallest normal and largest number of f32, which the attribute eps is."""


@dataclass(frozen=True)
class Form:
    """A form of the norm or its reciprocal.

    Args:
        part: builds the pattern of the form.
        mode: the `eps_mode` of NormalizeL2.
        power: the eps of the operation is `match.scalar("eps")`, or the lower limit of a Clamp, to this power.
    """

    part: Part
    mode: str
    power: int = 1


def _norm(op: Any, x: Any) -> Any:
    return op.ReduceL2(x, op.constant("axes"), keep_dims=True)


def _root(op: Any, x: Any) -> Any:
    return op.one_of(op.Sqrt(x), op.Power(x, 0.5))


def _sum_of_squares(op: Any, x: Any) -> Any:
    return op.ReduceSum(op.one_of(op.Multiply(x, x), op.Power(x, 2)), op.constant("axes"), keep_dims=True)


NORMS: tuple[Form, ...] = (
    Form(lambda op, x: _root(op, op.Add(_sum_of_squares(op, x), op.constant("eps"))), "add"),
    Form(lambda op, x: _root(op, op.Maximum(_sum_of_squares(op, x), op.constant("eps"))), "max"),
    Form(lambda op, x: op.Maximum(op.one_of(op.Sqrt(_sum_of_squares(op, x)), _norm(op, x)), op.constant("eps")), "max", 2),
    Form(lambda op, x: op.Clamp(_norm(op, x)), "max", 2),
)


def _reciprocal_of(form: Form) -> Form:
    return Form(lambda op, x: op.Divide(1, form.part(op, x)), form.mode, form.power)


RECIPROCALS: tuple[Form, ...] = (
    Form(lambda op, x: op.Power(op.Add(_sum_of_squares(op, x), op.constant("eps")), -0.5), "add"),
    Form(lambda op, x: op.Power(op.Maximum(_sum_of_squares(op, x), op.constant("eps")), -0.5), "max"),
    *map(_reciprocal_of, NORMS),
)


def _eps(match: Match) -> float | None:
    clamp = next((op for op in match.operations if op.name == "opset1.Clamp"), None)
    if clamp is None:
        return match.scalar("eps")
    low, high = (match.number(clamp, name) for name in ("min", "max"))
    return low if high >= LARGEST else None


def _normalized(form: Form) -> Rewrite:
    def rewrite(op: OpBuilder, match: Match) -> SSAValue | None:
        eps, axes = _eps(match), match["axes"]
        if not match.is_real("x") or eps is None or rank_of(axes) != 1 or not match.constant("axes").size:
            return None
        if eps <= 0 or not SMALLEST <= eps**form.power <= LARGEST:
            return None
        return op.NormalizeL2(match["x"], axes, eps=eps**form.power, eps_mode=form.mode)

    return rewrite


def _normalized_after_broadcast(form: Form) -> Rewrite:
    def rewrite(op: OpBuilder, match: Match) -> SSAValue | None:
        mode = value_of(match.operation("Broadcast").properties["mode"])
        if mode not in ("numpy", "bidirectional") or not _is_shape_of(match["target"], match["x"]):
            return None
        return _normalized(form)(op, match)

    return rewrite


def _is_shape_of(target: SSAValue, x: SSAValue) -> bool:
    """Whether a value is the shape of x, computed by a ShapeOf or given as a constant."""
    if isinstance(target, OpResult) and target.op.name == "opset3.ShapeOf":
        return target.op.operands[0] is x
    array, shape = constant_of(target), shape_of(x)
    return array is not None and is_static(shape) and tuple(array.ravel().tolist()) == shape


def _divided(form: Form) -> Iterator[FusionRule]:
    yield FusionRule(lambda op, x: op.Divide(x, form.part(op, x)), _normalized(form))
    yield FusionRule(lambda op, x, target: op.Divide(x, op.Broadcast(form.part(op, x), target)), _normalized_after_broadcast(form))


def _multiplied(form: Form) -> FusionRule:
    return FusionRule(lambda op, x: op.Multiply(x, form.part(op, x)), _normalized(form))


class FuseNormalizeL2Pass(RulePass):
    """Fuses normalization to unit length."""

    name = "fuse-normalize-l2"

    RULES: ClassVar[tuple[FusionRule, ...]] = (
        *(rule for form in NORMS for rule in _divided(form)),
        *(_multiplied(form) for form in RECIPROCALS),
    )
