"""Reductions, indices of extremes, running sums, sorting.

%y = keras.ops.Mean(%x) {axis = [1, 2], keepdims = true}  ->  %y = opset1.ReduceMean(%x, [1, 2]) {keep_dims = true}
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import REAL_TYPES, boolean, f32, si8, si16, si32, si64, ui8, ui16, ui32
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.extremes import first_extremes
from moir.expansions.shape_values import dimension, dimension_list
from moir.expansions.sorted_search import upper_bound
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import Arguments, axis_list, element_named, is_tensor, numbers_of
from moir.lowering.keras.functions.elementwise import as_declared, as_real, single
from moir.lowering.keras.promotion import promoted
from moir.lowering.keras.table import keras
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

WIDER: dict[Attribute, Attribute] = {boolean: si32, si8: si32, si16: si32, ui8: ui32, ui16: ui32}
"""The element types in which short integers are added and multiplied."""

_OPERATIONS = {"Max": "ReduceMax", "Amax": "ReduceMax", "Min": "ReduceMin", "Amin": "ReduceMin", "Prod": "ReduceProd", "Sum": "ReduceSum"}


@keras.lowers(*(f"ops.{name}" for name in _OPERATIONS))
def reduced(
    node: LoweringNode,
    op: OpBuilder,
    *,
    axis: object | None = None,
    keepdims: bool = False,
    dtype: str | None = None,
    initial: object | None = None,
) -> SSAValue:
    """keras.ops.Sum(x) {axis, keepdims} -> opset1.ReduceSum(x, axes); likewise Max, Min and Prod"""
    x, name = single(node), node.op.KIND.removeprefix("ops.")
    if dtype is not None:
        x = op.convert(x, element_named(node, dtype))
    elif name in ("Sum", "Prod"):
        x = op.convert(x, WIDER.get(element_of(x), element_of(x)))
    elif element_of(x) == boolean:
        x = op.convert(x, ui8)
    reduction = getattr(op, _OPERATIONS[name])(x, axis_list(node, axis, node.known_rank(0)), keep_dims=keepdims)
    if initial is not None:
        reduction = (op.Maximum if "ax" in name else op.Minimum)(reduction, cast(float, initial))
    return op.convert(reduction, boolean) if element_of(x) == ui8 and dtype is None and element_of(single(node)) == boolean else reduction


@keras.lowers("ops.Mean", "ops.Var", "ops.Std", "ops.Logsumexp", "ops.Ptp")
def statistic(node: LoweringNode, op: OpBuilder, *, axis: object | None = None, keepdims: bool = False) -> SSAValue:
    """keras.ops.Var(x) {axis, keepdims} -> opset1.ReduceMean((x - mean)²); likewise Mean, Std, Logsumexp and Ptp"""
    x, axes = single(node), axis_list(node, axis, node.known_rank(0))
    match node.op.KIND:
        case "ops.Mean":
            return op.ReduceMean(as_real(op, x), axes, keep_dims=keepdims)
        case "ops.Logsumexp":
            return as_declared(op, log_sum_exp(op, as_real(op, x), axes, keepdims=keepdims))
        case "ops.Ptp":
            return op.Subtract(op.ReduceMax(x, axes, keep_dims=keepdims), op.ReduceMin(x, axes, keep_dims=keepdims))
        case _:
            variance_ = variance(op, as_real(op, x), axes, keepdims=keepdims)
            return op.Sqrt(variance_) if node.op.KIND == "ops.Std" else variance_


def log_sum_exp(op: OpBuilder, x: SSAValue, axes: list[int], *, keepdims: bool) -> SSAValue:
    """log(sum(exp(x))) along axes, with the largest element factored out of the sum."""
    largest = op.ReduceMax(x, axes, keep_dims=True)
    total = op.Log(op.ReduceSum(op.Exp(op.Subtract(x, largest)), axes, keep_dims=True))
    logarithm = op.Add(total, largest)
    return logarithm if keepdims else op.Squeeze(logarithm, axes)


def variance(op: OpBuilder, x: SSAValue, axes: list[int], *, keepdims: bool) -> SSAValue:
    """The mean, along axes, of the squares of the distances from the mean."""
    centred = op.Subtract(x, op.ReduceMean(x, axes, keep_dims=True))
    return op.ReduceMean(op.Multiply(centred, centred), axes, keep_dims=keepdims)


NEUTRAL = {"Nanmax": -np.inf, "Nanmin": np.inf, "Nanprod": 1.0}
"""For each kind, the number that replaces NaN before a reduction; 0 for all other kinds."""


@keras.lowers("ops.Nanmax", "ops.Nanmin", "ops.Nansum", "ops.Nanprod", "ops.Nanmean", "ops.Nanvar", "ops.Nanstd")
def without_nan(
    node: LoweringNode, op: OpBuilder, *, axis: object | None = None, keepdims: bool = False, dtype: str | None = None
) -> SSAValue:
    """keras.ops.Nansum(x) {axis, keepdims} -> opset1.ReduceSum(opset1.Select(x = x, x, 0), axes)

    Likewise the other reductions that ignore NaN.
    """
    name, axes = node.op.KIND.removeprefix("ops."), axis_list(node, axis, node.known_rank(0))
    x = single(node) if dtype is None else op.convert(single(node), element_named(node, dtype))
    x = as_real(op, x) if name in ("Nanmean", "Nanvar", "Nanstd") else x
    if element_of(x) not in REAL_TYPES:
        if name in ("Nansum", "Nanprod"):
            x = op.convert(x, WIDER.get(element_of(x), element_of(x)))
        x = op.convert(x, si32) if element_of(x) == boolean else x
        return getattr(op, f"Reduce{name.removeprefix('Nan').capitalize()}")(x, axes, keep_dims=keepdims)
    counts = op.Equal(x, x)
    clean = op.Select(counts, x, op.constant_like(NEUTRAL.get(name, 0.0), x))
    if name in ("Nansum", "Nanprod"):
        return getattr(op, f"Reduce{name.removeprefix('Nan').capitalize()}")(clean, axes, keep_dims=keepdims)
    if name in ("Nanmax", "Nanmin"):
        extreme = (op.ReduceMax if name == "Nanmax" else op.ReduceMin)(clean, axes, keep_dims=keepdims)
        has_any = op.ReduceLogicalOr(counts, axes, keep_dims=keepdims)
        return op.Select(has_any, extreme, op.constant_like(np.nan, extreme))
    count = op.ReduceSum(op.convert(counts, element_of(x)), axes, keep_dims=True)
    mean = op.Divide(op.ReduceSum(clean, axes, keep_dims=True), count)
    if name != "Nanmean":
        centred = op.Select(counts, op.Subtract(x, mean), op.constant_like(0.0, x))
        mean = op.Divide(op.ReduceSum(op.Multiply(centred, centred), axes, keep_dims=True), count)
        mean = op.Sqrt(mean) if name == "Nanstd" else mean
    return mean if keepdims else op.Squeeze(mean, axes)


def as_rows(op: OpBuilder, x: SSAValue, axes: list[int]) -> tuple[SSAValue, SSAValue]:
    """A tensor of static rank with `axes` moved to the end and merged into one, and the size of the merged axis as a
    scalar.
    """
    others = [each for each in range(rank_of(x) or 0) if each not in axes]
    count = op.ReduceProd(op.Concat(*(dimension_list(op, x, each) for each in axes), axis=0), [0], keep_dims=False)
    data = op.transposed(x, [*others, *axes])
    kept = [dimension_list(op, data, each) for each in range(len(others))]
    return op.Reshape(data, op.Concat(*kept, op.Unsqueeze(count, [0]), axis=0), special_zero=False), count


@keras.lowers("ops.Median")
def median(node: LoweringNode, op: OpBuilder, *, axis: object | None = None, keepdims: bool = False) -> SSAValue:
    """keras.ops.Median(x) {axis} -> the mean of the two middle elements of opset11.TopK(x)"""
    axes, x = axis_list(node, axis, node.known_rank(0)), as_real(op, single(node))
    flat, count = as_rows(op, x, axes)
    ordered = op.TopK.results(flat, count, axis=-1, mode="min", sort="value", index_element_type=si32)[0]
    middle = op.Gather(ordered, op.Divide(op.Add(count, [-1, 0]), 2), -1)
    middle_mean = op.ReduceMean(middle, [-1], keep_dims=False)
    return op.Unsqueeze(middle_mean, axes) if keepdims else middle_mean


@keras.lowers("ops.SearchSorted", "ops.Digitize")
def search_sorted(node: LoweringNode, op: OpBuilder, *, side: str = "left", bins: object | None = None) -> SSAValue:
    """keras.ops.SearchSorted(line, x) {side} -> where to insert x, by opset15.SearchSorted or opset3.Bucketize

    Likewise Digitize(x, bins), after equal elements.
    """
    if node.op.KIND == "ops.Digitize":
        arguments = Arguments(node, "x", "bins")
        x, line = arguments.tensor("x"), arguments.get("bins", bins)
        line = line if is_tensor(line) else op.constant(numbers_of(line))
        if element_of(line) in REAL_TYPES and element_of(x) not in REAL_TYPES:
            x = op.convert(x, f32)
        line = op.convert(line, element_of(x))
        return upper_bound(op, line, x, output_type=si32)
    arguments = Arguments(node, "sorted_sequence", "values")
    line, x = arguments.tensor("sorted_sequence"), arguments.tensor("values")
    element = si64 if isinstance(dimension(op, line, 0), SSAValue) else si32
    return upper_bound(op, line, x, output_type=element) if side == "right" else op.SearchSorted(line, x, output_type=element)


@keras.lowers("ops.Moments")
def moments(node: LoweringNode, op: OpBuilder, *, axes: object, keepdims: bool = False) -> Replacement:
    """keras.ops.Moments(x) {axes} -> its mean and variance"""
    x, axes_ = as_real(op, single(node)), axis_list(node, axes, node.known_rank(0))
    return [op.ReduceMean(x, axes_, keep_dims=keepdims), variance(op, x, axes_, keepdims=keepdims)][: node.result_count]


@keras.lowers("ops.Any", "ops.All")
def any_or_all(node: LoweringNode, op: OpBuilder, *, axis: object | None = None, keepdims: bool = False) -> SSAValue:
    """keras.ops.Any(x) {axis} -> opset1.ReduceLogicalOr(x ≠ 0, axes); likewise All"""
    x, axes = op.convert(single(node), boolean), axis_list(node, axis, node.known_rank(0))
    return (op.ReduceLogicalOr if node.op.KIND == "ops.Any" else op.ReduceLogicalAnd)(x, axes, keep_dims=keepdims)


@keras.lowers("ops.CountNonzero")
def count_nonzero(node: LoweringNode, op: OpBuilder, *, axis: object | None = None) -> SSAValue:
    """keras.ops.CountNonzero(x) {axis} -> opset1.ReduceSum(x ≠ 0)"""
    counts = op.convert(op.convert(single(node), boolean), si32)
    return op.ReduceSum(counts, axis_list(node, axis, node.known_rank(0)), keep_dims=False)


@keras.lowers("ops.Argmax", "ops.Argmin")
def extreme_position(node: LoweringNode, op: OpBuilder, *, axis: int | None = None, keepdims: bool = False) -> SSAValue:
    """keras.ops.Argmax(x) {axis} -> opset11.TopK(x, 1) {sort = index}, the first of several; likewise Argmin"""
    x, rank = single(node), node.known_rank(0)
    axis_ = 0 if axis is None else axis_list(node, axis, rank)[0]
    data = op.Reshape(x, [-1], special_zero=False) if axis is None else x
    data = op.convert(data, ui8) if element_of(data) == boolean else data
    mode = "max" if node.op.KIND == "ops.Argmax" else "min"
    _, index = first_extremes(op, data, axis_, mode, si32)
    if axis is None:
        return op.Reshape(index, [1] * rank if keepdims else [], special_zero=False)
    return index if keepdims else op.Squeeze(index, [axis_])


@keras.lowers("ops.Cumsum", "ops.Cumprod")
def running(node: LoweringNode, op: OpBuilder, *, axis: int | None = None, dtype: str | None = None) -> SSAValue:
    """keras.ops.Cumsum(x) {axis} -> opset3.CumSum(x, axis); likewise Cumprod"""
    x = single(node)
    x = op.convert(x, si32) if element_of(x) == boolean else x
    x = x if dtype is None else op.convert(x, element_named(node, dtype))
    if axis is None:
        x = op.Reshape(x, [-1], special_zero=False)
    axis_ = 0 if axis is None else axis_list(node, axis, node.known_rank(0))[0]
    if node.op.KIND == "ops.Cumprod":
        from moir.expansions.running_products import running_product

        return running_product(op, x, axis_ - (1 if axis is None else node.known_rank(0)))
    return op.CumSum(x, axis_, exclusive=False, reverse=False)


@keras.lowers("ops.TopK")
def largest(node: LoweringNode, op: OpBuilder, *, k: int, sorted: bool = True) -> Replacement:
    """keras.ops.TopK(x) {k} -> opset11.TopK(x, k) along the last axis"""
    del sorted
    x = single(node)
    outputs = op.TopK.results(x, op.constant(k), axis=-1, mode="max", sort="value", stable=True, index_element_type=si32)
    return list(outputs)[: node.result_count]


@keras.lowers("ops.Sort", "ops.Argsort")
def in_order(node: LoweringNode, op: OpBuilder, *, axis: int | None = -1) -> SSAValue:
    """keras.ops.Sort(x) {axis} -> opset11.TopK(x, size) {mode = min}; Argsort returns its indices"""
    x = single(node)
    if axis is None:
        x = op.Reshape(x, [-1], special_zero=False)
    axis_ = 0 if axis is None else axis_list(node, axis, node.known_rank(0))[0]
    data = op.convert(x, ui8) if element_of(x) == boolean else x
    count = op.Squeeze(dimension_list(op, data, axis_), [0])
    values, indices = op.TopK.results(data, count, axis=axis_, mode="min", sort="value", stable=True, index_element_type=si32)
    return indices if node.op.KIND == "ops.Argsort" else op.convert(values, element_of(x))


@keras.lowers("ops.Average")
def average(node: LoweringNode, op: OpBuilder, *, axis: object | None = None) -> SSAValue:
    """keras.ops.Average(x, weights) {axis} -> the weighted mean"""
    arguments = Arguments(node, "x", "weights")
    weights = arguments.optional("weights")
    axes = axis_list(node, axis, node.known_rank(0))
    if weights is None:
        return op.ReduceMean(as_real(op, arguments.tensor("x")), axes, keep_dims=False)
    x, factors = promoted(op, [as_real(op, arguments.tensor("x")), as_real(op, weights)])
    if len(axes) == 1 and node.rank(1) == 1 and node.known_rank(0) > 1:
        factors = op.Reshape(factors, [-1, *(1,) * (node.known_rank(0) - 1 - axes[0])], special_zero=False)
    return op.Divide(
        op.ReduceSum(op.Multiply(x, factors), axes, keep_dims=False),
        op.ReduceSum(op.Broadcast(factors, op.ShapeOf(x)), axes, keep_dims=False),
    )


@keras.lowers("ops.Normalize")
def normalized(node: LoweringNode, op: OpBuilder, *, axis: object = -1, order: object = 2, epsilon: float = 1e-7) -> SSAValue:
    """keras.ops.Normalize(x) {axis, order} -> x / max(norm, epsilon)"""
    x = as_real(op, single(node))
    axes = axis_list(node, axis, node.known_rank(0))
    return as_declared(op, op.Divide(x, op.Maximum(norm_of(node, op, x, order, axes, keepdims=True), epsilon)))


@keras.lowers("ops.Norm")
def norm(node: LoweringNode, op: OpBuilder, *, ord: object | None = None, axis: object | None = None, keepdims: bool = False) -> SSAValue:
    """keras.ops.Norm(x) {ord, axis} -> opset4.ReduceL2 or another norm"""
    x = as_real(op, single(node))
    return norm_of(node, op, x, 2 if ord is None else ord, axis_list(node, axis, node.known_rank(0)), keepdims=keepdims)


def norm_of(node: LoweringNode, op: OpBuilder, x: SSAValue, order: Any, axes: list[int], *, keepdims: bool) -> SSAValue:
    """The norm of an order (the argument `ord` of Norm) along one axis, or the Frobenius norm along several.

    Raises ConversionError for another norm of matrices.
    """
    if order in (2, "fro", "euclidean") and (len(axes) == 1 or order != 2 or not node.has("ord")):
        return op.ReduceL2(x, axes, keep_dims=keepdims)
    if len(axes) != 1 or isinstance(order, str):
        node.fail(f"the norm {order!r} of matrices is not supported")
    if order == 1:
        return op.ReduceL1(x, axes, keep_dims=keepdims)
    if order == float("inf"):
        return op.ReduceMax(op.Abs(x), axes, keep_dims=keepdims)
    if order == float("-inf"):
        return op.ReduceMin(op.Abs(x), axes, keep_dims=keepdims)
    if order == 0:
        return op.ReduceSum(op.convert(op.NotEqual(x, 0.0), element_of(x)), axes, keep_dims=keepdims)
    return op.Power(op.ReduceSum(op.Power(op.Abs(x), float(order)), axes, keep_dims=keepdims), 1 / float(order))
