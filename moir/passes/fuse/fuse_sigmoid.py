"""`fuse-sigmoid`: 1 / (1 + e⁻ˣ) becomes one operation.

    %n = opset1.Negative(%x)
    %e = opset1.Exp(%n)
    %a = opset1.Add(%e, 1.0)
    %y = opset1.Divide(1.0, %a)
->  %y = opset1.Sigmoid(%x)
"""

from __future__ import annotations

from typing import ClassVar

from moir.rewriting.rules import FusionRule, RulePass


class FuseSigmoidPass(RulePass):
    """Fuses the logistic function, which frameworks without an operation for it write in pieces."""

    name = "fuse-sigmoid"

    RULES: ClassVar[tuple[FusionRule, ...]] = (
        FusionRule(
            pattern=lambda op, x: op.Divide(1, op.Add(op.Exp(op.Negative(x)), 1)),
            rewrite=lambda op, match: op.Sigmoid(match["x"]) if match.is_real("x") else None,
        ),
    )
