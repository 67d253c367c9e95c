"""Elements by their rank along an axis: medians, quantiles, and the most frequent elements.

Source: Sorting.cpp and TensorCompare.cpp of PyTorch 2.13.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import REAL_TYPES, boolean, si32, si64
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.extremes import first_extremes
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import Scalar, Size, axis_from_front, size_scalar
from moir.lowering.pytorch.arithmetic import between
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


def _ascending(op: OpBuilder, x: SSAValue, axis: int) -> tuple[SSAValue, SSAValue]:
    """The elements in ascending order along an axis, and their indices before sorting."""
    count = op.Gather(op.ShapeOf(x), op.constant(axis), 0)
    values, indices = op.TopK.results(x, count, axis=axis, mode="min", sort="value", index_element_type=si64, stable=True)
    return values, indices


def _without_nans(op: OpBuilder, x: SSAValue, axis: int) -> tuple[SSAValue, SSAValue]:
    """The elements with ∞ in place of NaN, and the number of elements along an axis that are not NaN; the axis stays
    with size 1.
    """
    if element_of(x) not in REAL_TYPES:
        count = op.ReduceSum(op.convert(op.Equal(x, x), si64), [axis], keep_dims=True)
        return x, count
    is_nan = op.IsNaN(x)
    count = op.ReduceSum(op.convert(op.LogicalNot(is_nan), si64), [axis], keep_dims=True)
    return op.Select(is_nan, op.constant_like(np.inf, x), x), count


def _one_axis(op: OpBuilder, node: LoweringNode, x: SSAValue, dim: int | None) -> tuple[SSAValue, int]:
    """The data and the axis `dim`; if `dim` is None, the flattened data and axis 0."""
    if dim is None or node.known_rank(0) == 0:
        return op.Reshape(x, [-1], special_zero=False), 0
    return x, axis_from_front(node, dim, node.known_rank(0))


@aten.lowers("median.default", "median.dim", "kthvalue.default", "nanmedian.default", "nanmedian.dim")
def median(
    node: LoweringNode, op: OpBuilder, self: SSAValue, *, k: Size | None = None, dim: int | None = None, keepdim: bool = False
) -> Replacement:
    """aten.median.dim(x) {dim} -> the element in the middle, the lower one of two; `kthvalue` the k-th

    The median of elements with a NaN is NaN; `nanmedian` leaves NaNs out.
    """
    rank, kind = node.known_rank(0), node.op.KIND
    if rank == 0:
        return [self, op.constant(0)][: node.result_count]
    x, axis = _one_axis(op, node, self, None if kind.endswith("median.default") else -1 if dim is None else dim)
    ordered, valid_counts = _without_nans(op, x, axis)
    _, indices = _ascending(op, ordered, axis)
    if k is not None:
        middle = op.Add(op.Multiply(valid_counts, 0), op.Subtract(size_scalar(op, k), 1))
    elif kind.startswith("nanmedian"):
        middle = op.Maximum(op.Divide(op.Subtract(valid_counts, 1), 2), 0)
    else:
        size = op.Gather(op.ShapeOf(x), op.constant([axis]), 0)
        # In ascending order the first NaN comes after the numbers.
        middle = op.Select(op.Less(valid_counts, size), valid_counts, op.Divide(op.Subtract(valid_counts, 1), 2))
    index = op.GatherElements(indices, middle, axis=axis)
    results = [op.GatherElements(x, index, axis=axis), index]
    return [each if keepdim else op.Squeeze(each, [axis]) for each in results][: node.result_count]


@aten.lowers("quantile.default", "quantile.scalar", "nanquantile.default", "nanquantile.scalar")
def quantile(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    *,
    q: Scalar,
    dim: int | None = None,
    keepdim: bool = False,
    interpolation: str = "linear",
) -> SSAValue:
    """aten.quantile.default(x, q) {dim, interpolation} -> interpolation of the sorted elements at q · (count - 1)

    The quantile of elements with a NaN is NaN; `nanquantile` leaves NaNs out.
    """
    rank = node.known_rank(0)
    x, axis = _one_axis(op, node, self, dim)
    size = rank_of(x) or 1
    ordered, valid_counts = _without_nans(op, op.transposed(x, [*(each for each in range(size) if each != axis), axis]), size - 1)
    values, _ = _ascending(op, ordered, size - 1)
    share = op.convert(q, element_of(x)) if isinstance(q, SSAValue) else op.constant_like(q, x)
    many = rank_of(share) == 1
    last = op.convert(op.Maximum(op.Subtract(valid_counts, 1), 0), element_of(x))
    positions = op.Multiply(last, share if many else op.Reshape(share, [1], special_zero=False))
    if interpolation == "nearest":
        positions = op.Round(positions)
    low, high = op.Floor(positions), op.Ceiling(positions)
    below, above = (op.GatherElements(values, op.convert(each, si64), axis=size - 1) for each in (low, high))
    if interpolation in ("lower", "higher", "nearest"):
        quantiles = above if interpolation == "higher" else below
    else:
        quantiles = between(op, below, above, 0.5 if interpolation == "midpoint" else op.Subtract(positions, low))
    if node.op.KIND.startswith("nan"):
        is_none = op.Equal(valid_counts, 0)
    else:
        is_none = op.Less(valid_counts, op.Gather(op.ShapeOf(ordered), op.constant([size - 1]), 0))
    quantiles = op.Select(is_none, op.constant_like(np.nan, x), quantiles)
    quantiles = op.transposed(quantiles, [size - 1, *range(size - 1)]) if many else op.Squeeze(quantiles, [size - 1])
    if not keepdim:
        return quantiles
    kept = [each + many for each in range(rank)] if dim is None or rank == 0 else [axis + many]
    return op.Unsqueeze(quantiles, kept) if kept else quantiles


@aten.lowers("mode.default")
def mode(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: int = -1, keepdim: bool = False) -> Replacement:
    """aten.mode.default(x) {dim} -> the most frequent element, the smallest of several, and its last index"""
    rank, element = node.known_rank(0), element_of(self)
    if rank == 0:
        return [self, op.constant(0)]
    axis = axis_from_front(node, dim, rank)
    x, indices = _ascending(op, op.convert(self, si32) if element == boolean else self, axis)
    same = op.Equal(op.Unsqueeze(x, [axis + 1]), op.Unsqueeze(x, [axis]))
    counts = op.ReduceSum(op.convert(same, si32), [axis + 1], keep_dims=False)
    count, first = first_extremes(op, counts, axis, "max")
    last = op.Add(first, op.Subtract(op.convert(count, si64), 1))
    results = [op.convert(op.GatherElements(x, first, axis=axis), element), op.GatherElements(indices, last, axis=axis)]
    return [each if keepdim else op.Squeeze(each, [axis]) for each in results]
