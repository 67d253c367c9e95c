"""Reductions, cumulative sums, sorting and selection by rank."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, si32, si64
from moir.dialects.shapes import element_of, shape_of
from moir.expansions.extremes import first_extremes
from moir.expansions.running_products import running_product
from moir.expansions.sums_of_exponentials import log_of_sum_of_exponentials
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_formula, by_parts, with_handler
from moir.lowering.pytorch.arguments import Scalar, Size, Sizes, axes_from_front, axis_from_front, size_scalar
from moir.lowering.pytorch.comparison import truth
from moir.lowering.pytorch.promotion import inferred_element
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


def _axes(node: LoweringNode, dim: tuple[int, ...]) -> list[int]:
    rank = node.known_rank(0)
    return (axes_from_front(node, dim, rank) or list(range(rank))) if rank else []


@aten.lowers("sum.default", "sum.dim_IntList", "mean.default", "mean.dim", complex=by_parts())
@aten.lowers("prod.default", "prod.dim_int", complex=by_formula("pytorch.complex.functions:prod"))
@aten.lowers("amax.default", "amin.default", "max.default", "min.default", "logsumexp.default")
def reduce(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: tuple[int, ...] = (), keepdim: bool = False) -> SSAValue:
    """aten.sum.dim_IntList(x) {dim, keepdim} -> opset1.ReduceSum(x, dim) {keep_dims}, and so on"""
    name = node.op.KIND.partition(".")[0]
    x, axes = op.convert(self, inferred_element(node)), _axes(node, dim)
    if not axes:
        return x
    if element_of(x) == boolean:
        return (op.ReduceLogicalOr if "max" in name else op.ReduceLogicalAnd)(x, axes, keep_dims=keepdim)
    if name == "logsumexp":
        return log_of_sum_of_exponentials(op, x, axes, keep_dims=keepdim)
    if name == "mean":
        return mean_of(op, x, axes, keep_dims=keepdim)
    build = {"sum": op.ReduceSum, "prod": op.ReduceProd}
    build |= {"amax": op.ReduceMax, "max": op.ReduceMax, "amin": op.ReduceMin, "min": op.ReduceMin}
    return build[name](x, axes, keep_dims=keepdim)


def mean_of(op: OpBuilder, x: SSAValue, axes: list[int], *, keep_dims: bool) -> SSAValue:
    """The mean along axes; NaN for no elements."""
    if 0 not in (shape_of(x) or ()):
        return op.ReduceMean(x, axes, keep_dims=keep_dims)
    count = op.ReduceProd(op.Gather(op.ShapeOf(x), axes, 0), [0], keep_dims=False)
    return op.Divide(op.ReduceSum(x, axes, keep_dims=keep_dims), op.convert(count, element_of(x)))


@aten.lowers("sum_to_size.default", complex=by_parts())
def sum_to_size(node: LoweringNode, op: OpBuilder, self: SSAValue, *, size: Sizes) -> SSAValue:
    """aten.sum_to_size.default(x) {size} -> ReduceSum over the dimensions that are 1 or absent in `size`"""
    rank = node.known_rank(0)
    first = rank - len(size)
    ones = [first + axis for axis, each in enumerate(size) if isinstance(each, int) and each == 1]
    x = op.convert(self, inferred_element(node))
    x = op.ReduceSum(x, ones, keep_dims=True) if ones else x
    return op.ReduceSum(x, list(range(first)), keep_dims=False) if first else x


@aten.lowers("any.default", "any.dim", "any.dims", complex=by_formula("pytorch.complex.functions:any_nonzero"))
@aten.lowers("all.default", "all.dim", "all.dims", complex=by_formula("pytorch.complex.functions:all_nonzero"))
@aten.lowers("_is_all_true.default", "_is_any_true.default")
def any_(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: tuple[int, ...] = (), keepdim: bool = False) -> SSAValue:
    """aten.any.dim(x) {dim, keepdim} -> opset1.ReduceLogicalOr(x ≠ 0, dim); `all` ReduceLogicalAnd"""
    x, axes = truth(op, self), _axes(node, dim)
    if not axes:
        return x
    return (op.ReduceLogicalOr if node.op.KIND.startswith(("any", "_is_any")) else op.ReduceLogicalAnd)(x, axes, keep_dims=keepdim)


@aten.lowers("argmax.default", "argmin.default")
def argmax(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: int | None = None, keepdim: bool = False) -> SSAValue:
    """aten.argmax.default(x) {dim, keepdim} -> the indices of opset11.TopK(x, 1, dim), the first of equal elements;
    `argmin` likewise
    """
    rank = node.known_rank(0)
    x, axis = (op.Reshape(self, [-1], special_zero=False), 0) if dim is None or rank == 0 else (self, axis_from_front(node, dim, rank))
    _, indices = _extremes(op, x, axis, "max" if node.op.KIND.startswith("argmax") else "min")
    if dim is None and keepdim:
        return op.Reshape(indices, [1] * rank, special_zero=False)
    return indices if keepdim and rank else op.Squeeze(indices, [axis])


def _extremes(op: OpBuilder, x: SSAValue, axis: int, mode: str) -> tuple[SSAValue, SSAValue]:
    """The maximum or minimum along an axis, by `mode`, and the index of its first occurrence; the axis stays with size
    1.
    """
    element = element_of(x)
    comparable = op.convert(x, si32) if element == boolean else x
    values, indices = first_extremes(op, comparable, axis, mode)
    return op.convert(values, element), indices


@aten.lowers("max.dim", "min.dim")
def max_dim(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: int, keepdim: bool = False) -> Replacement:
    """aten.max.dim(x) {dim, keepdim} -> the values and indices of opset11.TopK(x, 1, dim); `min` likewise"""
    rank = node.known_rank(0)
    if rank == 0:
        return [self, op.constant(0)]
    axis, is_max = axis_from_front(node, dim, rank), node.op.KIND.startswith("max")
    if not node.is_used(1) and element_of(self) != boolean:
        return [(op.ReduceMax if is_max else op.ReduceMin)(self, [axis], keep_dims=keepdim), None]
    extremes = _extremes(op, self, axis, "max" if is_max else "min")
    return list(extremes) if keepdim else [op.Squeeze(each, [axis]) for each in extremes]


@aten.lowers(
    *(f"{name}.{overload}" for name in ("var", "std") for overload in ("correction", "dim", "default")),
    complex=with_handler("pytorch.complex.functions:variance"),
)
@aten.lowers(*(f"{name}_mean.{overload}" for name in ("var", "std") for overload in ("correction", "dim", "default")))
def var(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    *,
    dim: tuple[int, ...] = (),
    unbiased: bool = True,
    correction: Scalar | None = None,
    keepdim: bool = False,
) -> Replacement:
    """aten.var.correction(x) {dim, correction} -> sum of (x - mean)² / (count - correction); `std` its root"""
    less = (1 if unbiased else 0) if correction is None else correction
    if isinstance(less, SSAValue):
        node.fail("its correction is computed when the model runs")
    axes = _axes(node, dim)
    mean = op.ReduceMean(self, axes, keep_dims=True)
    centered = op.Subtract(self, mean)
    squares = op.Multiply(centered, centered)
    if less == 0 and 0 not in (node.shape(0) or ()):
        variance = op.ReduceMean(squares, axes, keep_dims=keepdim)
    else:
        count = op.ReduceProd(op.Gather(op.ShapeOf(self), axes, 0), [0], keep_dims=False)
        # With no more elements than the correction, it is 0 / 0.
        size = op.convert(count, element_of(self))
        divisor = op.Maximum(op.Subtract(size, float(less)), 0)
        variance = op.Divide(op.ReduceSum(squares, axes, keep_dims=keepdim), divisor)
    variance = op.Sqrt(variance) if node.op.KIND.startswith("std") else variance
    return [variance, mean_of(op, self, axes, keep_dims=keepdim)] if "_mean" in node.op.KIND else [variance]


@aten.lowers("cumsum.default", complex=by_parts())
@aten.lowers("cumprod.default", complex=by_formula("pytorch.complex.functions:cumprod"))
def cumsum(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: int) -> SSAValue:
    """aten.cumsum.default(x) {dim} -> opset3.CumSum(x, dim); `cumprod` -> running products"""
    rank, x = node.known_rank(0), op.convert(self, inferred_element(node))
    if rank == 0:
        return x
    axis = axis_from_front(node, dim, rank)
    return op.CumSum(x, op.constant(axis)) if node.op.KIND.startswith("cumsum") else running_product(op, x, axis - rank)


@aten.lowers("topk.default")
def topk(node: LoweringNode, op: OpBuilder, self: SSAValue, *, k: Size, dim: int = -1, largest: bool = True) -> Replacement:
    """aten.topk.default(x) {k, dim, largest} -> opset11.TopK(x, k) {axis, mode}"""
    rank, mode = node.known_rank(0), "max" if largest else "min"
    if rank == 0:
        return [self, op.constant(0)]
    axis = axis_from_front(node, dim, rank)
    return op.TopK.results(self, size_scalar(op, k), axis=axis, mode=mode, sort="value", index_element_type=si64)


@aten.lowers("sort.default", "sort.stable", "argsort.default", "argsort.stable", "msort.default")
def sort(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: int = -1, descending: bool = False) -> Replacement:
    """aten.sort.default(x) {dim, descending} -> opset11.TopK(x, size of dim) {sort = "value", stable = true}; `argsort`
    -> only its indices, `msort` along axis 0
    """
    rank, is_order = node.known_rank(0), node.op.KIND.startswith("argsort")
    if rank == 0:
        return [op.constant(0)] if is_order else [self, op.constant(0)][: node.result_count]
    axis = 0 if node.op.KIND.startswith("msort") else axis_from_front(node, dim, rank)
    element = element_of(self)
    x = op.convert(self, si32) if element == boolean else self
    count = op.Gather(op.ShapeOf(self), op.constant(axis), 0)
    mode = "max" if descending else "min"
    values, indices = op.TopK.results(x, count, axis=axis, mode=mode, sort="value", index_element_type=si64, stable=True)
    return [indices] if is_order else [op.convert(values, element), indices][: node.result_count]


@aten.lowers("count_nonzero.default", "count_nonzero.dim_IntList")
def count_nonzero(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: tuple[int, ...] = ()) -> SSAValue:
    """aten.count_nonzero.default(x) -> sum of (x ≠ 0)"""
    counted = op.convert(truth(op, self), si64)
    axes = _axes(node, dim)
    return op.ReduceSum(counted, axes, keep_dims=False) if axes else counted
