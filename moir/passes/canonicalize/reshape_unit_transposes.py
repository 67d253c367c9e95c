"""`reshape-unit-transposes`: a transposition that moves only dimensions of size 1 becomes a Reshape.

    %1 = opset1.Transpose(%0, [0, 3, 1, 2]) : tensor<?x8x1x1xf32>
->  %1 = opset1.Reshape(%0, [0, 8, 1, 1]) {special_zero = true} : tensor<?x8x1x1xf32>

A Reshape moves no data and can be merged with other Reshapes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation

from moir.analysis.dimensions import Tokens
from moir.dialects.opset.movement import Transpose
from moir.dialects.symbols import Symbol, same
from moir.rewriting.dimension_patterns import DimensionsPass, DimensionsPattern
from moir.rewriting.driver import Rewriter


def target_shape(dimensions: Tokens, order: Sequence[int]) -> list[int] | None:
    """The target of a Reshape that computes the same as a transposition.

    None if the transposition moves other dimensions than those of size 1, or if too many dimensions are dynamic.
    """
    kept = [axis for axis in order if not same(dimensions[axis], 1)]
    if kept != sorted(kept):
        return None
    target: list[int] = []
    for index, axis in enumerate(order):
        token = dimensions[axis]
        target.append(token if not isinstance(token, Symbol) else 0 if index == axis else -1)
    return target if target.count(-1) < 2 and all(token or isinstance(token, Symbol) for token in dimensions) else None


class UnitTranspose(DimensionsPattern):
    """Replaces a Transpose that moves only dimensions of size 1 by a Reshape."""

    roots = (Transpose,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Transpose)
        order, tokens = op.permutation(self.known), self.known.tokens(op.operands[0])
        target = None if order is None or tokens is None else target_shape(tokens, order)
        if target is not None:
            rewriter.replace_with(op, rewriter.op.Reshape(op.operands[0], np.array(target, np.int64), special_zero=True))


class ReshapeUnitTransposesPass(DimensionsPass):
    """Replaces transpositions that move only dimensions of size 1 by Reshapes."""

    name = "reshape-unit-transposes"

    ROOTS = (Transpose,)

    PATTERNS = (UnitTranspose,)
