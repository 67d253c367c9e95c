"""Recognizing sequences [N, T, K]: values that are the steps of a sequence, its reversal, and its lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from xdsl.ir import Operation, OpResult, SSAValue

from moir.analysis.constants import constant_of, scalar_of
from moir.dialects.opset.arithmetic import Add
from moir.dialects.opset.indexing import Gather, Gather1, Gather7
from moir.dialects.opset.movement import Concat, Split
from moir.dialects.opset.shape import Squeeze, Squeeze1
from moir.dialects.opset.slicing import Slice
from moir.dialects.shapes import normalize_axis, rank_of, shape_of
from moir.rewriting.builder import OpBuilder

RANK = 3
"""The rank of a sequence, whose dimensions are batch, time and features."""


def lengths(op: OpBuilder, x: SSAValue, batch: int = 0, time: int = 1) -> SSAValue:
    """The length T of each of the N sequences of x, as a tensor [N].

    It is computed from the sizes of x, also where they are known, since the model may be reshaped.

    Args:
        op: the builder.
        x: the sequences, of rank 3.
        batch: the axis of the N sequences.
        time: the axis of the T steps.
    """
    sizes = op.ShapeOf(x)
    return op.Broadcast(op.Gather(sizes, [time], 0), op.Gather(sizes, [batch], 0))


def initial_zeros(op: OpBuilder, x: SSAValue, tail: Sequence[int], batch: int = 0) -> SSAValue:
    """A state of zeros [N, *tail] for the N sequences along an axis of x, with N computed as by `lengths`."""
    sizes = op.Concat(op.Gather(op.ShapeOf(x), [batch], 0), list(tail), axis=0)
    return op.Broadcast(op.constant_like(0.0, x), sizes)


def reversal_of(value: SSAValue, axis: int) -> SSAValue | None:
    """The value whose reversal along an axis this value is; None if this value is not a reversal."""
    op = value.owner
    if not isinstance(op, Slice) or len(op.operands) < 5:
        return None
    entries = [constant_of(operand) for operand in list(op.operands)[1:5]]
    numbers = [int(entry[0]) for entry in entries if entry is not None and entry.size == 1]
    return (
        op.operands[0] if len(numbers) == 4 and numbers[0] == numbers[2] == -1 and numbers[1] <= -(2**31) and numbers[3] == axis else None
    )


class Piece(NamedTuple):
    """A slice of one element of an axis: `source` at index `place`; the axis has `size` elements."""

    source: SSAValue
    axis: int
    place: int
    size: int


def _piece(value: SSAValue) -> Piece | None:
    """The slice of one element that a value is: a Gather of one index, or a Squeeze of a result of a Split.

    None if the value is not such a slice. The sliced axis is not in the value.
    """
    op = value.owner
    if isinstance(op, Gather | Gather1 | Gather7):
        source, index, axis = op.operands[0], constant_of(op.operands[1]), scalar_of(op.operands[2])
        shape = shape_of(source)
        if index is None or index.ndim or axis is None or shape is None or shape[int(axis)] < 0:
            return None
        count = shape[int(axis)]
        return Piece(source, int(axis) % len(shape), int(index) % count, count) if -count <= int(index) < count else None
    if not isinstance(op, Squeeze | Squeeze1) or len(op.operands) < 2 or not isinstance(part := op.operands[0], OpResult):
        return None
    split, axes, rank = part.owner, constant_of(op.operands[1]), rank_of(part)
    if not isinstance(split, Split) or axes is None or axes.size != 1 or rank is None:
        return None
    axis, split_axis = normalize_axis(int(axes.reshape(-1)[0]), rank), scalar_of(split.operands[1])
    if split_axis is None or normalize_axis(int(split_axis), rank) != axis or (shape_of(part) or ())[axis] != 1:
        return None
    return Piece(split.operands[0], axis, part.index, len(split.results))


def joined(op: OpBuilder, values: Sequence[SSAValue]) -> SSAValue | None:
    """The sequence [N, T, K] whose slices along T are the values [N, K], in order.

    The slices must be consecutive steps of an existing sequence; or the values are all Concats, or all sums, of such
    slices of several sequences. None otherwise.
    """
    pieces = [_piece(value) for value in values]
    first = pieces[0]
    if first is not None:
        order, end = {0: [1, 0, 2], 1: [0, 1, 2]}.get(first.axis), first.place + len(values)
        following = [first._replace(place=step) for step in range(first.place, end)]
        if following != pieces or order is None or rank_of(first.source) != RANK:
            return None
        whole = first.source
        # Gathers read the same entries after a reshape of the model. `eliminate-identities` removes a Slice of all.
        if len(values) < first.size or isinstance(values[0].owner, Gather | Gather1 | Gather7):
            whole = op.Slice(whole, [first.place], [end], [1], [first.axis])
        return op.transposed(whole, order)
    producers = [value.owner for value in values if isinstance(value.owner, Concat | Add)]
    if len(producers) < len(values):
        return None
    if all(isinstance(each, Concat) and normalize_axis(each.integer("axis"), 2) == 1 for each in producers):
        return _combined(op, producers, lambda parts: op.Concat(*parts, axis=2))
    if all(isinstance(each, Add) and each.text("auto_broadcast") == "numpy" for each in producers):
        return _combined(op, producers, lambda parts: op.Add(*parts))
    return None


def _combined(op: OpBuilder, producers: Sequence[Operation], combine: Callable[[list[SSAValue]], SSAValue]) -> SSAValue | None:
    """The result of applying `combine` to whole sequences, if `producers` are the same operation applied to each step.

    None unless, for each operand index, the operands of all the operations form a sequence.
    """
    if len({len(each.operands) for each in producers}) != 1:
        return None
    columns = zip(*(each.operands for each in producers), strict=True)
    sequences = [combined for column in columns if (combined := joined(op, column)) is not None]
    return combine(sequences) if len(sequences) == len(producers[0].operands) else None
