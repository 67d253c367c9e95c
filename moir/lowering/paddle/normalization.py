"""Normalization layers.

Source: batch_norm_op.cc, layer_norm_op.cc, group_norm_op.cc, instance_norm_op.cc, lrn_op.cc and norm_op.cc of
PaddlePaddle 2.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import element_of, normalize_axis, shape_of
from moir.expansions.constant_forms import along_channels, as_type
from moir.expansions.response_normalization import response_normalized
from moir.lowering.binder import LoweringNode
from moir.lowering.paddle.table import paddle
from moir.lowering.paddle.windows import channel_first, channel_last, is_channel_last, with_channels_first
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

MAXIMUM_ITERATIONS = 1000


def _rest(node: LoweringNode) -> list[SSAValue | None]:
    """A None for each result of a node but the first; these results matter only in training."""
    return [None] * (node.result_count - 1)


@paddle.lowers("batch_norm", "sync_batch_norm")
def batch_norm(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    mean: SSAValue,
    variance: SSAValue,
    gamma: SSAValue | None = None,
    beta: SSAValue | None = None,
    *,
    epsilon: float = 1e-5,
    is_test: bool = False,
    use_global_stats: bool = False,
    trainable_statistics: bool = False,
) -> Replacement:
    """paddle.batch_norm(x, mean, variance, gamma, beta) -> opset5.BatchNormInference(x, gamma, beta, mean, variance)"""
    if trainable_statistics and not is_test and not use_global_stats:
        node.fail("it normalizes by the statistics of the batch, as in training", hint="call eval() before the model is saved")
    rank, is_last = node.known_rank(0), is_channel_last(node, "data_layout") and node.known_rank(0) > 2
    element = element_of(mean)
    gamma = op.Broadcast(op.constant_like(1.0, mean), op.ShapeOf(mean)) if gamma is None else gamma
    beta = op.Broadcast(op.constant_like(0.0, mean), op.ShapeOf(mean)) if beta is None else beta
    data = channel_first(op, x, rank) if is_last else x
    data = data if element_of(data) == element else op.convert(data, element)
    result = op.BatchNormInference(data, gamma, beta, mean, variance, epsilon=epsilon)
    result = channel_last(op, result, rank) if is_last else result
    results = [op.convert(result, element_of(x)), mean, variance]
    return [*results, *[None] * (node.result_count - 3)][: node.result_count]


def _standardized(op: OpBuilder, x: SSAValue, axes: Sequence[int], epsilon: float) -> SSAValue:
    return op.MVN(x, op.constant(list(axes)), eps=epsilon, normalize_variance=True, eps_mode="INSIDE_SQRT")


def _affine(op: OpBuilder, x: SSAValue, gamma: SSAValue | None, beta: SSAValue | None) -> SSAValue:
    """x · gamma + beta, where both broadcast to x and may be None."""
    if gamma is not None:
        x = op.Multiply(x, as_type(op, gamma, element_of(x)))
    return x if beta is None else op.Add(x, as_type(op, beta, element_of(x)))


@paddle.lowers("layer_norm")
def layer_norm(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    gamma: SSAValue | None = None,
    beta: SSAValue | None = None,
    *,
    epsilon: float = 1e-5,
    begin_norm_axis: int = 1,
) -> Replacement:
    """paddle.layer_norm(x, gamma, beta) {begin_norm_axis} -> opset6.MVN(x, axes) · gamma + beta

    gamma and beta are 1-D tensors over all normalized elements.
    """
    rank, shape = node.known_rank(0), shape_of(x) or ()
    first = normalize_axis(begin_norm_axis, rank)
    result = _standardized(op, x, range(first, rank), epsilon)
    if rank - first > 1 and (gamma is not None or beta is not None):
        inner = list(shape[first:])
        sizes: object = inner if min(inner) >= 0 else op.Slice(op.ShapeOf(x), [first], [rank], [1])
        gamma, beta = (None if each is None else op.Reshape(each, sizes, special_zero=False) for each in (gamma, beta))
    return [_affine(op, result, gamma, beta), *_rest(node)]


@paddle.lowers("rms_norm")
def rms_norm(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    bias: SSAValue | None = None,
    residual: SSAValue | None = None,
    gamma: SSAValue | None = None,
    beta: SSAValue | None = None,
    *,
    epsilon: float = 1e-6,
    begin_norm_axis: int = -1,
    normalized_shape: tuple[int, ...] = (),
    quant_scale: float = -1.0,
) -> Replacement:
    """paddle.rms_norm(x, bias, residual, gamma, beta) -> s / sqrt(mean of squares of s + epsilon) · gamma + beta, s

    s is x + bias + residual. Since PaddlePaddle 3.3 the operands are x and gamma.
    """
    if quant_scale > 0:
        node.fail("results that are quantized are not supported")
    is_newer = len(node.op.operands) == 2
    if is_newer:
        bias, gamma = None, bias
    for term in (bias, residual):
        x = x if term is None else op.Add(x, term)
    rank = node.known_rank(0)
    axes = list(range(rank - len(normalized_shape) if normalized_shape else normalize_axis(begin_norm_axis, rank), rank))
    square = op.ReduceMean(op.Multiply(x, x), axes, keep_dims=True)
    normalized = _affine(op, op.Divide(x, op.Sqrt(op.Add(square, epsilon))), gamma, beta)
    return [normalized, None if is_newer else x, None][: node.result_count]


@paddle.lowers("instance_norm")
def instance_norm(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    gamma: SSAValue | None = None,
    beta: SSAValue | None = None,
    *,
    epsilon: float = 1e-5,
) -> Replacement:
    """paddle.instance_norm(x, gamma, beta) -> opset6.MVN(x, spatial axes) · gamma + beta"""
    rank = node.known_rank(0)
    result = _standardized(op, x, range(2, rank), epsilon)
    gamma, beta = (None if each is None else along_channels(op, each, rank - 2) for each in (gamma, beta))
    return [_affine(op, result, gamma, beta), *_rest(node)]


@paddle.lowers("group_norm")
def group_norm(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    gamma: SSAValue | None = None,
    beta: SSAValue | None = None,
    *,
    epsilon: float = 1e-5,
    groups: int,
) -> Replacement:
    """paddle.group_norm(x, gamma, beta) {groups} -> opset12.GroupNormalization(x, gamma, beta)"""
    rank, is_last = node.known_rank(0), is_channel_last(node, "data_layout")
    data = channel_first(op, x, rank) if is_last else x
    channels = (shape_of(data) or (-1, -1))[1]
    if channels < 0:
        node.fail("the number of channels is dynamic", hint="give the model's inputs a static number of channels")
    element = element_of(x)
    gamma = op.constant_like([1.0] * channels, data) if gamma is None else as_type(op, gamma, element)
    beta = op.constant_like([0.0] * channels, data) if beta is None else as_type(op, beta, element)
    result = op.GroupNormalization(data, gamma, beta, num_groups=groups, epsilon=epsilon)
    return [channel_last(op, result, rank) if is_last else result, *_rest(node)]


@paddle.lowers("affine_channel")
def affine_channel(node: LoweringNode, op: OpBuilder, x: SSAValue, gamma: SSAValue, beta: SSAValue) -> SSAValue:
    """paddle.affine_channel(x, gamma, beta) -> x · gamma + beta along the channels"""
    if not is_channel_last(node, "data_layout"):
        gamma, beta = (along_channels(op, each, node.known_rank(0) - 2) for each in (gamma, beta))
    return _affine(op, x, gamma, beta)


@paddle.lowers("lrn")
def lrn(
    node: LoweringNode, op: OpBuilder, x: SSAValue, *, n: int = 5, k: float = 2.0, alpha: float = 1e-4, beta: float = 0.75
) -> Replacement:
    """paddle.lrn(x) {n = 5, k = 2, alpha, beta} -> opset1.LRN(x, [1]): alpha applies to each element, not to their
    mean
    """
    normalized = partial(response_normalized, op, size=n, alpha=alpha * n, beta=beta, bias=k)
    return [with_channels_first(node, op, x, normalized), *_rest(node)]


@paddle.lowers("norm")
def norm(node: LoweringNode, op: OpBuilder, x: SSAValue, *, axis: int = -1, epsilon: float = 1e-10) -> Replacement:
    """paddle.norm(x) {axis, epsilon} -> x / sqrt(sum of squares + epsilon), and the divisor"""
    real = op.convert(x, f32)
    length = op.Sqrt(op.Add(op.ReduceSum(op.Multiply(real, real), [axis], keep_dims=True), epsilon))
    return [op.ConvertLike(op.Divide(real, length), x), length, *[None] * (node.result_count - 2)]


@paddle.lowers("data_norm")
def data_norm(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    size: SSAValue,
    total: SSAValue,
    square: SSAValue,
    gamma: SSAValue | None = None,
    beta: SSAValue | None = None,
) -> Replacement:
    """paddle.data_norm(x, size, sum, sum of squares) -> (x - sum / size) · sqrt(size / sum of squares)"""
    result = op.Multiply(op.Subtract(x, op.Divide(total, size)), op.Sqrt(op.Divide(size, square)))
    return [_affine(op, result, gamma, beta), *_rest(node)]


@paddle.lowers("spectral_norm")
def spectral_norm(
    node: LoweringNode,
    op: OpBuilder,
    weights: SSAValue,
    u: SSAValue,
    v: SSAValue,
    *,
    dim: int = 0,
    power_iters: int = 1,
    eps: float = 1e-12,
) -> SSAValue:
    """paddle.spectral_norm(weights, u, v) {dim, power_iters} -> weights / (uᵀ W v), where W has the rows of an axis"""
    rank = node.known_rank(0)
    if not 0 <= dim < rank or not 0 <= power_iters <= MAXIMUM_ITERATIONS:
        node.fail(f"axis {dim} of {rank}, {power_iters} iterations")
    rows = op.transposed(weights, [dim, *(axis for axis in range(rank) if axis != dim)])
    matrix = op.Reshape(rows, op.Concat(op.Slice(op.ShapeOf(rows), [0], [1], [1]), op.constant([-1]), axis=0), special_zero=False)
    left, right = (op.Reshape(each, [-1, 1], special_zero=False) for each in (u, v))

    def unit(value: SSAValue) -> SSAValue:
        return op.Divide(value, op.Add(op.ReduceL2(value, [0], keep_dims=True), eps))

    for _ in range(power_iters):
        right = unit(op.MatMul(matrix, left, transpose_a=True))
        left = unit(op.MatMul(matrix, right))
    largest = op.MatMul(left, op.MatMul(matrix, right), transpose_a=True)
    return op.Divide(weights, op.Reshape(largest, [], special_zero=False))
