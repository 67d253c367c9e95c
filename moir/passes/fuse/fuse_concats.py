"""`fuse-concats`: a Concat of Concats along the same axis becomes one.

    %1 = opset1.Concat(%a, %b) {axis = 1}
    %2 = opset1.Concat(%1, %c) {axis = 1}
->  %2 = opset1.Concat(%a, %b, %c) {axis = 1}
"""

from __future__ import annotations

from itertools import islice

from xdsl.ir import Operation, SSAValue

from moir.analysis.uses import has_one_live_use, live_uses
from moir.dialects.opset.movement import Concat
from moir.dialects.shapes import rank_of
from moir.rewriting.driver import Pattern, PatternPass, Rewriter


def axis_of(op: Concat) -> int | None:
    """The axis of a Concat as a nonnegative integer; None if it is negative and the rank is dynamic."""
    axis, rank = op.integer("axis"), rank_of(op.results[0])
    return axis if axis >= 0 else None if rank is None else axis + rank


def is_merged(op: Concat, axis: int) -> bool:
    """Whether the only use of a Concat is a Concat along the same axis, into which it is merged."""
    users = [use.operation for use in islice(live_uses(op.results[0]), 2)]
    return len(users) == 1 and isinstance(users[0], Concat) and axis_of(users[0]) == axis


class ConcatOfConcats(Pattern):
    """Merges Concats without other users into the Concat that uses them, directly or through other Concats.

    Only the last Concat of a chain is rewritten. If each one were, the operands of the first Concat would be copied as
    often as the chain is long, which is quadratic.
    """

    roots = (Concat,)

    def may_match(self, op: Operation) -> bool:
        return any(isinstance(operand.owner, Concat) for operand in op.operands)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Concat)
        axis = axis_of(op)
        if axis is None or is_merged(op, axis):
            return
        operands: list[SSAValue] = []
        pending = list(reversed(op.operands))
        while pending:
            operand = pending.pop()
            inner = operand.owner
            if isinstance(inner, Concat) and axis_of(inner) == axis and has_one_live_use(operand):
                pending.extend(reversed(inner.operands))
            else:
                operands.append(operand)
        if len(operands) > len(op.operands):
            rewriter.replace_with(op, rewriter.op.Concat(*operands, axis=axis))


class FuseConcatsPass(PatternPass):
    """Merges Concats into the Concats that use them."""

    name = "fuse-concats"

    PATTERNS = (ConcatOfConcats,)
