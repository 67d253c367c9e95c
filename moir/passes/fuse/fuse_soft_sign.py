"""`fuse-soft-sign`: x / (1 + |x|) becomes one operation.

    %a = opset1.Add(opset1.Abs(%x), 1.0)
    %y = opset1.Divide(%x, %a)
->  %y = opset9.SoftSign(%x)
"""

from __future__ import annotations

from typing import ClassVar

from moir.rewriting.rules import FusionRule, RulePass


class FuseSoftSignPass(RulePass):
    """Fuses SoftSign, Bergstra et al., "Quadratic Polynomials Learn Better Image Features", 2009."""

    name = "fuse-soft-sign"

    RULES: ClassVar[tuple[FusionRule, ...]] = (
        FusionRule(
            pattern=lambda op, x: op.Divide(x, op.Add(op.Abs(x), 1)),
            rewrite=lambda op, match: op.SoftSign(match["x"]) if match.is_real("x") else None,
            shared=True,
        ),
    )
