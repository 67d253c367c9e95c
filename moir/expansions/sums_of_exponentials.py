"""The logarithm of the sum of exponentials, without overflow."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.rewriting.builder import OpBuilder, Operand


def log_of_sum_of_exponentials(op: OpBuilder, x: SSAValue, axes: Operand, *, keep_dims: bool) -> SSAValue:
    """log(sum(exp(x - m))) + m along axes, where m is the maximum along these axes, or 0 where the maximum is
    infinite.
    """
    most = op.ReduceMax(x, axes, keep_dims=True)
    most = op.Select(op.IsFinite(most), most, op.constant_like(0, most))
    total = op.Log(op.ReduceSum(op.Exp(op.Subtract(x, most)), axes, keep_dims=True))
    logarithm = op.Add(total, most)
    return logarithm if keep_dims else op.Squeeze(logarithm, axes)
