"""Reading, writing and searching at computed indices, by operations that do not count indices from the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from moir.analysis.constants import constant_of
from moir.analysis.integral_bounds import integral_bounds
from moir.dialects.element_types import si64
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.expansions.shape_values import dimension_value
from moir.rewriting.builder import OpBuilder
from moir.targets.releases.expansions.expansion import Expansion


def gather(op: OpBuilder, node: OpsetOp) -> SSAValue | None:
    """Gather at indices from the first element on: the size of the axis is added to negative indices.

    %y = opset8.Gather(%x, %i, 1)
    ->  %y = opset7.Gather(%x, opset1.Select(%i < 0, %i + size, %i), 1)

    Constant indices are changed themselves. None if the axis is not constant, or for a dynamic rank.
    """
    data, indices, axis = node.operands[0], node.operands[1], constant_of(node.operands[2])
    rank = rank_of(data)
    if axis is None or rank is None:
        return None
    batch, index_rank = node.integer("batch_dims"), rank_of(indices)
    if batch < 0:
        if index_rank is None:
            return None
        batch += index_rank
    position = int(axis.ravel()[0]) % rank
    return op["opset7.Gather"](data, _from_front(op, indices, data, position), op.constant(position, si64), batch_dims=batch)


def _from_front(op: OpBuilder, indices: SSAValue, data: SSAValue, axis: int) -> SSAValue:
    """Indices along an axis, with negative ones (which count from the end) replaced by the equal nonnegative ones."""
    bounds, constant, size = integral_bounds(indices), constant_of(indices), (shape_of(data) or ())[axis]
    if bounds is not None and bounds[0] >= 0:
        return indices
    if constant is not None and size >= 0:
        return op.constant(np.where(constant < 0, constant + size, constant).astype(constant.dtype), element_of(indices))
    end = op.convert(dimension_value(op, data, axis), element_of(indices))
    return op.Select(op.Less(indices, 0), op.Add(indices, end), indices)


def gather_nd(op: OpBuilder, node: OpsetOp) -> SSAValue | None:
    """GatherND by a version that has one batch dimension: several are merged by a Reshape.

    None for several of dynamic shape.
    """
    batch, result = node.integer("batch_dims"), shape_of(node.results[0])
    gathered = op["opset5.GatherND"](*node.operands, batch_dims=batch)
    if batch < 2:
        return gathered
    return None if result is None or min(result, default=0) < 0 else op.Reshape(gathered, list(result), special_zero=False)


def one_hot(op: OpBuilder, node: OpsetOp) -> SSAValue:
    """OneHot for an older version, which takes nonnegative indices only: in the mode `normalize`, the depth is added to
    negative ones.
    """
    indices, depth, *values = node.operands
    if node.text("negative_indices_mode") == "normalize":
        size = op.convert(depth, element_of(indices))
        indices = op.Select(op.Less(indices, 0), op.Add(indices, size), indices)
    return op["opset1.OneHot"](indices, depth, *values, axis=node.integer("axis"))


def search_sorted(op: OpBuilder, node: OpsetOp) -> SSAValue | None:
    """Bucketize for one row; for several, the number of elements of the row below each value.

    %y = opset15.SearchSorted(%rows, %values)                                       // %rows: [5], %values: [3, 2]
    ->  %y = opset3.Bucketize(%values, %rows) {with_right_bound = true}

    None for rows of dynamic rank.
    """
    rows, values = node.operands
    rank, includes_equal, element = rank_of(rows), node.flag("right_mode"), node.element("output_type")
    if rank is None:
        return None
    if rank == 1:
        return op.Bucketize(values, rows, with_right_bound=not includes_equal, output_type=element)
    pair = op.Unsqueeze(rows, [-2]), op.Unsqueeze(values, [-1])
    counted = op.LessEqual(*pair) if includes_equal else op.Less(*pair)
    return op.ReduceSum(op.convert(counted, element), [-1], keep_dims=False)


def slice_scatter(op: OpBuilder, node: OpsetOp) -> SSAValue | None:
    """ScatterUpdate along one axis at the indices of its slice; several axes from the inner slice to the outer one.

    %y = opset15.SliceScatter(%x, %updates, [1], [-1], [2], [0])
    ->  %0 = opset8.Slice(opset4.Range(0, size, 1), [1], [-1], [2])
        %y = opset3.ScatterUpdate(%x, %0, %updates, 0)

    None if the axes are not constant, or for a dynamic rank.
    """
    data, updates, *bounds = node.operands[:5]
    rank, count = rank_of(data), prod(shape_of(bounds[0]) or (-1,))
    axes = list(range(count)) if len(node.operands) < 6 else constant_of(node.operands[5])
    if rank is None or axes is None or count < 1:
        return None
    return _scattered(op, data, updates, bounds, [int(axis) % rank for axis in axes], 0)


def _scattered(op: OpBuilder, data: SSAValue, updates: SSAValue, bounds: Sequence[SSAValue], axes: Sequence[int], first: int) -> SSAValue:
    """Build data with `updates` in place of a slice along several axes, from the inner slice to the outer one.

    Args:
        op: the builder.
        data: the data, sliced along the axes before `first`.
        updates: the values to write.
        bounds: starts, stops and steps, as 1-D tensors with an element for each axis.
        axes: the axes.
        first: the index in `axes` of the first axis to slice.
    """
    axis = axes[first]
    start, stop, step = (op.Gather(each, [first], 0) for each in bounds)
    size = dimension_value(op, data, axis)
    indices = op.Slice(op.Range(0, size, 1, output_type=si64), start, stop, step)
    if first + 1 < len(axes):
        updates = _scattered(op, op.Gather(data, indices, axis), updates, bounds, axes, first + 1)
    return op.ScatterUpdate(data, indices, updates, axis)


EXPANSIONS: Mapping[str, Expansion] = {
    "opset8.Gather": gather,
    "opset8.GatherND": gather_nd,
    "opset16.OneHot": one_hot,
    "opset15.SearchSorted": search_sorted,
    "opset15.SliceScatter": slice_scatter,
}
