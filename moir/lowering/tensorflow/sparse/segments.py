"""Sums, means, products, minima and maxima over segments of slices.

A Scatter with a reduction combines the slices of the data; sums over rows of a table are opset3.EmbeddingSegmentsSum.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import groupby

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES, REAL_TYPES, bf16, describe, dynamic, si32, si64, to_numpy
from moir.dialects.shapes import element_count, element_of, is_static, rank_of, shape_of
from moir.expansions.shape_values import as_list, as_scalar, rank_value
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_parts
from moir.lowering.tensorflow.indexing import as_indices
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder, Operand

REDUCTIONS = {"Max": "max", "Mean": "mean", "Min": "min", "Prod": "prod", "Sum": "sum"}
"""For each reduction in the name of a kind, its name in the operation sets."""


@tf.lowers("SegmentMax", "SegmentMin", "SegmentProd")
@tf.lowers("SegmentMean", "SegmentSum", complex=by_parts(0))
def segment(node: LoweringNode, op: OpBuilder, data: SSAValue, segment_ids: SSAValue) -> SSAValue:
    """tf.SegmentSum(x, ids)
    -> opset12.ScatterElementsUpdate(zeros, ids, x, 0) {reduction}, where ids have the shape of x

    The number of segments is the last id plus 1. A segment without slices is 0, for a product 1. Likewise means,
    products and minima. Maxima become opset16.SegmentMax, sums over computed ids opset3.EmbeddingSegmentsSum.
    """
    ids = as_indices(op, segment_ids)
    reduction = REDUCTIONS[node.op.KIND.removeprefix("Segment")]
    if reduction == "max":
        return op.SegmentMax(data, ids, fill_mode="zero")
    if reduction == "sum" and op.known.integers(segment_ids) is None:
        return op.EmbeddingSegmentsSum(data, every_row(op, ids), ids, as_scalar(op, last_segment(op, ids)))
    empty = op.constant_like(1 if reduction == "prod" else 0, data)
    start = op.Broadcast(empty, target_shape(op, data, last_segment(op, ids)))
    if reduction == "sum":
        return op.ScatterNDUpdate(start, op.Unsqueeze(ids, [1]), data, reduction=reduction)
    return op.ScatterElementsUpdate(start, repeated_ids(op, ids, data), data, 0, reduction=reduction, use_init_val=reduction == "prod")


def every_row(op: OpBuilder, ids: SSAValue) -> SSAValue:
    """The indices 0, 1, … of ids, in the element type of the ids."""
    count, element = element_count(shape_of(ids)), element_of(ids)
    if count is not None:
        return op.constant(np.arange(count), element)
    element = element if element in (si32, si64) else si32
    size = op.Squeeze(op.ShapeOf(ids, output_type=element), [0])
    return op.Range(op.constant(0, element), size, op.constant(1, element), output_type=element)


def last_segment(op: OpBuilder, ids: SSAValue) -> SSAValue:
    """The number of segments of ascending ids, as a 1-D tensor of one element."""
    known, count = op.known.integers(ids), element_count(shape_of(ids))
    if known is not None:
        return op.constant([known[-1] + 1 if known else 0], element_of(ids))
    if count == 0:
        return op.constant([0], element_of(ids))
    if count is None:
        # Without ids the number of segments is 0.
        ids = op.Concat(op.constant([-1], element_of(ids)), ids, axis=0)
    return op.Add(op.Gather(ids, [-1], 0), 1)


def target_shape(op: OpBuilder, data: SSAValue, count: SSAValue) -> Operand:
    """The shape of the result: the number of segments, then all dimensions of the data but the first."""
    shape, known = shape_of(data), op.known.integers(count)
    if shape is not None and is_static(shape[1:]):
        rest: Operand = shape[1:]
        if known is not None:
            return [*known, *shape[1:]]
        if not shape[1:]:
            return count
    else:
        rest = op.Slice(op.ShapeOf(data), [1], [2**31 - 1], [1], [0])
    return op.Concat(op.convert(count, si64), rest, axis=0)


def repeated_ids(op: OpBuilder, ids: SSAValue, data: SSAValue) -> SSAValue:
    """The ids broadcast to the shape of the data."""
    rank, shape = rank_of(data), shape_of(data)
    if rank == 1:
        return ids
    target: Operand = shape if shape is not None and is_static(shape) else op.ShapeOf(data)
    return op.Broadcast(ids, target, [0], mode="explicit")


# Segments in arbitrary order

NEUTRAL = {
    kind: reduction
    for name, reduction in (("Max", "max"), ("Min", "min"), ("Prod", "prod"), ("Sum", "sum"))
    for kind in (f"UnsortedSegment{name}", f"Segment{name}V2")
}
"""The reduction of each kind; a segment without slices gets the identity element of the reduction."""


@tf.lowers(*[kind for kind, reduction in NEUTRAL.items() if reduction != "sum"])
@tf.lowers(*[kind for kind, reduction in NEUTRAL.items() if reduction == "sum"], complex=by_parts(0))
def unsorted_segment(node: LoweringNode, op: OpBuilder, data: SSAValue, segment_ids: SSAValue, num_segments: SSAValue) -> SSAValue:
    """tf.UnsortedSegmentSum(x, ids, n)
    -> opset15.ScatterNDUpdate(start, ids, x) {reduction}, where start has n + 1 rows and the last one is removed

    Slices with a negative id are dropped: they are scattered into the last row, which is removed. If ids are known to
    be non-negative, there is no additional row. tf.SegmentSumV2 also drops slices with an id of n or more. Segments of
    a shape are computed from its elements.
    """
    ids, count = as_indices(op, segment_ids), as_list(op, num_segments)
    reduction, rank = NEUTRAL[node.op.KIND], rank_of(segment_ids)
    known, limit = op.known.integers(segment_ids), op.known.integers(num_segments)
    if known is not None and limit is not None and is_short_list_of_integers(data):
        return segments_of_list(op, data, known, limit[0], reduction, neutral(op, node, data, reduction))
    count = op.convert(count, element_of(ids))
    drops = known is None or min(known, default=0) < 0
    if node.op.KIND.endswith("V2") and (known is None or limit is None or max(known, default=0) >= limit[0]):
        drops, ids = True, op.Minimum(ids, as_scalar(op, count))
    rows = op.Add(count, 1) if drops else count
    if drops:
        # The id of the removed row is the number of rows of the result.
        ids = op.Select(op.Less(ids, 0), as_scalar(op, count), ids)
    start = op.Broadcast(
        neutral(op, node, data, reduction), unsorted_shape(op, data, rows, op.ShapeOf(op.ShapeOf(ids)) if rank is None else rank)
    )
    reduced = op.ScatterNDUpdate(start, op.Unsqueeze(ids, [-1]), data, reduction=reduction)
    return op.Slice(reduced, op.constant([0], element_of(count)), count, op.constant([1], element_of(count)), [0]) if drops else reduced


LONGEST_LIST = 16
"""The largest length of a 1-D tensor whose elements are combined one by one."""


def is_short_list_of_integers(data: SSAValue) -> bool:
    """Whether a value is a 1-D tensor of integers with a static length up to LONGEST_LIST, such as a shape."""
    count = element_count(shape_of(data))
    return rank_of(data) == 1 and count is not None and count <= LONGEST_LIST and element_of(data) in INTEGER_TYPES


def segments_of_list(op: OpBuilder, data: SSAValue, ids: Sequence[int], count: int, reduction: str, empty: SSAValue) -> SSAValue:
    """The reduction of each segment of a short 1-D tensor, element by element, so that a shape stays inferable.

    Args:
        op: the builder.
        data: the 1-D tensor.
        ids: the segment of each element.
        count: the number of segments.
        reduction: `max`, `min`, `prod` or `sum`.
        empty: the value of a segment without elements.
    """
    combine = {"max": op.Maximum, "min": op.Minimum, "prod": op.Multiply, "sum": op.Add}[reduction]
    positions = [[position for position, each in enumerate(ids) if each == segment] for segment in range(count)]
    parts: list[SSAValue] = []
    for is_single, group in groupby(positions, lambda members: len(members) == 1):
        if is_single:
            parts.append(op.Gather(data, [position for members in group for position in members], 0))
            continue
        for members in group:
            elements = [op.Gather(data, [position], 0) for position in members]
            parts.append(reduce(combine, elements) if elements else op.Broadcast(empty, [1]))
    return op.Concat(*parts, axis=0) if parts else op.constant([], element_of(data))


def unsorted_shape(op: OpBuilder, data: SSAValue, count: SSAValue, rank: int | SSAValue) -> Operand:
    """The shape of the result: `count` segments, then the dimensions of the data after the first `rank`, the rank of
    the ids.
    """
    shape, known = shape_of(data), op.known.integers(count)
    if isinstance(rank, SSAValue):
        return op.Concat(op.convert(count, si64), op.Slice(op.ShapeOf(data), rank, [2**31 - 1], [1], [0]), axis=0)
    if shape is not None and is_static(shape[rank:]):
        if known is not None:
            return [*known, *shape[rank:]]
        return op.Concat(op.convert(count, si64), list(shape[rank:]), axis=0) if shape[rank:] else count
    return op.Concat(op.convert(count, si64), op.Slice(op.ShapeOf(data), [rank], [2**31 - 1], [1], [0]), axis=0)


def neutral(op: OpBuilder, node: LoweringNode, data: SSAValue, reduction: str) -> SSAValue:
    """The value of a segment without slices: the identity element of the reduction in the type of the data.

    Raises ConversionError if the element type is unknown or has no order.
    """
    element = element_of(data)
    if reduction in ("sum", "prod"):
        return op.constant_like(int(reduction == "prod"), data)
    if element is dynamic or element not in REAL_TYPES | INTEGER_TYPES or describe(element).is_packed:
        node.fail("the element type of the data is unknown or has no order")
    dtype = to_numpy(element)
    if dtype.kind in "iu":
        integers = np.iinfo(dtype)
        return op.constant(np.array(integers.max if reduction == "min" else integers.min, dtype), element)
    # numpy has no limits of bf16: the largest number has the largest bit pattern of a finite number.
    largest = np.array(0x7F7F, np.uint16).view(dtype) if element == bf16 else np.array(np.finfo(dtype).max, dtype)
    return op.constant(largest if reduction == "min" else np.negative(largest), element)


# Rows of a table


@tf.lowers("SparseSegmentMean", "SparseSegmentSqrtN", "SparseSegmentSum")
def sparse_segment(node: LoweringNode, op: OpBuilder, data: SSAValue, indices: SSAValue, segment_ids: SSAValue) -> SSAValue:
    """tf.SparseSegmentSum(table, indices, ids)
    -> opset3.EmbeddingSegmentsSum(table, indices, ids, n), n from the last id

    Likewise SparseSegmentMean and SparseSegmentSqrtN, whose sums are divided by the number of rows or its square root.
    """
    return segments_of_rows(node, op, data, indices, segment_ids, None)


@tf.lowers("SparseSegmentMeanWithNumSegments", "SparseSegmentSqrtNWithNumSegments", "SparseSegmentSumWithNumSegments")
def sparse_segment_count(
    node: LoweringNode, op: OpBuilder, data: SSAValue, indices: SSAValue, segment_ids: SSAValue, num_segments: SSAValue
) -> SSAValue:
    """tf.SparseSegmentSumWithNumSegments(table, indices, ids, n)
    -> opset3.EmbeddingSegmentsSum(table, indices, ids, n); likewise the means, as in `sparse_segment`
    """
    return segments_of_rows(node, op, data, indices, segment_ids, as_scalar(op, num_segments))


def segments_of_rows(
    node: LoweringNode, op: OpBuilder, data: SSAValue, indices: SSAValue, ids: SSAValue, count: SSAValue | None
) -> SSAValue:
    """Sums over segments of the rows of data at `indices`; `ids` has the segment of each.

    `count` is the number of segments; None: the last id plus 1. For means, and kinds with SqrtN, the sums are divided
    by the number of rows of the segment, or its square root.
    """
    indices, ids = as_indices(op, indices), as_indices(op, ids)
    element = si32 if element_of(indices) == element_of(ids) == si32 else si64
    indices, ids = op.convert(indices, element), op.convert(ids, element)
    count = as_scalar(op, last_segment(op, ids)) if count is None else op.convert(count, element)
    total = op.EmbeddingSegmentsSum(data, indices, ids, count)
    if "Sum" in node.op.KIND:
        return total
    ones = op.Broadcast(op.constant_like(1, data), op.ShapeOf(ids))
    sizes = op.ScatterElementsUpdate(op.Broadcast(op.constant_like(0, data), as_list(op, count)), ids, ones, 0, reduction="sum")
    divisor = op.Maximum(sizes, 1)
    if "SqrtN" in node.op.KIND:
        divisor = op.Sqrt(divisor)
    rank = node.rank(0)
    if rank is None:
        ones = op.Broadcast(op.constant([1]), op.Subtract(rank_value(op, data), 1))
        return op.Divide(total, op.Reshape(divisor, op.Concat([-1], ones, axis=0), special_zero=False))
    return op.Divide(total, op.Unsqueeze(divisor, list(range(1, rank))) if rank > 1 else divisor)
