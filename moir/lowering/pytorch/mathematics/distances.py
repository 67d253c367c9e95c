"""Distances and norms of differences.

Source: Distance.cpp of PyTorch 2.13.
"""

from __future__ import annotations

from math import inf

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import element_of
from moir.expansions.shape_values import all_axes
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import axis_from_front
from moir.lowering.pytorch.promotion import as_element, inferred_element, promoted
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder


def norm(op: OpBuilder, x: SSAValue, p: float, axes: SSAValue | list[int], *, keep: bool = False) -> SSAValue:
    """The norm of order p along axes, which become dimensions of size 1 with `keep`, and are removed without."""
    size = op.Abs(x)
    if p == 0:
        return op.ReduceSum(op.convert(op.NotEqual(x, 0), element_of(x)), axes, keep_dims=keep)
    if abs(p) == inf:
        return (op.ReduceMax if p > 0 else op.ReduceMin)(size, axes, keep_dims=keep)
    if p == 1:
        return op.ReduceL1(x, axes, keep_dims=keep)
    if p == 2:
        return op.ReduceL2(x, axes, keep_dims=keep)
    return op.Power(op.ReduceSum(op.Power(size, p), axes, keep_dims=keep), 1 / p)


def distance(op: OpBuilder, element: Attribute, a: SSAValue, b: SSAValue, p: float, eps: float, *, keep: bool = False) -> SSAValue:
    """The norm of order p of a - b + eps along the last axis, in the type `element`; with `keep` the axis stays with
    size 1.

    Differences of integers wrap around before they become floats.
    """
    difference = op.Subtract(*as_element(op, promoted([a, b]), a, b))
    return norm(op, op.Add(op.convert(difference, element), eps), p, [-1], keep=keep)


@aten.lowers("pairwise_distance.default")
def pairwise_distance(
    node: LoweringNode, op: OpBuilder, x1: SSAValue, x2: SSAValue, *, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> SSAValue:
    """aten.pairwise_distance.default(a, b) {p, eps} -> the norm of a - b + eps along the last axis"""
    return distance(op, inferred_element(node), x1, x2, p, eps, keep=keepdim)


@aten.lowers("dist.default")
def dist(node: LoweringNode, op: OpBuilder, self: SSAValue, other: SSAValue, *, p: float = 2.0) -> SSAValue:
    """aten.dist.default(a, b) {p} -> the norm of a - b"""
    difference = op.Subtract(*as_element(op, inferred_element(node), self, other))
    return norm(op, difference, p, all_axes(op, difference))


@aten.lowers("cdist.default", "_cdist_forward.default", "_euclidean_dist.default")
def cdist(op: OpBuilder, x1: SSAValue, x2: SSAValue, *, p: float = 2.0) -> SSAValue:
    """aten.cdist.default(a [N, D], b [M, D]) {p} -> the norms [N, M] of all differences"""
    return norm(op, op.Subtract(op.Unsqueeze(x1, [-2]), op.Unsqueeze(x2, [-3])), p, [-1])


@aten.lowers("pdist.default", "_pdist_forward.default")
def pdist(node: LoweringNode, op: OpBuilder, self: SSAValue, *, p: float = 2.0) -> SSAValue:
    """aten.pdist.default(x [N, D]) {p} -> the norms of the differences of all pairs of rows (i, j) with i < j, in
    order
    """
    shape = node.shape(0)
    if shape is None or shape[0] < 0:
        node.fail("the number of its rows is dynamic")
    first, second = np.triu_indices(shape[0], 1)
    rows = [op.Gather(self, op.constant(each.astype(np.int64), si64), 0) for each in (first, second)]
    return norm(op, op.Subtract(*rows), p, [-1])


@aten.lowers("renorm.default")
def renorm(node: LoweringNode, op: OpBuilder, self: SSAValue, *, p: float, dim: int, maxnorm: float) -> SSAValue:
    """aten.renorm.default(x) {p, dim, maxnorm} -> x with slices along `dim` of a norm of at most `maxnorm`"""
    rank = node.known_rank(0)
    axis = axis_from_front(node, dim, rank)
    norms = norm(op, self, p, [each for each in range(rank) if each != axis], keep=True)
    factor = op.Divide(op.constant_like(maxnorm, self), op.Add(norms, 1e-7))
    return op.Multiply(self, op.Select(op.Greater(norms, maxnorm), factor, op.constant_like(1, self)))
