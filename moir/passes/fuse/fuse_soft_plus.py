"""`fuse-soft-plus`: ln(1 + eˣ) becomes one operation, which does not overflow where x is large.

    %e = opset1.Exp(%x)
    %a = opset1.Add(%e, 1.0)
    %y = opset1.Log(%a)
->  %y = opset4.SoftPlus(%x)

    %s = opset4.SoftPlus(opset1.Negative(opset1.Abs(%x)))
    %a = opset1.Add(opset1.Relu(%x), %s)              // the logarithm of eˣ + e⁰, as JAX computes it
    %y = opset1.Select(opset1.NotEqual(%x, %x), %x, %a)
->  %y = opset4.SoftPlus(%x)
"""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.ir import SSAValue

from moir.rewriting.builder import OpBuilder
from moir.rewriting.rules import FusionRule, Match, RulePass


def _log_of_sum(op: Any, x: Any) -> Any:
    return op.Log(op.Add(op.Exp(x), 1))


def _of_magnitude(op: Any, x: Any) -> Any:
    magnitude = op.Negative(op.Abs(x))
    return op.Add(op.Relu(x), op.one_of(op.SoftPlus(magnitude), _log_of_sum(op, magnitude)))


def _soft_plus(op: OpBuilder, match: Match) -> SSAValue | None:
    return op.SoftPlus(match["x"]) if match.is_real("x") else None


class FuseSoftPlusPass(RulePass):
    """Fuses SoftPlus, Dugas et al., "Incorporating Second-Order Functional Knowledge for Better Option Pricing"."""

    name = "fuse-soft-plus"

    FIXPOINT: ClassVar[bool] = True

    RULES: ClassVar[tuple[FusionRule, ...]] = (
        FusionRule(pattern=_log_of_sum, rewrite=_soft_plus, shared=True),
        FusionRule(pattern=_of_magnitude, rewrite=_soft_plus, shared=True),
        FusionRule(
            pattern=lambda op, x: op.Select(op.NotEqual(x, x), x, op.one_of(op.SoftPlus(x), _of_magnitude(op, x))),
            rewrite=_soft_plus,
            shared=True,
        ),
    )
