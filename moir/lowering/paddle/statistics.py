"""Medians, running extremes, and running sums of exponentials.

Source: median_kernel.cc, nanmedian_kernel.cc, cum_maxmin_kernel.cc and cum_kernel.cc of PaddlePaddle 3.3.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import REAL_TYPES, si64
from moir.dialects.shapes import element_of, normalize_axis, rank_of
from moir.expansions.running_extremes import running_extremes
from moir.expansions.running_products import prefixes_of
from moir.expansions.sums_of_exponentials import log_of_sum_of_exponentials
from moir.lowering.binder import LoweringNode
from moir.lowering.paddle.operands import axes_of, entries, scalar_form
from moir.lowering.paddle.table import paddle
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


@paddle.lowers("cummax", "cummin")
def cumulative_extreme(node: LoweringNode, op: OpBuilder, x: SSAValue, *, axis: int = -1, dtype: Attribute = si64) -> Replacement:
    """paddle.cummax(x) {axis, dtype} -> the running maxima, and the last index of each; `cummin` likewise"""
    rank = node.known_rank(0)
    if rank == 0:
        return [x, op.constant(0, dtype)]
    values, indices = running_extremes(op, x, normalize_axis(axis, rank), largest=node.op.KIND == "cummax")
    return [values, op.convert(indices, dtype)]


@paddle.lowers("logcumsumexp")
def log_of_cumulative_sum(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    *,
    axis: int = -1,
    flatten: bool = False,
    exclusive: bool = False,
    reverse: bool = False,
) -> SSAValue:
    """paddle.logcumsumexp(x) {axis} -> the logarithms of the running sums of exp(x)"""
    if flatten:
        x, axis = op.Reshape(x, [-1], special_zero=False), 0
    rank = rank_of(x)
    if rank is None:
        node.fail("the rank of operand 0 is dynamic", hint="say the shapes of the inputs with --input")
    if rank == 0:
        return x
    axis_ = normalize_axis(axis, rank) - rank
    prefixes = prefixes_of(op, x, axis_, -np.inf, exclusive=exclusive, reverse=reverse)
    return log_of_sum_of_exponentials(op, prefixes, [axis_], keep_dims=False)


@paddle.lowers("median", "nanmedian")
def median(node: LoweringNode, op: OpBuilder, x: SSAValue, *, keepdim: bool = False, mode: str = "avg") -> Replacement:
    """paddle.median(x) {axis, keepdim, mode} -> the element in the middle of opset11.TopK(x), or the mean of two

    The median of elements with a NaN is NaN; `nanmedian` leaves NaNs out.
    """
    rank = node.known_rank(0)
    if element_of(x) not in REAL_TYPES:
        node.fail("medians of integers are not supported", hint="convert them to floats")
    if node.result_count > 1 and node.is_used(1):
        node.fail("the index of a median is not supported", hint="use the median alone, or kthvalue")
    if rank == 0:
        return [x, None][: node.result_count]
    axes = sorted(set(axes_of(node, entries(node, "axis", ())))) or list(range(rank))
    kept = [axis for axis in range(rank) if axis not in axes]
    moved = op.transposed(x, [*kept, *axes])
    sizes = op.ShapeOf(moved)
    outer = op.Slice(sizes, [0], [len(kept)], [1], [0])
    rows = op.Reshape(moved, op.Concat(outer, [-1], axis=0), special_zero=False)
    is_nan = op.IsNaN(rows)
    median_ = _middle(op, op.Select(is_nan, op.constant_like(np.inf, rows), rows), is_nan, mode)
    nan = op.constant_like(np.nan, median_)
    spoilt = op.ReduceLogicalAnd if node.op.KIND == "nanmedian" else op.ReduceLogicalOr
    median_ = op.Squeeze(op.Select(spoilt(is_nan, [-1], keep_dims=True), nan, median_), [-1])
    if keepdim:
        return [op.Unsqueeze(median_, axes), None][: node.result_count]
    return [scalar_form(node, op, median_, len(kept)), None][: node.result_count]


def _middle(op: OpBuilder, rows: SSAValue, is_nan: SSAValue, mode: str) -> SSAValue:
    """The median of each row without its NaNs: the mean of the two middle elements, or in mode `min` the lower one."""
    size = op.Gather(op.ShapeOf(rows), op.constant(-1), 0)
    values, _ = op.TopK.results(rows, size, axis=-1, mode="min", sort="value", index_element_type=si64, stable=True)
    count = op.Subtract(size, op.ReduceSum(op.convert(is_nan, si64), [-1], keep_dims=True))
    low = op.Divide(op.Maximum(op.Subtract(count, 1), 0), 2)
    below = op.GatherElements(values, low, axis=-1)
    if mode == "min":
        return below
    # In a row of NaNs `count` is 0, and the caller replaces the result by NaN.
    high = op.Minimum(op.Divide(count, 2), op.Subtract(size, 1))
    return op.Multiply(op.Add(below, op.GatherElements(values, high, axis=-1)), 0.5)
