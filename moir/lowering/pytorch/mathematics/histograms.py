"""Histograms of one variable.

Source: SummaryOps.cpp and Histogram.cpp of PyTorch 2.13.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import Scalar
from moir.lowering.pytorch.promotion import as_element, inferred_element
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder
from moir.rewriting.constant_sizes import check_constant_size


def _flat(op: OpBuilder, x: SSAValue) -> SSAValue:
    return op.Reshape(x, [-1], special_zero=False)


def _range_of(op: OpBuilder, x: SSAValue, margin: float) -> tuple[SSAValue, SSAValue]:
    """The smallest and the largest element of a 1-D tensor; moved apart by `margin` if they are equal, and 0 and 1 if
    it is empty.
    """
    if shape_of(x) == (0,):
        return op.constant_like(0, x), op.constant_like(1, x)
    low, high = op.ReduceMin(x, [0], keep_dims=False), op.ReduceMax(x, [0], keep_dims=False)
    is_one = op.Equal(low, high)
    return op.Select(is_one, op.Subtract(low, margin), low), op.Select(is_one, op.Add(high, margin), high)


@aten.lowers("histc.default")
def histc(node: LoweringNode, op: OpBuilder, self: SSAValue, *, bins: int = 100, min: Scalar = 0, max: Scalar = 0) -> SSAValue:
    """aten.histc.default(x) {bins, min, max} -> how many elements lie in each of equal parts of a range"""
    x = op.convert(_flat(op, self), f32)
    low, high = as_element(op, f32, min, max)
    if not isinstance(min, SSAValue) and min == max:
        low, high = _range_of(op, x, 1)
    bin_ = op.Floor(op.Divide(op.Multiply(op.Subtract(x, low), float(bins)), op.Subtract(high, low)))
    bin_ = op.Select(op.Equal(x, high), op.constant(bins - 1.0, f32), bin_)
    inside = op.LogicalAnd(op.GreaterEqual(x, low), op.LessEqual(x, high))
    hits = op.LogicalAnd(op.Equal(bin_, np.arange(bins, dtype=np.float32)[:, None]), inside)
    return op.ReduceSum(op.convert(hits, inferred_element(node)), [1], keep_dims=False)


@aten.lowers("histogram.bin_ct", "histogram.bins_tensor")
def histogram(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    weight: SSAValue | None = None,
    *,
    bins: Scalar,
    range: tuple[float, ...] = (),
    density: bool = False,
) -> Replacement:
    """aten.histogram.bin_ct(x, w) {bins, range, density} -> the weights between edges, and the edges

    Each part includes its first edge, and the last part its last edge, too.
    """
    element = inferred_element(node)
    x = op.convert(_flat(op, self), element)
    if isinstance(bins, SSAValue):
        edges = op.convert(bins, element)
    else:
        count = int(bins)
        check_constant_size(count)
        low, high = as_element(op, element, *range) if range else _range_of(op, x, 0.5)
        if len(range) == 2 and range[0] == range[1]:
            low, high = as_element(op, element, range[0] - 0.5, range[1] + 0.5)
        fractions = np.linspace(0, 1, count + 1)
        edges = op.Add(low, op.Multiply(op.Subtract(high, low), op.constant_like(fractions, low)))
        # The last edge is exactly the bound, to which the largest element is compared.
        edges = op.Select(fractions == 1, high, edges)
    begins, ends = op.Slice(edges, [0], [-1], [1], [0]), op.Slice(edges, [1], [2**31 - 1], [1], [0])
    last = op.Gather(edges, op.constant(-1), 0)
    after = op.GreaterEqual(x, op.Unsqueeze(begins, [1]))
    column = op.Unsqueeze(ends, [1])
    before = op.LogicalOr(op.Less(x, column), op.LogicalAnd(op.Equal(x, last), op.Equal(column, last)))
    hits = op.convert(op.LogicalAnd(after, before), element)
    totals = op.ReduceSum(hits if weight is None else op.Multiply(hits, _flat(op, op.convert(weight, element))), [1], keep_dims=False)
    if density:
        totals = op.Divide(totals, op.Multiply(op.ReduceSum(totals, [0], keep_dims=True), op.Subtract(ends, begins)))
    return [totals, edges]
