"""Normalization: batch normalization and local response normalization.

    %y = tf.FusedBatchNormV3(%x, %scale, %offset, %mean, %variance) {epsilon = 0.001, is_training = false}
->  %0 = opset1.Multiply(%x, scale / sqrt(variance + epsilon))
    %y = opset1.Add(%0, offset - mean * scale / sqrt(variance + epsilon))

Channel-last data are normalized by a Multiply and an Add, since vectors broadcast along the last axis; channel-first
data by opset5.BatchNormInference.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import element_of
from moir.expansions.constant_forms import along_channels
from moir.expansions.response_normalization import response_normalized
from moir.frameworks.traits import SAYS_LAYOUT
from moir.lowering.binder import LoweringNode
from moir.lowering.ranks import fixed
from moir.lowering.table import Replacement
from moir.lowering.tensorflow.attributes.data_format import channel_first, channel_last, is_channel_last
from moir.lowering.tensorflow.attributes.fused_operations import ACTIVATIONS, normalized
from moir.lowering.tensorflow.ranks import with_statistics
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


@tf.lowers("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "_FusedBatchNormEx", rank=with_statistics, traits=(SAYS_LAYOUT,))
def batch_normalization(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    _scale: SSAValue,
    _offset: SSAValue,
    mean_: SSAValue,
    variance_: SSAValue,
    *,
    is_training: bool = True,
    data_format: str = "NHWC",
) -> Replacement:
    """tf.FusedBatchNormV3(x, scale, offset, mean, variance) -> opset1.Add(opset1.Multiply(x, factor), shift)

    In training mode the mean and the variance are computed from the batch, and the updated running ones are further
    results.
    """
    last = is_channel_last(node, data_format)
    if is_training:
        results = training_normalization(node, op, last)
    else:
        mean, variance = mean_, variance_
        results = [inference_normalization(node, op, last), mean, variance, mean, variance]
    if node.op.KIND == "_FusedBatchNormEx":
        results[0] = with_activation(node, op, results[0])
    results[0] = op.convert(results[0], element_of(x))
    return results[: node.result_count]


def inference_normalization(node: LoweringNode, op: OpBuilder, last: bool) -> SSAValue:
    """Operand 0 normalized by the mean and variance in operands 3 and 4; `last` is whether it is channel-last."""
    data, epsilon = node.operand(0), node.number("epsilon", 0.0001)
    vectors = [node.operand(1), node.operand(2), node.operand(3), node.operand(4)]
    if last:
        return normalized(op, data, vectors, epsilon)
    element = element_of(data)
    return op.BatchNormInference(data, *(op.convert(vector, element) for vector in vectors), epsilon=epsilon)


def training_normalization(node: LoweringNode, op: OpBuilder, last: bool) -> list[SSAValue]:
    """Operand 0 normalized by the statistics of the batch; the running mean and variance; and the mean and variance of
    the batch.
    """
    data = op.convert(node.operand(0), f32)
    scale, offset = node.operand(1), node.operand(2)
    rank = 5 if node.text("data_format", "NHWC") in ("NDHWC", "NCDHW") else node.rank(0) or 4
    axes = list(range(rank - 1)) if last else [0, *range(2, rank)]
    standard = op.MVN(data, axes, eps=node.number("epsilon", 0.0001), normalize_variance=True, eps_mode="INSIDE_SQRT")
    if not last:
        scale, offset = (along_channels(op, vector, rank - 2) for vector in (scale, offset))
    results = [op.Add(op.Multiply(standard, scale), offset)]
    if not any(node.is_used(index) for index in range(1, 5)):
        return [*results, node.operand(1), node.operand(2), node.operand(1), node.operand(2)]
    mean = op.ReduceMean(data, axes, keep_dims=False)
    centred = op.Subtract(data, op.ReduceMean(data, axes, keep_dims=True))
    variance = op.ReduceMean(op.Multiply(centred, centred), axes, keep_dims=False)
    count = op.convert(op.ReduceProd(op.Gather(op.ShapeOf(data), axes, 0), [0], keep_dims=False), f32)
    # The running variance is the unbiased estimate: its divisor is the number of elements minus 1.
    sample = op.Multiply(variance, op.Divide(count, op.Maximum(op.Subtract(count, 1.0), 1.0)))
    running = [mean, sample]
    momentum = node.number("exponential_avg_factor", 1.0)
    if momentum != 1:
        old = (node.operand(3), node.operand(4))
        running = [op.Add(op.Multiply(a, 1 - momentum), op.Multiply(b, momentum)) for a, b in zip(old, running, strict=True)]
    return [*results, *running, mean, variance]


def with_activation(node: LoweringNode, op: OpBuilder, result: SSAValue) -> SSAValue:
    """The node's activation of `result`, to which the side input, operand 5, is added before if the node has one.

    Raises ConversionError for an unknown `activation_mode`.
    """
    if node.integer("num_side_inputs", 0):
        result = op.Add(result, node.operand(5))
    mode = node.text("activation_mode", "Identity")
    if mode == "Identity":
        return result
    if mode not in ACTIVATIONS:
        node.fail(f"activation_mode {mode!r} does not exist")
    return ACTIVATIONS[mode](op, result)


@tf.lowers("BatchNormWithGlobalNormalization")
def global_batch_normalization(
    op: OpBuilder,
    t: SSAValue,
    m: SSAValue,
    v: SSAValue,
    beta: SSAValue,
    gamma: SSAValue,
    *,
    scale_after_normalization: bool = False,
    variance_epsilon: float,
) -> SSAValue:
    """tf.BatchNormWithGlobalNormalization(x, m, v, beta, scale)
    -> opset1.Add(opset1.Multiply(x, factor), shift)
    """
    scale = gamma
    if not scale_after_normalization:
        scale = op.constant_like(1.0, t)
    return normalized(op, t, [scale, beta, m, v], variance_epsilon)


@tf.lowers("LRN", rank=fixed(4, 1), traits=(SAYS_LAYOUT,))
def local_response_normalization(
    op: OpBuilder, input: SSAValue, *, beta: float = 0.5, bias: float = 1.0, depth_radius: int = 5, alpha: float = 1.0
) -> SSAValue:
    """tf.LRN(x) {depth_radius, alpha}
    -> Transpose(opset1.LRN(Transpose(x), [1]) {size = 2 * depth_radius + 1, alpha * size})
    """
    size = 2 * depth_radius + 1
    alpha = alpha * size
    x = channel_first(op, input, 4)
    return channel_last(op, response_normalized(op, x, size=size, alpha=alpha, beta=beta, bias=bias), 4)
