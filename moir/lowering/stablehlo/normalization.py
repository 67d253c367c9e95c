"""Batch normalization.

    %y = stablehlo.batch_norm_inference(%x, %scale, %offset, %mean, %variance) {epsilon, feature_index = 1}
->  %y = opset5.BatchNormInference(%x, …)
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.table import stablehlo
from moir.rewriting.builder import OpBuilder


@stablehlo.lowers("batch_norm_inference")
def batch_norm_inference(
    node: LoweringNode,
    op: OpBuilder,
    operand: SSAValue,
    scale: SSAValue,
    offset: SSAValue,
    mean: SSAValue,
    variance: SSAValue,
    *,
    epsilon: float,
    feature_index: int,
) -> SSAValue:
    """stablehlo.batch_norm_inference(x, scale, offset, mean, variance) -> opset5.BatchNormInference or x · a + b"""
    rank = node.known_rank(0)
    if feature_index == 1:
        return op.BatchNormInference(operand, scale, offset, mean, variance, epsilon=epsilon)
    factor = op.Divide(scale, op.Sqrt(op.Add(variance, epsilon)))
    shift = op.Subtract(offset, op.Multiply(mean, factor))
    after = rank - 1 - feature_index
    if after:
        factor, shift = (op.Reshape(each, [-1, *(1,) * after], special_zero=False) for each in (factor, shift))
    return op.Add(op.Multiply(operand, factor), shift)
