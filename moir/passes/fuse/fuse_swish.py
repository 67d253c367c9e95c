"""`fuse-swish`: x * sigmoid(beta * x) becomes one operation.

    %s = opset1.Sigmoid(%x)
    %y = opset1.Multiply(%x, %s)
->  %y = opset4.Swish(%x)

The quotient x / (1 + exp(-beta * x)) becomes the same.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import SSAValue

from moir.rewriting.builder import OpBuilder
from moir.rewriting.rules import FusionRule, Match, RulePass


def _with_beta(op: OpBuilder, match: Match) -> SSAValue | None:
    beta = match.scalar("beta")
    return None if beta is None else op.Swish(match["x"], op.constant_like(beta, match["x"]))


class FuseSwishPass(RulePass):
    """Fuses Swish (SiLU), Ramachandran et al., "Searching for Activation Functions", 2017."""

    name = "fuse-swish"

    RULES: ClassVar[tuple[FusionRule, ...]] = (
        FusionRule(
            pattern=lambda op, x: op.Multiply(x, op.Sigmoid(x)),
            rewrite=lambda op, match: op.Swish(match["x"]),
        ),
        FusionRule(
            pattern=lambda op, x: op.Multiply(x, op.Sigmoid(op.Multiply(x, op.constant("beta")))),
            rewrite=_with_beta,
        ),
        FusionRule(
            pattern=lambda op, x: op.Divide(x, op.Add(op.Exp(op.Negative(x)), 1)),
            rewrite=lambda op, match: op.Swish(match["x"]),
        ),
        FusionRule(
            pattern=lambda op, x: op.Divide(x, op.Add(op.Exp(op.Negative(op.Multiply(x, op.constant("beta")))), 1)),
            rewrite=_with_beta,
        ),
    )
