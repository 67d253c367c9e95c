"""Scatter: writes slices at computed indices, with any order of dimensions; `indexing.py` has the indices.

    %y = stablehlo.scatter(%x, %i, %u) {scatter_dims_to_operand_dims = [0], …} ({^0(%a, %b): return add(%a, %b)})
->  %y = opset15.ScatterNDUpdate(%x, %i, %u) {reduction = "sum"}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.ir import Region, SSAValue

from moir.dialects.element_types import boolean, si64, ui8
from moir.dialects.shapes import element_of, shape_of, size_along
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.xla.computations import combination
from moir.lowering.xla.indexing import HINT, SliceIndices, batching_of, check_dimensions, index_lists
from moir.rewriting.builder import OpBuilder

REDUCTIONS = {"second": "none", "max": "max", "min": "min", "prod": "prod", "sum": "sum"}
"""The reduction of ScatterNDUpdate for each function that combines the present element with the update."""

COMBINED = {"max": "Maximum", "min": "Minimum", "prod": "Multiply", "sum": "Add"}
"""The operation on whole tensors for each reduction."""

Combine = Callable[[list[SSAValue]], Sequence[SSAValue]]
"""Builds the function of a scatter, given the present elements of all tensors, followed by their updates."""


def scattered(
    node: LoweringNode,
    op: OpBuilder,
    operands: Sequence[SSAValue],
    body: Region,
    update_window_dims: Sequence[int],
    scatter_dims_to_operand_dims: Sequence[int],
    inserted_window_dims: Sequence[int],
    combine: Combine | None = None,
) -> list[SSAValue]:
    """Tensors with updates written at indices.

    A slice that does not lie within a tensor is not written. Unless the indices are constants, such slices are written
    after it, into elements that are cut off afterwards.

    Args:
        node: a node that has the other dimension numbers.
        op: builds the operations.
        operands: the tensors, the indices, and the updates of each tensor.
        body: the function of the present elements of the tensors, followed by their updates.
        update_window_dims, scatter_dims_to_operand_dims, inserted_window_dims: dimension numbers.
        combine: builds a function that is not a reduction of ScatterNDUpdate; the indices of updates must then be
            distinct. None if there is no such function.
    """
    count, rank = len(operands) // 2, node.known_rank(0)
    tensors, updates = operands[:count], operands[count + 1 :]
    kinds_of_reduction = [REDUCTIONS.get(combination(body, index, count + index, index) or "") for index in range(count)]
    is_known = all(each == "none" or (each and element_of(x) is not boolean) for each, x in zip(kinds_of_reduction, tensors, strict=True))
    reductions = [each or "none" for each in kinds_of_reduction]
    batching, index_batching = batching_of(node, "input_batching_dims", "scatter_indices_batching_dims")
    check_dimensions(node, True, (*scatter_dims_to_operand_dims, *inserted_window_dims, *batching))
    kept = [axis for axis in range(rank) if axis not in inserted_window_dims and axis not in batching]
    if len(kept) != len(update_window_dims):
        node.fail(f"its update_window_dims {list(update_window_dims)} do not fit its other dimension numbers")
    window_of = dict(zip(kept, update_window_dims, strict=True))
    written, shape = shape_of(updates[0]) or (-1,) * node.known_rank(count + 1), shape_of(tensors[0]) or (-1,) * rank
    batch = [axis for axis in range(len(written)) if axis not in update_window_dims]
    if not is_known and (combine is None or not (node.flag("unique_indices") or all(written[axis] == 1 for axis in batch))):
        node.fail("its function is not a sum, a product, an extreme or the update alone", hint="cut the model before this node")
    sizes = [written[window_of[axis]] if axis in window_of else 1 for axis in range(rank)]
    mapped = list(scatter_dims_to_operand_dims)
    others = [axis for axis in range(rank) if axis not in mapped and axis not in batching]
    partial = [axis for axis in others if axis not in window_of or not _is_whole(op, tensors[0], updates[0], axis, window_of[axis])]
    if any(shape[axis] < 0 or sizes[axis] < 0 for axis in partial):
        node.fail("it writes a part of a dimension that no start belongs to, whose size is dynamic", hint=HINT)
    if not mapped and not batching and not partial and not batch:
        return _combined(
            op, tensors, [op.transposed(each, update_window_dims) for each in updates], reductions, None if is_known else combine
        )
    starts = index_lists(node, op, count)
    # Along dimensions without starts an update begins at the first element.
    if mapped or batching:
        starts = op.Concat(starts, *[op.Multiply(op.Gather(starts, [0], -1), 0)] * len(partial), axis=-1) if partial else starts
        mapped += partial
    else:
        mapped = partial or others[:1]
        if any(written[axis] < 0 for axis in batch) or any(sizes[axis] < 0 for axis in mapped):
            node.fail("it has no starts, and the size of what it writes is unknown", hint=HINT)
        starts = op.constant(np.zeros([*(written[axis] for axis in batch), len(mapped)], np.int64))
    computed = None
    if any(sizes[axis] < 0 for axis in mapped):
        each = [dimension_list(op, updates[0], window_of[axis]) if axis in window_of else op.constant([1]) for axis in range(rank)]
        computed = op.Concat(*each, axis=0)
    indexing = SliceIndices(op, tensors[0], starts, mapped, batching, index_batching, sizes, computed)
    singles = [window_of[axis] for axis in mapped if axis in window_of and axis not in indexing.several]
    order = [*batch, *(window_of[axis] for axis in (*indexing.several, *indexing.whole)), *singles]
    values = [op.transposed(each, order) for each in updates]
    if singles:
        values = [op.Squeeze(each, list(range(len(order) - len(singles), len(order)))) for each in values]
    return _written(op, indexing, tensors, values, reductions, None if is_known else combine)


def _combined(
    op: OpBuilder, tensors: Sequence[SSAValue], updates: list[SSAValue], reductions: Sequence[str], combine: Combine | None
) -> list[SSAValue]:
    """Tensors whose elements are all updated: each update, or its combination with the tensor by the named reduction.

    `combine` is as in `scattered`, and takes precedence.
    """
    if combine is not None:
        return list(combine([*tensors, *updates]))
    pairs = zip(tensors, updates, reductions, strict=True)
    return [update if kind == "none" else getattr(op, COMBINED[kind])(tensor, update) for tensor, update, kind in pairs]


def _is_whole(op: OpBuilder, operand: SSAValue, updates: SSAValue, axis: int, window: int) -> bool:
    """Whether dimension `window` of the updates covers the whole dimension `axis` of the operand.

    Two dynamic dimensions are taken to be equal, since updates of other sizes are not valid.
    """
    if (shape_of(operand) or ())[axis : axis + 1] == (shape_of(updates) or ())[window : window + 1]:
        return True
    return bool(op.known.dimension(operand, axis) == op.known.dimension(updates, window))


def _written(
    op: OpBuilder,
    indexing: SliceIndices,
    tensors: Sequence[SSAValue],
    values: list[SSAValue],
    reductions: Sequence[str],
    combine: Combine | None,
) -> list[SSAValue]:
    """Tensors after `values` have been written at the indices of slices, combined with their elements by the
    reductions.
    """
    order = [*indexing.indexed, *indexing.whole]
    rank, starts = len(order), indexing.indices
    targets = [op.transposed(each, order) for each in tensors]
    limits = indexing.limits() if indexing.mapped else None
    bounds = None if limits is None else op.known.constant(limits)
    known = op.known.constant(starts)
    is_within = limits is None or (known is not None and bounds is not None and bool(np.all((known >= 0) & (known <= bounds))))
    after, axis = 0, 0
    size = None if limits is None else dimension_list(op, indexing.data, indexing.mapped[0])
    if not is_within and limits is not None and size is not None:
        after, axis = indexing.sizes[indexing.mapped[0]], indexing.indexed.index(indexing.mapped[0])
        inside = op.LogicalAnd(op.GreaterEqual(starts, 0), op.LessEqual(starts, limits))
        inside = op.ReduceLogicalAnd(inside, [-1], keep_dims=True)
        # The index of the first appended element, and 0 along all other dimensions.
        outside = op.Concat(size, op.constant([0] * (len(indexing.mapped) - 1)), axis=0) if len(indexing.mapped) > 1 else size
        starts = op.Select(inside, starts, outside)
        ends: SSAValue = op.constant([after if each == axis else 0 for each in range(rank)], si64)
        if after < 0:
            ends = op.ScatterElementsUpdate(ends, [axis], indexing.sizes_along(indexing.mapped[:1]), 0)
        targets = [_extended(op, each, ends) for each in targets]
    indices = indexing.elements(starts)
    if combine is not None:
        values = list(combine([*(op.GatherND(each, indices, batch_dims=0) for each in targets), *values]))
    results: list[SSAValue] = []
    for tensor, target, value, reduction in zip(tensors, targets, values, reductions, strict=True):
        element = element_of(tensor)
        if element is boolean:
            target, value = op.convert(target, ui8), op.convert(value, ui8)
        result = op.ScatterNDUpdate(target, indices, value, reduction=reduction)
        if after:
            result = op.Slice(result, [0], [-after] if after > 0 or size is None else size, [1], [axis])
        results.append(op.transposed(op.convert(result, element), [order.index(each) for each in range(rank)]))
    return results


def _extended(op: OpBuilder, target: SSAValue, ends: SSAValue) -> SSAValue:
    """A tensor with zeros appended: along each dimension as many as the 1-D tensor `ends` states."""
    data = op.convert(target, ui8) if element_of(target) is boolean else target
    padded = op.Pad(data, [0] * size_along(shape_of(ends) or (0,), 0), ends, op.constant_like(0, data), pad_mode="constant")
    return op.convert(padded, element_of(target))
