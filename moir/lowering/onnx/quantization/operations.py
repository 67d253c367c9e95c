"""Quantization: conversions between floats and scaled integers, and products and convolutions of such integers.

    %q = onnx.QuantizeLinear(%x, %scale, %zero)
    %y = onnx.DequantizeLinear(%q, %scale, %zero)
->  %y = opset1.FakeQuantize(%x, low, high, low, high) {levels = 256}
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import describe, f16, f32, si32, si64, ui8
from moir.dialects.shapes import element_of, normalize_axis, rank_of, shape_of
from moir.expansions.shape_values import all_axes, dimension
from moir.expansions.unfolded_convolution import has_unknown_sizes
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.convolution import group_attribute, split_by_group
from moir.lowering.onnx.element_types import computed_type, element_type, unpacked_type
from moir.lowering.onnx.operands import reshaped_like
from moir.lowering.onnx.quantization.packed_integers import constant_array
from moir.lowering.onnx.quantization.values import (
    Quantization,
    along_axis,
    as_type,
    dequantized,
    dequantized_operand,
    quantization,
    quantized,
    reshaped_constant,
    result_type,
)
from moir.lowering.onnx.sliding_window import sliding_window, spatial_axes
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder


@onnx.lowers("QuantizeLinear", "com.microsoft.QuantizeLinear")
def quantize(node: LoweringNode, op: OpBuilder, x: SSAValue, *, axis: int = 1, saturate: bool = True) -> SSAValue:
    """onnx.QuantizeLinear(x, scale, zero) -> Convert(FakeQuantize(x, low, high, 0, 255))"""
    block = node.attribute("block_size", 0)
    asked = node.attribute("output_dtype", 0)
    element = result_type(node, 2, element_type(node, "output_dtype") if asked else ui8)
    if block:
        axis = normalize_axis(axis, node.known_rank(0))
        if not _has_whole_blocks(node, x, axis, block):
            return quantized(op, x, _repeated_parameters(node, op, axis, block), element, saturate)
        blocks = _in_blocks(op, x, axis, block)
        return reshaped_like(op, quantized(op, blocks, _block_parameters(node, op, axis), element, saturate), x)
    return quantized(op, x, quantization(node, op, 1, 2, axis, rank_of(x), x), element, saturate)


@onnx.lowers("DequantizeLinear", "com.microsoft.DequantizeLinear")
def dequantize(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.DequantizeLinear(x, scale, zero)
    -> (Convert(x) - zero) * scale; one FakeQuantize for the result of a QuantizeLinear
    """
    wanted = element_type(node, "output_dtype") if node.attribute("output_dtype", 0) else node.element(1)
    # f16 has neither the largest integers of 16 bits nor their differences.
    is_short = wanted == f16 and describe(node.element(0)).bits >= 16
    return op.convert(_dequantized(node, op, f32 if is_short else computed_type(wanted)), wanted)


def _dequantized(node: LoweringNode, op: OpBuilder, real: Attribute) -> SSAValue:
    """The result of a DequantizeLinear, computed in an element type."""
    x, block = node.operand(0), node.attribute("block_size", 0)
    axis = node.integer("axis", 1)
    if block:
        axis = normalize_axis(axis, node.known_rank(0))
        if not _has_whole_blocks(node, x, axis, block):
            return dequantized(op, x, _repeated_parameters(node, op, axis, block), real)
        return reshaped_like(op, dequantized(op, _in_blocks(op, x, axis, block), _block_parameters(node, op, axis), real), x)
    return dequantized_operand(node, op, 0, quantization(node, op, 1, 2, axis, rank_of(x), x), real)


def _has_whole_blocks(node: LoweringNode, x: SSAValue, axis: int, block: int) -> bool:
    """Whether the size of an axis is known to be a multiple of the block size. A negative one is refused."""
    if block < 0:
        node.fail(f"the block size is {block}")
    size = (shape_of(x) or ())[axis]
    return size >= 0 and size % block == 0


