"""Ranks and statistics: medians, quantiles, running extremes, counts, and reductions that leave NaNs out.

Source: Sorting.cpp, ReduceOps.cpp and SummaryOps.cpp of PyTorch 2.13.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import REAL_TYPES, boolean, f32, si32, si64
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.running_extremes import running_extremes
from moir.expansions.running_products import prefixes_of
from moir.expansions.shape_values import all_axes
from moir.expansions.sums_of_exponentials import log_of_sum_of_exponentials
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import Scalar, Size, axes_from_front, axis_from_front, size_scalar
from moir.lowering.pytorch.promotion import as_element, inferred_element
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


def _flat(op: OpBuilder, x: SSAValue) -> SSAValue:
    return op.Reshape(x, [-1], special_zero=False)


def _nan_like(op: OpBuilder, x: SSAValue) -> SSAValue:
    return op.constant_like(np.nan, x)


def _ascending(op: OpBuilder, x: SSAValue, axis: int) -> tuple[SSAValue, SSAValue]:
    """The elements in ascending order along an axis, and where each was."""
    count = op.Gather(op.ShapeOf(x), op.constant(axis), 0)
    values, places = op.TopK.results(x, count, axis=axis, mode="min", sort="value", index_element_type=si64, stable=True)
    return values, places


def _at(op: OpBuilder, values: SSAValue, place: SSAValue | int, axis: int, keep: bool) -> SSAValue:
    return op.Gather(values, op.constant([place]) if keep else op.constant(place), axis) if isinstance(place, int) else op.Gather(
        values, op.Reshape(place, [1], special_zero=False) if keep else place, axis
    )  # fmt: skip


@aten.lowers("median.default", "median.dim", "kthvalue.default")
def median(
    node: LoweringNode, op: OpBuilder, self: SSAValue, *, k: Size | None = None, dim: int | None = None, keepdim: bool = False
) -> Replacement:
    """aten.median.dim(x) {dim} -> the element in the middle, the lower one of two; `kthvalue` the k-th"""
    rank, kind = node.known_rank(0), node.op.KIND
    if rank == 0:
        return [self, op.constant(0)][: node.result_count]
    x, axis = (_flat(op, self), 0) if kind == "median.default" else (self, axis_from_front(node, -1 if dim is None else dim, rank))
    values, places = _ascending(op, x, axis)
    count = op.Gather(op.ShapeOf(x), op.constant(axis), 0)
    middle = op.Divide(op.Subtract(count, 1), 2) if k is None else op.Subtract(size_scalar(op, k), 1)
    found = [_at(op, each, middle, axis, keepdim) for each in (values, places)]
    if k is None and element_of(x) in REAL_TYPES:
        # A NaN is the median of what has one.
        has_nan = op.ReduceLogicalOr(op.IsNaN(x), [axis], keep_dims=keepdim)
        found[0] = op.Select(has_nan, _nan_like(op, x), found[0])
        if node.result_count > 1 and node.is_used(1):
            _, first = op.TopK.results(
                op.convert(op.IsNaN(x), si32), op.constant(1), axis=axis, mode="max", sort="value", index_element_type=si64, stable=True
            )
            found[1] = op.Select(has_nan, first if keepdim else op.Squeeze(first, [axis]), found[1])
    return found[: node.result_count]


@aten.lowers("quantile.default", "quantile.scalar", "nanmedian.default")
def quantile(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    *,
    q: Scalar = 0.5,
    dim: int | None = None,
    keepdim: bool = False,
    interpolation: str = "linear",
) -> SSAValue:
    """aten.quantile.default(x, q) {dim, interpolation} -> between the elements in order around place q · (count - 1)"""
    rank = node.known_rank(0)
    if node.op.KIND.startswith("nanmedian"):
        flat = _flat(op, self)
        count = op.ShapeOf(flat)
        if element_of(flat) in REAL_TYPES:
            is_nan = op.IsNaN(flat)
            count = op.Subtract(count, op.ReduceSum(op.convert(is_nan, si64), [0], keep_dims=True))
            flat = op.Select(is_nan, op.constant_like(np.inf, flat), flat)
        values, _ = _ascending(op, flat, 0)
        return op.Squeeze(op.Gather(values, op.Maximum(op.Divide(op.Subtract(count, 1), 2), 0), 0), [0])
    x, axis = (_flat(op, self), 0) if dim is None or rank == 0 else (self, axis_from_front(node, dim, rank))
    values, _ = _ascending(op, x, axis)
    last = op.convert(op.Subtract(op.Gather(op.ShapeOf(x), op.constant(axis), 0), 1), element_of(x))
    share = q if isinstance(q, SSAValue) else op.constant_like(q, x)
    places = op.Multiply(op.convert(share, element_of(x)), last)
    if interpolation == "nearest":
        places = op.Round(places)
    low, high = op.Floor(places), op.Ceiling(places)
    below, above = (op.Gather(values, op.convert(each, si64), axis) for each in (low, high))
    if interpolation in ("lower", "higher", "nearest"):
        found = above if interpolation == "higher" else below
    else:
        weight: SSAValue = op.constant_like(0.5, x) if interpolation == "midpoint" else op.Subtract(places, low)
        if rank_of(weight):
            size = rank_of(x) or 1
            weight = op.Reshape(weight, [-1, *[1] * (size - 1 - axis)], special_zero=False)
        found = op.Add(below, op.Multiply(op.Subtract(above, below), weight))
    many = rank_of(share) == 1
    if many:
        order = [axis, *(each for each in range(rank_of(found) or 1) if each != axis)]
        found = op.transposed(found, order)
    has_nan = op.ReduceLogicalOr(op.IsNaN(x), [axis], keep_dims=False)
    found = op.Select(has_nan, _nan_like(op, x), found)
    if not keepdim:
        return found
    kept = [each + many for each in range(rank)] if dim is None else [axis + many]
    return op.Unsqueeze(found, kept) if kept else found


@aten.lowers("nansum.default", "nanmean.default")
def nansum(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: tuple[int, ...] = (), keepdim: bool = False) -> SSAValue:
    """aten.nansum.default(x) {dim, keepdim} -> the sum of what is no NaN; `nanmean` its mean"""
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
    """aten.cummax.default(x) {dim} -> the largest of the elements so far, and where the last of those is"""
    rank = node.known_rank(0)
    if rank == 0:
        return [self, op.constant(0)]
    axis = axis_from_front(node, dim, rank)
    return list(running_extremes(op, self, axis, largest=node.op.KIND.startswith("cummax")))


@aten.lowers("logcumsumexp.default")
def logcumsumexp(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: int) -> SSAValue:
    """aten.logcumsumexp.default(x) {dim} -> log(sum(exp(…))) of the elements so far"""
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
    # The 0 beside the numbers makes an empty list countable.
    largest = op.ReduceMax(op.Concat(x, op.constant([-1]), axis=0), [0], keep_dims=False)
    count = op.Maximum(op.Add(largest, 1), size_scalar(op, minlength))
    values = op.Range(op.constant(0), count, op.constant(1), output_type=si64)
    hits = op.convert(op.Equal(x, op.Unsqueeze(values, [1])), element)
    return op.ReduceSum(hits if weights is None else op.Multiply(hits, op.convert(weights, element)), [1], keep_dims=False)


@aten.lowers("histc.default")
def histc(node: LoweringNode, op: OpBuilder, self: SSAValue, *, bins: int = 100, min: Scalar = 0, max: Scalar = 0) -> SSAValue:
    """aten.histc.default(x) {bins, min, max} -> how many elements lie in each of equal parts of a range"""
    x = op.convert(_flat(op, self), f32)
    low, high = as_element(op, f32, min, max)
    if not isinstance(min, SSAValue) and min == max:
        low, high = op.ReduceMin(x, [0], keep_dims=False), op.ReduceMax(x, [0], keep_dims=False)
        is_one = op.Equal(low, high)
        low, high = op.Select(is_one, op.Subtract(low, 1), low), op.Select(is_one, op.Add(high, 1), high)
    place = op.Floor(op.Divide(op.Multiply(op.Subtract(x, low), float(bins)), op.Subtract(high, low)))
    place = op.Select(op.Equal(x, high), op.constant(bins - 1.0, f32), place)
    inside = op.LogicalAnd(op.GreaterEqual(x, low), op.LessEqual(x, high))
    hits = op.LogicalAnd(op.Equal(place, np.arange(bins, dtype=np.float32)[:, None]), inside)
    return op.ReduceSum(op.convert(hits, inferred_element(node)), [1], keep_dims=False)


@aten.lowers("cov.default", "corrcoef.default")
def cov(node: LoweringNode, op: OpBuilder, self: SSAValue, *, correction: int = 1) -> SSAValue:
    """aten.cov.default(x [V, N]) {correction} -> the products of centred rows / (N - correction)"""
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


@aten.lowers("trace.default")
def trace(node: LoweringNode, op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.trace.default(x [N, M]) -> the sum of the elements x[i, i]"""
    rows, columns = (op.Gather(op.ShapeOf(self), op.constant(axis), 0) for axis in (0, 1))
    numbers = [op.Range(op.constant(0), each, op.constant(1), output_type=si64) for each in (rows, columns)]
    kept = op.Equal(op.Unsqueeze(numbers[0], [1]), numbers[1])
    x = op.convert(self, inferred_element(node))
    return op.ReduceSum(op.Select(kept, x, op.constant_like(0, x)), all_axes(op, x), keep_dims=False)
