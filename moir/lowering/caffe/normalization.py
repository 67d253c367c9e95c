"""Normalization layers.

Source: the layers of these names in BVLC Caffe 1.0; Normalize is of SSD, BN of SegNet, GRN of Model Optimizer's fork.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.expansions.response_normalization import response_normalized
from moir.expansions.windows import padded_window
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.layer_parameters import blob, blob_count, parameters, with_parameters
from moir.lowering.caffe.table import caffe
from moir.rewriting.builder import OpBuilder


@caffe.lowers("BatchNorm")
@with_parameters("batch_norm_param")
def batch_norm(node: LoweringNode, op: OpBuilder, *, eps: float = 1e-5, use_global_stats: bool = True) -> SSAValue:
    """caffe.BatchNorm(x, mean · f, variance · f, f) {eps = 1e-5} -> opset5.BatchNormInference(x, 1, 0, mean, variance)

    Without global statistics: x minus the mean of the batch, divided by its standard deviation.
    """
    if not use_global_stats:
        return _batch_statistics(node, op, eps)
    mean, variance = (np.asarray(blob(node, index, (-1,))) for index in range(2))
    if mean.size != variance.size:
        node.fail(f"{mean.size} means and {variance.size} variances")
    total = float(blob(node, 2, (1,))[0]) if blob_count(node) > 2 else 1.0
    factor = np.float32(0 if total == 0 else 1 / total)
    one, zero = np.ones(mean.size, np.float32), np.zeros(mean.size, np.float32)
    return op.BatchNormInference(node.operand(0), one, zero, mean * factor, variance * factor, epsilon=eps)


def _batch_statistics(node: LoweringNode, op: OpBuilder, epsilon: float) -> SSAValue:
    x = node.operand(0)
    axes = [axis for axis in range(node.known_rank(0)) if axis != 1]
    centred = op.Subtract(x, op.ReduceMean(x, axes, keep_dims=True))
    variance = op.ReduceMean(op.Multiply(centred, centred), axes, keep_dims=True)
    return op.Divide(centred, op.Sqrt(op.Add(variance, epsilon)))


@caffe.lowers("BN")
@with_parameters("bn_param")
def bn(node: LoweringNode, op: OpBuilder, x: SSAValue, *, eps: float = 1e-5) -> SSAValue:
    """caffe.BN(x, scale, shift) -> opset1.Add(opset1.Multiply(x, scale), shift): SegNet's, with statistics merged

    A layer with four weights (scale, shift, mean and variance) is one of PSPNet.
    """
    rank = node.known_rank(0)
    shape = (1, -1, *[1] * (rank - 2))
    if blob_count(node) == 2:
        return op.Add(op.Multiply(x, op.constant(blob(node, 0, shape))), op.constant(blob(node, 1, shape)))
    scale, shift, mean, variance = (blob(node, index, (-1,)) for index in range(4))
    return op.BatchNormInference(x, scale, shift, mean, variance, epsilon=eps)


@caffe.lowers("LRN")
@with_parameters("lrn_param")
def lrn(
    node: LoweringNode, op: OpBuilder, x: SSAValue, *, local_size: int = 5, alpha: float = 1.0, beta: float = 0.75, k: float = 1.0
) -> SSAValue:
    """caffe.LRN(x) {local_size = 5, alpha = 1, beta = 0.75, k = 1} -> opset1.LRN(x, [1]) {size, alpha, beta, bias = k}

    Within a channel: x · (1 + alpha · mean of x² over local_size x local_size) ^ -beta, where the padding counts.
    """
    parameter = parameters(node, "lrn_param")
    if local_size < 1 or local_size % 2 == 0:
        node.fail(f"local_size {local_size} is not odd")
    if parameter.choice("norm_region", ("ACROSS_CHANNELS", "WITHIN_CHANNEL")) == "ACROSS_CHANNELS":
        return response_normalized(op, x, size=local_size, alpha=alpha, beta=beta, bias=k)
    pads = [(local_size - 1) // 2] * 2
    window = padded_window([local_size] * 2, [1, 1], pads, pads)
    mean = op["opset14.AvgPool"](op.Multiply(x, x), **window, exclude_pad=False, rounding_type="floor", auto_pad="explicit")
    return op.Multiply(x, op.Power(op.Add(op.Multiply(mean, alpha), 1.0), -beta))


@caffe.lowers("MVN")
@with_parameters("mvn_param")
def mvn(
    node: LoweringNode, op: OpBuilder, x: SSAValue, *, eps: float = 1e-9, normalize_variance: bool = True, across_channels: bool = False
) -> SSAValue:
    """caffe.MVN(x) {normalize_variance = true, across_channels = false, eps = 1e-9} -> opset6.MVN(x, [2, 3])"""
    axes = list(range(1 if across_channels else 2, node.known_rank(0)))
    return op.MVN(
        x,
        op.constant(axes),
        eps=eps,
        normalize_variance=normalize_variance,
        eps_mode="OUTSIDE_SQRT",
    )


@caffe.lowers("Normalize")
@with_parameters("norm_param")
def normalize(node: LoweringNode, op: OpBuilder, x: SSAValue, *, across_spatial: bool = True, eps: float = 1e-10) -> SSAValue:
    """caffe.Normalize(x, w) {across_spatial = true, channel_shared = true, eps = 1e-10}
    -> opset1.Multiply(opset1.NormalizeL2(x, axes) {eps, eps_mode = "add"}, w)
    """
    rank = node.known_rank(0)
    axes = list(range(1, rank)) if across_spatial else [1]
    result = op.NormalizeL2(x, op.constant(axes), eps=eps, eps_mode="add")
    return op.Multiply(result, op.constant(blob(node, 0, (1, -1, *[1] * (rank - 2)))))


@caffe.lowers("GRN")
@with_parameters("grn_param")
def grn(op: OpBuilder, x: SSAValue, *, bias: float = 1.0) -> SSAValue:
    """caffe.GRN(x) {bias = 1} -> opset1.GRN(x) {bias}"""
    return op.GRN(x, bias=bias)
