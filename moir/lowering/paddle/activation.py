"""Activations with parameters, and the cross entropy of a softmax.

Source: activation_op.cc, prelu_op.cc, activation_functor.h and cross_entropy_kernel.cc of PaddlePaddle 3.3.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import normalize_axis, rank_of, shape_of
from moir.expansions.constant_forms import along_channels
from moir.lowering.binder import LoweringNode
from moir.lowering.paddle.table import paddle
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

paddle.lowers_each(
    {
        "leaky_relu": lambda op, x, *, alpha=0.02: op.PRelu(x, op.constant_like(np.array([alpha]), x)),
        "elu": lambda op, x, *, alpha=1.0: op.Elu(x, alpha=alpha),
        "gelu": lambda op, x, *, approximate=False: op.Gelu(x, approximation_mode="TANH" if approximate else "ERF"),
        "swish": lambda op, x, *, beta=1.0: op.Swish(x) if beta == 1 else op.Swish(x, op.constant_like(beta, x)),
        "softplus": lambda op, x, *, beta=1.0, threshold=20.0: _softplus(op, x, beta, threshold),
        "soft_relu": lambda op, x, *, threshold=40.0: op.SoftPlus(op.Clamp(x, min=-threshold, max=threshold)),
        "brelu": lambda op, x, *, t_min=0.0, t_max=24.0: op.Clamp(x, min=t_min, max=t_max),
        "hard_shrink": lambda op, x, *, threshold=0.5: op.Select(op.Greater(op.Abs(x), threshold), x, op.constant_like(0.0, x)),
        "softshrink": lambda op, x, *, lambda_=0.5: op.Subtract(x, op.Clamp(x, min=-lambda_, max=lambda_)),
        "thresholded_relu": lambda op, x, *, threshold=1.0, value=0.0: op.Select(op.Greater(x, threshold), x, op.constant_like(value, x)),
        "stanh": lambda op, x, *, scale_a=0.67, scale_b=1.7159: op.Multiply(op.Tanh(op.Multiply(x, scale_a)), scale_b),
    }
)


@paddle.lowers("celu")
def celu(op: OpBuilder, x: SSAValue, *, alpha: float = 1.0) -> SSAValue:
    """paddle.celu(x) {alpha} -> alpha · opset1.Elu(x / alpha)"""
    return op.Elu(x, alpha=1.0) if alpha == 1 else op.Multiply(op.Elu(op.Divide(x, alpha), alpha=1.0), alpha)


@paddle.lowers("selu")
def selu(op: OpBuilder, x: SSAValue, *, scale: float = 1.0507009873554805, alpha: float = 1.6732632423543772) -> SSAValue:
    """paddle.selu(x) {scale, alpha} -> opset1.Selu(x, alpha, scale)"""
    return op.Selu(x, op.constant_like(alpha, x), op.constant_like(scale, x))


@paddle.lowers("mish")
def mish(op: OpBuilder, x: SSAValue, *, threshold: float = 20.0) -> SSAValue:
    """paddle.mish(x) -> opset4.Mish(x): beyond the threshold, 20, softplus(x) is x in f32"""
    return op.Mish(x) if threshold >= 20 else op.Multiply(x, op.Tanh(_softplus(op, x, 1.0, threshold)))


def _softplus(op: OpBuilder, x: SSAValue, beta: float, threshold: float) -> SSAValue:
    scaled = x if beta == 1 else op.Multiply(x, beta)
    value = op.SoftPlus(scaled)
    value = value if beta == 1 else op.Divide(value, beta)
    return value if threshold >= 20 else op.Select(op.Greater(scaled, threshold), x, value)


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


@paddle.lowers("logit")
def logit(op: OpBuilder, x: SSAValue, *, eps: float = 1e-6) -> SSAValue:
    """paddle.logit(x) {eps} -> log(x / (1 - x)), x clamped to [eps, 1 - eps]"""
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


@paddle.lowers("softmax_with_cross_entropy")
def cross_entropy(
    node: LoweringNode,
    op: OpBuilder,
    logits: SSAValue,
    label: SSAValue,
    *,
    soft_label: bool = False,
    use_softmax: bool = True,
    ignore_index: int = -100,
    axis: int = -1,
) -> Replacement:
    """paddle.softmax_with_cross_entropy(x, labels) {axis} -> opset8.Softmax(x), -opset5.LogSoftmax(x) at the labels

    The loss of a label that is `ignore_index` is 0; soft labels are the shares of all classes.
    """
    rank = node.known_rank(0)
    axis = normalize_axis(axis, rank)
    shares = op.Softmax(logits, axis=axis) if use_softmax else logits
    logarithms = op.LogSoftmax(logits, axis=axis) if use_softmax else op.Log(logits)
    if soft_label:
        loss = op.Negative(op.ReduceSum(op.Multiply(label, logarithms), [axis], keep_dims=True))
    else:
        classes = label if rank_of(label) == rank else op.Unsqueeze(label, [axis])
        counts = op.NotEqual(classes, ignore_index)
        classes_ = op.convert(op.Select(counts, classes, op.constant_like(0, classes)), si64)
        likelihood = op.GatherElements(logarithms, classes_, axis=axis)
        loss = op.Select(counts, op.Negative(likelihood), op.constant_like(0, likelihood))
    return [shares, loss]
