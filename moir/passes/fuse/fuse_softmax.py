"""`fuse-softmax`: exponentials divided by their sum along an axis become one operation.

    %m = opset1.ReduceMax(%x, [-1]) {keep_dims = true}
    %e = opset1.Exp(opset1.Subtract(%x, %m))
    %s = opset1.ReduceSum(%e, [-1]) {keep_dims = true}
    %y = opset1.Divide(%e, %s)
->  %y = opset8.Softmax(%x) {axis = -1}
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import SSAValue

from moir.analysis.constants import constant_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.rules import FusionRule, Match, RulePass


def _axis(value: SSAValue) -> int | None:
    """The one axis that a constant names; None for any other value."""
    array = constant_of(value)
    return int(array.reshape(-1)[0]) if array is not None and array.size == 1 else None


def _softmax(op: OpBuilder, match: Match) -> SSAValue | None:
    axes = [_axis(each.operands[1]) for each in match.operations if each.name.startswith("opset1.Reduce")]
    if not match.is_real("x") or not axes or axes[0] is None or len(set(axes)) > 1:
        return None
    return op.Softmax(match["x"], axis=axes[0])


class FuseSoftmaxPass(RulePass):
    """Fuses a softmax, which subtracts the largest element first."""

    name = "fuse-softmax"

    RULES: ClassVar[tuple[FusionRule, ...]] = (
        FusionRule(
            pattern=lambda op, x, a, b: op.Divide(
                op.Exp(op.Subtract(x, op.ReduceMax(x, a, keep_dims=True))),
                op.ReduceSum(op.Exp(op.Subtract(x, op.ReduceMax(x, a, keep_dims=True))), b, keep_dims=True),
            ),
            rewrite=_softmax,
        ),
    )
