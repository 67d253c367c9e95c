"""`cancel-transposes`: two consecutive transpositions are merged, or erased if they cancel.

    %1 = opset1.Transpose(%0, [0, 2, 3, 1])
    %2 = opset1.Transpose(%1, [0, 3, 1, 2])
    opset1.Result(%2)
->  opset1.Result(%0)
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Operation

from moir.dialects.opset.movement import Transpose
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


class CancelTransposesPass(PatternPass):
    """Merges consecutive transpositions."""

    name = "cancel-transposes"

    KEEPS_DIMENSIONS = True

    FIXPOINT: ClassVar[bool] = True

    def patterns(self) -> list[Pattern]:
        return [TransposeOfTranspose()]
