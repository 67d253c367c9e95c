"""Reductions, norms, the indices of extremes, and sums along an axis.

Source: reduce_*_op.cc, arg_max_op.cc, cum_op.cc, p_norm_op.cc and logsumexp_op.cc of PaddlePaddle 2.6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import boolean, si32, si64
from moir.dialects.shapes import element_of, normalize_axis, rank_of
from moir.expansions.extremes import first_extremes
from moir.expansions.running_products import running_product
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_formula, by_parts
from moir.lowering.paddle.operands import axes_of, entries, known_integer, known_integers, optional_element, scalar_form
from moir.lowering.paddle.table import paddle
from moir.rewriting.builder import OpBuilder

_REDUCTIONS = {
    "reduce_sum": "ReduceSum",
    "reduce_mean": "ReduceMean",
    "reduce_prod": "ReduceProd",
    "reduce_max": "ReduceMax",
    "reduce_amax": "ReduceMax",
    "reduce_min": "ReduceMin",
    "reduce_amin": "ReduceMin",
    "reduce_all": "ReduceLogicalAnd",
    "reduce_any": "ReduceLogicalOr",
    "frobenius_norm": "ReduceL2",
}


def _reduced_axes(node: LoweringNode, axes: Sequence[int]) -> list[int]:
    """The axes to reduce: all axes with the attribute `reduce_all`, or if `axes` is empty."""
    rank = node.known_rank(0)
    return list(range(rank)) if node.flag("reduce_all") or not axes or not rank else sorted(set(axes_of(node, axes)))


def _reduced(node: LoweringNode, op: OpBuilder, operation: str, x: SSAValue, axes: list[int], *, keeps: bool) -> SSAValue:
    if not axes:
        return x
    result = getattr(op, operation)(x, axes, keep_dims=keeps)
    return scalar_form(node, op, result, 1 if keeps else node.known_rank(0) - len(axes))


@paddle.lowers("reduce_mean", "reduce_sum", complex=by_parts())
@paddle.lowers(*[kind for kind in _REDUCTIONS if kind not in ("reduce_mean", "reduce_sum")])
def reduction(node: LoweringNode, op: OpBuilder, x: SSAValue, _axes: SSAValue | None = None, *, keep_dim: bool = False) -> SSAValue:
    """paddle.reduce_mean(x, axes) {keep_dim, reduce_all} -> opset1.ReduceMean(x, axes), and so on"""
    constant_axes = () if node.optional(1) is None else known_integers(node, 1, "dim")
    element = optional_element(node, "out_dtype")
    if element is None and node.op.KIND == "reduce_sum" and element_of(x) in (boolean, si32):
        element = si64
    if node.op.KIND in ("reduce_all", "reduce_any"):
        x = x if element_of(x) == boolean else op.NotEqual(x, 0)
    elif element is not None:
        x = op.convert(x, element)
    return _reduced(node, op, _REDUCTIONS[node.op.KIND], x, _reduced_axes(node, constant_axes), keeps=keep_dim)


@paddle.lowers("mean", complex=by_parts())
@paddle.lowers("l1_norm")
def reduction_of_all(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """paddle.mean(x) -> opset1.ReduceMean(x) along all axes; l1_norm: opset4.ReduceL1(x)"""
    operation = "ReduceMean" if node.op.KIND == "mean" else "ReduceL1"
    return _reduced(node, op, operation, x, list(range(node.known_rank(0))), keeps=False)


@paddle.lowers("squared_l2_norm")
def sum_of_squares(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """paddle.squared_l2_norm(x) -> opset1.ReduceSum(x · x) along all axes, of shape [1]"""
    return op.Reshape(op.ReduceSum(op.Multiply(x, x), list(range(node.known_rank(0))), keep_dims=False), [1], special_zero=False)


@paddle.lowers("logsumexp")
def log_sum_exp(node: LoweringNode, op: OpBuilder, x: SSAValue, *, axis: tuple[int, ...] = (0,), keepdim: bool = False) -> SSAValue:
    """paddle.logsumexp(x) {axis, keepdim} -> log(sum(exp(x - maximum))) + maximum"""
    axes = _reduced_axes(node, axis)
    top = op.ReduceMax(x, axes, keep_dims=True)
    value = op.Add(op.Log(op.ReduceSum(op.Exp(op.Subtract(x, top)), axes, keep_dims=True)), top)
    if keepdim:
        return value
    return scalar_form(node, op, op.Squeeze(value, axes), node.known_rank(0) - len(axes))


@paddle.lowers("p_norm")
def p_norm(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    *,
    porder: float = 2.0,
    axis: int = -1,
    keepdim: bool = False,
    asvector: bool = False,
) -> SSAValue:
    """paddle.p_norm(x) {porder, axis} -> opset4.ReduceL2(x), ReduceL1, an extreme or (sum |x| ^ p) ^ (1 / p)"""
    rank = node.known_rank(0)
    axes = list(range(rank)) if asvector else [normalize_axis(axis, rank)]
    if porder == 2:
        return _reduced(node, op, "ReduceL2", x, axes, keeps=keepdim)
    if porder == 1:
        return _reduced(node, op, "ReduceL1", x, axes, keeps=keepdim)
    if porder in (float("inf"), float("-inf")):
        return _reduced(node, op, "ReduceMax" if porder > 0 else "ReduceMin", op.Abs(x), axes, keeps=keepdim)
    if porder == 0:
        return _reduced(node, op, "ReduceSum", op.ConvertLike(op.NotEqual(x, 0), x), axes, keeps=keepdim)
    return op.Power(_reduced(node, op, "ReduceSum", op.Power(op.Abs(x), porder), axes, keeps=keepdim), 1 / porder)


@paddle.lowers("std", "var")
def variance(node: LoweringNode, op: OpBuilder, x: SSAValue, *, unbiased: bool = True, keepdim: bool = False) -> SSAValue:
    """paddle.var(x) {axis, unbiased} -> the mean of squared differences from the mean; `std` its root"""
    axes = _reduced_axes(node, entries(node, "axis", ()))
    centred = op.Subtract(x, op.ReduceMean(x, axes, keep_dims=True))
    result = op.ReduceMean(op.Multiply(centred, centred), axes, keep_dims=keepdim)
    correction = node.attribute("correction", 1.0) if unbiased else 0.0
    if correction:
        count = op.ConvertLike(op.ReduceProd(op.Gather(op.ShapeOf(x), axes, 0), [0], keep_dims=False), x)
        result = op.Multiply(result, op.Divide(count, op.Subtract(count, float(correction))))
    return op.Sqrt(result) if node.op.KIND == "std" else result


@paddle.lowers("arg_max", "arg_min")
def arg_extreme(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    _axis: SSAValue | None = None,
    *,
    keepdims: bool = False,
    flatten: bool = False,
    dtype: Attribute = si64,
) -> SSAValue:
    """paddle.arg_max(x, axis) {keepdims, flatten, dtype} -> the index of opset11.TopK(x, 1); `arg_min` likewise"""
    rank, axis = node.known_rank(0), known_integer(node, 1, "axis", -1)
    if flatten:
        x, axis = op.Reshape(x, [-1], special_zero=False), 0
    if rank == 0:
        return op.constant(0, dtype)
    mode = "max" if node.op.KIND == "arg_max" else "min"
    _, indices = first_extremes(op, x, axis, mode, dtype)
    if flatten:
        shape = [1] * rank if keepdims else []
        return scalar_form(node, op, op.Reshape(indices, shape, special_zero=False), len(shape))
    return indices if keepdims else scalar_form(node, op, op.Squeeze(indices, [axis]), rank - 1)


@paddle.lowers("cumsum")
def cumulative_sum(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    axis: SSAValue | None = None,
    *,
    flatten: bool = False,
    exclusive: bool = False,
    reverse: bool = False,
) -> SSAValue:
    """paddle.cumsum(x, axis) -> opset3.CumSum(x, axis)"""
    x = op.convert(x, si64) if element_of(x) == boolean else x
    rank = rank_of(x)
    if rank == 0:
        return op.Reshape(x, [1], special_zero=False) if flatten else x
    if flatten:
        x, axis_ = op.Reshape(x, [-1], special_zero=False), op.constant(0)
    elif axis is not None and node.constant(1) is None:
        axis_ = op.Reshape(axis, [], special_zero=False)
    else:
        axis_number = known_integer(node, 1, "axis", -1)
        axis_ = op.constant(axis_number if rank is None else normalize_axis(axis_number, rank))
    return op.CumSum(x, axis_, exclusive=exclusive, reverse=reverse)


@paddle.lowers("cumprod")
def cumulative_product(
    node: LoweringNode, op: OpBuilder, x: SSAValue, *, dim: int = -1, exclusive: bool = False, reverse: bool = False
) -> SSAValue:
    """paddle.cumprod(x) {dim} -> products of all elements up to each one"""
    rank = node.known_rank(0)
    return running_product(op, x, normalize_axis(dim, rank) - rank, exclusive=exclusive, reverse=reverse) if rank else x


@paddle.lowers("size", complex=by_formula("paddle.complex.operations:size", is_real=True))
def size(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """paddle.size(x) -> the number of elements, opset1.ReduceProd(opset3.ShapeOf(x))"""
    return scalar_form(node, op, op.ReduceProd(op.ShapeOf(x), [0], keep_dims=False), 0)


@paddle.lowers("is_empty")
def is_empty(op: OpBuilder, x: SSAValue) -> SSAValue:
    """paddle.is_empty(x) -> whether it has no elements"""
    return op.Equal(op.ReduceProd(op.ShapeOf(x), [0], keep_dims=False), 0)


@paddle.lowers("dist")
def distance(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue, *, p: float = 2.0) -> SSAValue:
    """paddle.dist(x, y) {p} -> the p-norm of all of x - y"""
    differences = op.Reshape(op.Abs(op.Subtract(x, y)), [-1], special_zero=False)
    if p == 0:
        result = op.ReduceSum(op.convert(op.NotEqual(differences, 0.0), element_of(x)), [0], keep_dims=False)
    elif math.isinf(p):
        result = (op.ReduceMax if p > 0 else op.ReduceMin)(differences, [0], keep_dims=False)
    else:
        result = op.Power(op.ReduceSum(op.Power(differences, p), [0], keep_dims=False), 1 / p)
    return scalar_form(node, op, result, 0)
