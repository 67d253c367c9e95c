"""Normalization layers.

Source: batch_norm.cc, instance_norm.cc, group_norm.cc, layer_norm.cc, l2_normalization.cc and lrn.cc of MXNet 1.9.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.shapes import normalize_axis, shape_of
from moir.expansions.response_normalization import response_normalized
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.attributes import rank_of_operand
from moir.lowering.mxnet.table import mxnet
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


@mxnet.lowers("BatchNorm", "BatchNorm_v1", "_contrib_SyncBatchNorm", "_npx_batch_norm")
def batch_norm(node: LoweringNode, op: OpBuilder) -> Replacement:
    """mxnet.BatchNorm(x, gamma, beta, mean, variance) {eps = 1e-3, axis = 1, fix_gamma = true}
    -> opset5.BatchNormInference(x, 1 or gamma, beta, mean, variance)
    """
    return normalized(node, op)


def normalized(node: LoweringNode, op: OpBuilder) -> list[SSAValue]:
    """The results of a BatchNorm: the normalized data, the mean and the variance.

    Raises ConversionError if the mean and the variance are missing.
    """
    if len(node.op.operands) < 5:
        node.fail("its mean and variance are not operands and not among the parameters")
    x, gamma, beta, mean, variance = node.operand(0), node.operand(1), node.operand(2), node.operand(3), node.operand(4)
    if node.flag("fix_gamma", node.op.KIND != "_npx_batch_norm"):
        gamma = op.Broadcast(op.ConvertLike(op.constant(1.0), gamma), op.ShapeOf(gamma))
    axis, epsilon = node.integer("axis", 1), node.number("eps", 1e-3)
    if axis == 1:
        return [op.BatchNormInference(x, gamma, beta, mean, variance, epsilon=epsilon), mean, variance]
    rank = rank_of_operand(node)
    axis = normalize_axis(axis, rank)
    if axis == 0:
        # [C, …] -> [1, C, …]
        result = op.BatchNormInference(op.Unsqueeze(x, [0]), gamma, beta, mean, variance, epsilon=epsilon)
        return [op.Squeeze(result, [0]), mean, variance]
    order = [0, axis, *(each for each in range(1, rank) if each != axis)]
    result = op.BatchNormInference(op.transposed(x, order), gamma, beta, mean, variance, epsilon=epsilon)
    return [op.transposed(result, [order.index(each) for each in range(rank)]), mean, variance]


def _standardized(op: OpBuilder, x: SSAValue, axes: Sequence[int], epsilon: float) -> SSAValue:
    return op.MVN(x, op.constant(list(axes)), eps=epsilon, normalize_variance=True, eps_mode="INSIDE_SQRT")


def _scaled(op: OpBuilder, x: SSAValue, gamma: SSAValue, beta: SSAValue, after: int) -> SSAValue:
    """x · gamma + beta, for 1-D tensors gamma and beta to which `after` dimensions of 1 are appended."""
    shaped = [op.Reshape(value, [-1, *[1] * after], special_zero=False) if after else value for value in (gamma, beta)]
    return op.Add(op.Multiply(x, shaped[0]), shaped[1])


@mxnet.lowers("InstanceNorm", "_npx_instance_norm")
def instance_norm(node: LoweringNode, op: OpBuilder, x: SSAValue, gamma: SSAValue, beta: SSAValue, *, eps: float = 1e-3) -> SSAValue:
    """mxnet.InstanceNorm(x, gamma, beta) {eps = 1e-3} -> opset6.MVN(x, [2, …]) · gamma + beta"""
    rank = rank_of_operand(node)
    normal = _standardized(op, x, range(2, rank), eps)
    return _scaled(op, normal, gamma, beta, rank - 2)


@mxnet.lowers("LayerNorm", "_npx_layer_norm")
def layer_norm(
    node: LoweringNode, op: OpBuilder, x: SSAValue, gamma: SSAValue, beta: SSAValue, *, axis: int = -1, eps: float = 1e-5
) -> Replacement:
    """mxnet.LayerNorm(x, gamma, beta) {axis = -1, eps = 1e-5} -> opset6.MVN(x, [axis]) · gamma + beta"""
    rank = rank_of_operand(node)
    axis = normalize_axis(axis, rank)
    normal = _standardized(op, x, [axis], eps)
    return [_scaled(op, normal, gamma, beta, rank - 1 - axis)]


@mxnet.lowers("GroupNorm", "_npx_group_norm")
def group_norm(
    node: LoweringNode, op: OpBuilder, x: SSAValue, gamma: SSAValue, beta: SSAValue, *, num_groups: int = 1, eps: float = 1e-5
) -> Replacement:
    """mxnet.GroupNorm(x, gamma, beta) {num_groups = 1, eps = 1e-5} -> MVN of [N, num_groups, …], in the shape of x

    gamma and beta have an element for each channel, before MXNet 1.7 for each group.
    """
    rank = rank_of_operand(node)
    grouped = op.Reshape(x, [0, num_groups, -1], special_zero=True)
    normal = _standardized(op, grouped, [2], eps)
    sizes, shape = shape_of(gamma), shape_of(x)
    if sizes is None or shape is None or sizes[0] < 0:
        node.fail("the number of its factors is dynamic")
    if sizes[0] == num_groups and shape[1] != num_groups:
        return [op.Reshape(_scaled(op, normal, gamma, beta, 1), op.ShapeOf(x), special_zero=False)]
    return [_scaled(op, op.Reshape(normal, op.ShapeOf(x), special_zero=False), gamma, beta, rank - 2)]


@mxnet.lowers("L2Normalization", "_npx_l2_normalization")
def l2_normalization(node: LoweringNode, op: OpBuilder, x: SSAValue, *, mode: str = "instance", eps: float = 1e-10) -> Replacement:
    """mxnet.L2Normalization(x) {mode = "instance", eps = 1e-10} -> opset1.NormalizeL2(x, axes) {eps_mode = "add"}

    The axes are all but the batch; with mode = channel axis 1; with mode = spatial all axes after axis 1.
    """
    rank = rank_of_operand(node)
    axes = {"instance": range(1, rank), "channel": [1], "spatial": range(2, rank)}
    if mode not in axes:
        node.fail(f"mode {mode!r} does not exist")
    squares = op.ReduceSum(op.Multiply(x, x), list(axes[mode]), keep_dims=True)
    return [op.Divide(x, op.Sqrt(op.Add(squares, eps)))]


@mxnet.lowers("LRN")
def lrn(op: OpBuilder, x: SSAValue, *, alpha: float = 1e-4, beta: float = 0.75, knorm: float = 2.0, nsize: int) -> Replacement:
    """mxnet.LRN(x) {nsize, alpha = 1e-4, beta = 0.75, knorm = 2} -> opset1.LRN(x, [1]) {size, alpha, beta, bias}"""
    return [response_normalized(op, x, size=nsize, alpha=alpha, beta=beta, bias=knorm)]


@mxnet.lowers("_contrib_BatchNormWithReLU")
def batch_norm_with_relu(node: LoweringNode, op: OpBuilder) -> Replacement:
    """mxnet._contrib_BatchNormWithReLU(x, gamma, beta, mean, variance) -> opset1.Relu of the BatchNorm"""
    result, *others = normalized(node, op)
    return [op.Relu(result), *others]
