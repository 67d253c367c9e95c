"""`cancel-transposes`: two consecutive transpositions are merged, or erased if they cancel.

    %1 = opset1.Transpose(%0, [0, 2, 3, 1])
    %2 = opset1.Transpose(%1, [0, 3, 1, 2])
    opset1.Result(%2)
->  opset1.Result(%0)

    %1 = opset1.Reshape(%0, [2, 5, 2, 3, 4])              // %0: [2, 5, 6, 4]
    %2 = opset1.Transpose(%1, [0, 2, 3, 1, 4])
    %3 = opset1.Reshape(%2, [2, 2, -1, 4])
->  %1 = opset1.Transpose(%0, [0, 2, 1, 3])
    %3 = opset1.Reshape(%1, [2, 2, -1, 4])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import Operation

from moir.analysis.constants import constant_of
from moir.analysis.uses import has_one_live_use
from moir.dialects.opset.movement import Transpose
from moir.dialects.opset.shape import Reshape
from moir.dialects.shapes import refines, shape_of
from moir.rewriting.driver import Pattern, PatternPass, Rewriter


class TransposeOfTranspose(Pattern):
    """Merges a transposition with the one that produces its data, which stays if it has other uses."""

    roots = (Transpose,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Transpose)
        inner = op.operands[0].owner
        if not isinstance(inner, Transpose):
            return
        first, second = inner.permutation(rewriter.known), op.permutation(rewriter.known)
        if first is None or second is None:
            return
        value = inner.operands[0]
        merged = [first[axis] for axis in second]
        if merged == sorted(merged) and value.type != op.results[0].type:
            return
        rewriter.replace_with(op, rewriter.op.transposed(value, merged))


class SplitAndMerged(Pattern):
    """Moves a Transpose before the Reshape that splits dimensions, if it keeps the parts of each dimension together and
    a Reshape follows it.
    """

    roots = (Reshape,)

    def may_match(self, op: Operation) -> bool:
        return isinstance(op.operands[0].owner, Transpose) and isinstance(op.operands[0].owner.operands[0].owner, Reshape)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Reshape)
        outer = op.operands[0].owner
        assert isinstance(outer, Transpose)
        inner, target = outer.operands[0].owner, constant_of(op.operands[1])
        assert isinstance(inner, Reshape)
        order, split = outer.permutation(rewriter.known), constant_of(inner.operands[1])
        if order is None or split is None or target is None or not all(map(has_one_live_use, (outer.results[0], inner.results[0]))):
            return
        copied = [inner.flag("special_zero") and entry == 0 for entry in split.ravel().tolist()]
        parts = split_dimensions(shape_of(inner.operands[0]) or (), shape_of(inner.results[0]) or (), copied)
        merged = None if parts is None else merged_order(order, parts)
        if parts is None or merged is None:
            return
        entries, sizes = target.ravel().tolist(), shape_of(outer.results[0]) or ()
        whole = [len(parts[axis]) == 1 for axis in merged]
        for index, entry in enumerate(entries):
            if entry == 0 and op.flag("special_zero") and not all(whole[: index + 1]):
                # A 0 copies the dimension at its index, which is another dimension now, so it is replaced by the size.
                if sizes[index] < 0:
                    return
                entries[index] = sizes[index]
        moved = rewriter.op.transposed(inner.operands[0], merged)
        reshaped = rewriter.op.Reshape(moved, np.array(entries, np.int64), special_zero=op.flag("special_zero"))
        if refines(shape_of(reshaped), shape_of(op.results[0])):
            rewriter.replace_with(op, reshaped)


def split_dimensions(shape: Sequence[int], result: Sequence[int], copied: Sequence[bool]) -> list[list[int]] | None:
    """For each dimension of a shape, the dimensions into which a Reshape to the shape `result` splits it.

    None if dimensions are merged, or may be.

    Args:
        shape: the shape of the data.
        result: the shape of the result.
        copied: for each dimension of the result, whether it certainly equals the dimension of the shape at the same
            index.
    """
    parts: list[list[int]] = []
    position = 0
    for axis, size in enumerate(shape):
        axes, product = [position], result[position] if position < len(result) else 0
        if product < 0 or size < 0:
            if position != axis or not copied[position]:
                return None
            product = size
        while product < size and position + len(axes) < len(result) and result[position + len(axes)] > 0:
            product *= result[position + len(axes)]
            axes.append(position + len(axes))
        if product != size or product == 0:
            return None
        parts.append(axes)
        position += len(axes)
    return parts if position == len(result) else None


def merged_order(order: Sequence[int], parts: Sequence[Sequence[int]]) -> list[int] | None:
    """The permutation of the merged dimensions for a permutation of the dimensions that each was split into.

    Args:
        order: the permutation of the split dimensions.
        parts: for each merged dimension, the indices of the dimensions that it was split into.

    Returns None if the permutation separates or reorders the parts of a dimension.
    """
    starts = {parts_of_axis[0]: axis for axis, parts_of_axis in enumerate(parts)}
    merged: list[int] = []
    position = 0
    while position < len(order):
        axis = starts.get(order[position])
        if axis is None or list(order[position : position + len(parts[axis])]) != list(parts[axis]):
            return None
        merged.append(axis)
        position += len(parts[axis])
    return merged


class CancelTransposesPass(PatternPass):
    """Merges consecutive transpositions, and transposes dimensions before they are split."""

    name = "cancel-transposes"

    KEEPS_DIMENSIONS = True

    FIXPOINT: ClassVar[bool] = True

    PATTERNS = (TransposeOfTranspose, SplitAndMerged)
