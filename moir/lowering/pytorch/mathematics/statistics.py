"""Statistics: running extremes, counts, covariances, and reductions that leave NaNs out.

Source: ReduceOps.cpp and SummaryOps.cpp of PyTorch 2.13.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import REAL_TYPES, boolean, si64
from moir.dialects.shapes import element_of
from moir.expansions.running_extremes import running_extremes
from moir.expansions.running_products import prefixes_of
from moir.expansions.shape_values import all_axes
from moir.expansions.sums_of_exponentials import log_of_sum_of_exponentials
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_parts
from moir.lowering.pytorch.arguments import Size, axes_from_front, axis_from_front, size_scalar
from moir.lowering.pytorch.promotion import inferred_element
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


@aten.lowers("nansum.default", "nanmean.default")
def nansum(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: tuple[int, ...] = (), keepdim: bool = False) -> SSAValue:
    """aten.nansum.default(x) {dim, keepdim} -> the sum of the elements that are not NaN; `nanmean` its mean"""
    x, rank = op.convert(self, inferred_element(node)), node.known_rank(0)
    axes = (axes_from_front(node, dim, rank) or list(range(rank))) if rank else []
    is_nan = op.IsNaN(x) if element_of(x) in REAL_TYPES else op.NotEqual(x, x)
    total = op.ReduceSum(op.Select(is_nan, op.constant_like(0, x), x), axes, keep_dims=keepdim)
    if node.op.KIND.startswith("nansum"):
        return total
    return op.Divide(total, op.ReduceSum(op.convert(op.LogicalNot(is_nan), element_of(x)), axes, keep_dims=keepdim))


@aten.lowers("aminmax.default")
def aminmax(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: int | None = None, keepdim: bool = False) -> Replacement:
    """aten.aminmax.default(x) {dim, keepdim} -> opset1.ReduceMin(x), opset1.ReduceMax(x)"""
    rank = node.known_rank(0)
    axes = list(range(rank)) if dim is None else axes_from_front(node, [dim], rank)
    if element_of(self) == boolean:
        return [op.ReduceLogicalAnd(self, axes, keep_dims=keepdim), op.ReduceLogicalOr(self, axes, keep_dims=keepdim)]
    return [self, self] if rank == 0 else [op.ReduceMin(self, axes, keep_dims=keepdim), op.ReduceMax(self, axes, keep_dims=keepdim)]


@aten.lowers("cummax.default", "cummin.default")
def cummax(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: int) -> Replacement:
    """aten.cummax.default(x) {dim} -> the running maxima, and the last index of each; `cummin` likewise"""
    rank = node.known_rank(0)
    if rank == 0:
        return [self, op.constant(0)]
    axis = axis_from_front(node, dim, rank)
    return list(running_extremes(op, self, axis, largest=node.op.KIND.startswith("cummax")))


@aten.lowers("logcumsumexp.default")
def logcumsumexp(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: int) -> SSAValue:
    """aten.logcumsumexp.default(x) {dim} -> the logarithms of the running sums of exp(x)"""
    rank = node.known_rank(0)
    if rank == 0:
        return self
    axis = axis_from_front(node, dim, rank) - rank
    return log_of_sum_of_exponentials(op, prefixes_of(op, self, axis, -np.inf), [axis], keep_dims=False)


@aten.lowers("bincount.default")
def bincount(node: LoweringNode, op: OpBuilder, self: SSAValue, weights: SSAValue | None = None, *, minlength: Size = 0) -> SSAValue:
    """aten.bincount.default(x, w) {minlength} -> how often each number occurs, or the sum of its weights"""
    element = inferred_element(node)
    x = op.convert(self, si64)
    # With the additional -1, the largest number of an empty x is -1, and the count 0.
    largest = op.ReduceMax(op.Concat(x, op.constant([-1]), axis=0), [0], keep_dims=False)
    count = op.Maximum(op.Add(largest, 1), size_scalar(op, minlength))
    values = op.Range(op.constant(0), count, op.constant(1), output_type=si64)
    hits = op.convert(op.Equal(x, op.Unsqueeze(values, [1])), element)
    return op.ReduceSum(hits if weights is None else op.Multiply(hits, op.convert(weights, element)), [1], keep_dims=False)


@aten.lowers("cov.default", "corrcoef.default")
def cov(node: LoweringNode, op: OpBuilder, self: SSAValue, *, correction: int = 1) -> SSAValue:
    """aten.cov.default(x [V, N]) {correction} -> the products of centred rows / (N - correction); `corrcoef` -> the
    correlations of the rows
    """
    if node.known_rank(0) != 2 or node.has("fweights") or node.has("aweights"):
        node.fail("a covariance with weights, or of no matrix")
    x = op.convert(self, inferred_element(node))
    x = op.Subtract(x, op.ReduceMean(x, [1], keep_dims=True))
    products = op.MatMul(x, x, transpose_b=True)
    if node.op.KIND.startswith("corrcoef"):
        sizes = op.Sqrt(op.ReduceSum(op.Multiply(x, x), [1], keep_dims=True))
        return op.Maximum(op.Minimum(op.Divide(op.Divide(products, sizes), op.transposed(sizes, [1, 0])), 1), -1)
    count = op.Subtract(op.Gather(op.ShapeOf(x), op.constant(1), 0), correction)
    return op.Divide(products, op.convert(op.Maximum(count, 0), element_of(x)))


@aten.lowers("trace.default", complex=by_parts())
def trace(node: LoweringNode, op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.trace.default(x [N, M]) -> the sum of the elements x[i, i]"""
    rows, columns = (op.Gather(op.ShapeOf(self), op.constant(axis), 0) for axis in (0, 1))
    indices = [op.Range(op.constant(0), each, op.constant(1), output_type=si64) for each in (rows, columns)]
    kept = op.Equal(op.Unsqueeze(indices[0], [1]), indices[1])
    x = op.convert(self, inferred_element(node))
    return op.ReduceSum(op.Select(kept, x, op.constant_like(0, x)), all_axes(op, x), keep_dims=False)
