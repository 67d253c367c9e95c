"""Activations with parameters.

Source: activation_op.cc, prelu_op.cc and activation_functor.h of PaddlePaddle 3.3.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.shapes import normalize_axis, rank_of, shape_of
from moir.expansions.constant_forms import along_channels
from moir.lowering.binder import LoweringNode
from moir.lowering.paddle.table import paddle
from moir.rewriting.builder import OpBuilder


@paddle.lowers("leaky_relu")
def leaky_relu(op: OpBuilder, x: SSAValue, *, alpha: float = 0.02) -> SSAValue:
    """paddle.leaky_relu(x) {alpha = 0.02} -> opset1.PRelu(x, alpha)"""
    return op.PRelu(x, op.constant_like(np.array([alpha]), x))


@paddle.lowers("elu")
def elu(op: OpBuilder, x: SSAValue, *, alpha: float = 1.0) -> SSAValue:
    """paddle.elu(x) {alpha} -> opset1.Elu(x) {alpha}"""
    return op.Elu(x, alpha=alpha)


@paddle.lowers("celu")
def celu(op: OpBuilder, x: SSAValue, *, alpha: float = 1.0) -> SSAValue:
    """paddle.celu(x) {alpha} -> alpha · opset1.Elu(x / alpha)"""
    return op.Elu(x, alpha=1.0) if alpha == 1 else op.Multiply(op.Elu(op.Divide(x, alpha), alpha=1.0), alpha)


@paddle.lowers("selu")
def selu(op: OpBuilder, x: SSAValue, *, scale: float = 1.0507009873554805, alpha: float = 1.6732632423543772) -> SSAValue:
    """paddle.selu(x) {scale, alpha} -> opset1.Selu(x, alpha, scale)"""
    return op.Selu(x, op.constant_like(alpha, x), op.constant_like(scale, x))


@paddle.lowers("gelu")
def gelu(op: OpBuilder, x: SSAValue, *, approximate: bool = False) -> SSAValue:
    """paddle.gelu(x) {approximate = false} -> opset7.Gelu(x)"""
    return op.Gelu(x, approximation_mode="TANH" if approximate else "ERF")


@paddle.lowers("swish")
def swish(op: OpBuilder, x: SSAValue, *, beta: float = 1.0) -> SSAValue:
    """paddle.swish(x) {beta = 1} -> opset4.Swish(x, beta)"""
    return op.Swish(x) if beta == 1 else op.Swish(x, op.constant_like(beta, x))


@paddle.lowers("mish")
def mish(op: OpBuilder, x: SSAValue, *, threshold: float = 20.0) -> SSAValue:
    """paddle.mish(x) -> opset4.Mish(x): beyond the threshold, 20, softplus(x) is x in f32"""
    return op.Mish(x) if threshold >= 20 else op.Multiply(x, op.Tanh(_softplus(op, x, 1.0, threshold)))


@paddle.lowers("softplus")
def softplus(op: OpBuilder, x: SSAValue, *, beta: float = 1.0, threshold: float = 20.0) -> SSAValue:
    """paddle.softplus(x) {beta = 1, threshold = 20} -> opset4.SoftPlus(beta · x) / beta, x beyond the threshold"""
    return _softplus(op, x, beta, threshold)


def _softplus(op: OpBuilder, x: SSAValue, beta: float, threshold: float) -> SSAValue:
    scaled = x if beta == 1 else op.Multiply(x, beta)
    value = op.SoftPlus(scaled)
    value = value if beta == 1 else op.Divide(value, beta)
    return value if threshold >= 20 else op.Select(op.Greater(scaled, threshold), x, value)


@paddle.lowers("soft_relu")
def soft_relu(op: OpBuilder, x: SSAValue, *, threshold: float = 40.0) -> SSAValue:
    """paddle.soft_relu(x) {threshold = 40} -> opset4.SoftPlus of x limited to the threshold on both sides"""
    return op.SoftPlus(op.Clamp(x, min=-threshold, max=threshold))


@paddle.lowers("hard_sigmoid")
def hard_sigmoid(op: OpBuilder, x: SSAValue, *, slope: float = 0.2, offset: float = 0.5) -> SSAValue:
    """paddle.hard_sigmoid(x) {slope = 0.2, offset = 0.5} -> opset1.HardSigmoid(x, slope, offset)"""
    if abs(slope - 1 / 6) < 1e-6 and offset == 0.5:
        return op.HSigmoid(x)
    return op.HardSigmoid(x, op.constant_like(slope, x), op.constant_like(offset, x))


@paddle.lowers("hard_swish")
def hard_swish(op: OpBuilder, x: SSAValue, *, threshold: float = 6.0, scale: float = 6.0, offset: float = 3.0) -> SSAValue:
    """paddle.hard_swish(x) -> opset4.HSwish(x); with other numbers x · min(max(x + offset, 0), threshold) / scale"""
    if (threshold, scale, offset) == (6.0, 6.0, 3.0):
        return op.HSwish(x)
    return op.Divide(op.Multiply(x, op.Clamp(op.Add(x, offset), min=0.0, max=threshold)), scale)


@paddle.lowers("brelu")
def bounded_relu(op: OpBuilder, x: SSAValue, *, t_min: float = 0.0, t_max: float = 24.0) -> SSAValue:
    """paddle.brelu(x) {t_min, t_max} -> opset1.Clamp(x)"""
    return op.Clamp(x, min=t_min, max=t_max)


@paddle.lowers("hard_shrink")
def hard_shrink(op: OpBuilder, x: SSAValue, *, threshold: float = 0.5) -> SSAValue:
    """paddle.hard_shrink(x) -> x where |x| > threshold, else 0"""
    return op.Select(op.Greater(op.Abs(x), threshold), x, op.constant_like(0.0, x))


@paddle.lowers("softshrink")
def soft_shrink(op: OpBuilder, x: SSAValue, *, lambda_: float = 0.5) -> SSAValue:
    """paddle.softshrink(x) {lambda} -> x - x limited to [-lambda, lambda]"""
    return op.Subtract(x, op.Clamp(x, min=-lambda_, max=lambda_))


@paddle.lowers("thresholded_relu")
def thresholded_relu(op: OpBuilder, x: SSAValue, *, threshold: float = 1.0, value: float = 0.0) -> SSAValue:
    """paddle.thresholded_relu(x) -> x where it is above the threshold, else the value"""
    return op.Select(op.Greater(x, threshold), x, op.constant_like(value, x))


@paddle.lowers("stanh")
def scaled_tanh(op: OpBuilder, x: SSAValue, *, scale_a: float = 0.67, scale_b: float = 1.7159) -> SSAValue:
    """paddle.stanh(x) -> scale_b · opset1.Tanh(scale_a · x)"""
    return op.Multiply(op.Tanh(op.Multiply(x, scale_a)), scale_b)


@paddle.lowers("logit")
def logit(op: OpBuilder, x: SSAValue, *, eps: float = 1e-6) -> SSAValue:
    """paddle.logit(x) {eps} -> log(x / (1 - x)), x limited to [eps, 1 - eps]"""
    x = op.Clamp(x, min=eps, max=1 - eps) if eps > 0 else x
    return op.Log(op.Divide(x, op.Subtract(1.0, x)))


@paddle.lowers("prelu")
def prelu(node: LoweringNode, op: OpBuilder, x: SSAValue, alpha: SSAValue, *, mode: str = "all", data_format: str = "NCHW") -> SSAValue:
    """paddle.prelu(x, alpha) {mode} -> opset1.PRelu(x, alpha), alpha along the channels where there are several"""
    rank = node.known_rank(0)
    if mode == "all":
        return op.PRelu(x, op.Reshape(alpha, [1], special_zero=False))
    if mode == "element":
        return op.PRelu(x, alpha)
    if mode != "channel":
        node.fail(f"mode {mode!r} does not exist")
    is_last = data_format.endswith("C") and data_format != "NC"
    vector = op.Reshape(alpha, [-1], special_zero=False)
    return op.PRelu(x, vector if is_last or rank < 3 else along_channels(op, vector, rank - 2))


@paddle.lowers("softmax", "log_softmax")
def softmax(node: LoweringNode, op: OpBuilder, x: SSAValue, *, axis: int = -1) -> SSAValue:
    """paddle.softmax(x) {axis = -1} -> opset8.Softmax(x) {axis}, and opset5.LogSoftmax"""
    if rank_of(x) == 0:
        return op.constant_like(1.0 if node.op.KIND == "softmax" else 0.0, x)
    return (op.Softmax if node.op.KIND == "softmax" else op.LogSoftmax)(x, axis=axis)


@paddle.lowers("maxout")
def maxout(node: LoweringNode, op: OpBuilder, x: SSAValue, *, groups: int, axis: int = 1) -> SSAValue:
    """paddle.maxout(x) {groups, axis = 1} -> the largest of each group of channels"""
    shape = shape_of(x)
    if shape is None or groups < 1 or (channels := shape[axis := normalize_axis(axis, len(shape))]) < 0 or channels % groups:
        node.fail(f"its channels are not {groups} groups")
    # [N, C, …] -> [N, C / groups, groups, …]
    sizes = op.ShapeOf(x)
    before, after = op.Slice(sizes, [0], [axis], [1]), op.Slice(sizes, [axis + 1], [len(shape)], [1])
    split = op.Reshape(x, op.Concat(before, op.constant([channels // groups, groups]), after, axis=0), special_zero=False)
    return op.ReduceMax(split, [axis + 1], keep_dims=False)


@paddle.lowers("swiglu")
def swiglu(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue | None = None) -> SSAValue:
    """paddle.swiglu(x, y) -> opset4.Swish(x) · y; without y of both halves of x"""
    if y is None:
        x, y = op.Split.parts(2, x, op.constant(node.known_rank(0) - 1), num_splits=2)
    return op.Multiply(op.Swish(x), y)
