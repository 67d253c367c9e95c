"""Slice, Pad and Squeeze by older operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.element_types import si64
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.slicing import UNBOUNDED
from moir.dialects.shapes import rank_of, shape_of
from moir.rewriting.builder import OpBuilder
from moir.targets.releases.expansions.expansion import Expansion


def slice_by_strides(op: OpBuilder, node: OpsetOp) -> SSAValue | None:
    """StridedSlice of the dimensions up to the last axis, all of the dimensions that are not sliced.

    %y = opset8.Slice(%x, [1], [9223372036854775807], [2], [1])
    ->  %y = opset1.StridedSlice(%x, [0, 1], [0, 0], [1, 2]) {begin_mask = [1, 0], end_mask = [1, 1]}

    None if the axes are not constant, or for a dynamic rank.
    """
    data, *bounds = node.operands[:4]
    rank, lengths = rank_of(data), shape_of(bounds[0])
    axes = constant_of(node.operands[4]) if len(node.operands) > 4 else None
    if rank is None or lengths is None or lengths[0] < 0 or (len(node.operands) > 4 and axes is None):
        return None
    positions = list(range(lengths[0])) if axes is None else [int(axis) % rank for axis in axes.ravel()]
    if not positions:
        return op.Reshape(data, op.ShapeOf(data), special_zero=False)
    count = max(positions) + 1
    stops, steps = (constant_of(each) for each in bounds[1:])
    ends: list[bool] = []
    if stops is not None and steps is not None:
        ends = [_is_end(stop, step) for stop, step in zip(stops.ravel().tolist(), steps.ravel().tolist(), strict=True)]
    begin_mask, end_mask = [1] * count, [1] * count
    for index, axis in enumerate(positions):
        begin_mask[axis] = 0
        end_mask[axis] = int(index < len(ends) and ends[index])
    vectors = [_spread(op, each, positions, count, filler) for each, filler in zip(bounds, (0, 0, 1), strict=True)]
    return op.StridedSlice(data, *vectors, begin_mask=begin_mask, end_mask=end_mask)


def _is_end(stop: int, step: int) -> bool:
    """Whether a stop index lies beyond all elements in the direction of the step."""
    return stop >= UNBOUNDED if step > 0 else stop <= -UNBOUNDED


def _spread(op: OpBuilder, entries: SSAValue, axes: Sequence[int], count: int, filler: int) -> SSAValue:
    """A 1-D tensor of `count` elements: `entries` at the indices `axes`, and `filler` at all others."""
    known = constant_of(entries)
    if known is not None:
        vector = np.full(count, filler, np.int64)
        # Readers convert bounds to 32 bits.
        vector[list(axes)] = np.clip(known.ravel().astype(np.int64), -UNBOUNDED, UNBOUNDED)
        return op.constant(vector, si64)
    entries = op.convert(entries, si64)
    indices = [axes.index(axis) if axis in axes else len(axes) for axis in range(count)]
    if indices == list(range(count)):
        return entries
    return op.Gather(op.Concat(entries, op.constant([filler]), axis=0), indices, 0)


def pad(op: OpBuilder, node: OpsetOp) -> SSAValue | None:
    """Pad by numbers that are not negative, of what a Slice leaves of the data if some are negative.

    %y = opset12.Pad(%x, [0, -1], [2, 0])                                            // %x: [3, 4]
    ->  %y = opset1.Pad(opset8.Slice(%x, [1], [2147483647], [1], [1]), [0, 0], [2, 0])

    Paddings that are computed are concatenated, see `_concatenated`; None in other modes than `constant`.
    """
    data, begins, ends, *value = node.operands
    before, after = constant_of(begins), constant_of(ends)
    if before is None or after is None:
        return _concatenated(op, node) if node.text("pad_mode") == "constant" and rank_of(data) is not None else None
    before, after = (each.ravel().astype(np.int64) for each in (before, after))
    cut = np.flatnonzero((before < 0) | (after < 0))
    if cut.size:
        starts, stops = np.maximum(-before[cut], 0), np.where(after[cut] < 0, after[cut], UNBOUNDED)
        data = op.Slice(data, starts, stops, np.ones_like(starts), cut.astype(np.int64))
    return op["opset1.Pad"](data, np.maximum(before, 0), np.maximum(after, 0), *value, pad_mode=node.text("pad_mode"))


def _concatenated(op: OpBuilder, node: OpsetOp) -> SSAValue:
    """Pad by concatenation: Broadcasts of the pad value before and after the data, along one axis after the other.

    The model fails for a computed padding that is negative: no tensor has that size.
    """
    data, begins, ends, *value = node.operands
    filler = op.constant_like(0, data) if not value else value[0]
    for axis in range(rank_of(data) or 0):
        parts = [data]
        for vector, is_first in ((begins, True), (ends, False)):
            entries = op.known.elements(vector)
            if entries is not None and isinstance(entries.ravel()[axis], int | np.integer) and entries.ravel()[axis] == 0:
                continue
            length = op.convert(op.Gather(vector, [axis], 0), si64)
            shape = op.ScatterUpdate(op.ShapeOf(data), [axis], length, 0)
            block = op.Broadcast(filler, shape)
            parts = [block, *parts] if is_first else [*parts, block]
        data = op.Concat(*parts, axis=axis) if len(parts) > 1 else data
    return data


def squeeze(op: OpBuilder, node: OpsetOp) -> SSAValue | None:
    """Squeeze with `allow_axis_skip` by an older version, along those of the axes that have size 1; None for dynamic
    dimensions.
    """
    axes, shape = constant_of(node.operands[1]) if len(node.operands) > 1 else None, node.shape(0)
    if axes is None or shape is None:
        return None
    positions = [int(axis) % len(shape) for axis in axes.ravel()]
    if any(shape[axis] < 0 for axis in positions):
        return None
    ones = [axis for axis in positions if shape[axis] == 1]
    if not ones:
        return op.Reshape(node.operands[0], op.ShapeOf(node.operands[0]), special_zero=False)
    return op["opset1.Squeeze"](node.operands[0], ones)


EXPANSIONS: Mapping[str, Expansion] = {"opset8.Slice": slice_by_strides, "opset12.Pad": pad, "opset15.Squeeze": squeeze}
