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
from xdsl.ir import SSAValue

from moir.dialects.opset.movement import Transpose
from moir.dialects.opset.shape import Reshape
from moir.dialects.shapes import shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.rules import FusionRule, Match, RulePass


def merge_transposes(op: OpBuilder, match: Match) -> SSAValue | None:
    """The data transposed once; None if an order is computed, or if the data have another type than the result."""
    second, first = (each.permutation(op.known) for each in match.operations if isinstance(each, Transpose))
    if first is None or second is None:
        return None
    return op.transposed(match["x"], [first[axis] for axis in second])


TRANSPOSE_OF_TRANSPOSE = FusionRule(
    name="TransposeOfTranspose",
    pattern=lambda op, x, first, second: op.Transpose(op.Transpose(x, first), second),
    rewrite=merge_transposes,
    shared=True,
)
"""Merges a transposition with the one that produces its data, which stays if it has other uses."""


def transpose_before_split(op: OpBuilder, match: Match) -> SSAValue | None:
    """The data transposed and then reshaped; None if the transposition separates the parts of a dimension."""
    outer, transpose, inner = match.operations
    assert isinstance(outer, Reshape)
    assert isinstance(inner, Reshape)
    assert isinstance(transpose, Transpose)
    order = transpose.permutation(op.known)
    copied = [inner.flag("special_zero") and entry == 0 for entry in match.constant("split").ravel().tolist()]
    parts = split_dimensions(shape_of(match["x"]) or (), shape_of(inner.results[0]) or (), copied)
    merged = None if parts is None or order is None else merged_order(order, parts)
    if parts is None or merged is None:
        return None
    entries, sizes = match.constant("target").ravel().tolist(), shape_of(transpose.results[0]) or ()
    whole = [len(parts[axis]) == 1 for axis in merged]
    for index, entry in enumerate(entries):
        if entry == 0 and outer.flag("special_zero") and not all(whole[: index + 1]):
            # A 0 copies the dimension at its index, which is another dimension now, so it is replaced by the size.
            if sizes[index] < 0:
                return None
            entries[index] = sizes[index]
    return op.Reshape(op.transposed(match["x"], merged), np.array(entries, np.int64), special_zero=outer.flag("special_zero"))


SPLIT_AND_MERGED = FusionRule(
    name="SplitAndMerged",
    pattern=lambda op, x, order: op.Reshape(op.Transpose(op.Reshape(x, op.constant("split")), order), op.constant("target")),
    rewrite=transpose_before_split,
)
"""Moves a Transpose before the Reshape that splits dimensions, if it keeps the parts of each dimension together and a
Reshape follows it.
"""


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


class CancelTransposesPass(RulePass):
    """Merges consecutive transpositions, and transposes dimensions before they are split."""

    name = "cancel-transposes"

    KEEPS_DIMENSIONS = True

    FIXPOINT: ClassVar[bool] = True

    RULES = (TRANSPOSE_OF_TRANSPOSE, SPLIT_AND_MERGED)
