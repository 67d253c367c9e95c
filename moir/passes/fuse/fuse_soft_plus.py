"""`fuse-soft-plus`: ln(1 + eˣ) becomes one operation, which does not overflow where x is large.

    %e = opset1.Exp(%x)
    %a = opset1.Add(%e, 1.0)
    %y = opset1.Log(%a)
->  %y = opset4.SoftPlus(%x)
"""

from __future__ import annotations

from typing import ClassVar

from moir.rewriting.rules import FusionRule, RulePass


class FuseSoftPlusPass(RulePass):
    """Fuses SoftPlus, Dugas et al., "Incorporating Second-Order Functional Knowledge for Better Option Pricing"."""

    name = "fuse-soft-plus"

    RULES: ClassVar[tuple[FusionRule, ...]] = (
        FusionRule(
            pattern=lambda op, x: op.Log(op.Add(op.Exp(x), 1)),
            rewrite=lambda op, match: op.SoftPlus(match["x"]) if match.is_real("x") else None,
        ),
    )
