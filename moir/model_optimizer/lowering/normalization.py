"""Normalizations."""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from moir.lowering.table import Replacement
from moir.model_optimizer.lowering.layout import as_given, channel_first
from moir.model_optimizer.lowering.node import MoLoweringNode
from moir.model_optimizer.lowering.table import lowers
from moir.model_optimizer.values.python_values import is_true
from moir.rewriting.builder import OpBuilder


@lowers("MVN", "MVNCaffe", "MVNOnnx")
def mvn(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.MVN(x, axes) -> opset6.MVN(x, axes); MVNCaffe and MVNOnnx likewise

    Without an operand the axes are those in `axes` or `reduction_axes`; else all but the batch if `across_channels`,
    otherwise the spatial ones in the layout of the data.
    """
    data = node.operand(0)
    if (given := node.optional(1)) is not None:
        axes: Any = given
    elif (listed := node.axes("axes", "reduction_axes")) is not None:
        axes = list(listed)
    else:
        rank = node.rank_of_value(data)
        axes = list(range(1, rank)) if is_true(node.get("across_channels", 0)) else _spatial_axes(node, rank)
    return op.MVN(
        data,
        axes,
        eps=node.number("eps", 1e-9),
        normalize_variance=is_true(node.get("normalize_variance", 1)),
        eps_mode=str(node.get("eps_mode", "inside_sqrt")).upper(),
    )


@lowers("InstanceNormalization")
def instance_normalization(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.InstanceNormalization(x, scale, bias) {epsilon} -> opset6.MVN(x, spatial axes) · scale + bias"""
    data = node.operand(0)
    axes = _spatial_axes(node, node.rank_of_value(data))
    shape = [-1] if node.is_channel_last else [-1, *[1] * len(axes)]
    value = op.MVN(data, axes, eps=node.number("epsilon", 1e-5), normalize_variance=True, eps_mode="INSIDE_SQRT")
    if (scale := node.optional(1)) is not None:
        value = op.Multiply(value, op.Reshape(scale, shape, special_zero=False))
    bias = node.optional(2)
    return value if bias is None else op.Add(value, op.Reshape(bias, shape, special_zero=False))


def _spatial_axes(node: MoLoweringNode, rank: int) -> list[int]:
    return list(range(1, rank - 1)) if node.is_channel_last else list(range(2, rank))


@lowers("BatchNorm")
def own_batch_norm(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """mo.BatchNorm(x, gamma, beta, mean, variance) {eps} made by a class of the user -> opset5.BatchNormInference"""
    return batch_norm(node, op) if node.optional(4) is not None else NotImplemented


@lowers("batchNormInference", "BatchNormInference", "FusedBatchNorm")
def batch_norm(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.batchNormInference(x, gamma, beta, mean, variance) {eps} -> opset5.BatchNormInference of the same operands;
    FusedBatchNorm likewise
    """
    if node.type is not None and str(node.get("version")) in ("opset1", "opset2", "opset3", "opset4"):
        gamma, beta, data, mean, variance = (node.operand(index) for index in range(5))
    else:
        data, gamma, beta, mean, variance = (node.operand(index) for index in range(5))
    epsilon = float(node.first("eps", "epsilon", default=1e-4 if node.kind == "FusedBatchNorm" else 1e-5))
    value = op.BatchNormInference(channel_first(node, op, data), gamma, beta, mean, variance, epsilon=epsilon)
    return as_given(node, op, value)


@lowers("LRN", "AttributedLRN", "Norm")
def lrn(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """mo.LRN(x) {alpha, beta, bias, local_size, region} -> opset1.LRN(x, axes), of channel-first data; AttributedLRN
    and Norm likewise
    """
    if node.optional(1) is not None:
        return NotImplemented
    data = channel_first(node, op, node.operand(0))
    within = str(node.get("region", "across")).lower() == "same"
    value = op.LRN(
        data,
        list(range(2, node.rank_of_value(data))) if within else [1],
        alpha=float(node.get("alpha", 1e-4)),
        beta=float(node.get("beta", 0.75)),
        bias=float(node.first("bias", "k", default=1.0)),
        size=int(node.first("local_size", "local-size", "size", default=5)),
    )
    return as_given(node, op, value)


@lowers("Normalize")
def normalize(node: MoLoweringNode, op: OpBuilder) -> SSAValue:
    """mo.Normalize(x, weights) {across_spatial, eps} -> opset1.NormalizeL2(x, axes) * weights"""
    data, weights = node.operand(0), node.optional(1)
    rank = node.rank_of_value(data)
    channel = rank - 1 if node.is_channel_last else 1
    axes = list(range(1, rank)) if is_true(node.get("across_spatial", 0)) else [channel]
    value = op.NormalizeL2(data, axes, eps=node.number("eps", 1e-10), eps_mode="add")
    if weights is None:
        return value
    shape = [1] * rank
    shape[channel] = -1
    scalar = is_true(node.get("channel_shared", 0))
    return op.Multiply(value, op.Reshape(weights, [1] * rank if scalar else shape, special_zero=False))
