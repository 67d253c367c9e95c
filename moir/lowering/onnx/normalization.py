"""Normalization layers.

    %y = onnx.LayerNormalization(%x, %scale, %bias) {axis = -1, epsilon = 1e-5}
->  %0 = opset6.MVN(%x, [-1]) {eps = 1e-5, normalize_variance = true, eps_mode = "INSIDE_SQRT"}
    %1 = opset1.Multiply(%0, %scale)
    %y = opset1.Add(%1, %bias)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import dynamic, f16, f32, si64
from moir.dialects.shapes import MAXIMUM_RANK, element_of, normalize_axis, rank_of, shape_of
from moir.expansions.constant_forms import small_constant, with_dimensions_after
from moir.expansions.response_normalization import response_normalized
from moir.expansions.shape_values import all_axes
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.operands import reshaped_like
from moir.lowering.onnx.ranks import with_statistics
from moir.lowering.onnx.table import onnx
from moir.lowering.ranks import as_result
from moir.rewriting.builder import OpBuilder

SMALLEST_NORM = 1e-30
"""Lower limit of the squared norm, so that a vector of zeros remains a vector of zeros."""


def _in_type_of(op: OpBuilder, value: SSAValue, like: SSAValue) -> SSAValue:
    """Convert a value to the element type of `like`; a constant stays a constant."""
    if element_of(value) == element_of(like):
        return value
    if element_of(like) is dynamic:
        return op.ConvertLike(value, like)
    array = small_constant(op, value)
    return op.convert(value, element_of(like)) if array is None else op.constant_like(array, like)


@onnx.lowers("BatchNormalization", rank=with_statistics)
def batch_normalization(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    *,
    epsilon: float = 1e-5,
    training_mode: bool = False,
    spatial: bool = True,
    is_test: bool = False,
) -> Sequence[SSAValue | None]:
    """onnx.BatchNormalization(x, scale, bias, mean, variance) {epsilon}
    -> opset5.BatchNormInference(x, scale, bias, mean, variance)

    In training mode the node normalizes by the statistics of the batch, and the updated running statistics are further
    results.
    """
    scale, bias, mean, variance = (_in_type_of(op, node.operand(index), x) for index in range(1, 5))
    # Before version 7 training is the default, but exporters do not always mark models for inference. A node of such a
    # model has one used result.
    training = training_mode if node.version >= 7 else not is_test and any(map(node.is_used, range(1, 5)))
    if training:
        return _training_normalization(node, op, [x, scale, bias, mean, variance])
    if any(node.is_used(index) for index in range(1, node.result_count)):
        node.fail("it has statistics as results, but is not in training mode")
    if node.version < 9 and not spatial and (rank_of(scale) or 0) > 1:
        root = op.Sqrt(op.Add(variance, epsilon))
        return [op.Add(op.Multiply(op.Divide(op.Subtract(x, mean), root), scale), bias)]
    if (0,) in [shape_of(value) for value in (scale, bias, mean, variance)]:
        # opset5.BatchNormInference has at least one channel.
        return [x]
    if rank_of(x) == 1:
        # opset5.BatchNormInference has a dimension of channels; scalars have a single channel.
        return [op.Squeeze(op.BatchNormInference(op.Unsqueeze(x, [1]), scale, bias, mean, variance, epsilon=epsilon), [1])]
    return [op.BatchNormInference(x, scale, bias, mean, variance, epsilon=epsilon)]


def _training_normalization(node: LoweringNode, op: OpBuilder, operands: Sequence[SSAValue]) -> Sequence[SSAValue | None]:
    """Normalization by the statistics of the batch, and the updated running statistics.

    The running statistics are the operands times `momentum` plus the statistics of the batch times 1 - `momentum`.
    """
    x, scale, bias, mean, variance = operands
    if node.version < 14:
        node.fail("training mode of a version before 14 is not supported", hint="export the model for inference")
    rank = node.known_rank(0)
    axes = op.constant([axis for axis in range(rank) if axis != 1], si64)
    momentum = node.number("momentum", 0.9)
    own_mean = op.ReduceMean(x, axes, keep_dims=False)
    centred = op.Subtract(x, op.ReduceMean(x, axes, keep_dims=True))
    own_variance = op.ReduceMean(op.Multiply(centred, centred), axes, keep_dims=False)
    y = op.BatchNormInference(x, scale, bias, own_mean, own_variance, epsilon=node.number("epsilon", 1e-5))
    results: list[SSAValue | None] = [y]
    for index, (updated, own, source) in enumerate(((mean, own_mean, 3), (variance, own_variance, 4)), start=1):
        if index < node.result_count:
            running = op.Add(op.Multiply(updated, momentum), op.Multiply(own, 1 - momentum))
            results.append(op.convert(running, node.element(source)))
    return results


@onnx.lowers("InstanceNormalization", rank=with_statistics)
def instance_normalization(node: LoweringNode, op: OpBuilder, input: SSAValue, *, epsilon: float = 1e-5) -> SSAValue:
    """onnx.InstanceNormalization(input, scale, bias) {epsilon} -> MVN(input, spatial axes) * scale + bias

    If the rank is dynamic, the spatial dimensions are merged before the normalization and restored after it.
    """
    rank = rank_of(input)
    flat = input if rank is not None else op.Reshape(input, [0, 0, -1], special_zero=True)
    spatial = 1 if rank is None else rank - 2
    normal = _standardized(op, flat, op.constant(list(range(2, 2 + spatial)), si64), epsilon)
    result = _scaled(op, normal, *(with_dimensions_after(op, _vector(node, op, index), spatial) for index in (1, 2)))
    return result if rank is not None else reshaped_like(op, result, input)


def _vector(node: LoweringNode, op: OpBuilder, index: int) -> SSAValue:
    """Operand `index` as a 1-D tensor, reshaped unless its rank is 1."""
    value = node.operand(index)
    return value if rank_of(value) == 1 else op.Reshape(value, [-1], special_zero=False)


def _standardized(op: OpBuilder, x: SSAValue, axes: SSAValue, epsilon: float) -> SSAValue:
    """x minus its mean along axes, divided by its standard deviation along the same axes."""
    return op.MVN(x, axes, eps=epsilon, normalize_variance=True, eps_mode="INSIDE_SQRT")


def _scaled(op: OpBuilder, x: SSAValue, scale: SSAValue | None, bias: SSAValue | None) -> SSAValue:
    """The affine function x · scale + bias, where either may be None."""
    if scale is not None:
        x = op.Multiply(x, scale)
    return x if bias is None else op.Add(x, bias)


def axes_from(op: OpBuilder, x: SSAValue, axis: int) -> SSAValue:
    """The axes from `axis` to the last one; a negative `axis` needs no rank."""
    if axis >= 0:
        return all_axes(op, x, axis)
    normalize_axis(axis, MAXIMUM_RANK)
    return op.constant(list(range(axis, 0)), si64)


@onnx.lowers("LayerNormalization", rank=as_result)
def layer_normalization(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    scale: SSAValue,
    b: SSAValue | None = None,
    *,
    epsilon: float = 1e-5,
    axis: int = -1,
    stash_type: int = 1,
) -> Sequence[SSAValue | None]:
    """onnx.LayerNormalization(x, scale, b) {axis, epsilon} -> MVN(x, axes from axis on) * scale + bias

    The further results, mean and inverse standard deviation, are computed only if they have uses; `stash_type` is their
    element type.
    """
    axes = axes_from(op, x, axis)
    y = layer_normalized(op, x, scale, b, axes, epsilon)
    if not node.is_used(1) and not node.is_used(2):
        return [y]
    return [y, *layer_statistics(op, x if stash_type != 1 else op.convert(x, f32), axes, epsilon)]


def layer_normalized(op: OpBuilder, x: SSAValue, scale: SSAValue | None, bias: SSAValue | None, axes: SSAValue, epsilon: float) -> SSAValue:
    """x standardized along axes, times scale, plus bias.

    Scale and bias may be absent, and may have another element type than x.
    """
    scale, bias = (None if each is None else _in_type_of(op, each, x) for each in (scale, bias))
    return _scaled(op, _standardized(op, x, axes, epsilon), scale, bias)


def layer_statistics(op: OpBuilder, x: SSAValue, axes: SSAValue, epsilon: float) -> tuple[SSAValue, SSAValue]:
    """Mean and inverse standard deviation along axes, which are kept as dimensions of size 1."""
    mean = op.ReduceMean(x, axes, keep_dims=True)
    centred = op.Subtract(x, mean)
    variance = op.ReduceMean(op.Multiply(centred, centred), axes, keep_dims=True)
    return mean, op.Divide(1.0, op.Sqrt(op.Add(variance, epsilon)))


@onnx.lowers("RMSNormalization")
def root_mean_square_normalization(op: OpBuilder, x: SSAValue, scale: SSAValue, *, axis: int = -1, epsilon: float = 1e-5) -> SSAValue:
    """onnx.RMSNormalization(x, scale) {axis, epsilon} -> x / sqrt(mean(x²) + epsilon) * scale"""
    axes = axes_from(op, x, axis)
    return root_mean_square_normalized(op, x, scale, axes, epsilon)


def root_mean_square_normalized(op: OpBuilder, x: SSAValue, scale: SSAValue, axes: SSAValue, epsilon: float) -> SSAValue:
    """The RMS normalization of x along axes, x / sqrt(mean(x²) + epsilon) · scale, in the operations that fusions
    recognize.
    """
    squares = op.ReduceMean(op.Power(x, 2.0), axes, keep_dims=True)
    return op.Multiply(op.Divide(x, op.Sqrt(op.Add(squares, epsilon))), _in_type_of(op, scale, x))


@onnx.lowers("GroupNormalization", since=21, rank=as_result)
def group_normalization(node: LoweringNode, op: OpBuilder, x: SSAValue, *, num_groups: int, epsilon: float = 1e-5) -> SSAValue:
    """onnx.GroupNormalization(x, scale, bias) {num_groups, epsilon} -> opset12.GroupNormalization(x, scale, bias)"""
    scale, bias = (_in_type_of(op, _vector(node, op, index), x) for index in (1, 2))
    return op.GroupNormalization(x, scale, bias, num_groups=num_groups, epsilon=epsilon)


@onnx.lowers("GroupNormalization")
def groupwise_normalization(node: LoweringNode, op: OpBuilder, x: SSAValue, *, num_groups: int, epsilon: float = 1e-5) -> SSAValue:
    """onnx.GroupNormalization(x, scale, bias) {num_groups, epsilon}, with a scale and bias for each group
    -> Reshape to [batch, num_groups, rest], MVN along the rest, Multiply, Add, Reshape back

    Constant scale and bias are repeated for the channels if their number is known: opset12.GroupNormalization(x, scale,
    bias).
    """
    shape = node.shape(0)
    arrays = [small_constant(op, node.operand(index)) for index in (1, 2)]
    if shape is not None and len(shape) > 1 and num_groups > 0 and shape[1] > 0 and shape[1] % num_groups == 0:
        spread = [
            op.constant(np.repeat(array, shape[1] // num_groups)) for array in arrays if array is not None and array.size == num_groups
        ]
        if len(spread) == 2:
            return op.GroupNormalization(x, *spread, num_groups=num_groups, epsilon=epsilon)
    if num_groups < 1:
        node.fail(f"num_groups is {num_groups}")
    flat = op.Reshape(x, [0, num_groups, -1], special_zero=True)
    normal = _standardized(op, flat, op.constant([2], si64), epsilon)
    result = _scaled(op, normal, *(with_dimensions_after(op, _vector(node, op, index), 1) for index in (1, 2)))
    return reshaped_like(op, result, x)


@onnx.lowers("LpNormalization")
def norm_division(node: LoweringNode, op: OpBuilder, input: SSAValue, *, p: int = 2, axis: int = -1) -> SSAValue:
    """onnx.LpNormalization(x) {axis, p}
    -> opset1.NormalizeL2(x, axis); for p = 1: x / ReduceL1(x, axis), or x / 1 where that is 0
    """
    axes = op.constant([axis], si64)
    # In f16 the smallest norm would be 0, and a sum infinite.
    x = op.convert(input, f32) if element_of(input) == f16 else input
    if p == 2:
        return op.convert(op.NormalizeL2(x, axes, eps=SMALLEST_NORM, eps_mode="max"), element_of(input))
    if p != 1:
        node.fail(f"attribute p is {p}, it should be 1 or 2")
    norm = op.ReduceL1(x, axes, keep_dims=True)
    return op.convert(op.Divide(x, op.Select(op.Equal(norm, 0.0), 1.0, norm)), element_of(input))


@onnx.lowers("LRN")
def local_response_normalization(
    op: OpBuilder, x: SSAValue, *, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0, size: int
) -> SSAValue:
    """onnx.LRN(x) {alpha = 1e-4, beta = 0.75, bias = 1, size} -> opset1.LRN(x, [1]) {alpha, beta, bias, size}"""
    return response_normalized(op, x, size=size, alpha=alpha, beta=beta, bias=bias)


@onnx.lowers("MeanVarianceNormalization")
def mean_variance_normalization(op: OpBuilder, x: SSAValue, *, axes_: tuple[int, ...] = (0, 2, 3)) -> SSAValue:
    """onnx.MeanVarianceNormalization(x) {axes} -> opset6.MVN(x, axes)"""
    axes = op.constant(list(axes_), si64)
    return op.MVN(x, axes, eps=1e-9, normalize_variance=True, eps_mode="OUTSIDE_SQRT")
