"""`fuse-hswish`: x * min(max(x + 3, 0), 6) / 6 becomes one operation, after `fuse-hsigmoid`.

    %s = opset5.HSigmoid(%x)
    %y = opset1.Multiply(%x, %s)
->  %y = opset4.HSwish(%x)
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import SSAValue

from moir.rewriting.builder import OpBuilder
from moir.rewriting.rules import FusionRule, Match, PatternFunction, RulePass


def _hswish(op: OpBuilder, match: Match) -> SSAValue | None:
    return op.HSwish(match["x"]) if match.is_real("x") else None


_FORMS: tuple[PatternFunction, ...] = (
    lambda op, x: op.Multiply(x, op.HSigmoid(x)),
    lambda op, x: op.Multiply(x, op.HardSigmoid(x, 1 / 6, 0.5)),
    lambda op, x: op.Multiply(x, op.Divide(op.Clamp(op.Add(x, 3), min=0.0, max=6.0), 6)),
    lambda op, x: op.Multiply(x, op.Multiply(op.Clamp(op.Add(x, 3), min=0.0, max=6.0), 1 / 6)),
    lambda op, x: op.Divide(op.Multiply(x, op.Clamp(op.Add(x, 3), min=0.0, max=6.0)), 6),
    lambda op, x: op.Multiply(op.Multiply(x, op.Clamp(op.Add(x, 3), min=0.0, max=6.0)), 1 / 6),
    lambda op, x: op.Multiply(op.Divide(x, 6), op.Clamp(op.Add(x, 3), min=0.0, max=6.0)),
    lambda op, x: op.Multiply(op.Multiply(x, 1 / 6), op.Clamp(op.Add(x, 3), min=0.0, max=6.0)),
)


class FuseHswishPass(RulePass):
    """Fuses the piecewise quadratic Swish of Howard et al., "Searching for MobileNetV3", 2019."""

    name = "fuse-hswish"

    RULES: ClassVar[tuple[FusionRule, ...]] = tuple(FusionRule(pattern=form, rewrite=_hswish) for form in _FORMS)
