"""Operations that order elements: the largest elements, sorting, distinct elements.

Source: top_k_v2_op.cc, argsort_op.cc, kthvalue_op.cc and unique_op.cc of PaddlePaddle 2.6.
"""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import REAL_TYPES, si32, si64
from moir.dialects.shapes import element_of, normalize_axis, shape_of
from moir.expansions.distinct_elements import distinct_elements
from moir.expansions.shape_values import dimension
from moir.expansions.sorted_search import search_with_last
from moir.lowering.binder import LoweringNode
from moir.lowering.paddle.operands import entries
from moir.lowering.paddle.table import paddle
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


@paddle.lowers("top_k_v2")
def top_k(
    node: LoweringNode, op: OpBuilder, x: SSAValue, k: SSAValue, *, axis: int = -1, largest: bool = True, sorted: bool = True
) -> Replacement:
    """paddle.top_k_v2(x, k) {axis, largest} -> opset11.TopK(x, k)"""
    if node.known_rank(0) == 0:
        return [x, op.constant(0)]
    mode = "max" if largest else "min"
    axis = normalize_axis(axis, node.known_rank(0))
    count = op.Reshape(op.convert(k, si64), [], special_zero=False)
    return op.TopK.results(x, count, axis=axis, mode=mode, sort="value", index_element_type=si64, stable=sorted)


@paddle.lowers("top_k")
def top_k_of_last_axis(node: LoweringNode, op: OpBuilder, x: SSAValue, k: SSAValue) -> Replacement:
    """paddle.top_k(x, k) -> opset11.TopK(x, k) along the last axis"""
    count = op.Reshape(op.convert(k, si64), [], special_zero=False)
    axis = node.known_rank(0) - 1
    return op.TopK.results(x, count, axis=axis, mode="max", sort="value", index_element_type=si64, stable=True)


@paddle.lowers("argsort")
def argsort(node: LoweringNode, op: OpBuilder, x: SSAValue, *, axis: int = -1, descending: bool = False) -> Replacement:
    """paddle.argsort(x) {axis, descending} -> opset11.TopK(x, size of the axis)"""
    if node.known_rank(0) == 0:
        return [x, op.constant(0)]
    axis = normalize_axis(axis, node.known_rank(0))
    size = dimension(op, x, axis)
    count = op.constant(size) if isinstance(size, int) else size
    mode = "max" if descending else "min"
    return op.TopK.results(x, count, axis=axis, mode=mode, sort="value", index_element_type=si64, stable=True)


@paddle.lowers("kthvalue")
def kth_value(node: LoweringNode, op: OpBuilder, x: SSAValue, *, k: int = 1, axis: int = -1, keepdim: bool = False) -> Replacement:
    """paddle.kthvalue(x) {k, axis} -> the last of opset11.TopK(x, k) {mode = "min"}"""
    if node.known_rank(0) == 0:
        return [x, op.constant(0)]
    axis = normalize_axis(axis, node.known_rank(0))
    if k < 1 or 0 <= (shape_of(x) or ())[axis] < k:
        node.fail(f"there is no element {k}")
    both = op.TopK.results(x, op.constant(k), axis=axis, mode="min", sort="value", index_element_type=si64, stable=True)
    index = op.constant([k - 1]) if keepdim else op.constant(k - 1)
    return [op.Gather(each, index, axis) for each in both]


@paddle.lowers("unique")
def unique(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    *,
    is_sorted: bool = True,
    dtype: Attribute = si64,
) -> Replacement:
    """paddle.unique(x) {axis} -> opset10.Unique(x): the elements, their first indices, the inverse, their counts"""
    axes = entries(node, "axis", ())
    distinct = distinct_elements(op, x, axes[0] if axes else None, is_sorted=is_sorted, index_type=dtype)
    results: list[SSAValue | None] = [distinct[0], distinct[1], distinct[2], distinct[3]]
    return results[: node.result_count]


@paddle.lowers("searchsorted")
def search_sorted(op: OpBuilder, bounds: SSAValue, values: SSAValue, *, out_int32: bool = False, right: bool = False) -> SSAValue:
    """paddle.searchsorted(bounds, values) {right, out_int32} -> opset15.SearchSorted(bounds, values)

    Infinities of both signs and NaN are after all bounds.
    """
    element = si32 if out_int32 else si64
    if element_of(values) not in REAL_TYPES:
        return op.SearchSorted(bounds, values, right_mode=right, output_type=element)
    return search_with_last(op, bounds, values, op.LogicalNot(op.IsFinite(values)), right=right, output_type=element)


@paddle.lowers("unique_consecutive")
def unique_consecutive(node: LoweringNode, op: OpBuilder, x: SSAValue, *, dtype: Attribute = si64) -> Replacement:
    """paddle.unique_consecutive(x) -> elements that differ from the one before, the inverse, their counts"""
    if entries(node, "axis", ()):
        node.fail("slices along an axis are not supported")
    flat = op.Reshape(x, [-1], special_zero=False)
    differs = op.NotEqual(op.Slice(flat, [1], [2**31 - 1], [1]), op.Slice(flat, [0], [-1], [1]))
    # The first element counts as different, if there is one.
    first = op.Slice(op.NotEqual(op.ShapeOf(flat), 0), [0], op.Minimum(op.ShapeOf(flat), 1), [1])
    is_new = op.Concat(first, differs, axis=0)
    starts = op.Squeeze(op.NonZero(is_new, output_type=si64), [0])
    inverse = op.Subtract(op.CumSum(op.convert(is_new, dtype), 0), 1)
    ends = op.Concat(op.Slice(starts, [1], [2**31 - 1], [1]), op.ShapeOf(flat), axis=0)
    counts = op.Subtract(op.Slice(ends, [0], op.ShapeOf(starts), [1]), starts)
    results: list[SSAValue | None] = [op.Gather(flat, starts, 0), inverse, op.convert(counts, dtype)]
    return results[: node.result_count]
