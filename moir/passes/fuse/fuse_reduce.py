"""`fuse-reduce`: norms that are computed as sums of squares or of absolute values become ReduceL2 and ReduceL1.

    %s = opset1.Multiply(%x, %x)
    %r = opset1.ReduceSum(%s, %axes) {keep_dims = true}
    %y = opset1.Sqrt(%r)
->  %y = opset4.ReduceL2(%x, %axes) {keep_dims = true}
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import SSAValue

from moir.dialects.properties import value_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.rules import FusionRule, Match, PatternFunction, RulePass


def _keep_dims(match: Match) -> bool:
    return bool(value_of(match.operation("ReduceSum").properties["keep_dims"]))


def _l2(op: OpBuilder, match: Match) -> SSAValue | None:
    return op.ReduceL2(match["x"], match["axes"], keep_dims=_keep_dims(match)) if match.is_real("x") else None


def _l1(op: OpBuilder, match: Match) -> SSAValue | None:
    return op.ReduceL1(match["x"], match["axes"], keep_dims=_keep_dims(match)) if match.is_real("x") else None


_L2_FORMS: tuple[PatternFunction, ...] = (
    lambda op, x, axes: op.Sqrt(op.ReduceSum(op.Multiply(x, x), axes)),
    lambda op, x, axes: op.Sqrt(op.ReduceSum(op.Power(x, 2), axes)),
    lambda op, x, axes: op.Power(op.ReduceSum(op.Multiply(x, x), axes), 0.5),
    lambda op, x, axes: op.Power(op.ReduceSum(op.Power(x, 2), axes), 0.5),
)


class FuseReducePass(RulePass):
    """Fuses norms of floating-point numbers."""

    name = "fuse-reduce"

    RULES: ClassVar[tuple[FusionRule, ...]] = (
        *(FusionRule(pattern=form, rewrite=_l2) for form in _L2_FORMS),
        FusionRule(pattern=lambda op, x, axes: op.ReduceSum(op.Abs(x), axes), rewrite=_l1),
    )
