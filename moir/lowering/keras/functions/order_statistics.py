"""Quantiles, membership in sets, and extremes and running sums that ignore NaN.

%y = keras.ops.Quantile(%x, 0.5) {axis = -1}  ->  %y = interpolated between the elements of opset11.TopK(%x) around the
index 0.5 · (n - 1)
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import REAL_TYPES, f32, f64, si32, si64
from moir.dialects.shapes import element_of, normalize_axis, rank_of
from moir.expansions.extremes import first_extremes
from moir.expansions.running_products import running_product
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import Arguments, axis_list, element_named, is_tensor
from moir.lowering.keras.functions.elementwise import as_real, pair_of, single
from moir.lowering.keras.functions.reduction import as_rows
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder

METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


@keras.lowers("ops.Quantile", "ops.Percentile")
def quantile(node: LoweringNode, op: OpBuilder, *, axis: object | None = None, method: str = "linear", keepdims: bool = False) -> SSAValue:
    """keras.ops.Quantile(x, q) {axis, method} -> interpolation of opset11.TopK(x) at q · (n - 1); likewise
    Percentile
    """
    arguments, rank = Arguments(node, "x", "q"), node.known_rank(0)
    x, q = as_real(op, arguments.tensor("x")), arguments.get("q")
    axes = axis_list(node, axis, rank)
    if method not in METHODS:
        node.fail(f"the method {method!r} does not exist")
    if is_tensor(q):
        q = node.constant(operand_index(node, q))
        if q is None:
            node.fail("its quantiles are computed, which is not supported", hint="give them as numbers")
    wanted = np.asarray(q, np.float64) / (100 if node.op.KIND == "ops.Percentile" else 1)
    if wanted.ndim > 1 or not ((wanted >= 0) & (wanted <= 1)).all():
        node.fail(f"there are no quantiles {wanted}")
    rows, count = as_rows(op, x, axes)
    ordered = op.TopK.results(rows, count, axis=-1, mode="min", sort="value", index_element_type=si32)[0]
    positions = op.Multiply(op.convert(op.Subtract(count, 1), f32), wanted.astype(np.float32))
    low, high = op.Floor(positions), op.Ceiling(positions)
    if method == "nearest":
        low = high = op.Round(positions, mode="half_to_even")
    below, above = (op.Gather(ordered, op.convert(each, si64), -1) for each in (low, high))
    match method:
        case "lower" | "nearest":
            quantiles = below
        case "higher":
            quantiles = above
        case "midpoint":
            quantiles = op.Multiply(op.Add(below, above), 0.5)
        case _:
            share = op.convert(op.Subtract(positions, low), element_of(below))
            quantiles = op.Add(op.Multiply(below, op.Subtract(1.0, share)), op.Multiply(above, share))
    is_known = op.ReduceLogicalAnd(op.Equal(rows, rows), [-1], keep_dims=wanted.ndim == 1)
    quantiles = op.Select(is_known, quantiles, op.constant_like(np.nan, quantiles))
    if wanted.ndim == 1:
        last = rank_of(quantiles) or 1
        quantiles = op.transposed(quantiles, [last - 1, *range(last - 1)])
    return op.Unsqueeze(quantiles, [each + wanted.ndim for each in axes]) if keepdims else quantiles


def operand_index(node: LoweringNode, value: SSAValue) -> int:
    """The index of a tensor among the operands of a node."""
    return next(index for index in range(len(node.values)) if node.optional(index) is value)


@keras.lowers("ops.IsIn")
def is_in(node: LoweringNode, op: OpBuilder, *, invert: bool = False) -> SSAValue:
    """keras.ops.IsIn(x, set) {invert} -> opset1.ReduceLogicalOr(x = each member)"""
    x, members = pair_of(node, op)
    equal = op.Equal(op.Unsqueeze(x, [-1]), op.Reshape(members, [-1], special_zero=False))
    hits = op.ReduceLogicalOr(equal, [-1], keep_dims=False)
    return op.LogicalNot(hits) if invert else hits


@keras.lowers("ops.Nanargmax", "ops.Nanargmin")
def nan_arg_extreme(node: LoweringNode, op: OpBuilder, *, axis: object | None = None, keepdims: bool = False) -> SSAValue:
    """keras.ops.Nanargmax(x) {axis} -> the index of the largest number by opset11.TopK; -1 where all are NaN

    Likewise Nanargmin.
    """
    x, rank = single(node), node.known_rank(0)
    axis_ = 0 if axis is None else normalize_axis(int(cast(Any, axis)), rank)
    data = op.Reshape(x, [-1], special_zero=False) if axis is None else x
    mode = "max" if node.op.KIND == "ops.Nanargmax" else "min"
    if element_of(x) in REAL_TYPES:
        is_number = op.Equal(data, data)
        data = op.Select(is_number, data, op.constant_like(-np.inf if mode == "max" else np.inf, data))
        exists = op.ReduceLogicalOr(is_number, [axis_], keep_dims=True)
    else:
        exists = None
    _, index = first_extremes(op, data, axis_, mode, si32)
    index = index if exists is None else op.Select(exists, index, op.constant(-1, si32))
    if axis is None and keepdims:
        return op.Reshape(index, [1] * rank, special_zero=False)
    return index if keepdims else op.Squeeze(index, [axis_])


@keras.lowers("ops.Nancumsum", "ops.Nancumprod")
def nan_cumulative_sum(node: LoweringNode, op: OpBuilder, *, axis: int | None = None, dtype: str | None = None) -> SSAValue:
    """keras.ops.Nancumsum(x) {axis} -> opset3.CumSum(opset1.Select(x = x, x, 0), axis); likewise Nancumprod"""
    x, is_sum = single(node), node.op.KIND == "ops.Nancumsum"
    x = x if dtype is None else op.convert(x, element_named(node, dtype))
    if element_of(x) in REAL_TYPES:
        x = op.Select(op.Equal(x, x), x, op.constant_like(0.0 if is_sum else 1.0, x))
    x = op.Reshape(x, [-1], special_zero=False) if axis is None else x
    axis_ = 0 if axis is None else axis_list(node, axis, node.known_rank(0))[0]
    if is_sum:
        return op.CumSum(x, axis_, exclusive=False, reverse=False)
    return running_product(op, x, axis_ - (rank_of(x) or 1))


@keras.lowers("ops.Trapezoid")
def trapezoid(node: LoweringNode, op: OpBuilder, *, x: object | None = None, dx: float = 1.0, axis: int = -1) -> SSAValue:
    """keras.ops.Trapezoid(y) {dx, axis} -> the sum of the means of neighbours times their distance"""
    y = as_real(op, Arguments(node, "y").tensor("y"))
    if x is not None:
        node.fail("coordinates of its samples are not supported", hint="give their distance dx")
    rank = node.known_rank(0)
    axis_ = axis_list(node, axis, rank)[0]
    parts = [op.Slice(y, [start], [end], [1], [axis_]) for start, end in ((1, 2**31 - 1), (0, -1))]
    wide = [op.convert(each, f64 if element_of(y) == f64 else f32) for each in parts]
    total = op.ReduceSum(op.Multiply(op.Add(*wide), dx), [axis_], keep_dims=False)
    return op.convert(op.Multiply(total, 0.5), element_of(y))
