"""Operations other than products on quantized integers with ranges: sums, activations, pooling, changes of the range.

    %y, %low, %high = tf.Requantize(%x, %x_low, %x_high, %low, %high) {out_type = ui8}
->  %0 = opset1.Multiply(Convert(%x), step)                             // the real numbers
    %y = Convert(opset1.Clamp(opset5.Round(%0 / new step) + zero, 0, 255))

`ranges.py` defines the correspondence of integers and ranges.

Source: the kernels of the same names in tensorflow/core/kernels, and mkl/mkl_requantize_per_channel_op.cc.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f32, si32, ui8
from moir.dialects.quantization import IntegerRange
from moir.dialects.shapes import element_of, normalize_axis, rank_of
from moir.expansions.quantization import NumberRange, half_to_even, magnitude, saturated
from moir.expansions.shape_values import all_axes, as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.signatures import bound
from moir.lowering.tensorflow.image.sampling import resize_bilinear
from moir.lowering.tensorflow.pooling import average_pool, max_pool
from moir.lowering.tensorflow.quantization.ranges import integers, limits_of, numbers, step_of, zero_point
from moir.lowering.tensorflow.shape import reshape
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

# Sums and products


@tf.lowers("QuantizedBiasAdd", "QuantizedAdd")
def add(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """tf.QuantizedAdd(x, y, ranges…) -> the sum of both as integers whose range is much wider than the operands' ranges

    Likewise QuantizedBiasAdd.
    """
    ranges = [limits_of(node, op, index) for index in (2, 4)]
    widest = op.Maximum(*[magnitude(op, each) for each in ranges])
    high = op.Multiply(widest, float(1 << (17 if node.op.KIND == "QuantizedBiasAdd" else 14)))
    limits, element = NumberRange(op.Negative(high), high), node.element_attribute("out_type" if node.has("out_type") else "Toutput", si32)
    terms = [numbers(op, node.operand(index), each) for index, each in enumerate(ranges)]
    return [integers(op, op.Add(*terms), limits, element), *limits]


@tf.lowers("QuantizedMul")
def multiply(node: LoweringNode, op: OpBuilder, *, Toutput: Attribute = si32) -> Sequence[SSAValue]:
    """tf.QuantizedMul(x, y, ranges…) -> (x - zero) * (y - zero), and a range whose step is the product of both steps"""
    factors: list[SSAValue] = []
    steps: list[SSAValue] = []
    for index in (0, 1):
        x, limits = node.operand(index), limits_of(node, op, 2 * index + 2)
        steps.append(step_of(op, limits, element_of(x)))
        factors.append(op.Subtract(op.convert(x, f32), zero_point(op, limits, element_of(x))))
    step = op.Multiply(*steps)
    low, high = (op.Multiply(step, float(end)) for end in IntegerRange.of(Toutput).ends)
    return [saturated(op, op.Multiply(*factors), IntegerRange.of(Toutput)), low, high]


@tf.lowers("QuantizedBatchNormWithGlobalNormalization")
def normalize(
    node: LoweringNode, op: OpBuilder, *, scale_after_normalization: bool = False, variance_epsilon: float, out_type: Attribute = si32
) -> Sequence[SSAValue]:
    """tf.QuantizedBatchNormWithGlobalNormalization(x, mean, variance, beta, gamma, each with its range)
    -> (x - mean) * gamma / Sqrt(variance + ε) + beta as integers of a fixed range
    """
    x, mean, variance, beta, gamma = (numbers(op, node.operand(index), limits_of(node, op, index + 1)) for index in range(0, 15, 3))
    scale = op.Power(op.Add(variance, variance_epsilon), -0.5)
    if scale_after_normalization:
        scale = op.Multiply(scale, gamma)
    real = op.Add(op.Multiply(op.Subtract(x, mean), scale), beta)
    limits = NumberRange(*(op.constant(np.array(end, np.float32)) for end in (-(1 << 20), 1 << 20)))
    return [integers(op, real, limits, out_type), *limits]


@tf.lowers("QuantizedInstanceNorm")
def instance_norm(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    *,
    output_range_given: bool = False,
    variance_epsilon: float = 1e-5,
    min_separation: float = 1e-3,
) -> Sequence[SSAValue]:
    """tf.QuantizedInstanceNorm(x, range) -> (x - mean) / Sqrt(variance + ε) over rows and columns, and its range"""
    real = numbers(op, x, limits_of(node, op, 1))
    centered = op.Subtract(real, op.ReduceMean(real, [1, 2], keep_dims=True))
    variance = op.ReduceMean(op.Multiply(centered, centered), [1, 2], keep_dims=True)
    result = op.Divide(centered, op.Sqrt(op.Add(variance, variance_epsilon)))
    if output_range_given:
        limits = NumberRange(*(op.constant(np.array(node.number(name, 0.0), np.float32)) for name in ("given_y_min", "given_y_max")))
    else:
        axes = all_axes(op, result)
        low, high = op.ReduceMin(result, axes, keep_dims=False), op.ReduceMax(result, axes, keep_dims=False)
        limits = NumberRange(low, op.Maximum(high, op.Add(low, min_separation)))
    return [integers(op, result, limits, element_of(x)), *limits]


# Operations that keep the range


@tf.lowers("QuantizedRelu", "QuantizedRelu6", "QuantizedReluX")
def relu(node: LoweringNode, op: OpBuilder, features: SSAValue, range: SSAValue) -> Sequence[SSAValue]:
    """tf.QuantizedRelu6(x, range) -> Minimum(Maximum(x, the integer of 0), the integer of 6), and the same range

    Likewise QuantizedRelu without an upper limit, and QuantizedReluX with one.
    """
    element = element_of(features)
    has_limit = node.op.KIND == "QuantizedReluX"
    limits = limits_of(node, op, 2 if has_limit else 1)
    result = op.Maximum(features, integers(op, op.constant(0.0), limits, element))
    if node.op.KIND != "QuantizedRelu":
        last = as_scalar(op, range) if has_limit else op.constant(6.0)
        result = op.Minimum(result, integers(op, last, limits, element))
    return [op.convert(result, node.element_attribute("out_type", element)), *limits]


@tf.lowers("QuantizedMaxPool", "QuantizedAvgPool", "QuantizedResizeBilinear", "QuantizedReshape")
def on_integers(node: LoweringNode, op: OpBuilder, x: SSAValue) -> Sequence[SSAValue]:
    """tf.QuantizedMaxPool(x, range) -> the pooling of the integers, rounded, and the same range

    Likewise QuantizedAvgPool, QuantizedResizeBilinear and QuantizedReshape.
    """
    plain = bound(
        {
            "QuantizedMaxPool": max_pool,
            "QuantizedAvgPool": average_pool,
            "QuantizedResizeBilinear": resize_bilinear,
            "QuantizedReshape": reshape,
        }[node.op.KIND]
    )
    element = element_of(x)
    limits = limits_of(node, op, len(node.op.operands) - 2)
    if node.op.KIND != "QuantizedReshape":
        node = node.with_operands({0: op.convert(x, f32)})
    result: SSAValue = plain(node, op)
    return [result if element_of(result) == element else saturated(op, half_to_even(op, result), IntegerRange.of(element)), *limits]


# Changes of the range


@tf.lowers("QuantizedConcat", "QuantizedConcatV2")
def concat(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """tf.QuantizedConcat(axis, x…, lows…, highs…) -> opset1.Concat of the values as integers of a common range"""
    operands, first = node.operands, int(node.op.KIND == "QuantizedConcat")
    count = node.integer("N", (len(operands) - 1) // 3)
    after = first + count + (1 - first)
    axis = node.constant_integers(0 if first else count)
    if axis is None:
        node.fail("the axis is computed when the model runs", hint="make the axis a constant")
    values = operands[first : first + count]
    lows, highs = ([as_scalar(op, each) for each in operands[start : start + count]] for start in (after, after + count))
    low, high = op.Minimum(lows[0], 0.0), highs[0]
    for other_low, other_high in zip(lows[1:], highs[1:], strict=True):
        low, high = op.Minimum(low, other_low), op.Maximum(high, other_high)
    limits = NumberRange(low, high)
    ranges = [NumberRange(*each) for each in zip(lows, highs, strict=True)]
    moved = [integers(op, numbers(op, value, each), limits, element_of(value)) for value, each in zip(values, ranges, strict=True)]
    rank = next((rank for value in values if (rank := rank_of(value)) is not None), None)
    axis_index = axis[0] if rank is None else normalize_axis(axis[0], rank)
    return [op.Concat(*moved, axis=axis_index), *limits]


@tf.lowers("Requantize")
def requantize(node: LoweringNode, op: OpBuilder, input: SSAValue, *, out_type: Attribute) -> Sequence[SSAValue]:
    """tf.Requantize(x, range, range) {out_type} -> the same numbers, quantized to another range"""
    limits = limits_of(node, op, 3)
    return [integers(op, numbers(op, input, limits_of(node, op, 1)), limits, out_type), *limits]


@tf.lowers("RequantizationRange")
def used_range(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """tf.RequantizationRange(x, range) -> the minimum of the real numbers, at most 0, and their maximum"""
    return _used(node, op)


def _used(node: LoweringNode, op: OpBuilder) -> NumberRange:
    """The range of the values that operand 0 really has, dequantized, extended to include 0."""
    real = numbers(op, node.operand(0), limits_of(node, op, 1))
    axes = all_axes(op, real)
    return NumberRange(op.Minimum(op.ReduceMin(real, axes, keep_dims=False), 0.0), op.ReduceMax(real, axes, keep_dims=False))


@tf.lowers("QuantizeDownAndShrinkRange")
def shrink(node: LoweringNode, op: OpBuilder, input: SSAValue, *, out_type: Attribute) -> Sequence[SSAValue]:
    """tf.QuantizeDownAndShrinkRange(x, range) {out_type} -> the same numbers, quantized to their own range"""
    limits = _used(node, op)
    real = numbers(op, input, limits_of(node, op, 1))
    return [integers(op, real, limits, out_type), *limits]


CHANNEL_INTEGERS = float(1 << 31)
"""The number of positive 32-bit integers, which represent the larger magnitude of the range of a channel."""


@tf.lowers("RequantizePerChannel")
def requantize_channels(node: LoweringNode, op: OpBuilder, *, out_type: Attribute = ui8) -> Sequence[SSAValue]:
    """tf.RequantizePerChannel(x, ranges of the channels, range) {out_type}
    -> the same numbers as integers of a range that is symmetric, or begins with 0 for unsigned integers
    """
    limits = limits_of(node, op, 3)
    real = _dequantized_channels(node, op)
    quantized = op.Divide(op.Multiply(real, float(IntegerRange.of(out_type).highest)), magnitude(op, limits))
    return [saturated(op, half_to_even(op, quantized), IntegerRange.of(out_type)), *limits]


def _dequantized_channels(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """Operand 0, 32-bit integers with a symmetric range for each channel, dequantized."""
    magnitudes = magnitude(op, limits_of(node, op, 1, scalar=False))
    return op.Multiply(op.convert(node.operand(0), f32), op.Divide(magnitudes, CHANNEL_INTEGERS))


@tf.lowers("RequantizationRangePerChannel")
def used_range_of_channels(node: LoweringNode, op: OpBuilder, *, clip_value_max: float) -> Sequence[SSAValue]:
    """tf.RequantizationRangePerChannel(x, ranges of the channels) {clip_value_max}
    -> [-m, m], or [0, m] if no number is negative, where m is the largest magnitude of the numbers but at most the
    limit
    """
    real = _dequantized_channels(node, op)
    axes = all_axes(op, real)
    high = op.Minimum(op.ReduceMax(op.Abs(real), axes, keep_dims=False), clip_value_max)
    lowest = op.ReduceMin(real, axes, keep_dims=False)
    return [op.Select(op.Less(lowest, 0.0), op.Negative(high), op.constant(0.0)), high]
