"""`fuse-slices`: consecutive slices of different axes are merged.

    %1 = opset8.Slice(%0, [0], [8], [1], [2])
    %2 = opset8.Slice(%1, [1], [9], [2], [3])
->  %2 = opset8.Slice(%0, [0, 1], [8, 9], [1, 2], [2, 3])
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.analysis.uses import has_one_live_use
from moir.dialects.data import Array
from moir.dialects.opset.slicing import Slice
from moir.dialects.shapes import element_of, rank_of
from moir.rewriting.driver import Pattern, PatternPass, Rewriter


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


class FuseSlicesPass(PatternPass):
    """Merges consecutive slices."""

    name = "fuse-slices"

    FIXPOINT: ClassVar[bool] = True

    def patterns(self) -> list[Pattern]:
        return [SliceOfSlice()]
