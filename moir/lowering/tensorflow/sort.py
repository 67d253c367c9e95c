"""Operations that sort, search, count or select elements by their values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import REAL_TYPES, dynamic, f32, si32, si64, string
from moir.dialects.shapes import element_of, has_no_element, rank_of, shape_of
from moir.expansions.shape_values import as_scalar
from moir.expansions.sorted_search import upper_bound
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.indexing import as_indices
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder, Operand

# The largest and smallest elements


@tf.lowers("TopK")
def top_k_attribute(node: LoweringNode, op: OpBuilder, *, k: int) -> Sequence[SSAValue]:
    """tf.TopK(x) {k, sorted = true} -> opset11.TopK(x, k) {axis = -1, mode = max, sort = value, stable}"""
    return largest(node, op, k, si32)


tf.lowers_each_node(
    {
        # tf.TopKV2(x, k) {sorted = true} -> opset11.TopK(x, k) {axis = -1, mode = max, sort = value, stable}
        "TopKV2": lambda node, op, _input, k: largest(node, op, as_scalar(op, as_indices(op, k)), index_type(node, "index_type")),
        # tf.InTopKV2(predictions, targets, k) -> Less(ReduceSum(Greater(predictions, target predictions)), k)
        "InTopKV2": lambda node, op, _predictions, _targets, k: is_among(node, op, op.convert(as_scalar(op, k), si32)),
        # tf.UniqueWithCounts(x) {out_idx} -> opset10.Unique(x, 0) {sorted = false}
        "Unique UniqueWithCounts": lambda node, op, x: distinct(node, op, x, 0),
    }
)


@tf.lowers("ApproxTopK")
def approximate_top_k(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    *,
    aggregate_to_topk: bool = True,
    reduction_dimension: int = -1,
    is_max_k: bool = True,
) -> Sequence[SSAValue]:
    """tf.ApproxTopK(x) {k, reduction_dimension, is_max_k} -> opset11.TopK(x, k) {axis, mode}, which is exact"""
    if not aggregate_to_topk:
        node.fail("without aggregation the number of its results depends on the machine", hint="compute it with aggregate_to_topk = true")
    mode = "max" if is_max_k else "min"
    k = op.constant(node.integer("k"))
    return op.TopK.results(input, k, axis=reduction_dimension, mode=mode, sort="value", stable=True, index_element_type=si32)


def index_type(node: LoweringNode, attribute: str) -> Attribute:
    """The element type of results that are indices, from an attribute: si32 or si64; si32 if it is absent or another
    type.
    """
    element = node.element_attribute(attribute, si32)
    return element if element in (si32, si64) else si32


def largest(node: LoweringNode, op: OpBuilder, k: Operand, element: Attribute) -> Sequence[SSAValue]:
    """The k largest elements of each row and their indices; among equal elements the first ones come first."""
    by_value = node.flag("sorted", True)
    return op.TopK.results(
        node.operand(0), k, axis=-1, mode="max", sort="value" if by_value else "none", stable=by_value, index_element_type=element
    )


@tf.lowers("NthElement")
def nth_element(op: OpBuilder, input: SSAValue, n_: SSAValue, *, reverse: bool = False) -> SSAValue:
    """tf.NthElement(x, n) {reverse} -> opset8.Gather(opset11.TopK(x, n + 1) {mode = min}, n, -1)"""
    n, known = as_scalar(op, n_), op.known.integers(n_)
    k: Operand = op.Add(n, 1) if known is None else known[0] + 1
    mode = "max" if reverse else "min"
    values = op.TopK.results(input, k, axis=-1, mode=mode, sort="value", index_element_type=si32)[0]
    return op.Gather(values, n, -1)


@tf.lowers("InTopK")
def in_top_k_attribute(node: LoweringNode, op: OpBuilder, *, k: int) -> SSAValue:
    """tf.InTopK(predictions, targets) {k} -> as InTopKV2 with k as a constant"""
    return is_among(node, op, op.constant(k, si32))


def is_among(node: LoweringNode, op: OpBuilder, k: SSAValue) -> SSAValue:
    """Whether fewer than k predictions of each row are larger than the prediction of the target of the row.

    The result is false if the prediction of the target is not finite, if no prediction of the row is finite, or if the
    target is out of range.
    """
    predictions, targets = node.operand(0), node.operand(1)
    classes = op.ShapeOf(predictions, output_type=element_of(targets))
    is_class = op.LogicalAnd(op.GreaterEqual(targets, 0), op.Less(targets, op.Gather(classes, 1, 0)))
    target = op.Unsqueeze(op.Select(is_class, targets, 0), [1])
    chosen = op.GatherElements(predictions, target, axis=1)
    above = op.ReduceSum(op.convert(op.Greater(predictions, chosen), si32), [1], keep_dims=False)
    is_in_top = op.LogicalAnd(op.Less(above, k), op.ReduceLogicalAnd(op.IsFinite(predictions), [1], keep_dims=False))
    return op.LogicalAnd(is_in_top, is_class)


# Searching


@tf.lowers("Bucketize")
def bucketize(op: OpBuilder, input: SSAValue, *, boundaries: tuple[float, ...]) -> SSAValue:
    """tf.Bucketize(x) {boundaries} -> opset3.Bucketize(x, boundaries) {with_right_bound = false}"""
    bounds = np.array(boundaries, np.float32)
    data = input
    if element_of(data) not in REAL_TYPES | {si32, si64, dynamic}:
        data = op.convert(data, f32)
    return op.Bucketize(data, bounds, output_type=si32, with_right_bound=False)


@tf.lowers("LowerBound", "UpperBound")
def bound(node: LoweringNode, op: OpBuilder, sorted_inputs: SSAValue, values: SSAValue) -> SSAValue:
    """tf.UpperBound(rows, values) {out_type} -> opset15.SearchSorted(rows, values) {right_mode = true}

    For UpperBound, NaN is inserted after all elements; for LowerBound before them.
    """
    if node.op.KIND == "UpperBound":
        return upper_bound(op, sorted_inputs, values, output_type=index_type(node, "out_type"))
    return op.SearchSorted(sorted_inputs, values, output_type=index_type(node, "out_type"))


# Distinct elements


@tf.lowers("UniqueV2", "UniqueWithCountsV2")
def unique_axis(node: LoweringNode, op: OpBuilder, x: SSAValue, axis_: SSAValue) -> Sequence[SSAValue | None]:
    """tf.UniqueWithCountsV2(x, axis) {out_idx} -> opset10.Unique(x, axis) {sorted = false}"""
    axis = op.known.integers(axis_)
    if axis is None:
        node.fail("the axis is computed when the model runs", hint="make the axis a constant")
    return distinct(node, op, x, axis[0] if axis else 0)


def distinct(node: LoweringNode, op: OpBuilder, data: SSAValue, axis: int) -> Sequence[SSAValue | None]:
    """The distinct slices along an axis in the order of first occurrence, the index of each slice among them, and the
    counts.

    Raises ConversionError for strings of a rank other than 1.
    """
    element = index_type(node, "out_idx")
    if element_of(data) is string:
        from moir.expansions.strings.comparison import distinct_strings

        if rank_of(data) != 1:
            node.fail("rows of strings are not compared", hint="cut the model before this node")
        values, *indices = distinct_strings(op, data)
        return [values, *(op.convert(each, element) for each in indices)][: node.result_count]
    values, _, index, counts = op.Unique.results(data, axis, sorted=False, index_element_type=element, count_element_type=element)
    return [values, index, counts][: node.result_count]


@tf.lowers("ListDiff")
def list_difference(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue) -> Sequence[SSAValue | None]:
    """tf.ListDiff(x, y) {out_idx} -> the elements of x that equal no element of y, and their indices"""
    if has_no_element(shape_of(x)):
        return [x, op.constant(np.zeros(0), index_type(node, "out_idx"))][: node.result_count]
    is_in_y = op.ReduceLogicalOr(op.Equal(op.Unsqueeze(x, [1]), op.Unsqueeze(y, [0])), [1], keep_dims=False)
    index = op.Squeeze(op.NonZero(op.LogicalNot(is_in_y), output_type=index_type(node, "out_idx")), [0])
    return [op.Gather(x, index, 0), index][: node.result_count]