def _in_blocks(op: OpBuilder, x: SSAValue, axis: int, block: int) -> SSAValue:
    """x with an axis, whose size is a multiple of the block size, split into blocks and elements of a block."""
    shape = shape_of(x) or ()
    split = [*shape[:axis], shape[axis] // block, block, *shape[axis + 1 :]]
    if split.count(-1) <= 1:
        constant = reshaped_constant(op, x, split)
        return op.Reshape(x, split, special_zero=False) if constant is None else constant
    whole = op.ShapeOf(x)
    before = [op.Slice(whole, [0], [axis], [1])] if axis else []
    behind = [op.Slice(whole, [axis + 1], [len(shape)], [1])] if axis + 1 < len(shape) else []
    return op.Reshape(x, op.Concat(*before, op.constant(split[axis : axis + 2]), *behind, axis=0), special_zero=False)


def _repeated_parameters(node: LoweringNode, op: OpBuilder, axis: int, block: int) -> Quantization:
    """Scale and zero point of blocks, of which the last may be shorter, repeated for each element of x."""
    size = dimension(op, node.operand(0), axis)
    places = op.constant(np.arange(size)) if isinstance(size, int) else op.Range(0, size, 1, output_type=si64)
    index = op.Divide(places, block)

    def spread(value: SSAValue) -> SSAValue:
        return op.Gather(as_type(op, value, unpacked_type(element_of(value))), index, axis)

    zero = node.optional(2)
    zeros = None if zero is None else constant_array(op, zero)
    absent = zero is None or (zeros is not None and not zeros.any())
    return Quantization(spread(node.operand(1)), None if zero is None or absent else spread(zero))


def _block_parameters(node: LoweringNode, op: OpBuilder, axis: int) -> Quantization:
    """Scale and zero point of blocks, with an inserted dimension of 1 for the elements of a block."""

    def spread(value: SSAValue) -> SSAValue:
        array = constant_array(op, value)
        if array is None:
            return op.Unsqueeze(value, [axis + 1])
        if array.ndim <= axis:
            node.fail(f"scales of {array.ndim} dimensions are none of blocks along axis {axis}")
        return op.constant(np.expand_dims(array, axis + 1), unpacked_type(element_of(value)))

    zero = node.optional(2)
    zeros = None if zero is None else constant_array(op, zero)
    absent = zero is None or (zeros is not None and not zeros.any())
    return Quantization(spread(node.operand(1)), None if zero is None or absent else spread(zero))


@onnx.lowers("DynamicQuantizeLinear")
def dynamic_quantize(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """onnx.DynamicQuantizeLinear(x)
    -> scale = (max - min) / 255, zero = round(-min / scale), y = round(x / scale) + zero

    The interval between minimum and maximum of x is extended to contain 0. The scale of zeros alone is 1, as in ONNX
    Runtime.
    """
    level, scale, zero = dynamically_quantized(node, op)
    return [op.convert(level, ui8), scale, op.convert(zero, ui8)]


def dynamically_quantized(node: LoweringNode, op: OpBuilder) -> tuple[SSAValue, SSAValue, SSAValue]:
    """The levels from 0 to 255 of operand 0, their scale and their zero point, all of them floats."""
    x = node.operand(0)
    axes = all_axes(op, x)
    low = op.Minimum(op.ReduceMin(x, axes, keep_dims=False), 0.0)
    high = op.Maximum(op.ReduceMax(x, axes, keep_dims=False), 0.0)
    extent = op.Subtract(high, low)
    scale = op.Divide(op.Select(op.Equal(extent, 0.0), 255.0, extent), 255.0)
    zero = op.Clamp(op.Round(op.Divide(op.Negative(low), scale), mode="half_to_even"), min=0.0, max=255.0)
    level = op.Add(op.Round(op.Divide(x, scale), mode="half_to_even"), zero)
    return op.Clamp(level, min=0.0, max=255.0), scale, zero


@onnx.lowers("QLinearMatMul")
def quantized_product(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.QLinearMatMul(a, …, b, …, y_scale, y_zero) -> quantized MatMul of dequantized operands

    A scale of one dimension has an entry for each row of a, or for each column of b.
    """
    a = dequantized_operand(node, op, 0, quantization(node, op, 1, 2, -2), node.element(1))
    b = dequantized_operand(node, op, 3, quantization(node, op, 4, 5, -1), node.element(4))
    if None in (rank_of(a), rank_of(b)) and any(0 in (node.shape(index) or ()) for index in (0, 3)):
        # The CPU plugin (2026.4) crashes.
        node.fail("one matrix has no element, and the rank of the other one, or of a scale, is unknown", hint="give the inputs known ranks")
    return quantized(op, op.MatMul(a, b), quantization(node, op, 6, 7, -1), result_type(node, 7, ui8))


def grouped(node: LoweringNode, op: OpBuilder, filters: SSAValue, group: int, axes: int) -> SSAValue:
    """Filters with their leading dimension split into groups: [group, rows / group, …]."""
    shape = shape_of(filters)
    if shape is None or -1 in shape or len(shape) != axes + 2 or shape[0] % group:
        node.fail(f"filters of {group} groups need a static shape of {axes + 2} dimensions and equal groups")
    split = [group, shape[0] // group, *shape[1:]]
    constant = reshaped_constant(op, filters, split)
    return op.Reshape(filters, split, special_zero=False) if constant is None else constant


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
    _x: SSAValue,
    x_scale: SSAValue,
    _x_zero_point: SSAValue,
    w_: SSAValue,
    _w_scale: SSAValue,
    _w_zero_point: SSAValue,
    _y_scale: SSAValue,
    _y_zero_point: SSAValue,
    b: SSAValue | None = None,
) -> SSAValue:
    """onnx.QLinearConv(x, …, w, …, y_scale, y_zero, b)
    -> quantized Convolution of dequantized operands, plus b * x_scale * w_scale
    """
    axes, group = spatial_axes(node, (3, 0)), group_attribute(node)
    x = dequantized_operand(node, op, 0, quantization(node, op, 1, 2), element_of(x_scale))
    w = _filters(node, op, w_, group, axes)
    if has_unknown_sizes(w) and not has_unknown_sizes(w_):
        # Scales of unknown length do not change the sizes.
        rows, *sizes = shape_of(w_) or (1,)
        w = op.Reshape(w, [rows, *sizes] if group == 1 else [group, rows // group, *sizes], special_zero=False)
    result = convolved(node, op, x, w, group, axes)
    if b is not None:
        result = op.Add(result, _bias(node, op, axes))
    return quantized(op, result, quantization(node, op, 6, 7), result_type(node, 7, ui8))


def _filters(node: LoweringNode, op: OpBuilder, filters: SSAValue, group: int, axes: int) -> SSAValue:
    """The dequantized filters of a QLinearConv, with one scale per output channel."""
    if group == 1 or has_unknown_sizes(filters):
        return dequantized(op, filters, quantization(node, op, 4, 5, 0, axes + 2))

    def by_group(value: SSAValue) -> SSAValue:
        shape = shape_of(value)
        if shape in ((), (1,)):
            return along_axis(node, op, value, 0, axes + 3)
        if shape is None:
            # A scalar or a list.
            value = op.Broadcast(value, [(shape_of(filters) or (-1,))[0]])
        split = [group, -1, *(1,) * (axes + 1)]
        array = constant_array(op, value)
        return op.Reshape(value, split, special_zero=False) if array is None else op.constant(array.reshape(split), element_of(value))

    zero = node.optional(5)
    zeros = None if zero is None else constant_array(op, zero)
    absent = zero is None or (zeros is not None and not zeros.any())
    parameters = Quantization(by_group(node.operand(4)), None if zero is None or absent else by_group(zero))
    return dequantized(op, grouped(node, op, filters, group, axes), parameters)


def _bias(node: LoweringNode, op: OpBuilder, axes: int) -> SSAValue:
    """The dequantized bias of a QLinearConv, whose scale is the product of those of x and w."""
    bias, scales = node.operand(8), (node.operand(1), node.operand(4))
    arrays = [constant_array(op, value) for value in (bias, *scales)]
    if all(array is not None for array in arrays):
        values, x_scale, w_scale = (array.astype(np.float64) for array in arrays if array is not None)
        return op.constant((values * (x_scale.reshape(-1) * w_scale.reshape(-1))).astype(np.float32).reshape(1, -1, *(1,) * axes))
    scaled = op.Multiply(as_type(op, bias, f32), op.Multiply(*scales))
    return op.Reshape(scaled, [1, -1, *(1,) * axes], special_zero=False)


@onnx.lowers("ConvInteger")
def integer_convolution(node: LoweringNode, op: OpBuilder, x_: SSAValue, w: SSAValue) -> SSAValue:
    """onnx.ConvInteger(x, w, x_zero, w_zero) -> Convert(Convolution(x - x_zero, w - w_zero)), computed in f32"""
    axes, group = spatial_axes(node, (1, 0)), group_attribute(node)
    one = op.constant(np.ones((), np.float32))
    x = dequantized(op, x_, Quantization(one, _zero_point(node, op, 2, axes)))
    filters = dequantized(op, w, Quantization(one, _zero_point(node, op, 3, axes)))
    if group > 1 and not has_unknown_sizes(filters):
        filters = grouped(node, op, filters, group, axes)
    return op.convert(convolved(node, op, x, filters, group, axes), si32)


def _zero_point(node: LoweringNode, op: OpBuilder, index: int, axes: int) -> SSAValue | None:
    """The zero point of an operand of a ConvInteger, with an entry for each output channel if it has a dimension."""
    value = node.optional(index)
    if value is None:
        return None
    array = constant_array(op, value)
    return None if array is not None and not array.any() else along_axis(node, op, value, 0, axes + 2)
