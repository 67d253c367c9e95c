"""Reductions of segments that lie one after another.

Source: SegmentReduce.cpp of PyTorch 2.13.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import rank_of
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import Scalar
from moir.lowering.pytorch.promotion import as_element, inferred_element
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder

_NEUTRAL: Mapping[str, float] = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}
"""For each reduction, the value with which it begins."""


@aten.lowers("segment_reduce.default")
def segment_reduce(
    node: LoweringNode,
    op: OpBuilder,
    data: SSAValue,
    lengths: SSAValue | None = None,
    offsets: SSAValue | None = None,
    *,
    reduce: str,
    initial: Scalar | None = None,
) -> SSAValue:
    """aten.segment_reduce.default(x, lengths) {reduce, initial} -> reductions of the segments of the first axis after
    the batch dimensions

    Segments are given by lengths, or by offsets that include the end. The mean of an empty segment is NaN unless there
    is an initial value.
    """
    sizes = offsets if lengths is None else lengths
    if reduce not in _NEUTRAL or sizes is None:
        node.fail(f"segments without lengths and offsets, or the reduction {reduce!r}")
    element = inferred_element(node)
    axis = (rank_of(sizes) or 1) - 1
    # [batches, segments, elements, rest]
    sizes_ = op.convert(sizes, si64)
    if lengths is None:
        starts, ends = op.Slice(sizes_, [0], [-1], [1], [axis]), op.Slice(sizes_, [1], [2**31 - 1], [1], [axis])
    else:
        ends = op.CumSum(sizes_, op.constant(axis))
        starts = op.Subtract(ends, sizes_)
    size = op.Gather(op.ShapeOf(data), op.constant(axis), 0)
    element_indices = op.Range(op.constant(0), size, op.constant(1), output_type=si64)
    inside = op.LogicalAnd(op.GreaterEqual(element_indices, op.Unsqueeze(starts, [-1])), op.Less(element_indices, op.Unsqueeze(ends, [-1])))
    rest = node.known_rank(0) - axis - 1
    inside = op.Unsqueeze(inside, list(range(axis + 2, axis + 2 + rest))) if rest else inside
    x = op.Unsqueeze(op.convert(data, element), [axis])
    neutral = _NEUTRAL[reduce]
    parts = op.Select(inside, x, op.constant_like(neutral, x))
    build = {"sum": op.ReduceSum, "mean": op.ReduceSum, "prod": op.ReduceProd, "max": op.ReduceMax, "min": op.ReduceMin}[reduce]
    reduced = build(parts, [axis + 1], keep_dims=False)
    if initial is not None:
        (first,) = as_element(op, element, initial)
        join = {"sum": op.Add, "mean": op.Add, "prod": op.Multiply, "max": op.Maximum, "min": op.Minimum}[reduce]
        reduced = join(reduced, first)
    if reduce != "mean":
        return reduced
    counts = op.ReduceSum(op.convert(inside, element), [axis + 1], keep_dims=False)
    # Without an initial value, 0 / 0 of no element is NaN.
    return op.Divide(reduced, counts if initial is None else op.Maximum(counts, op.constant_like(1, counts)))
