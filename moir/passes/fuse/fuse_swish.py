"""`fuse-swish`: x * sigmoid(beta * x) becomes one operation.

    %s = opset1.Sigmoid(%x)
    %y = opset1.Multiply(%x, %s)
->  %y = opset4.Swish(%x)

The quotient x / (1 + exp(-beta * x)) becomes the same. A beta of one element may be computed, and becomes the scalar
that opset4.Swish has; operations with beta may have other uses. Other quotients x / (1 + exp(-y)) become products of x
and sigmoid(y), or sigmoid(y) if x is 1.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from xdsl.ir import SSAValue

from moir.analysis.constants import constant_of, outranks, scalar_of
from moir.dialects.shapes import broadcast_shapes, element_count, rank_of, shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.rules import FusionRule, Match, RulePass


def _with_beta(op: OpBuilder, match: Match) -> SSAValue | None:
    x, beta = match["x"], match["beta"]
    factors = constant_of(beta)
    if factors is not None and factors.size > 1 and (factors == factors.flat[0]).all():
        # Equal factors are one beta, which is a scalar; the dimensions that they add by broadcasting follow after it.
        result = op.Swish(x, op.constant_like(factors.flat[0], x))
        shape = shape_of(x)
        adds = shape is None or broadcast_shapes(shape, factors.shape) != shape
        return op.Multiply(result, op.constant_like(np.ones_like(factors), x)) if adds else result
    number, rank = scalar_of(beta), rank_of(beta)
    if element_count(shape_of(beta)) != 1 or rank is None or (outranks(beta, x) and number is not None):
        return None
    if number is not None:
        return op.Swish(x, op.constant_like(number, x))
    result = op.Swish(x, op.Reshape(beta, op.constant(np.zeros(0, np.int64)), special_zero=False) if rank else beta)
    return op.Multiply(result, op.constant_like(np.ones((1,) * rank), x)) if outranks(beta, x) else result


def _with_sigmoid(op: OpBuilder, match: Match) -> SSAValue | None:
    x, y = match["x"], match["y"]
    if not match.is_real("y"):
        return None
    sigmoid = op.Sigmoid(y)
    return sigmoid if scalar_of(x) == 1 and not outranks(x, y) else op.Multiply(x, sigmoid)


class FuseSwishPass(RulePass):
    """Fuses Swish (SiLU), Ramachandran et al., "Searching for Activation Functions", 2017."""

    name = "fuse-swish"

    RULES: ClassVar[tuple[FusionRule, ...]] = (
        FusionRule(
            pattern=lambda op, x: op.Multiply(x, op.Sigmoid(x)),
            rewrite=lambda op, match: op.Swish(match["x"]),
        ),
        FusionRule(
            pattern=lambda op, x, beta: op.Multiply(x, op.Sigmoid(op.Multiply(x, beta))),
            rewrite=_with_beta,
            shared=True,
        ),
        FusionRule(
            pattern=lambda op, x: op.Divide(x, op.Add(op.Exp(op.Negative(x)), 1)),
            rewrite=lambda op, match: op.Swish(match["x"]),
        ),
        FusionRule(
            pattern=lambda op, x, beta: op.Divide(x, op.Add(op.Exp(op.Negative(op.Multiply(x, beta))), 1)),
            rewrite=_with_beta,
            shared=True,
        ),
        FusionRule(
            pattern=lambda op, x, y: op.Divide(x, op.Add(op.Exp(op.Negative(y)), 1)),
            rewrite=_with_sigmoid,
            shared=True,
        ),
    )
