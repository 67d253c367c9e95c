"""Transposition of the last two axes."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import rank_of
from moir.rewriting.builder import OpBuilder


def transposed(op: OpBuilder, matrices: SSAValue) -> SSAValue:
    """Matrices with their last two axes swapped; a value of dynamic rank is assumed to be one matrix."""
    rank = rank_of(matrices) or 2
    return op.Transpose(matrices, [*range(rank - 2), rank - 1, rank - 2])
