"""Reductions, indices of minima and maxima, running sums and products.

    %y = onnx.ReduceLogSum(%x) {axes = [1], keepdims = 0}
->  %0 = opset1.ReduceSum(%x, [1]) {keep_dims = false}
    %y = opset1.Log(%0)
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES, boolean, f32, si64
from moir.dialects.shapes import element_count, element_of, normalize_axis, rank_of, shape_of
from moir.expansions.extremes import first_extremes
from moir.expansions.running_products import running_product
from moir.expansions.shape_values import all_axes, as_list, as_scalar, dimension_value, rank_value, without_computed_axes
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.operands import declared_rank, of_length, swapping
from moir.lowering.onnx.ranks import reduced
from moir.lowering.onnx.table import onnx
from moir.lowering.ranks import as_result
from moir.rewriting.builder import Constructor, OpBuilder
from moir.support.tables import words

_DIRECT = words("ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum")
_OF_BOOLEANS = {"ReduceMax": "ReduceLogicalOr", "ReduceMin": "ReduceLogicalAnd"}
_IN_FLOATS = ("ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMean")
DYNAMIC_RANK = "the number of axes is dynamic, and so the rank of the result"
RANK_HINT = "make the axes an initializer, or keep the dimensions"
_COMPUTED = ("ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare")


def _axes(node: LoweringNode, op: OpBuilder) -> SSAValue | None:
    """The axes of a reduction; None if no axis is reduced.

    The axes are an attribute before version 18 (before version 13 of ReduceSum), and an operand since.
    """
    x = node.operand(0)
    if node.has("axes"):
        attribute = node.integers("axes")
        return op.constant(list(attribute), si64) if attribute else all_axes(op, x)
    axes = node.optional(1)
    if axes is None or shape_of(axes) == (0,):
        return None if node.flag("noop_with_empty_axes") else all_axes(op, x)
    rank, result = node.rank(0), declared_rank(node)
    if not node.flag("keepdims", True) and rank is not None and result is not None and result < rank:
        return of_length(op, axes, rank - result)
    return axes


def _or_all(op: OpBuilder, axes: SSAValue, x: SSAValue) -> SSAValue:
    """The axes; all axes of x if the 1-D tensor of axes is empty."""
    every, count = all_axes(op, x), op.ShapeOf(axes)
    rank = op.ShapeOf(every)
    return op.Concat(op.convert(axes, si64), op.Slice(every, op.Select(op.Equal(count, 0), 0, rank), rank, [1], [0]), axis=0)


@onnx.lowers(*_DIRECT, *_COMPUTED, rank=reduced)
def reduction(
    node: LoweringNode,
    op: OpBuilder,
    data: SSAValue,
    axes_: SSAValue | None = None,
    *,
    keepdims: bool = True,
    noop_with_empty_axes: bool = False,
) -> SSAValue:
    """onnx.ReduceMean(x, axes) {keepdims} -> opset1.ReduceMean(x, axes) {keep_dims}; likewise the other Reduce kinds

    With `noop_with_empty_axes` and no axes, no elements are reduced: only their squares, roots and so on are computed.
    """
    kind = node.op.KIND
    axes = _axes(node, op)
    integers = element_of(data) in INTEGER_TYPES
    # Roots, logarithms and means of integers are computed in floats, and truncated.
    x = op.convert(data, f32) if integers and kind in _IN_FLOATS else data
    if axes is None or rank_of(data) == 0:
        result = _of_single_elements(op, kind, x)
    elif rank_of(data) is None and keepdims and noop_with_empty_axes and element_count(shape_of(axes)) is None:
        result = _along_some_axes(op, kind, x, axes)
    elif op.known.integers(axes) is not None or rank_of(data) is None:
        if not keepdims and axes is axes_ and element_count(shape_of(axes)) is None:
            node.fail(DYNAMIC_RANK, RANK_HINT)
        if axes is axes_ and element_count(shape_of(axes)) is None:
            result = _along_some_axes(op, kind, x, _or_all(op, axes, x))
        else:
            result = _reduced(op, kind, x, axes, keepdims)
    else:
        result = _along_computed_axes(node, op, x, axes)
    return op.convert(result, element_of(data)) if x is not data else result


def _reduced(op: OpBuilder, kind: str, x: SSAValue, axes: SSAValue, keep: bool) -> SSAValue:
    match kind:
        case "ReduceLogSum":
            return op.Log(op.ReduceSum(x, axes, keep_dims=keep))
        case "ReduceSumSquare":
            return op.ReduceSum(op.Multiply(x, x), axes, keep_dims=keep)
        case "ReduceLogSumExp":
            # The largest element is subtracted first, because the exponential would overflow.
            largest = op.ReduceMax(x, axes, keep_dims=True)
            total = op.Log(op.ReduceSum(op.Exp(op.Subtract(x, largest)), axes, keep_dims=keep))
            return op.Add(total, largest if keep else op.ReduceMax(x, axes, keep_dims=False))
        case _:
            name = _OF_BOOLEANS.get(kind, kind) if element_of(x) == boolean else kind
            constructor: Constructor = getattr(op, name)
            return constructor(x, axes, keep_dims=keep)


def _along_computed_axes(node: LoweringNode, op: OpBuilder, x: SSAValue, axes: SSAValue) -> SSAValue:
    """A reduction of x, whose rank is known, along axes that are computed."""
    kind, keep, rank, count = node.op.KIND, node.flag("keepdims", True), node.known_rank(0), element_count(shape_of(axes))
    if count is None and node.flag("noop_with_empty_axes"):
        if not keep:
            node.fail(DYNAMIC_RANK, RANK_HINT)
        return _along_some_axes(op, kind, x, axes)
    if count is None:
        axes = _or_all(op, axes, x)
    result = _reduced(op, kind, x, axes, True)
    if keep:
        return result
    if count is None:
        node.fail(DYNAMIC_RANK, RANK_HINT)
    return without_computed_axes(op, result, axes, rank, count)


def _along_some_axes(op: OpBuilder, kind: str, x: SSAValue, axes: SSAValue) -> SSAValue:
    """The reduction `kind` of x along computed axes, of which there may be none; all dimensions are kept.

    An axis of size 1 is added and always reduced, so that the tensor of axes is not empty.
    """
    rank = rank_value(op, x)
    axes = op.Concat(op.FloorMod(op.convert(axes, si64), op.Maximum(rank, 1)), rank, axis=0)
    return op.Squeeze(_reduced(op, kind, op.Unsqueeze(x, [-1]), axes, True), [-1])


def _of_single_elements(op: OpBuilder, kind: str, x: SSAValue) -> SSAValue:
    match kind:
        case "ReduceL1" | "ReduceL2":
            return op.Abs(x)
        case "ReduceLogSum":
            return op.Log(x)
        case "ReduceSumSquare":
            return op.Multiply(x, x)
        case _:
            return x


@onnx.lowers("ArgMax", "ArgMin")
def position(
    node: LoweringNode, op: OpBuilder, data: SSAValue, *, select_last_index: bool = False, axis: int = 0, keepdims: bool = True
) -> SSAValue:
    """onnx.ArgMax(x) {axis, keepdims} -> Squeeze(TopK(x, 1)), without Squeeze if the dimension is kept; likewise ArgMin

    With `select_last_index` the index is that of the first extreme in the reversed tensor, subtracted from the last
    index.
    """
    x = data
    if select_last_index:
        x = op.Slice(x, [-1], [-(2**31)], [-1], [axis])
    _, indices = first_extremes(op, x, axis, "max" if node.op.KIND == "ArgMax" else "min")
    if select_last_index:
        indices = op.Subtract(op.Subtract(dimension_value(op, x, axis), 1), indices)
    return indices if keepdims else op.Squeeze(indices, [axis])


@onnx.lowers("CumSum", since=11, rank=as_result)
def cumulative_sum(op: OpBuilder, x: SSAValue, axis: SSAValue, *, exclusive: bool = False, reverse: bool = False) -> SSAValue:
    """onnx.CumSum(x, axis) {exclusive, reverse} -> opset3.CumSum(x, axis) {exclusive, reverse}"""
    return op.CumSum(x, as_scalar(op, axis), exclusive=exclusive, reverse=reverse)


@onnx.lowers("CumProd")
def cumulative_product(
    node: LoweringNode, op: OpBuilder, x: SSAValue, axis_: SSAValue, *, exclusive: bool = False, reverse: bool = False
) -> SSAValue:
    """onnx.CumProd(x, axis) {exclusive, reverse} -> ReduceProd of the elements up to each element

    If the length of the axis is known, products of 1, 2, 4, … neighbours are multiplied instead.
    """
    rank, axis = node.known_rank(0), op.known.integers(axis_)
    if axis is None and rank > 1:
        order = swapping(op, as_list(op, axis_), 0, rank)
        return op.Transpose(running_product(op, op.Transpose(x, order), -rank, exclusive=exclusive, reverse=reverse), order)
    if axis is not None and len(axis) != 1:
        node.fail("the axis is not a number")
    axis_from_end = normalize_axis(0 if axis is None else axis[0], rank) - rank
    return running_product(op, x, axis_from_end, exclusive=exclusive, reverse=reverse)
