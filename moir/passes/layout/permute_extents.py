"""Permuted forms of operations with vectors of one element for each dimension: paddings, bounds, sizes, repeats.

Pad(Transpose(x, [0, 2, 3, 1]), [0, 1, 2, 0], …)  ->  Transpose(Pad(x, [0, 0, 1, 2], …), [0, 2, 3, 1])
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from moir.analysis.constants import constant_of
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of, shape_of
from moir.passes.layout.orders import inverse
from moir.passes.layout.permute_elementwise import broadcast_operand, order_of_result
from moir.passes.layout.permuted import LayoutRule, Offer, Permuted, permute_vector, replace_axes, together


def has_entry_for_each(op: OpsetOp, index: int, rank: int) -> bool:
    """Whether an operand is a 1-D tensor of exactly `rank` elements."""
    return shape_of(op.operands[index]) == (rank,)


def vectors(offer: Offer, indices: tuple[int, ...] | None = None) -> Permuted | None:
    """A layout rule: data and result share any permutation, and operands with an element for each dimension are
    permuted.

    Args:
        offer: the operation.
        indices: the operands that are such vectors, by default the `EXTENTS` of the operation class.

    Returns None if another operand is permuted, or one of these is not known to have as many elements as the rank.
    """
    op, order = offer.op, offer.order
    indices = indices or op.EXTENTS
    permuted = together(op, order, (0,)) if offer.is_of(0) else None
    if permuted is None or not all(has_entry_for_each(op, index, len(order)) for index in indices):
        return None
    for index in indices:
        permute_vector(permuted, index, op.operands[index], order)
    return permuted


def between_space_and_batch(offer: Offer) -> Permuted | None:
    """The layout rule of SpaceToBatch and BatchToSpace: the batch stays first, divided dimensions keep their order.

    The relative order of these dimensions determines how the batch is composed. Returns None for other permutations,
    and for a computed block shape.
    """
    op, order = offer.op, offer.order
    block = constant_of(op.operands[1])
    if block is None or block.size != len(order) or order[0] != 0:
        return None
    cut = [axis for axis in order if axis > 0 and block[axis] != 1]
    return vectors(offer, (1, 2, 3)) if cut == sorted(cut) else None


def broadcast(offer: Offer) -> Permuted | None:
    """The layout rule of Broadcast: the result has any permutation; the data broadcast to it as in an elementwise
    operation.

    Returns None for explicit axes, and for a target of unknown length.
    """
    op = offer.op
    order = order_of_result(op, offer.order)
    if not offer.is_of(0) or op.text("mode") not in ("numpy", "bidirectional") or order is None:
        return None
    if not has_entry_for_each(op, 1, len(order)):
        return None
    permuted = Permuted([None] * len(op.operands), [order])
    if not broadcast_operand(permuted, 0, op.operands[0], order):
        return None
    permute_vector(permuted, 1, op.operands[1], order)
    return permuted


def slice_(offer: Offer) -> Permuted | None:
    """The layout rule of Slice: the axes are renumbered; without them the permuted form lists the first axes.

    Returns None if another operand than the data is permuted, or the number of axes is unknown.
    """
    op, order = offer.op, offer.order
    permuted = together(op, order, (0,)) if offer.is_of(0) else None
    if permuted is None:
        return None
    if len(op.operands) > 4:
        replace_axes(permuted, 4, op.operands[4], order)
        return permuted
    counts = shape_of(op.operands[1])
    if counts is None or len(counts) != 1 or counts[0] < 0:
        return None
    axes = np.array(inverse(order)[: counts[0]], np.int64)
    permuted.construct = lambda builder, values: [builder.Slice(*values, axes)]
    return permuted


def interpolate(offer: Offer) -> Permuted | None:
    """The layout rule of Interpolate, whose axes are an operand, or all axes.

    A permuted form may resize only the last dimensions, or the same dimensions as before, since a target may not
    support others. Returns None for other permutations, and for computed axes.
    """
    op, order = offer.op, offer.order
    rank = len(order)
    permuted = together(op, order, (0,)) if offer.is_of(0) else None
    if permuted is None:
        return None
    last = len(op.operands) - 1
    vectors = (1,) if op.name == "opset11.Interpolate" else (1, 2)
    if last == vectors[-1]:
        if not all(has_entry_for_each(op, index, rank) for index in vectors) or sorted(order[:2]) != [0, 1]:
            return None
        for index in vectors:
            permute_vector(permuted, index, op.operands[index], order)
    else:
        axes = constant_of(op.operands[last])
        if axes is None:
            return None
        before = [int(axis) for axis in axes.ravel()]
        after = [inverse(order)[axis] for axis in before]
        if sorted(after) != sorted(before) and not is_end(after, rank):
            return None
        sort_axes(permuted, op, last, vectors, after)
    for name in ("pads_begin", "pads_end"):
        pads = (*op.integers(name), *([0] * rank))[:rank]
        if any(pads):
            permuted.properties[name] = [pads[axis] for axis in order]
    return permuted


def is_end(axes: Sequence[int], rank: int) -> bool:
    """Whether axes are the last ones of a tensor of a rank, in any order."""
    return sorted(axes) == list(range(rank - len(axes), rank))


def sort_axes(permuted: Permuted, op: OpsetOp, index: int, vectors: Sequence[int], axes: Sequence[int]) -> None:
    """Replace operand `index`, which has axes, by ascending axes, and permute the operands `vectors` in the
    same way.
    """
    ascending = tuple(sorted(range(len(axes)), key=axes.__getitem__))
    element, numbers = element_of(op.operands[index]), np.array(sorted(axes))
    permuted.adaptations[index] = lambda op, _: op.constant(numbers, element)
    if ascending != tuple(range(len(axes))):
        for vector in vectors:
            permute_vector(permuted, vector, op.operands[vector], ascending)


RULES: dict[str, LayoutRule] = {
    "SpaceToBatch": between_space_and_batch,
    "BatchToSpace": between_space_and_batch,
    "Broadcast": broadcast,
    "Slice": slice_,
    "Interpolate": interpolate,
}
