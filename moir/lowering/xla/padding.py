"""Padding between and around elements, and slices at computed indices, which are clamped to the data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, si64
from moir.dialects.shapes import rank_of, shape_of
from moir.expansions.shape_values import dimension_list
from moir.rewriting.builder import OpBuilder
from moir.rewriting.constant_sizes import check_constant_size

MOST_POSITIONS = 1 << 16
"""The largest number of indices that are stored as a constant."""


def with_edges(op: OpBuilder, data: SSAValue, low: Sequence[int], high: Sequence[int], value: SSAValue) -> SSAValue:
    """Pad data with a value before the first elements and after the last; negative padding removes elements."""
    added = [[max(entry, 0) for entry in entries] for entries in (low, high)]
    if any(map(any, added)):
        data = op.Pad(data, *added, value, pad_mode="constant")
    cut = [axis for axis, (begin, end) in enumerate(zip(low, high, strict=True)) if min(begin, end) < 0]
    if not cut:
        return data
    last = 2**31 - 1
    return op.Slice(data, [max(-low[axis], 0) for axis in cut], [min(high[axis], 0) or last for axis in cut], [1] * len(cut), cut)


def with_interior(op: OpBuilder, data: SSAValue, counts: Sequence[int], value: SSAValue) -> SSAValue:
    """Insert `counts` copies of a value between the elements along each axis; the rank has to be static.

    [1, 2] with two zeros -> [[1, 0, 0], [2, 0, 0]] -> [1, 0, 0, 2, 0, 0] -> [1, 0, 0, 2]
    """
    rank = len(counts)
    for axis, count in enumerate(counts):
        if not count:
            continue
        ends = [0] * (rank + 1)
        ends[axis + 1] = count
        spread = op.Pad(op.Unsqueeze(data, [axis + 1]), [0] * (rank + 1), ends, value, pad_mode="constant")
        size = (shape_of(data) or (-1,) * rank)[axis]
        sizes = [dimension_list(op, data, each) for each in range(rank)]
        sizes[axis] = op.constant([size * (count + 1)]) if size >= 0 else op.Multiply(sizes[axis], count + 1)
        merged = op.Reshape(spread, op.Concat(*sizes, axis=0) if rank > 1 else sizes[0], special_zero=False)
        data = op.Slice(merged, [0], [-count], [1], [axis])
    return data


def limited_start(op: OpBuilder, start: SSAValue, size: SSAValue, taken: SSAValue) -> SSAValue:
    """The start of a slice of `taken` elements, clamped so that the slice lies within `size` elements, as XLA defines
    it.
    """
    return op.Maximum(op.Minimum(op.convert(start, si64), op.Subtract(size, taken)), 0)


def slice_at(op: OpBuilder, data: SSAValue, start_indices: SSAValue, sizes: Sequence[int]) -> SSAValue:
    """The slice of `sizes` at `start_indices`, a 1-D tensor with an element for each axis.

    It is an opset8.Gather(x, start + [0, 1, …], axis) for each axis that is not taken whole; an opset8.Slice for
    constants.
    """
    rank = len(sizes)
    shape, starts = shape_of(data) or (-1,) * rank, op.known.integers(start_indices)
    cut = [axis for axis in range(rank) if sizes[axis] != shape[axis]]
    if not cut:
        return data
    if starts is not None and all(shape[axis] >= 0 for axis in cut):
        first = [max(0, min(starts[axis], shape[axis] - sizes[axis])) for axis in cut]
        return op.Slice(data, first, [start + sizes[axis] for start, axis in zip(first, cut, strict=True)], [1] * len(cut), cut)
    for axis in cut:
        check_constant_size(sizes[axis])
        size = dimension_list(op, data, axis)
        start = limited_start(op, op.Gather(start_indices, [axis], 0), size, op.constant([sizes[axis]]))
        positions = np.arange(sizes[axis]) if sizes[axis] <= MOST_POSITIONS else op.Range(0, sizes[axis], 1, output_type=si64)
        data = op.Gather(data, op.Add(start, positions), axis)
    return data


def updated_at(op: OpBuilder, input: SSAValue, update: SSAValue, indices: SSAValue) -> SSAValue:
    """Data with an update written at `indices`, a 1-D tensor with an element for each axis.

    It is an opset3.ScatterUpdate(x, start + [0, 1, …], update, axis) if the other axes are written whole; else an
    opset1.Select(opset12.Pad(true, start, …), opset12.Pad(update, start, …), x).
    """
    rank = rank_of(input) or 0
    shape, written = shape_of(input) or (-1,) * rank, shape_of(update) or (-1,) * rank
    cut = [axis for axis in range(rank) if shape[axis] != written[axis] or shape[axis] < 0]
    if not cut:
        return update
    if len(cut) == 1:
        size, taken = (dimension_list(op, value, cut[0]) for value in (input, update))
        start = limited_start(op, op.Gather(indices, cut, 0), size, taken)
        positions = op.Add(start, op.Range(0, op.Squeeze(taken, [0]), 1, output_type=si64))
        return op.ScatterUpdate(input, positions, update, cut[0])
    size, taken = op.ShapeOf(input), op.ShapeOf(update)
    start = limited_start(op, indices, size, taken)
    end = op.Subtract(op.Subtract(size, taken), start)
    ones = op.Broadcast(op.constant(np.array(1, np.uint8)), taken)
    inside = op.Pad(ones, start, end, op.constant(np.array(0, np.uint8)), pad_mode="constant")
    moved = op.Pad(update, start, end, op.constant_like(0, update), pad_mode="constant")
    return op.Select(op.convert(inside, boolean), moved, input)
