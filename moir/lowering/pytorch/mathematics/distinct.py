"""Distinct elements of tensors, and those that differ from the element before them.

Source: Unique.cpp of PyTorch 2.13.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.distinct_elements import distinct_elements
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import axis_from_front
from moir.lowering.pytorch.comparison import truth
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder


@aten.lowers("_unique2.default", "unique_dim.default")
def unique(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: int | None = None) -> list[SSAValue | None]:
    """aten._unique2.default(x) -> opset10.Unique(x): the distinct elements, the inverse, the counts; `unique_dim` ->
    the distinct slices
    """
    distinct = distinct_elements(op, self, dim, is_sorted=True)
    inverse = distinct.place
    if dim is None and (node.rank(0) or 0) != 1:
        inverse = op.Reshape(inverse, op.ShapeOf(self), special_zero=False)
    results: list[SSAValue | None] = [distinct.values, inverse, distinct.counts]
    return results[: node.result_count]


@aten.lowers("unique_consecutive.default", "unique_dim_consecutive.default")
def unique_consecutive(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: int | None = None) -> list[SSAValue]:
    """aten.unique_consecutive.default(x) {dim} -> the elements, or slices, that differ from the one before them

    Further results are the index of the run of equal elements in which each one is, and the length of each run.
    """
    rank = node.known_rank(0)
    if dim is None:
        x, axis = op.Reshape(self, [-1], special_zero=False), 0
    else:
        x, axis = self, axis_from_front(node, dim, rank)
    size = op.Gather(op.ShapeOf(x), op.constant(axis), 0)
    indices = op.Range(op.constant(0), size, op.constant(1), output_type=si64)
    differs = op.NotEqual(x, op.Gather(x, op.Maximum(op.Subtract(indices, 1), 0), axis))
    others = [each for each in range(rank_of(x) or 1) if each != axis]
    changes = op.ReduceLogicalOr(truth(op, differs), others, keep_dims=False) if others else differs
    begins = op.LogicalOr(changes, op.Equal(indices, 0))
    starts = op.Gather(op.NonZero(begins, output_type=si64), op.constant(0), 0)
    segments = op.Subtract(op.CumSum(op.convert(begins, si64), op.constant(0)), 1)
    ends = op.Concat(op.Slice(starts, [1], [2**31 - 1], [1], [0]), op.Reshape(size, [1], special_zero=False), axis=0)
    # For an empty x there is one end, but no start: the ends are cut to the number of starts.
    counts = op.Subtract(op.Slice(ends, [0], op.ShapeOf(starts), [1], [0]), starts)
    if dim is None and rank != 1:
        segments = op.Reshape(segments, op.ShapeOf(self), special_zero=False)
    return [op.convert(op.Gather(x, starts, axis), element_of(self)), segments, counts][: node.result_count]
