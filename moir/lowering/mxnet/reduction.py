"""Reductions, indices of extremes, and cumulative sums.

Source: broadcast_reduce_op*.cc and ordering_op.cc of MXNet 1.9.
"""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import si32
from moir.dialects.shapes import element_of, normalize_axis
from moir.expansions.extremes import first_extremes
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.attributes import axes_of, rank_of_operand
from moir.lowering.mxnet.elementwise import plain_name
from moir.lowering.mxnet.table import mxnet
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder
from moir.support.tables import by_member

_REDUCTIONS = by_member(
    {
        "ReduceSum": "sum sum_axis nansum",
        "ReduceMean": "mean",
        "ReduceProd": "prod nanprod product",
        "ReduceMax": "max max_axis amax",
        "ReduceMin": "min min_axis amin",
    }
)


def _axes(node: LoweringNode) -> list[int]:
    """The axes to reduce: those of the attribute `axis`, all axes if it is absent; with `exclude`, all axes except
    those of `axis`.
    """
    rank = rank_of_operand(node)
    axes = axes_of(node, rank)
    if axes is None:
        return list(range(rank))
    return [axis for axis in range(rank) if axis not in axes] if node.flag("exclude") else axes


_KINDS = (
    "_np_amax _np_amin _np_max _np_min _np_prod _np_product _np_sum _npi_max _npi_mean _npi_min _npi_prod _npi_sum max max_axis mean "
    "min min_axis nanprod nansum prod sum sum_axis"
)
"""The spellings of reductions."""


@mxnet.lowers(*_KINDS.split())
def reduction(node: LoweringNode, op: OpBuilder, *, keepdims: bool = False, dtype: Attribute | None = None) -> SSAValue:
    """mxnet.sum(x) {axis, keepdims, exclude} -> opset1.ReduceSum(x, axes), and so on; over all axes, the result has
    the shape [1]

    The results of numpy's reductions over all axes are scalars.
    """
    name, x = plain_name(node.op.KIND), node.operand(0)
    x = op.convert(x, dtype or node.element(0))
    if name.startswith("nan"):
        x = op.Select(op.IsNaN(x), op.ConvertLike(op.constant(0.0 if name == "nansum" else 1.0), x), x)
    axes = _axes(node)
    return _shaped(node, op, getattr(op, _REDUCTIONS[name])(x, axes, keep_dims=keepdims) if axes else x)


def _shaped(node: LoweringNode, op: OpBuilder, result: SSAValue) -> SSAValue:
    """A reduction over all axes in the shape that MXNet returns: [1] in the symbol interface, a scalar in numpy's.

    A result that keeps axes is unchanged.
    """
    is_scalar = len(_axes(node)) == rank_of_operand(node) and not node.flag("keepdims")
    return op.Reshape(result, [1], special_zero=False) if is_scalar and not node.op.KIND.startswith("_np") else result


@mxnet.lowers("norm", "_npi_norm")
def norm(node: LoweringNode, op: OpBuilder, x: SSAValue, *, ord: int = 2, keepdims: bool = False) -> SSAValue:
    """mxnet.norm(x) {ord = 2, axis, keepdims} -> opset4.ReduceL2(x, axes), with ord = 1 ReduceL1"""
    if ord not in (1, 2):
        node.fail(f"the norm of order {ord} is not supported")
    return _shaped(node, op, (op.ReduceL2 if ord == 2 else op.ReduceL1)(x, _axes(node), keep_dims=keepdims))


@mxnet.lowers("_npi_std", "_npi_var")
def variance(node: LoweringNode, op: OpBuilder, *, ddof: int = 0, keepdims: bool = False) -> SSAValue:
    """mxnet._npi_var(x) {axis, keepdims} -> the mean of squared differences from the mean; likewise its root, std"""
    x, axes, unused = node.operand(0), _axes(node), ddof
    centred = op.Subtract(x, op.ReduceMean(x, axes, keep_dims=True))
    result = op.ReduceMean(op.Multiply(centred, centred), axes, keep_dims=keepdims)
    if unused:
        # The divisor is the number of elements minus `ddof`.
        count = op.convert(op.ReduceProd(op.Gather(op.ShapeOf(x), axes, 0), [0]), node.element(0))
        result = op.Multiply(result, op.Divide(count, op.Subtract(count, float(unused))))
    return op.Sqrt(result) if node.op.KIND.endswith("std") else result


