"""`fuse-elu`: x where it is positive, else α (eˣ - 1), becomes one operation, and so does its multiple in SELU.

    %p = opset1.Greater(%x, 0.0)
    %e = opset1.Subtract(opset1.Exp(opset1.Select(%p, 0.0, %x)), 1.0)
    %y = opset1.Select(%p, %x, opset1.Multiply(%e, 1.5))
->  %y = opset1.Elu(%x) {alpha = 1.5}

    %e = opset1.Subtract(opset1.Exp(opset1.Minimum(%x, 0.0)), 1.0)
    %y = opset1.Add(opset1.Relu(%x), %e)
->  %y = opset1.Elu(%x) {alpha = 1.0}

    %y = opset1.Multiply(opset1.Elu(%x) {alpha = 1.67326}, 1.0507)
->  %y = opset1.Selu(%x, 1.67326, 1.0507)

CELU is α ELU(x / α): its division by α before the exponential and its multiplication by α stay. The numbers of
SELU are those of its authors; other multiples of an Elu are left to the passes that move factors. Several activations
of one value may have parts in common: each of them is fused.
"""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.ir import SSAValue

from moir.analysis.constants import is_about
from moir.dialects.shapes import element_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.rules import FusionRule, Match, Rewrite, RulePass

SELU = (1.6732632423543772, 1.0507009873554805)
"""Alpha and lambda of SELU."""


def _is_positive(op: Any, x: Any) -> Any:
    return op.one_of(op.Greater(x, 0), op.GreaterEqual(x, 0), op.Less(0, x), op.LessEqual(0, x))


def _is_negative(op: Any, x: Any) -> Any:
    return op.one_of(op.Less(x, 0), op.LessEqual(x, 0), op.Greater(0, x), op.GreaterEqual(0, x))


def _rest(op: Any, x: Any) -> Any:
    """eˣ - 1, in which a positive x may be replaced by 0 against overflow."""
    return op.Subtract(
        op.Exp(op.one_of(x, op.Select(_is_positive(op, x), 0, x), op.Select(_is_negative(op, x), x, 0), op.Minimum(x, 0))), 1
    )


def _scaled_rest(op: Any, x: Any) -> Any:
    return op.Multiply(_rest(op, x), op.constant("alpha"))


def _limited(op: Any, x: Any) -> Any:
    return op.Subtract(op.Exp(op.Minimum(x, 0)), 1)


def _celu(op: Any, x: Any) -> Any:
    alpha = op.constant("alpha")
    return op.Add(op.Relu(x), op.Multiply(op.Subtract(op.Exp(op.Divide(op.Minimum(x, 0), alpha)), 1), alpha))


def _elu(*, is_scaled: bool) -> Rewrite:
    def rewrite(op: OpBuilder, match: Match) -> SSAValue | None:
        alpha = match.scalar("alpha") if is_scaled else 1.0
        return op.Elu(match["x"], alpha=alpha) if match.is_real("x") and alpha is not None else None

    return rewrite


def _divided(op: OpBuilder, match: Match) -> SSAValue | None:
    alpha = match.scalar("alpha")
    if not match.is_real("x") or alpha is None or alpha <= 0:
        return None
    return op.Multiply(op.Elu(op.Divide(match["x"], alpha), alpha=1.0), alpha)


def _selu(op: OpBuilder, match: Match) -> SSAValue | None:
    scale, element = match.scalar("scale"), element_of(match["x"])
    alpha = match.number(match.operation("Elu"), "alpha")
    if scale is None or not is_about(alpha, SELU[0], element) or not is_about(scale, SELU[1], element):
        return None
    return op.Selu(match["x"], op.constant_like(alpha, match["x"]), op.constant_like(scale, match["x"]))


_ELU = _elu(is_scaled=False)
_SCALED_ELU = _elu(is_scaled=True)


class FuseEluPass(RulePass):
    """Fuses ELU, Clevert et al., "Fast and Accurate Deep Network Learning by Exponential Linear Units", 2016, and SELU,
    Klambauer et al., "Self-Normalizing Neural Networks", 2017.
    """

    name = "fuse-elu"

    RULES: ClassVar[tuple[FusionRule, ...]] = (
        FusionRule(pattern=lambda op, x: op.Select(_is_positive(op, x), x, _rest(op, x)), rewrite=_ELU, shared=True),
        FusionRule(pattern=lambda op, x: op.Select(_is_negative(op, x), _rest(op, x), x), rewrite=_ELU, shared=True),
        FusionRule(pattern=lambda op, x: op.Select(_is_positive(op, x), x, _scaled_rest(op, x)), rewrite=_SCALED_ELU, shared=True),
        FusionRule(pattern=lambda op, x: op.Select(_is_negative(op, x), _scaled_rest(op, x), x), rewrite=_SCALED_ELU, shared=True),
        FusionRule(pattern=lambda op, x: op.Add(op.Relu(x), _limited(op, x)), rewrite=_ELU, shared=True),
        FusionRule(
            pattern=lambda op, x: op.Add(op.Relu(x), op.Multiply(_limited(op, x), op.constant("alpha"))), rewrite=_SCALED_ELU, shared=True
        ),
        FusionRule(pattern=_celu, rewrite=_divided, shared=True),
        FusionRule(pattern=lambda op, x: op.Multiply(op.Elu(x), op.constant("scale")), rewrite=_selu),
    )
