"""`fuse-mish`: x * tanh(softplus(x)) becomes one operation, after `fuse-soft-plus`.

    %s = opset4.SoftPlus(%x)
    %t = opset1.Tanh(%s)
    %y = opset1.Multiply(%x, %t)
->  %y = opset4.Mish(%x)
"""

from __future__ import annotations

from typing import ClassVar

from moir.rewriting.rules import FusionRule, RulePass


class FuseMishPass(RulePass):
    """Fuses the Mish activation of Misra, "Mish: A Self Regularized Non-Monotonic Activation Function", 2019."""

    name = "fuse-mish"

    RULES: ClassVar[tuple[FusionRule, ...]] = (
        FusionRule(
            pattern=lambda op, x: op.Multiply(x, op.Tanh(op.SoftPlus(x))),
            rewrite=lambda op, match: op.Mish(match["x"]) if match.is_real("x") else None,
        ),
    )
