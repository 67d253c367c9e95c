"""`separate-reductions`: a Reshape stands between a reduction of the last of three dimensions and constants for rows.

    %1 = opset1.ReduceSum(%0, [2])                       // %0: [N, 16, 7]
    %2 = opset1.Add(%1, %c)                              // %c: [1, 16], a constant
->  %1 = opset1.ReduceSum(%0, [2]) {keep_dims = true}
    %3 = opset15.Squeeze(%1, [2])
    %2 = opset1.Add(%3, %c)

The CPU plugin (2026.4) computes the elementwise operations behind a reduction, as far as their other operands are
constants, together with it. It then reads constants for single rows out of bounds if the data have three dimensions.
A reduction that keeps its dimension gets a fourth one in front.
"""

from __future__ import annotations

from xdsl.ir import Operation

from moir.dialects.opset.base import OpsetOp
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.reduction import ReductionOp
from moir.dialects.shapes import normalize_axis, rank_of, shape_of
from moir.rewriting.driver import Pattern, PatternPass, Rewriter

RANK = 3


class ReductionBeforeConstants(Pattern):
    """Separates a reduction from elementwise operations with constants of several elements."""

    roots = (ReductionOp,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, ReductionOp)
        data, axes = op.operands
        listed = rewriter.known.integers(axes)
        if rank_of(data) != RANK or listed is None or {normalize_axis(axis, RANK) for axis in listed} != {RANK - 1}:
            return
        if not meets_constants(op):
            return
        build, keeps = rewriter.op, op.flag("keep_dims")
        if keeps:
            data, listed = build.Unsqueeze(data, [0]), (RANK,)
        reduced = getattr(build, op.KIND)(data, list(listed), keep_dims=True)
        rewriter.replace_with(op, build.Squeeze(reduced, [0] if keeps else [RANK - 1]))


def meets_constants(op: OpsetOp) -> bool:
    """Whether the elementwise operations with constants alone behind an operation have one of several elements."""
    current: Operation = op
    while len(uses := list(current.results[0].uses)) == 1:
        user = uses[0].operation
        if not isinstance(user, OpsetOp) or not user.operands or not (user.POINTWISE or user.BROADCASTS):
            return False
        others = [value for value in user.operands if value is not current.results[0]]
        if not all(isinstance(value.owner, Constant) for value in others) or shape_of(user.results[0]) != shape_of(op.results[0]):
            # Such an operation the plugin computes on its own.
            return False
        if any(set(shape_of(value) or ()) - {1} for value in others):
            return True
        current = user
    return False


class SeparateReductionsPass(PatternPass):
    """Separates reductions from constants that the plugin would read out of bounds."""

    name = "separate-reductions"

    def patterns(self) -> list[Pattern]:
        return [ReductionBeforeConstants()]
