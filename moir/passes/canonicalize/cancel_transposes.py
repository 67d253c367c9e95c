"""`cancel-transposes`: two transpositions in a row become one, or none.

    %1 = opset1.Transpose(%0, [0, 2, 3, 1])
    %2 = opset1.Transpose(%1, [0, 3, 1, 2])
    opset1.Result(%2)
->  opset1.Result(%0)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from moir.analysis.known_values import KnownValues
from moir.dialects.opset.movement import Transpose
from moir.dialects.shapes import rank_of
from moir.rewriting.driver import Pattern, PatternPass, Rewriter


def order_of(op: Transpose, known: KnownValues) -> tuple[int, ...] | None:
    """The order of a transposition, None if it is not known."""
    order, rank = known.integers(op.operands[1]), rank_of(op.operands[0])
    if order is None or (not order and rank is None):
        return None
    return order or tuple(reversed(range(rank or 0)))


def transposed(rewriter: Rewriter, value: SSAValue, order: Sequence[int]) -> SSAValue:
    """A value transposed by an order; the value itself if that is the order it has."""
    if list(order) == sorted(order):
        return value
    return rewriter.op.Transpose(value, np.array(order, np.int64))


class TransposeOfTranspose(Pattern):
    """Merges a transposition with the one before it, which stays if it has other uses."""

    roots = (Transpose,)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        assert isinstance(rewriter, Rewriter)
        assert isinstance(op, Transpose)
        inner = op.operands[0].owner
        if not isinstance(inner, Transpose):
            return
        first, second = order_of(inner, rewriter.known), order_of(op, rewriter.known)
        if first is None or second is None:
            return
        value = inner.operands[0]
        merged = [first[axis] for axis in second]
        if merged == sorted(merged) and value.type != op.results[0].type:
            return
        rewriter.replace_with(op, transposed(rewriter, value, merged))


@dataclass(frozen=True)
class CancelTransposesPass(PatternPass):
    """Merges transpositions."""

    name = "cancel-transposes"

    FIXPOINT: ClassVar[bool] = True

    def patterns(self) -> list[RewritePattern]:
        return [TransposeOfTranspose()]
