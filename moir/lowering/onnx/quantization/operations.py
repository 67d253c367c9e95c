"""Quantization: conversions between floats and scaled integers, and products and convolutions of such integers.

    %q = onnx.QuantizeLinear(%x, %scale, %zero)
    %y = onnx.DequantizeLinear(%q, %scale, %zero)
->  %y = opset1.FakeQuantize(%x, low, high, low, high) {levels = 256}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import describe, f16, f32, si32, si64, ui8
from moir.dialects.quantization import Quantization
from moir.dialects.shapes import element_of, normalize_axis, rank_of, shape_of
from moir.expansions.constant_forms import along_channels, as_type, constant_array, reshaped, unpacked_type
from moir.expansions.quantization import Parameters, dequantized, half_to_even, is_zero
from moir.expansions.shape_values import all_axes, dimension
from moir.expansions.unfolded_convolution import has_unknown_sizes
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.convolution import check_group, split_by_group
from moir.lowering.onnx.element_types import computed_type, element_type
from moir.lowering.onnx.operands import reshaped_like
from moir.lowering.onnx.quantization.values import (
    along_axis,
    dequantized_operand,
    integers_of,
    quantization,
    quantized,
    result_type,
)
from moir.lowering.onnx.sliding_window import sliding_window, spatial_axes
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder


@onnx.lowers("QuantizeLinear", "com.microsoft.QuantizeLinear")
def quantize(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    scale: SSAValue,
    zero: SSAValue | None = None,
    *,
    axis: int = 1,
    saturate: bool = True,
    block_size: int = 0,
) -> SSAValue:
    """onnx.QuantizeLinear(x, scale, zero) -> Convert(FakeQuantize(x, low, high, 0, 255)); likewise of com.microsoft"""
    element = result_type(zero, element_type(node, "output_dtype") if node.attribute("output_dtype", 0) else ui8)
    if block_size:
        axis = normalize_axis(axis, node.known_rank(0))
        how = _block_parameters(node, op, x, Quantization(scale, zero, integers_of(element), axis), block_size)
        if not _has_whole_blocks(node, x, axis, block_size):
            return quantized(op, x, how, element, saturate)
        return reshaped_like(op, quantized(op, _in_blocks(op, x, axis, block_size), how, element, saturate), x)
    return quantized(op, x, quantization(node, op, element, scale, zero, axis, rank_of(x), x), element, saturate)


@onnx.lowers("DequantizeLinear", "com.microsoft.DequantizeLinear")
def dequantize(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    scale: SSAValue,
    zero: SSAValue | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
) -> SSAValue:
    """onnx.DequantizeLinear(x, scale, zero); likewise of com.microsoft
    -> (Convert(x) - zero) * scale; one FakeQuantize for the result of a QuantizeLinear
    """
    wanted = element_type(node, "output_dtype") if node.attribute("output_dtype", 0) else element_of(scale)
    element = element_of(x)
    # f16 has neither the largest integers of 16 bits nor their differences.
    real = f32 if wanted == f16 and describe(element).bits >= 16 else computed_type(wanted)
    if not block_size:
        how = quantization(node, op, element, scale, zero, axis, rank_of(x), x)
        return op.convert(dequantized_operand(node, op, x, how, real), wanted)
    axis = normalize_axis(axis, node.known_rank(0))
    how = _block_parameters(node, op, x, Quantization(scale, zero, integers_of(element), axis), block_size)
    if not _has_whole_blocks(node, x, axis, block_size):
        return op.convert(dequantized(op, x, how, real), wanted)
    return op.convert(reshaped_like(op, dequantized(op, _in_blocks(op, x, axis, block_size), how, real), x), wanted)


def _has_whole_blocks(node: LoweringNode, x: SSAValue, axis: int, block: int) -> bool:
    """Whether the size of an axis is known to be a multiple of the block size.

    Raises ConversionError for a negative block size.
    """
    if block < 0:
        node.fail(f"the block size is {block}")
    size = (shape_of(x) or ())[axis]
    return size >= 0 and size % block == 0


def _in_blocks(op: OpBuilder, x: SSAValue, axis: int, block: int) -> SSAValue:
    """Split an axis of x, whose size is a multiple of `block`, into two: blocks, and the elements of a block."""
    shape = shape_of(x) or ()
    split = [*shape[:axis], shape[axis] // block, block, *shape[axis + 1 :]]
    if split.count(-1) <= 1:
        return reshaped(op, x, split)
    whole = op.ShapeOf(x)
    before = [op.Slice(whole, [0], [axis], [1])] if axis else []
    after = [op.Slice(whole, [axis + 1], [len(shape)], [1])] if axis + 1 < len(shape) else []
    return op.Reshape(x, op.Concat(*before, op.constant(split[axis : axis + 2]), *after, axis=0), special_zero=False)


def _block_parameters(node: LoweringNode, op: OpBuilder, x: SSAValue, how: Parameters, block: int) -> Parameters:
    """Scale and zero point of blocks along an axis, reshaped so that they broadcast.

    If x consists of whole blocks, they get a dimension of 1 for the elements of a block. Otherwise the last block is
    shorter, and scale and zero point are repeated for each element of x.
    """
    assert how.axis is not None
    axis = how.axis
    if _has_whole_blocks(node, x, axis, block):
        return _spread(op, how, lambda value: _with_inner_dimension(node, op, value, axis))
    size = dimension(op, x, axis)
    positions = op.constant(np.arange(size)) if isinstance(size, int) else op.Range(0, size, 1, output_type=si64)
    index = op.Divide(positions, block, m_pythondiv=False)
    return _spread(op, how, lambda value: op.Gather(as_type(op, value, unpacked_type(element_of(value))), index, axis))


def _spread(op: OpBuilder, how: Parameters, spread: Callable[[SSAValue], SSAValue]) -> Parameters:
    """Scale and zero point, each after the function `spread`, which reshapes; a zero point of zeros becomes None."""
    zero = how.zero_point
    point = None if zero is None or is_zero(op, zero) else spread(zero)
    return Quantization(spread(how.scale), point, how.integers)


def _with_inner_dimension(node: LoweringNode, op: OpBuilder, value: SSAValue, axis: int) -> SSAValue:
    """Scales or zero points of blocks along an axis, with a dimension of 1 after it."""
    array = constant_array(op, value)
    if array is None:
        return op.Unsqueeze(value, [axis + 1])
    if array.ndim <= axis:
        node.fail(f"scales of {array.ndim} dimensions are not scales of blocks along axis {axis}")
    return op.constant(np.expand_dims(array, axis + 1), unpacked_type(element_of(value)))


@onnx.lowers("DynamicQuantizeLinear")
def dynamic_quantize(op: OpBuilder, x: SSAValue) -> Sequence[SSAValue]:
    """onnx.DynamicQuantizeLinear(x)
    -> scale = (max - min) / 255, zero = round(-min / scale), y = round(x / scale) + zero

    The interval between minimum and maximum of x is extended to contain 0. The scale of zeros alone is 1, as in ONNX
    Runtime.
    """
    values, scale, zero = dynamically_quantized(op, x)
    return [op.convert(values, ui8), scale, op.convert(zero, ui8)]


def dynamically_quantized(op: OpBuilder, x: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """The quantized values of x, from 0 to 255, their scale and their zero point, all of them floats."""
    axes = all_axes(op, x)
    low = op.Minimum(op.ReduceMin(x, axes, keep_dims=False), 0.0)
    high = op.Maximum(op.ReduceMax(x, axes, keep_dims=False), 0.0)
    extent = op.Subtract(high, low)
    scale = op.Divide(op.Select(op.Equal(extent, 0.0), 255.0, extent), 255.0)
    zero = op.Clamp(half_to_even(op, op.Divide(op.Negative(low), scale)), min=0.0, max=255.0)
    values = op.Add(half_to_even(op, op.Divide(x, scale)), zero)
    return op.Clamp(values, min=0.0, max=255.0), scale, zero


@onnx.lowers("QLinearMatMul")
def quantized_product(
    node: LoweringNode,
    op: OpBuilder,
    a_: SSAValue,
    a_scale: SSAValue,
    a_zero_point: SSAValue,
    b_: SSAValue,
    b_scale: SSAValue,
    b_zero_point: SSAValue,
    y_scale: SSAValue,
    y_zero_point: SSAValue,
) -> SSAValue:
    """onnx.QLinearMatMul(a, …, b, …, y_scale, y_zero) -> quantized MatMul of dequantized operands

    A 1-D scale has an element for each row of a, or for each column of b.
    """
    a = dequantized_operand(node, op, a_, quantization(node, op, element_of(a_), a_scale, a_zero_point, -2), element_of(a_scale))
    b = dequantized_operand(node, op, b_, quantization(node, op, element_of(b_), b_scale, b_zero_point, -1), element_of(b_scale))
    element = result_type(y_zero_point)
    return quantized(op, op.MatMul(a, b), quantization(node, op, element, y_scale, y_zero_point, -1), element)


def grouped(node: LoweringNode, op: OpBuilder, filters: SSAValue, group: int, axes: int) -> SSAValue:
    """Filters with their leading dimension split into groups: [group, rows / group, …]."""
    shape = shape_of(filters)
    if shape is None or -1 in shape or len(shape) != axes + 2 or shape[0] % group:
        node.fail(f"filters of {group} groups need a static shape of {axes + 2} dimensions and equal groups")
    return reshaped(op, filters, [group, shape[0] // group, *shape[1:]])


def convolved(node: LoweringNode, op: OpBuilder, x: SSAValue, filters: SSAValue, group: int, axes: int) -> SSAValue:
    """The convolution of a node; for several groups a GroupConvolution, whose filters are split into groups."""
    if group > 1 and has_unknown_sizes(filters):
        filters = split_by_group(op, filters, group)
    build = op.Convolution if group == 1 else op.GroupConvolution
    return build(x, filters, **sliding_window(node, axes).properties())


@onnx.lowers("QLinearConv")
def quantized_convolution(
    node: LoweringNode,
    op: OpBuilder,
    x_: SSAValue,
    x_scale: SSAValue,
    x_zero_point: SSAValue,
    w_: SSAValue,
    w_scale: SSAValue,
    w_zero_point: SSAValue,
    y_scale: SSAValue,
    y_zero_point: SSAValue,
    b: SSAValue | None = None,
    *,
    group: int = 1,
) -> SSAValue:
    """onnx.QLinearConv(x, …, w, …, y_scale, y_zero, b)
    -> quantized Convolution of dequantized operands, plus b * x_scale * w_scale
    """
    axes = spatial_axes(node, (3, 0))
    check_group(node, group)
    x = dequantized_operand(node, op, x_, quantization(node, op, element_of(x_), x_scale, x_zero_point), element_of(x_scale))
    w = _filters(node, op, w_, Quantization(w_scale, w_zero_point, integers_of(element_of(w_)), 0), group, axes)
    if has_unknown_sizes(w) and not has_unknown_sizes(w_):
        # Scales of dynamic length do not change the sizes.
        rows, *sizes = shape_of(w_) or (1,)
        w = op.Reshape(w, [rows, *sizes] if group == 1 else [group, rows // group, *sizes], special_zero=False)
    result = convolved(node, op, x, w, group, axes)
    if b is not None:
        result = op.Add(result, _bias(op, b, (x_scale, w_scale), axes))
    element = result_type(y_zero_point)
    return quantized(op, result, quantization(node, op, element, y_scale, y_zero_point), element)


def _filters(node: LoweringNode, op: OpBuilder, filters: SSAValue, how: Parameters, group: int, axes: int) -> SSAValue:
    """The dequantized filters of a QLinearConv, with one scale per output channel."""
    if group == 1 or has_unknown_sizes(filters):
        return dequantized(op, filters, quantization(node, op, element_of(filters), how.scale, how.zero_point, 0, axes + 2))

    def by_group(value: SSAValue) -> SSAValue:
        shape = shape_of(value)
        if shape in ((), (1,)):
            return along_axis(node, op, value, 0, axes + 3)
        if shape is None:
            # A scalar or a 1-D tensor.
            value = op.Broadcast(value, [(shape_of(filters) or (-1,))[0]])
        split = [group, -1, *(1,) * (axes + 1)]
        array = constant_array(op, value)
        return op.Reshape(value, split, special_zero=False) if array is None else op.constant(array.reshape(split), element_of(value))

    return dequantized(op, grouped(node, op, filters, group, axes), _spread(op, how, by_group))


def _bias(op: OpBuilder, bias: SSAValue, scales: tuple[SSAValue, SSAValue], axes: int) -> SSAValue:
    """The dequantized bias of a QLinearConv, whose scale is the product of those of x and w."""
    arrays = [constant_array(op, value) for value in (bias, *scales)]
    if all(array is not None for array in arrays):
        values, x_scale, w_scale = (array.astype(np.float64) for array in arrays if array is not None)
        return op.constant((values * (x_scale.reshape(-1) * w_scale.reshape(-1))).astype(np.float32).reshape(1, -1, *(1,) * axes))
    scaled = op.Multiply(as_type(op, bias, f32), op.Multiply(*scales))
    return along_channels(op, scaled, axes)


@onnx.lowers("ConvInteger")
def integer_convolution(
    node: LoweringNode,
    op: OpBuilder,
    x_: SSAValue,
    w: SSAValue,
    x_zero_point: SSAValue | None = None,
    w_zero_point: SSAValue | None = None,
    *,
    group: int = 1,
) -> SSAValue:
    """onnx.ConvInteger(x, w, x_zero, w_zero) -> Convert(Convolution(x - x_zero, w - w_zero)), computed in f32"""
    axes = spatial_axes(node, (1, 0))
    check_group(node, group)
    one = op.constant(np.ones((), np.float32))
    x = dequantized(op, x_, Quantization(one, _zero_point(node, op, x_zero_point, axes), integers_of(element_of(x_))))
    filters = dequantized(op, w, Quantization(one, _zero_point(node, op, w_zero_point, axes), integers_of(element_of(w))))
    if group > 1 and not has_unknown_sizes(filters):
        filters = grouped(node, op, filters, group, axes)
    return op.convert(convolved(node, op, x, filters, group, axes), si32)


def _zero_point(node: LoweringNode, op: OpBuilder, value: SSAValue | None, axes: int) -> SSAValue | None:
    """The zero point of an operand of a ConvInteger; a 1-D tensor has an element for each output channel.

    None if the operand has no zero point.
    """
    return None if value is None or is_zero(op, value) else along_axis(node, op, value, 0, axes + 2)
