"""Gathers, scatters, and indices."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import rank_of
from moir.lowering.binder import LoweringNode
from moir.lowering.to_onnx.builder import OnnxBuilder
from moir.lowering.to_onnx.shape import axis_of, constant_axis
from moir.lowering.to_onnx.table import opset


@opset.lowers("Gather")
def gather(node: LoweringNode, op: OnnxBuilder, x: SSAValue, indices: SSAValue, _axis: SSAValue, *, batch_dims: int = 0) -> SSAValue:
    """opset8.Gather(x, indices, axis) -> onnx.Gather; with batch dimensions a GatherND, with the axis after these
    dimensions
    """
    if batch_dims < 0:
        batch_dims += node.known_rank(1)
    if batch_dims == 0:
        return op.Gather(x, indices, axis=constant_axis(node, 2))
    axis, rank, of_indices = axis_of(node, 2), node.known_rank(0), node.known_rank(1)
    order = [*range(batch_dims), axis, *range(batch_dims, axis), *range(axis + 1, rank)]
    indices = op.integers(indices)
    # GatherND counts negative indices from the end as well, as Gather does.
    gathered = op.GatherND(op.transposed(x, order), op.Unsqueeze(indices, [of_indices]), batch_dims=batch_dims)
    # [batch, indices, dimensions between, dimensions after]
    between = axis - batch_dims
    own = of_indices - batch_dims
    result_rank = of_indices + rank - batch_dims - 1
    back = [
        *range(batch_dims),
        *range(of_indices, of_indices + between),
        *range(batch_dims, batch_dims + own),
        *range(of_indices + between, result_rank),
    ]
    return op.transposed(gathered, back)


@opset.lowers("GatherElements")
def gather_elements(op: OnnxBuilder, x: SSAValue, indices: SSAValue, *, axis: int) -> SSAValue:
    """opset6.GatherElements(x, indices) {axis} -> onnx.GatherElements(x, indices) {axis}"""
    return op.GatherElements(x, indices, axis=axis)


@opset.lowers("GatherND")
def gather_nd(op: OnnxBuilder, x: SSAValue, indices: SSAValue, *, batch_dims: int = 0) -> SSAValue:
    """opset8.GatherND(x, indices) {batch_dims} -> onnx.GatherND(x, indices) {batch_dims}"""
    return op.GatherND(x, op.integers(indices), batch_dims=batch_dims)


@opset.lowers("opset5.GatherND")
def gather_nd_5(node: LoweringNode, op: OnnxBuilder, x: SSAValue, indices: SSAValue, *, batch_dims: int = 0) -> SSAValue:
    """opset5.GatherND(x, indices) {batch_dims} -> onnx.GatherND; version 5 merges several batch dimensions into one"""
    gathered = op.GatherND(x, op.integers(indices), batch_dims=batch_dims)
    if batch_dims < 2:
        return gathered
    rank = rank_of(node.op.results[0])
    if rank is None:
        node.fail("the rank of its result is dynamic", hint="give the model's inputs a static rank")
    shape = op.Shape(gathered)
    return op.Reshape(gathered, op.joined([-1], op.Slice(shape, [batch_dims], [1 << 31], [0])))


@opset.lowers("ScatterElementsUpdate")
def scatter_elements(
    node: LoweringNode,
    op: OnnxBuilder,
    x: SSAValue,
    indices: SSAValue,
    updates: SSAValue,
    _axis: SSAValue,
    *,
    reduction: str = "none",
    use_init_val: bool = True,
) -> SSAValue:
    """opset12.ScatterElementsUpdate(x, indices, updates, axis) {reduction} -> onnx.ScatterElements(x, indices,
    updates)
    """
    return op.ScatterElements(x, indices, updates, axis=constant_axis(node, 3), reduction=_reduction(node, op, reduction, use_init_val))


_REDUCTIONS = {"sum": ("add", 16), "prod": ("mul", 16), "max": ("max", 18), "min": ("min", 18)}
"""For each reduction, its name in ONNX and the first version of the operator set that has it."""


def _reduction(node: LoweringNode, op: OnnxBuilder, reduction: str, use_init_val: bool = True) -> str | None:
    """The attribute `reduction` of an ONNX scatter; None for `none`.

    Raises ConversionError if the version does not have the reduction.
    """
    if reduction == "none":
        return None
    if not use_init_val or reduction not in _REDUCTIONS:
        what = f"the reduction {reduction}" + ("" if use_init_val else " without the first values")
        node.fail(f"ONNX has no scatter with {what}")
    name, since = _REDUCTIONS[reduction]
    if op.version < since:
        node.fail(f"ONNX has the reduction {name} from version {since} of the operator set on", hint=f"give --opset {since} or newer")
    return name


@opset.lowers("ScatterNDUpdate")
def scatter_nd(
    node: LoweringNode, op: OnnxBuilder, x: SSAValue, indices: SSAValue, updates: SSAValue, *, reduction: str = "none"
) -> SSAValue:
    """opset15.ScatterNDUpdate(x, indices, updates) {reduction} -> onnx.ScatterND(x, indices, updates) {reduction}"""
    if reduction == "sub":
        updates, reduction = op.Neg(updates), "sum"
    return op.ScatterND(x, op.integers(indices), updates, reduction=_reduction(node, op, reduction))


@opset.lowers("ScatterUpdate")
def scatter_update(node: LoweringNode, op: OnnxBuilder, x: SSAValue, indices: SSAValue, updates: SSAValue, _axis: SSAValue) -> SSAValue:
    """opset3.ScatterUpdate(x, indices, updates, axis) -> onnx.ScatterND, with the axis transposed to the front"""
    axis, rank, own = axis_of(node, 3), node.known_rank(0), node.known_rank(1)
    indices = op.Unsqueeze(op.integers(indices), [own])
    order = [axis, *range(axis), *range(axis + 1, rank)]
    count = rank + own - 1
    updates = op.transposed(updates, [*range(axis, axis + own), *range(axis), *range(axis + own, count)])
    result = op.ScatterND(op.transposed(x, order), indices, updates)
    return op.transposed(result, [order.index(each) for each in range(rank)])


@opset.lowers("NonZero")
def non_zero(op: OnnxBuilder, x: SSAValue, *, output_type: Attribute = si64) -> SSAValue:
    """opset3.NonZero(x) -> onnx.NonZero(x), the indices of elements other than zero"""
    return op.cast(op.NonZero(x), output_type)


@opset.lowers("OneHot")
def one_hot(node: LoweringNode, op: OnnxBuilder, indices: SSAValue, depth: SSAValue, on: SSAValue, off: SSAValue, *, axis: int) -> SSAValue:
    """opset1.OneHot(indices, depth, on, off) -> onnx.OneHot; negative indices select nothing, unless they count from
    the end
    """
    depth = op.integers(depth)
    if node.rank(1) != 0:
        depth = op.Reshape(depth, [])
    if node.text("negative_indices_mode", "ignore_negative") == "ignore_negative":
        indices = op.integers(indices)
        indices = op.Where(op.Less(indices, 0), depth, indices)
    values = op.Concat(op.Reshape(off, [1]), op.Reshape(on, [1]), axis=0)
    if node.rank(0) == 0:
        # ONNX's indices have a dimension at least.
        return op.Squeeze(op.OneHot(op.Unsqueeze(indices, [0]), depth, values, axis=-1), [0])
    return op.OneHot(indices, depth, values, axis=axis)


@opset.lowers("TopK")
def top_k(
    op: OnnxBuilder,
    x: SSAValue,
    k: SSAValue,
    *,
    axis: int,
    mode: str,
    sort: str,
    index_element_type: Attribute,
) -> list[SSAValue]:
    """opset11.TopK(x, k) -> onnx.TopK: the k largest or smallest elements along an axis, sorted by value or index, and
    indices
    """
    values, indices = op.TopK.results(2, x, op.vector(k), axis=axis, largest=int(mode == "max"), sorted=1)
    if sort == "index":
        order = op.TopK.results(2, indices, op.vector(k), axis=axis, largest=0, sorted=1)[1]
        values = op.GatherElements(values, order, axis=axis)
        indices = op.GatherElements(indices, order, axis=axis)
    return [values, op.cast(indices, index_element_type)]


@opset.lowers("Unique")
def unique(
    node: LoweringNode,
    op: OnnxBuilder,
    x: SSAValue,
    _axis: SSAValue | None = None,
    *,
    sorted: bool = True,
    index_element_type: Attribute = si64,
    count_element_type: Attribute = si64,
) -> list[SSAValue]:
    """opset10.Unique(x, axis) -> onnx.Unique: the distinct elements or slices, the index of the first occurrence of
    each, for each element the index of its value, and counts
    """
    axis = None if node.optional(1) is None else constant_axis(node, 1)
    results = op.Unique.results(4, x, axis=axis, sorted=int(sorted))
    elements = (index_element_type, index_element_type, count_element_type)
    return [results[0], *(op.cast(each, element) for each, element in zip(results[1:], elements, strict=True))]


@opset.lowers("SearchSorted")
def search_sorted(
    node: LoweringNode,
    op: OnnxBuilder,
    boundaries: SSAValue,
    values: SSAValue,
    *,
    right_mode: bool = False,
    output_type: Attribute = si64,
) -> SSAValue:
    """opset15.SearchSorted(boundaries, values) -> how many elements of a sorted row are below each value, or with
    `right_mode` not above it
    """
    rank, of_boundaries = node.known_rank(1), node.known_rank(0)
    elements = op.Unsqueeze(values, [rank])
    rows = boundaries if of_boundaries == 1 else op.Unsqueeze(boundaries, [of_boundaries - 1])
    is_below = op.LessOrEqual(rows, elements) if right_mode else op.Less(rows, elements)
    return op.cast(op.ReduceSum(op.Cast(is_below, to=si64), [rank], keepdims=0), output_type)


@opset.lowers("Bucketize")
def bucketize(
    node: LoweringNode,
    op: OnnxBuilder,
    x: SSAValue,
    buckets: SSAValue,
    *,
    output_type: Attribute = si64,
    with_right_bound: bool = True,
) -> SSAValue:
    """opset3.Bucketize(x, buckets) -> how many boundaries are below each element, or without `with_right_bound` not
    above it
    """
    rank = node.known_rank(0)
    elements = op.Unsqueeze(x, [rank])
    if node.element(0) != node.element(1):
        elements, buckets = (op.Cast(each, to=node.element(0)) for each in (elements, buckets))
    is_below = op.Less(buckets, elements) if with_right_bound else op.LessOrEqual(buckets, elements)
    return op.cast(op.ReduceSum(op.Cast(is_below, to=si64), [rank], keepdims=0), output_type)
