"""`fuse-mean`: a sum divided by the number of its terms becomes a mean.

    %s = opset1.ReduceSum(%x, [1]) {keep_dims = true} : tensor<2x1x4xf32>
    %y = opset1.Divide(%s, 3.0)
->  %y = opset1.ReduceMean(%x, [1]) {keep_dims = true}

JAX has no mean: its programs sum and divide.
"""

from __future__ import annotations

from math import prod
from typing import ClassVar

from xdsl.ir import SSAValue

from moir.dialects.properties import value_of
from moir.dialects.shapes import normalize_axis, shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.rules import FusionRule, Match, RulePass


def _summands(match: Match) -> int | None:
    """The number of elements that the matched ReduceSum adds for each result; None if it is dynamic."""
    shape, axes = shape_of(match["x"]), match.constant("axes")
    if shape is None or not match.is_real("x"):
        return None
    sizes = [shape[normalize_axis(int(axis), len(shape))] for axis in axes.reshape(-1)]
    return prod(sizes) if sizes and min(sizes) > 0 else None


def _mean(op: OpBuilder, match: Match, *, is_reciprocal: bool) -> SSAValue | None:
    count, number = _summands(match), match.scalar("count")
    if count is None or number is None:
        return None
    # A reciprocal is rounded, by half a step of its type at most.
    equal = abs(number * count - 1) < 1e-6 if is_reciprocal else number == count
    keep_dims = bool(value_of(match.operation("ReduceSum").properties["keep_dims"]))
    return op.ReduceMean(match["x"], match["axes"], keep_dims=keep_dims) if equal else None


class FuseMeanPass(RulePass):
    """Fuses means of floating-point numbers."""

    name = "fuse-mean"

    RULES: ClassVar[tuple[FusionRule, ...]] = (
        FusionRule(
            pattern=lambda op, x: op.Divide(op.ReduceSum(x, op.constant("axes")), op.constant("count")),
            rewrite=lambda op, match: _mean(op, match, is_reciprocal=False),
        ),
        FusionRule(
            pattern=lambda op, x: op.Multiply(op.ReduceSum(x, op.constant("axes")), op.constant("count")),
            rewrite=lambda op, match: _mean(op, match, is_reciprocal=True),
        ),
    )
