"""Sequences of tensors that differ in one dimension, stored as their concatenation along that dimension and a tensor of
their shapes.

two rows and three rows of 4 numbers, along axis 0  =  data [5, 4], sizes [[2, 4], [3, 4]]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import is_static, shape_of
from moir.expansions.shape_values import LARGEST_SIZE, as_list, dimension_list
from moir.rewriting.builder import OpBuilder


@dataclass(frozen=True)
class Pieces:
    """A sequence of tensors of one rank that may differ in the size of one dimension, concatenated to one tensor.

    Args:
        data: the tensors, concatenated along `axis`.
        sizes: the shape of each tensor, i64 [count, rank].
        axis: the dimension in which they may differ, not negative.
    """

    data: SSAValue
    sizes: SSAValue
    axis: int


def lengths(op: OpBuilder, sequence: Pieces) -> SSAValue:
    """The size of each tensor of a sequence along its axis, [count]."""
    return op.Gather(sequence.sizes, sequence.axis, 1)


def count(op: OpBuilder, sequence: Pieces) -> SSAValue:
    """The number of tensors of a sequence, a 1-D tensor of one element."""
    return dimension_list(op, sequence.sizes, 0)


def piece(op: OpBuilder, sequence: Pieces, position: SSAValue) -> SSAValue:
    """The tensor of a sequence at index `position`, a 1-D tensor of one element; a negative index counts from
    the end.
    """
    each = lengths(op, sequence)
    end = op.Gather(op.CumSum(each, 0), as_list(op, position), 0)
    return op.Slice(sequence.data, op.Subtract(end, op.Gather(each, as_list(op, position), 0)), end, [1], [sequence.axis])


def of_stack(op: OpBuilder, stack: SSAValue, rank: int, axis: int = 0) -> Pieces:
    """The sequence of the slices of a tensor along its first dimension, which need not be static.

    Args:
        op: the builder.
        stack: the tensors [count, …].
        rank: the rank of each of them.
        axis: the dimension of the slices in which the tensors of the sequence may differ.
    """
    shape = op.ShapeOf(stack)
    each = op.Slice(shape, [1], [rank + 1], [1], [0])
    sizes = op.Broadcast(each, op.Concat(dimension_list(op, stack, 0), [rank], axis=0))
    moved = op.transposed(stack, [*range(1, axis + 1), 0, *range(axis + 1, rank + 1)])
    known = shape_of(stack)
    if known is not None and is_static((*known[1 : axis + 1], *known[axis + 2 :])):
        target = op.constant([*known[1 : axis + 1], -1 if 0 not in known else 0, *known[axis + 2 :]])
    else:
        parts = [dimension_list(op, stack, each + 1) for each in range(rank)]
        parts[axis] = op.Multiply(dimension_list(op, stack, 0), parts[axis])
        target = op.Concat(*parts, axis=0) if rank > 1 else parts[0]
    return Pieces(op.Reshape(moved, target, special_zero=False), sizes, axis)


def of_tensors(op: OpBuilder, tensors: Sequence[SSAValue], axis: int) -> Pieces:
    """The sequence of several tensors of one rank, which may differ in the size of `axis` and are concatenated along
    it.
    """
    sizes = [op.Unsqueeze(op.ShapeOf(each), [0]) for each in tensors]
    if len(tensors) == 1:
        return Pieces(tensors[0], sizes[0], axis)
    return Pieces(op.Concat(*tensors, axis=axis), op.Concat(*sizes, axis=0), axis)


def joined(op: OpBuilder, first: Pieces, second: Pieces) -> Pieces:
    """The tensors of `first`, then those of `second`; both sequences have the same `axis`."""
    return Pieces(op.Concat(first.data, second.data, axis=first.axis), op.Concat(first.sizes, second.sizes, axis=0), first.axis)


def append_empty(op: OpBuilder, sequence: Pieces, added: SSAValue, rank: int) -> Pieces:
    """Append tensors of rank `rank` with all dimensions 0; `added` is their number, a 1-D tensor of one element."""
    none = op.Broadcast(op.constant(0, si64), op.Concat(added, [rank], axis=0))
    return Pieces(sequence.data, op.Concat(sequence.sizes, none, axis=0), sequence.axis)


def replaced(op: OpBuilder, sequence: Pieces, added: Pieces, position: SSAValue) -> Pieces:
    """A sequence with the tensor at index `position` replaced by all tensors of the sequence `added`.

    `position` is a 1-D tensor of one element, not negative; at the number of tensors those of `added` are appended.
    """
    rest = op.Add(position, 1)

    def cut(value: SSAValue, first: SSAValue | None, end: SSAValue | None, axis: int) -> SSAValue:
        return op.Slice(
            value, op.constant([0]) if first is None else first, op.constant([LARGEST_SIZE]) if end is None else end, [1], [axis]
        )

    each = lengths(op, sequence)
    start, stop = (op.ReduceSum(cut(each, None, offset, 0), [0], keep_dims=True) for offset in (position, rest))
    data = op.Concat(
        cut(sequence.data, None, start, sequence.axis), added.data, cut(sequence.data, stop, None, sequence.axis), axis=sequence.axis
    )
    sizes = op.Concat(cut(sequence.sizes, None, position, 0), added.sizes, cut(sequence.sizes, rest, None, 0), axis=0)
    return Pieces(data, sizes, sequence.axis)


def stacked(op: OpBuilder, sequence: Pieces, rank: int, axis: int = 0) -> SSAValue:
    """The tensors of a sequence, stacked along a new dimension. The model fails unless their sizes are equal.

    Args:
        op: the builder.
        sequence: the sequence.
        rank: the rank of each tensor.
        axis: the new dimension.
    """
    largest = largest_sizes(op, sequence.sizes, rank)
    split = [*largest[: sequence.axis], count(op, sequence), *largest[sequence.axis :]]
    data = op.Reshape(sequence.data, op.Concat(*split, axis=0), special_zero=False)
    order = [*range(sequence.axis), *range(sequence.axis + 1, rank + 1)]
    order.insert(axis, sequence.axis)
    return op.transposed(data, order)


def largest_sizes(op: OpBuilder, sizes: SSAValue, rank: int) -> list[SSAValue]:
    """The largest size in each dimension among shapes `sizes` [count, rank], 1-D tensors of one element; 0 without
    shapes.
    """
    rows = op.Concat(op.constant(np.zeros((1, rank), np.int64)), sizes, axis=0)
    largest = op.ReduceMax(rows, [0], keep_dims=False)
    return [op.Gather(largest, [each], 0) for each in range(rank)]
