"""`fuse-hsigmoid`: min(max(x + 3, 0), 6) / 6 becomes one operation, after `fuse-clamp` has fused the limits.

    %a = opset1.Add(%x, 3.0)
    %c = opset1.Clamp(%a) {min = 0.0, max = 6.0}
    %y = opset1.Divide(%c, 6.0)
->  %y = opset5.HSigmoid(%x)
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import SSAValue

from moir.rewriting.builder import OpBuilder
from moir.rewriting.rules import FusionRule, Match, PatternFunction, RulePass


def _hsigmoid(op: OpBuilder, match: Match) -> SSAValue | None:
    return op.HSigmoid(match["x"]) if match.is_real("x") else None


_FORMS: tuple[PatternFunction, ...] = (
    lambda op, x: op.Divide(op.Clamp(op.Add(x, 3), min=0.0, max=6.0), 6),
    lambda op, x: op.Multiply(op.Clamp(op.Add(x, 3), min=0.0, max=6.0), 1 / 6),
    lambda op, x: op.Clamp(op.Divide(op.Add(x, 3), 6), min=0.0, max=1.0),
    lambda op, x: op.Clamp(op.Multiply(op.Add(x, 3), 1 / 6), min=0.0, max=1.0),
    lambda op, x: op.Clamp(op.Add(op.Multiply(x, 1 / 6), 0.5), min=0.0, max=1.0),
    lambda op, x: op.Clamp(op.Add(op.Divide(x, 6), 0.5), min=0.0, max=1.0),
    lambda op, x: op.HardSigmoid(x, 1 / 6, 0.5),
)


class FuseHsigmoidPass(RulePass):
    """Fuses the piecewise linear sigmoid of Howard et al., "Searching for MobileNetV3", 2019."""

    name = "fuse-hsigmoid"

    RULES: ClassVar[tuple[FusionRule, ...]] = tuple(FusionRule(pattern=form, rewrite=_hsigmoid) for form in _FORMS)
