"""Normalizations by means and variances."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import SSAValue

from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import rank_of
from moir.rewriting.builder import OpBuilder
from moir.targets.releases.expansions.expansion import Expansion


def group_normalization(op: OpBuilder, node: OpsetOp) -> SSAValue | None:
    """MVN of the groups as rows, Wu and He, "Group Normalization", 2018; None for data of dynamic rank.

    %y = opset12.GroupNormalization(%x, %scale, %bias) {num_groups = 3}              // %x: [2, 6, 4, 4]
    ->  %0 = opset6.MVN(opset1.Reshape(%x, [0, 3, -1]), [2])
        %y = opset1.Reshape(%0, opset3.ShapeOf(%x)) * %scale + %bias                 // both reshaped to [1, 6, 1, 1]
    """
    x, scale, bias = node.operands
    rank = rank_of(x)
    if rank is None:
        return None
    rows = op.Reshape(x, [0, node.integer("num_groups"), -1], special_zero=True)
    normalized = op.MVN(rows, [2], normalize_variance=True, eps=node.number("epsilon"), eps_mode="INSIDE_SQRT")
    restored = op.Reshape(normalized, op.ShapeOf(x), special_zero=False)
    factors, summands = (op.Reshape(each, [1, -1, *[1] * (rank - 2)], special_zero=False) for each in (scale, bias))
    return op.Add(op.Multiply(restored, factors), summands)


def mean_variance_normalization(op: OpBuilder, node: OpsetOp) -> SSAValue:
    """(x - mean) / √(variance + ε), with ε added to the root or to its argument; without variance, x - mean."""
    x, axes = node.operands
    centered = op.Subtract(x, op.ReduceMean(x, axes, keep_dims=True))
    if not node.flag("normalize_variance"):
        return centered
    variance, eps = op.ReduceMean(op.Multiply(centered, centered), axes, keep_dims=True), node.number("eps")
    is_inside = node.text("eps_mode").upper() == "INSIDE_SQRT"
    return op.Divide(centered, op.Sqrt(op.Add(variance, eps)) if is_inside else op.Add(op.Sqrt(variance), eps))


def batch_normalization(op: OpBuilder, node: OpsetOp) -> SSAValue:
    """opset5.BatchNormInference(x, γ, β, …) -> opset1.BatchNormInference(γ, β, x, …)"""
    x, gamma, beta, *moments = node.operands
    return op["opset1.BatchNormInference"](gamma, beta, x, *moments, epsilon=node.number("epsilon"))


EXPANSIONS: Mapping[str, Expansion] = {
    "opset12.GroupNormalization": group_normalization,
    "opset6.MVN": mean_variance_normalization,
    "opset5.BatchNormInference": batch_normalization,
}
