"""Normalization layers, in inference mode.

    %y = keras.BatchNormalization(%x, %gamma, %beta, %mean, %variance) {axis = -1}
->  %y = opset1.Add(opset1.Multiply(%x, gamma / sqrt(variance + epsilon)), beta - mean · …)
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import element_of, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import axis_list, variables
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder


def along(op: OpBuilder, value: SSAValue, axes: list[int], rank: int) -> SSAValue:
    """A variable with the dimensions `axes` of a tensor of rank `rank`, reshaped so that it broadcasts to the
    tensor.
    """
    if axes == list(range(rank - len(axes), rank)):
        return value
    sizes = shape_of(value) or ()
    shape = [1] * rank
    for axis, size in zip(axes, sizes, strict=False):
        shape[axis] = size
    first = axes[0] if axes else rank
    return op.Reshape(value, shape[first:], special_zero=False)


def along_last(op: OpBuilder, scale: SSAValue, axes: list[int], x: SSAValue, rank: int) -> SSAValue:
    """The scale of an RMS normalization, reshaped as Keras multiplies x of rank `rank` by it.

    Keras aligns the scale with the last dimensions of x, whatever `axes` are, and broadcasts both; it fails where sizes
    then differ.
    """
    pairs = zip(reversed(shape_of(scale) or ()), reversed(shape_of(x) or ()), strict=False)
    fits = all(1 in (size, whole) or size == whole or whole < 0 for size, whole in pairs)
    return scale if fits else along(op, scale, axes, rank)


def check_variable_count(node: LoweringNode, weights: list[SSAValue], count: int) -> None:
    """Raises ConversionError unless a layer has the number of variables that its configuration implies, `count`."""
    if len(weights) != count:
        node.fail(f"it has {len(weights)} variables instead of {count}", hint="the file is damaged, or of a layer that was not built")


@keras.lowers("BatchNormalization", "SyncBatchNormalization", "BatchNormalizationV1", "BatchNormalizationV2")
def batch_normalization(
    node: LoweringNode,
    op: OpBuilder,
    inputs: SSAValue,
    *,
    axis: object = -1,
    epsilon: float = 0.001,
    center: bool = True,
    scale: bool = True,
) -> SSAValue:
    """keras.BatchNormalization(x, gamma, beta, mean, variance) -> opset1.Add(opset1.Multiply(x, factor), shift)"""
    weights, rank = variables(node), node.known_rank(0)
    check_variable_count(node, weights, 2 + scale + center)
    axes = sorted(axis_list(node, axis, rank))
    *own, mean, variance = weights
    if axes == [1] and rank > 2 and scale and center:
        return op.BatchNormInference(inputs, own[0], own[1], mean, variance, epsilon=epsilon)
    factor = op.Divide(own[0] if scale else op.constant_like(1.0, variance), op.Sqrt(op.Add(variance, epsilon)))
    shift = op.Subtract(own[-1], op.Multiply(mean, factor)) if center else op.Negative(op.Multiply(mean, factor))
    return op.Add(op.Multiply(inputs, along(op, factor, axes, rank)), along(op, shift, axes, rank))


@keras.lowers("LayerNormalization")
def layer_normalization(
    node: LoweringNode,
    op: OpBuilder,
    inputs: SSAValue,
    *,
    axis: object = -1,
    epsilon: float = 0.001,
    center: bool = True,
    scale: bool = True,
    rms_scaling: bool = False,
) -> SSAValue:
    """keras.LayerNormalization(x, gamma, beta) {axis} -> opset6.MVN(x, axes) · gamma + beta"""
    weights, rank, element = variables(node), node.known_rank(0), element_of(inputs)
    axes = sorted(axis_list(node, axis, rank))
    data = op.convert(inputs, f32)
    weights = [op.convert(each, f32) for each in weights]
    if rms_scaling:
        centred = op.Subtract(data, op.ReduceMean(data, axes, keep_dims=True))
        variance = op.ReduceMean(op.Multiply(centred, centred), axes, keep_dims=True)
        result = op.Divide(data, op.Sqrt(op.Add(variance, epsilon)))
        return op.convert(op.Multiply(result, along(op, weights[0], axes, rank)) if weights else result, element)
    check_variable_count(node, weights, scale + center)
    result = op.MVN(data, axes, normalize_variance=True, eps=epsilon, eps_mode="INSIDE_SQRT")
    if scale:
        result = op.Multiply(result, along(op, weights[0], axes, rank))
    if center:
        result = op.Add(result, along(op, weights[-1], axes, rank))
    return op.convert(result, element)


@keras.lowers("RMSNormalization")
def rms_normalization(node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, axis: object = -1, epsilon: float = 1e-6) -> SSAValue:
    """keras.RMSNormalization(x, scale) -> x / sqrt(mean(x²) + epsilon) · scale"""
    weights, rank, element = variables(node), node.known_rank(0), element_of(inputs)
    check_variable_count(node, weights, 1)
    axes = sorted(axis_list(node, axis, rank))
    data = op.convert(inputs, f32)
    mean = op.ReduceMean(op.Multiply(data, data), axes, keep_dims=True)
    result = op.Divide(data, op.Sqrt(op.Add(mean, epsilon)))
    return op.convert(op.Multiply(result, along_last(op, op.convert(weights[0], f32), axes, data, rank)), element)


@keras.lowers("GroupNormalization")
def group_normalization(
    node: LoweringNode,
    op: OpBuilder,
    inputs: SSAValue,
    *,
    groups: int = 32,
    axis: int = -1,
    epsilon: float = 0.001,
    center: bool = True,
    scale: bool = True,
) -> SSAValue:
    """keras.GroupNormalization(x, gamma, beta) {groups} -> Transpose(opset12.GroupNormalization(Transpose(x)))"""
    weights, rank = variables(node), node.known_rank(0)
    check_variable_count(node, weights, scale + center)
    axis_ = axis % rank
    channels = (node.shape(0) or ())[axis_]
    if channels < 1 or axis_ == 0:
        node.fail("the number of its channels is dynamic")
    groups = channels if groups == -1 else groups
    if groups < 1 or channels % groups:
        node.fail(f"{channels} channels in {groups} groups")
    element = element_of(inputs)
    order = [0, axis_, *(each for each in range(1, rank) if each != axis_)]
    data = op.transposed(op.convert(inputs, f32), order)
    gamma = op.convert(weights[0], f32) if scale else op.filled([channels], 1.0, f32)
    beta = op.convert(weights[-1], f32) if center else op.filled([channels], 0.0, f32)
    data = op.Unsqueeze(data, [2]) if rank == 2 else data
    result = op.GroupNormalization(data, gamma, beta, num_groups=groups, epsilon=epsilon)
    result = op.Squeeze(result, [2]) if rank == 2 else result
    return op.convert(op.transposed(result, [order.index(each) for each in range(rank)]), element)


@keras.lowers("UnitNormalization")
def unit_normalization(node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, axis: object = -1) -> SSAValue:
    """keras.UnitNormalization(x) -> opset1.NormalizeL2(x, axes)"""
    axes = axis_list(node, axis, node.known_rank(0))
    return op.NormalizeL2(inputs, axes, eps=1e-24 if node.version >= 3 else 1e-12, eps_mode="max")


@keras.lowers("LayerScale")
def layer_scale(node: LoweringNode, op: OpBuilder, inputs: SSAValue) -> SSAValue:
    """keras.LayerScale(x, gamma) -> opset1.Multiply(x, gamma)"""
    weights = variables(node)
    check_variable_count(node, weights, 1)
    return op.Multiply(inputs, weights[0])
