"""`fuse-slices`: consecutive slices are merged, slices that cover a dimension become a Split, and a slice of one
element becomes a Gather.

    %1 = opset8.Slice(%0, [0], [8], [1], [2])
    %2 = opset8.Slice(%1, [1], [9], [2], [3])
->  %2 = opset8.Slice(%0, [0, 1], [8, 9], [1, 2], [2, 3])

    %1 = opset8.Slice(%0, [0], [4], [1], [2])         // %0: [2, 7, 8]
    %2 = opset8.Slice(%0, [4], [8], [1], [2])
->  %1, %2 = opset1.Split(%0, 2) {num_splits = 2}

    %1 = opset8.Slice(%0, [-3], [9223372036854775807], [1], [1])        // %0: [2, 7, 8], of images of any size
    %2 = opset8.Slice(%0, [0], [-3], [1], [1])
->  %2, %1 = opset1.VariadicSplit(%0, 1, [-1, 3])

    %1 = opset8.Slice(%0, [3], [4], [1], [0])         // %0: [6, 2, 7]
    %2 = opset1.Reshape(%1, [2, 7])                   // or opset1.Squeeze(%1, [0])
->  %2 = opset8.Gather(%0, 3, 0)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import Operation, OpResult, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.constants import constant_of
from moir.analysis.uses import has_one_live_use, live_uses
from moir.dialects.data import Array
from moir.dialects.opset.shape import Reshape, Squeeze, Squeeze1
from moir.dialects.opset.slicing import Slice
from moir.dialects.shapes import element_of, is_static, rank_of, shape_of
from moir.dialects.symbols import Symbol
from moir.rewriting.dimension_patterns import DimensionsPass, DimensionsPattern
from moir.rewriting.driver import Pattern, Rewriter


def cuts_of(op: Slice) -> tuple[Array, Array, Array, list[int]] | None:
    """Starts, stops, steps and nonnegative axes of a slice; None if one of them is not constant."""
    rank, axes = rank_of(op.operands[0]), op.optional_operand(4)
    bounds = [constant_of(operand) for operand in op.operands[1:4]]
    if rank is None or any(bound is None for bound in bounds):
        return None
    starts, stops, steps = (bound.astype(np.int64) for bound in bounds if bound is not None)
    positions = np.arange(starts.size) if axes is None else constant_of(axes)
    return None if positions is None else (starts, stops, steps, [int(axis) % rank for axis in positions.ravel()])


class SliceOfSlice(Pattern):
    """Merges a Slice into the Slice that produces its data, which must have no other uses."""

    roots = (Slice,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Slice)
        inner = op.operands[0].owner
        if not isinstance(inner, Slice) or not has_one_live_use(inner.results[0]):
            return
        first, second = cuts_of(inner), cuts_of(op)
        if first is None or second is None or set(first[3]) & set(second[3]):
            return
        bounds: list[SSAValue] = [rewriter.op.constant(np.concatenate([a, b])) for a, b in zip(first[:3], second[:3], strict=True)]
        axes = rewriter.op.constant(np.array(first[3] + second[3], np.int64))
        merged = rewriter.op.Slice(inner.operands[0], *bounds, axes)
        if merged.type == op.results[0].type or element_of(merged) == element_of(op.results[0]):
            rewriter.replace_with(op, merged)


def part_of(op: Operation) -> tuple[int, int, int] | None:
    """The axis, start and end of a slice of adjacent elements along one axis of a known size; None for other slices."""
    shape = shape_of(op.operands[0])
    cuts = cuts_of(op) if isinstance(op, Slice) and shape is not None else None
    if shape is None or cuts is None or len(cuts[3]) != 1 or cuts[2].size != 1 or int(cuts[2][0]) != 1:
        return None
    size = shape[cuts[3][0]]
    if size < 0:
        return None
    start, end = (max(0, min(int(each[0]) + (size if each[0] < 0 else 0), size)) for each in cuts[:2])
    return (cuts[3][0], start, end) if start < end else None


RESIZING = (Reshape, Squeeze, Squeeze1)


class PartsOfWhole(DimensionsPattern):
    """Merges the slices of a value that together cover a whole dimension, each beginning where another one ends."""

    roots = (Slice,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        first, data = part_of(op), op.operands[0]
        if first is None or first[1] != 0 or not has_several_uses(data):
            return
        axis, size = first[0], (shape_of(data) or ())[first[0]]
        following: dict[int, tuple[Operation, int]] = {}
        for use in live_uses(data):
            other = use.operation
            slice_part = part_of(other) if isinstance(other, Slice) and other.parent is op.parent and other is not op else None
            if slice_part is not None and slice_part[0] == axis and slice_part[1] not in following:
                following[slice_part[1]] = (other, slice_part[2])
        parts, ends = [op], [first[2]]
        while ends[-1] in following:
            part, end = following[ends[-1]]
            parts.append(part)
            ends.append(end)
        if len(parts) < 2 or ends[-1] != size:
            return
        tokens = self.known.tokens(data)
        lengths = [end - start for start, end in zip([0, *ends], ends, strict=False)]
        if tokens is None or isinstance(tokens[axis], Symbol):
            lengths = lasting_lengths(parts, lengths, size)
        if lengths is None:
            rewriter.decline("the slices are parts of the whole for one size only")
            return
        if 1 in lengths and any(isinstance(use.operation, RESIZING) for part in parts for use in live_uses(part.results[0])):
            rewriter.decline("single entries become Gathers")
            return
        # A Split would have larger parts after a reshape of the model, where a VariadicSplit is refused.
        is_fixed = tokens is not None and not isinstance(tokens[axis], Symbol)
        for part, result in zip(parts, split_after_producer(rewriter, data, axis, lengths, is_fixed=is_fixed), strict=True):
            rewriter.replace_with(part, result)


def lasting_lengths(parts: Sequence[Operation], lengths: list[int], size: int) -> list[int] | None:
    """The lengths of a VariadicSplit that equals the slices `parts` for any size of the dimension; -1 is the remaining
    length.

    A negative bound stays relative to the end. Returns None if a part ends at a nonnegative bound and the next one
    begins at a negative one, or the reverse. If the last part ends at a bound within the dimension, the lengths are
    returned unchanged: the slices are for this size only.

    Args:
        parts: the slices, in the order of the dimension.
        lengths: their lengths.
        size: the size of the dimension.
    """
    cut_lists = [cuts for part in parts if isinstance(part, Slice) and (cuts := cuts_of(part)) is not None]
    starts, ends = ([int(cuts[index][0]) for cuts in cut_lists] for index in (0, 1))
    if 0 <= ends[-1] <= size or starts[0] < 0:
        return lengths
    signs = [end < 0 for end in ends[:-1]]
    if signs != [start < 0 for start in starts[1:]] or signs != sorted(signs):
        return None
    rest = signs.count(False)
    return [-1 if index == rest else length for index, length in enumerate(lengths)]


def has_several_uses(value: SSAValue) -> bool:
    """Whether a value has more than one use."""
    return value.first_use is not None and value.get_user_of_unique_use() is None


def split_after_producer(rewriter: Rewriter, data: SSAValue, axis: int, lengths: Sequence[int], *, is_fixed: bool) -> Sequence[SSAValue]:
    """The parts of data along an axis, built directly after the operation that computes the data, since any part may be
    used first.

    Args:
        rewriter: the rewriter.
        data: the data.
        axis: the axis.
        lengths: the lengths of the parts; -1 is the rest.
        is_fixed: whether no reshape of the model changes the size along the axis, so that equal parts stay equal.
    """
    op, root = rewriter.op, rewriter.op.anchor
    if isinstance(data, OpResult) and data.op.parent is op.block and data.op.next_op is not None:
        op.anchor = data.op.next_op
    else:
        op.anchor = op.block.first_op
    if is_fixed and len(set(lengths)) == 1 and -1 not in lengths:
        results = op.Split.results(data, axis, num_splits=len(lengths))
    else:
        results = op.VariadicSplit.results(data, axis, lengths)
    op.anchor = root
    return results


class ElementOfSlice(Pattern):
    """Replaces a slice of one element, and the removal of its dimension, by a Gather."""

    roots = RESIZING
    companions = ((Slice,),)

    def may_match(self, op: Operation) -> bool:
        return isinstance(op.operands[0].owner, Slice)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        part = op.operands[0].owner
        assert isinstance(part, Slice)
        slice_part, shape, result = part_of(part), shape_of(part.results[0]), shape_of(op.results[0])
        if slice_part is None or shape is None or result is None or not is_static(shape) or not has_one_live_use(part.results[0]):
            return
        axis, start, end = slice_part
        if end - start == 1 and tuple(result) == (*shape[:axis], *shape[axis + 1 :]):
            # An entry that is counted from the end remains so.
            indices = constant_of(part.operands[1])
            index = start if indices is None else min(int(indices[0]), start)
            rewriter.replace_with(op, rewriter.op.Gather(part.operands[0], index, axis))


class FuseSlicesPass(DimensionsPass):
    """Merges a slice of a slice into one slice, and slices of all parts of a dimension into a Split.

    A slice of one element becomes a Gather.
    """

    name = "fuse-slices"

    FIXPOINT: ClassVar[bool] = True

    PATTERNS = (SliceOfSlice, PartsOfWhole, ElementOfSlice)

    def needs_dimensions(self, analyses: Analyses) -> bool:
        return any(has_several_uses(op.operands[0]) for op in analyses.operations(Slice))
