"""Quantized models of PaddleSlim: a scale is the largest absolute value, not the size of a step.

    %q = paddle.quantize_linear(%x, %scale)          q = round(x / scale · 127)
    %y = paddle.dequantize_linear(%q, %scale)        y = q · scale / 127
->  %y = opset1.FakeQuantize(%x, low, high, low, high) {levels = 256}

Source: quantize_linear_op.cc and fake_quantize_op.cc of PaddlePaddle 2.6.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import REAL_TYPES, f32, si8
from moir.dialects.framework import FrameworkOp
from moir.dialects.quantization import IntegerRange, Quantization
from moir.dialects.shapes import element_of, normalize_axis, rank_of, shape_of
from moir.expansions.constant_forms import constant_array
from moir.expansions.quantization import (
    TINY,
    Parameters,
    aligned,
    dequantized,
    is_zero,
    quantized,
)
from moir.lowering.binder import LoweringNode
from moir.lowering.paddle.table import paddle
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


def _parameters_of(node: LoweringNode, op: OpBuilder, scale: SSAValue, bits: int, axis: int | None, rounding: int = 0) -> Parameters:
    """The quantization (scale, zero point, range of integers) of a tensor whose largest absolute values are `scale`.

    With rounding 1 (halves away from zero), numbers are limited to the scale before they are rounded, so that -128 does
    not occur; with rounding 0 (halves to even) the integers are limited. opset1.FakeQuantize rounds halves to even.
    """
    if not 2 <= bits <= 16:
        node.fail(f"bit_length {bits} is not supported")
    largest = float((1 << (bits - 1)) - 1)
    rank = node.known_rank(0)
    array = constant_array(op, scale)
    if array is not None:
        steps = np.asarray(array, np.float32) / np.float32(largest)
        value = op.constant(steps.reshape(()) if steps.size == 1 else steps.reshape(-1))
    else:
        count = shape_of(scale)
        flat = op.Reshape(scale, [] if axis is None or count in ((), (1,)) else [-1], special_zero=False)
        value = op.Divide(op.Maximum(op.convert(flat, f32), TINY), largest)
    along = None if axis is None or rank_of(value) == 0 else normalize_axis(axis, rank)
    # PaddlePaddle stores integers of other widths as floats, too.
    integers = IntegerRange(8 if bits <= 8 else 16, signed=True, narrow=rounding == 1)
    return aligned(op, Quantization(value, None, integers, along), rank)


def _channel(axis: int) -> int | None:
    return None if axis == -1 else axis


def _check_zero(node: LoweringNode, op: OpBuilder, zero: SSAValue | None) -> None:
    if zero is not None and not is_zero(op, zero):
        node.fail("a zero point other than 0 is not supported")


@paddle.lowers("quantize_linear")
def quantize(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    scale: SSAValue,
    zero: SSAValue | None = None,
    *,
    quant_axis: int = 0,
    bit_length: int = 8,
    round_type: int = 0,
) -> Replacement:
    """paddle.quantize_linear(x, scale) {quant_axis, bit_length, round_type} -> opset1.FakeQuantize(x) as i8"""
    _check_zero(node, op, zero)
    if bit_length != 8:
        node.fail(f"numbers of {bit_length} bits are not supported")
    integers = quantized(op, x, _parameters_of(node, op, scale, bit_length, _channel(quant_axis), round_type))
    users = [use.operation for use in node.op.results[0].uses]
    if not all(isinstance(each, FrameworkOp) and each.KIND == "dequantize_linear" for each in users):
        integers = op.ConvertLike(integers, x)
    return [integers, *[None] * (node.result_count - 1)]


@paddle.lowers("dequantize_linear")
def dequantize(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    scale: SSAValue,
    zero: SSAValue | None = None,
    *,
    quant_axis: int = 0,
    bit_length: int = 8,
) -> Replacement:
    """paddle.dequantize_linear(x, scale) {quant_axis, bit_length} -> opset1.Convert(x) · scale / 127

    If x is the result of quantize_linear, both become one FakeQuantize. Weights that are integers stored as floats
    become i8.
    """
    _check_zero(node, op, zero)
    array = constant_array(op, x)
    if array is not None and element_of(x) in REAL_TYPES and bit_length == 8:
        whole = np.rint(array)
        if np.array_equal(whole, array) and np.abs(whole).max(initial=0) <= 127:
            x = op.constant(whole.astype(np.int8), si8)
    value = dequantized(op, x, _parameters_of(node, op, scale, bit_length, _channel(quant_axis)))
    return [value, *[None] * (node.result_count - 1)]


def _largest(op: OpBuilder, x: SSAValue, axes: list[int]) -> SSAValue:
    return op.ReduceMax(op.Abs(x), axes, keep_dims=False)


def _through_integers(
    node: LoweringNode, op: OpBuilder, x: SSAValue, scale: SSAValue, bits: int, rounding: int, axis: int | None = None
) -> SSAValue:
    """Quantize x to integers of `bits` bits by `_parameters_of`, and dequantize them. Raises ConversionError for other
    than 8 bits.
    """
    if bits != 8:
        node.fail(f"numbers of {bits} bits are not supported")
    parameters = _parameters_of(node, op, scale, bits, axis, rounding)
    integers = quantized(op, x, parameters)
    return dequantized(op, integers, parameters)


@paddle.lowers("fake_quantize_dequantize_moving_average_abs_max")
def fake_quantize_dequantize(
    node: LoweringNode, op: OpBuilder, x: SSAValue, scale: SSAValue, *, bit_length: int = 8, round_type: int = 1
) -> Replacement:
    """paddle.fake_quantize_dequantize_moving_average_abs_max(x, scale) -> opset1.FakeQuantize(x)"""
    return [_through_integers(node, op, x, scale, bit_length, round_type), scale, *[None] * (node.result_count - 2)]


@paddle.lowers("fake_quantize_dequantize_abs_max")
def fake_quantize_dequantize_by_largest(
    node: LoweringNode, op: OpBuilder, x: SSAValue, *, bit_length: int = 8, round_type: int = 1
) -> Replacement:
    """paddle.fake_quantize_dequantize_abs_max(x) -> x quantized with its largest absolute value as scale, and
    dequantized
    """
    scale = op.Reshape(_largest(op, x, list(range(node.known_rank(0)))), [1], special_zero=False)
    return [_through_integers(node, op, x, scale, bit_length, round_type), scale]


@paddle.lowers("fake_channel_wise_quantize_dequantize_abs_max")
def fake_quantize_dequantize_channels(
    node: LoweringNode, op: OpBuilder, x: SSAValue, *, bit_length: int = 8, round_type: int = 1, quant_axis: int = 0
) -> Replacement:
    """paddle.fake_channel_wise_quantize_dequantize_abs_max(x) {quant_axis} -> x quantized with a scale for each
    channel, and dequantized
    """
    rank = node.known_rank(0)
    axis = normalize_axis(quant_axis, rank)
    scale = _largest(op, x, [each for each in range(rank) if each != axis])
    return [_through_integers(node, op, x, scale, bit_length, round_type, axis), scale]


@paddle.lowers("fake_quantize_moving_average_abs_max", "fake_quantize_range_abs_max")
def fake_quantize(
    node: LoweringNode, op: OpBuilder, x: SSAValue, scale: SSAValue, *, bit_length: int = 8, round_type: int = 1
) -> Replacement:
    """paddle.fake_quantize_moving_average_abs_max(x, scale) -> x rounded to integers, still as floats"""
    if bit_length != 8:
        node.fail(f"numbers of {bit_length} bits are not supported")
    integers = quantized(op, x, _parameters_of(node, op, scale, bit_length, None, round_type))
    return [op.ConvertLike(integers, x), scale, *[None] * (node.result_count - 2)]


@paddle.lowers("fake_dequantize_max_abs")
def fake_dequantize(op: OpBuilder, x: SSAValue, scale: SSAValue, *, max_range: float) -> SSAValue:
    """paddle.fake_dequantize_max_abs(x, scale) {max_range} -> x · scale / max_range"""
    return op.Multiply(op.convert(x, f32), op.Divide(scale, max_range))


@paddle.lowers("fake_channel_wise_dequantize_max_abs")
def fake_dequantize_channels(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    *scales: SSAValue,
    quant_bits: tuple[int, ...] = (8,),
    quant_axis: int = 0,
    x_num_col_dims: int = 1,
) -> SSAValue:
    """paddle.fake_channel_wise_dequantize_max_abs(x, scales…) -> x · scale / 127 along an axis, multiplied by a
    further scale
    """
    rank = node.known_rank(0)
    if len(scales) not in (1, 2) or len(quant_bits) < len(scales):
        node.fail(f"it has {len(scales)} scales for {list(quant_bits)} bits")
    axis = quant_axis if len(scales) == 1 else x_num_col_dims
    value = op.convert(x, f32)
    first = op.Divide(op.Reshape(scales[0], [-1, *[1] * (rank - 1 - axis)], special_zero=False), float((1 << (quant_bits[0] - 1)) - 1))
    value = op.Multiply(value, first)
    if len(scales) == 2:
        value = op.Multiply(value, op.Divide(op.Reshape(scales[1], [1], special_zero=False), float((1 << (quant_bits[1] - 1)) - 1)))
    return value


@paddle.lowers("moving_average_abs_max_scale")
def observed(node: LoweringNode, x: SSAValue) -> Replacement:
    """paddle.moving_average_abs_max_scale(x) -> x: it only observes a scale for quantization"""
    return [x, *[None] * (node.result_count - 1)]


@paddle.lowers("fake_quantize_abs_max", "fake_channel_wise_quantize_abs_max")
def fake_quantize_by_largest(
    node: LoweringNode, op: OpBuilder, x: SSAValue, *, bit_length: int = 8, round_type: int = 1, quant_axis: int = 0
) -> Replacement:
    """paddle.fake_quantize_abs_max(x) -> x quantized with its largest absolute value as scale; the integers stay
    floats; `channel_wise` with a scale for each channel
    """
    rank = node.known_rank(0)
    axis = normalize_axis(quant_axis, rank) if node.op.KIND == "fake_channel_wise_quantize_abs_max" else None
    scale = _largest(op, x, [each for each in range(rank) if each != axis])
    scale = scale if axis is not None else op.Reshape(scale, [1], special_zero=False)
    if bit_length != 8:
        node.fail(f"numbers of {bit_length} bits are not supported")
    return [op.ConvertLike(quantized(op, x, _parameters_of(node, op, scale, bit_length, axis, round_type)), x), scale]
