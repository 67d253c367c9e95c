"""`fuse-softmax`: exponentials divided by their sum along an axis become one operation, and so do their logarithms.

    %m = opset1.ReduceMax(%x, [-1]) {keep_dims = true}
    %e = opset1.Exp(opset1.Subtract(%x, %m))
    %s = opset1.ReduceSum(%e, [-1]) {keep_dims = true}
    %y = opset1.Divide(%e, %s)
->  %y = opset8.Softmax(%x) {axis = -1}

    %c = opset1.Subtract(%x, %m)
    %s = opset1.ReduceSum(opset1.Exp(%c), [-1]) {keep_dims = true}
    %y = opset1.Subtract(%c, opset1.Log(%s))
->  %y = opset5.LogSoftmax(%x) {axis = -1}

The softmax of `x - c` equals that of `x` for any c that has one value along the axis. A computed c is the greatest
element, which keeps the exponentials from overflowing; the fused operation subtracts it itself. Both may share the
exponentials of one value: each of them is fused.
"""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.reduction import ReduceMax, ReductionOp
from moir.dialects.properties import value_of
from moir.dialects.shapes import rank_of, shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.rules import FusionRule, Match, Rewrite, RulePass

MOST_STEPS = 4
"""The maximum number of operations between the maximum and the difference."""


def _axis(reduction: Operation) -> int | None:
    """The axis of a reduction with one constant axis, nonnegative if the rank is known; None for other reductions."""
    axes, rank = constant_of(reduction.operands[1]), rank_of(reduction.operands[0])
    if axes is None or axes.size != 1:
        return None
    axis = int(axes.reshape(-1)[0])
    return axis + rank if axis < 0 and rank is not None else axis


def _is_equal_along(value: SSAValue, axis: int, data: SSAValue) -> bool:
    """Whether a value certainly broadcasts to the shape of the data without enlarging it, and has size 1 along an
    axis.
    """
    owner = value.owner
    if isinstance(owner, ReduceMax) and owner.flag("keep_dims") and owner.operands[0] is data:
        return _axis(owner) == axis
    shape, whole = shape_of(value), shape_of(data)
    if shape is None or whole is None or len(shape) > len(whole):
        return False
    lead = len(whole) - len(shape)
    own_axis = (axis if axis >= 0 else axis + len(whole)) - lead
    if own_axis >= 0 and shape[own_axis] != 1:
        return False
    # x [N, 1] - c [M] has the shape [N, M], which that of x need not be.
    pairs = zip(shape, whole[lead:], strict=True)
    return all(size == 1 or total not in (-1, 1) for size, total in pairs) or _is_reduced(value, data)


def _is_reduced(value: SSAValue, data: SSAValue, steps: int = MOST_STEPS) -> bool:
    """Whether a value is computed from reductions of the data by elementwise or reshaping operations, so that its
    dimensions depend on those of the data.

        opset1.Select(opset1.ReduceLogicalOr(opset10.IsNaN(%x)), nan, opset1.ReduceMax(%x))

    `steps` limits the operations between value and reduction; False beyond it.
    """
    op = value.owner
    if isinstance(op, ReductionOp):
        reduced = op.operands[0]
        source = reduced.owner
        return reduced is data or (isinstance(source, OpsetOp) and source.POINTWISE and source.operands[0] is data)
    if not steps or not isinstance(op, OpsetOp):
        return False
    if op.RESHAPES:
        return _is_reduced(op.operands[0], data, steps - 1)
    others = [each for each in op.operands if not isinstance(each.owner, Constant)]
    return (op.POINTWISE or op.BROADCASTS) and bool(others) and all(_is_reduced(each, data, steps - 1) for each in others)


def _softmax(kind: str, *, is_shifted: bool) -> Rewrite:
    def rewrite(op: OpBuilder, match: Match) -> SSAValue | None:
        total = match.operation("ReduceSum")
        axis = _axis(total) if value_of(total.properties["keep_dims"]) else None
        if axis is None or not match.is_real("x") or (is_shifted and not _is_equal_along(match["c"], axis, match["x"])):
            return None
        return getattr(op, kind)(match["x"], axis=axis)

    return rewrite


def _quotient(op: Any, exponent: Any) -> Any:
    return op.Divide(op.Exp(exponent), op.ReduceSum(op.Exp(exponent), op.constant("axis")))


def _log_sum(op: Any, exponent: Any) -> Any:
    return op.Log(op.ReduceSum(op.Exp(exponent), op.constant("axis")))


class FuseSoftmaxPass(RulePass):
    """Fuses softmax and its logarithm."""

    name = "fuse-softmax"

    RULES: ClassVar[tuple[FusionRule, ...]] = (
        FusionRule(pattern=lambda op, x, c: _quotient(op, op.Subtract(x, c)), rewrite=_softmax("Softmax", is_shifted=True), shared=True),
        FusionRule(pattern=lambda op, x: _quotient(op, x), rewrite=_softmax("Softmax", is_shifted=False), shared=True),
        FusionRule(
            pattern=lambda op, x, c: op.Subtract(op.Subtract(x, c), _log_sum(op, op.Subtract(x, c))),
            rewrite=_softmax("LogSoftmax", is_shifted=True),
            shared=True,
        ),
        FusionRule(
            pattern=lambda op, x, c: op.Subtract(x, op.Add(_log_sum(op, op.Subtract(x, c)), c)),
            rewrite=_softmax("LogSoftmax", is_shifted=True),
            shared=True,
        ),
        FusionRule(pattern=lambda op, x: op.Subtract(x, _log_sum(op, x)), rewrite=_softmax("LogSoftmax", is_shifted=False), shared=True),
    )