@mxnet.lowers("argmax", "argmin", "argmax_channel", "_npi_argmax", "_npi_argmin")
def arg_extreme(node: LoweringNode, op: OpBuilder, *, keepdims: bool = False) -> SSAValue:
    """mxnet.argmax(x) {axis, keepdims} -> the first index of the largest element along an axis, in the type of x

    Without axis: in the flattened operand; argmax_channel: along axis 1. The results of numpy's kinds are integers.
    Likewise argmin.
    """
    name, x = plain_name(node.op.KIND), node.operand(0)
    rank = rank_of_operand(node)
    axes = [1] if name == "argmax_channel" else axes_of(node, rank)
    is_flat = axes is None
    if axes is None:
        x, axes = op.Reshape(x, [-1], special_zero=False), [0]
    mode = "min" if name == "argmin" else "max"
    _, indices = first_extremes(op, x, axes[0], mode)
    indices_ = indices if keepdims else op.Squeeze(indices, [axes[0]])
    if keepdims and is_flat:
        indices_ = op.Reshape(indices_, [1] * rank, special_zero=False)
    if node.op.KIND.startswith("_np"):
        return indices_
    indices_ = op.convert(indices_, node.element(0))
    # Like a reduction of all axes, a reduction of the only axis gives a 1-D tensor of one element.
    return op.Reshape(indices_, [1], special_zero=False) if not keepdims and (is_flat or rank == 1) else indices_


@mxnet.lowers("cumsum", "_np_cumsum", "_npi_cumsum")
def cumulative_sum(node: LoweringNode, op: OpBuilder, x_: SSAValue, *, dtype: Attribute | None = None) -> SSAValue:
    """mxnet.cumsum(x) {axis} -> opset3.CumSum(x, axis); without axis of the flattened operand"""
    x = op.convert(x_, dtype or element_of(x_))
    if not node.has("axis"):
        return op.CumSum(op.Reshape(x, [-1], special_zero=False), op.constant(0, si32))
    return op.CumSum(x, op.constant(normalize_axis(node.integer("axis"), rank_of_operand(node)), si32))


@mxnet.lowers("_np_all", "_np_any", "_np_sometrue")
def truth(node: LoweringNode, op: OpBuilder, x: SSAValue, *, keepdims: bool = False) -> SSAValue:
    """mxnet._np_any(x) {axis, keepdims} -> opset1.ReduceLogicalOr(x != 0, axes); all: ReduceLogicalAnd"""
    build = op.ReduceLogicalAnd if plain_name(node.op.KIND) == "all" else op.ReduceLogicalOr
    return build(op.NotEqual(x, 0), _axes(node), keep_dims=keepdims)


@mxnet.lowers("moments")
def moments(node: LoweringNode, op: OpBuilder, x: SSAValue, *, keepdims: bool = False) -> Replacement:
    """mxnet.moments(x) {axes, keepdims} -> the mean and the mean of squared differences from it"""
    rank = rank_of_operand(node)
    axes = axes_of(node, rank, "axes") or list(range(rank))
    mean = op.ReduceMean(x, axes, keep_dims=True)
    centred = op.Subtract(x, mean)
    variance = op.ReduceMean(op.Multiply(centred, centred), axes, keep_dims=True)
    if keepdims:
        return [mean, variance]
    shaped = [op.Squeeze(value, axes) for value in (mean, variance)]
    return [op.Reshape(value, [1], special_zero=False) for value in shaped] if len(axes) == rank else shaped


@mxnet.lowers("_npi_average")
def average(node: LoweringNode, op: OpBuilder, x: SSAValue, *, weighted: bool = True) -> Replacement:
    """mxnet._npi_average(x, w) {axis, weighted, returned} -> the mean, or the sum of w · x divided by the sum of w"""
    axes = _axes(node)
    if not weighted:
        weights = op.Broadcast(op.constant_like(1.0, x), op.ShapeOf(x))
    else:
        weights, rank = node.operand(1), rank_of_operand(node)
        if node.rank(1) == 1 and rank > 1:
            shape = [1] * rank
            shape[axes[0]] = -1
            weights = op.Reshape(weights, shape, special_zero=False)
        weights = op.Broadcast(weights, op.ShapeOf(x))
    total = op.ReduceSum(weights, axes)
    mean = op.Divide(op.ReduceSum(op.Multiply(x, weights), axes), total)
    return [mean, total] if node.result_count > 1 else [mean]
