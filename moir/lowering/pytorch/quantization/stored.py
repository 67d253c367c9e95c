"""Quantization: `quantized_decomposed` of pt2e, and the blocks of torchao."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f32, to_numpy
from moir.dialects.quantization import IntegerRange
from moir.dialects.shapes import element_of
from moir.expansions.quantization import Parameters, aligned, dequantized, is_zero, quantized
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import Scalar, axis_from_front
from moir.lowering.pytorch.promotion import as_element, inferred_element
from moir.lowering.pytorch.quantization.computed import Blocks
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder


def _zero(op: OpBuilder, value: Scalar, element: Attribute) -> SSAValue:
    """A zero point converted to the element type of the quantized values; a number becomes a constant."""
    if not isinstance(value, SSAValue):
        return as_element(op, element, value)[0]
    known = op.known.constant(value)
    if known is not None:
        return op.constant(known.astype(to_numpy(element)), element)
    return op.convert(value, element)


def _integers(node: LoweringNode, element: Attribute, low: int, high: int) -> IntegerRange:
    """The range of the quantized integers from `low` to `high`: all of `element`, or all but its smallest.

    Raises ConversionError for other limits.
    """
    for is_narrow in (False, True):
        range_ = IntegerRange.of(element, is_narrow)
        if range_.ends == (low, high):
            return range_
    return node.fail(f"the limits {low} and {high} are not those of {element}", hint="quantize to all integers of a type")


@aten.lowers("quantized_decomposed.quantize_per_tensor.default", "quantized_decomposed.quantize_per_tensor.tensor")
def quantize_per_tensor(
    node: LoweringNode, op: OpBuilder, input: SSAValue, *, scale: Scalar, zero_point: Scalar, quant_min: int, quant_max: int
) -> SSAValue:
    """aten.quantized_decomposed.quantize_per_tensor.default(x) {scale, zero_point} -> opset1.FakeQuantize, Convert"""
    element = inferred_element(node)
    parameters = Parameters(as_element(op, f32, scale)[0], _zero(op, zero_point, element), _integers(node, element, quant_min, quant_max))
    return quantized(op, op.convert(input, f32), parameters)


@aten.lowers("quantized_decomposed.dequantize_per_tensor.default", "quantized_decomposed.dequantize_per_tensor.tensor")
def dequantize_per_tensor(op: OpBuilder, input: SSAValue, *, scale: Scalar, zero_point: Scalar) -> SSAValue:
    """aten.quantized_decomposed.dequantize_per_tensor.default(x) {scale, zero_point} -> (x - zero_point) · scale"""
    element = element_of(input)
    parameters = Parameters(as_element(op, f32, scale)[0], _zero(op, zero_point, element), IntegerRange.of(element))
    return dequantized(op, input, parameters)


@aten.lowers("quantized_decomposed.quantize_per_channel.default", "quantized_decomposed.dequantize_per_channel.default")
def per_channel(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    scales: SSAValue,
    zero_points: SSAValue | None = None,
    *,
    axis: int,
    quant_min: int,
    quant_max: int,
) -> SSAValue:
    """aten.quantized_decomposed.dequantize_per_channel.default(x, scales, zero_points) {axis} -> (x - zero) · scale"""
    is_quantizing = ".quantize_" in node.op.KIND
    element = inferred_element(node) if is_quantizing else element_of(input)
    zero = None if zero_points is None else _zero(op, zero_points, element)
    rank = node.known_rank(0)
    integers = _integers(node, element, quant_min, quant_max) if is_quantizing else IntegerRange.of(element)
    parameters = Parameters(op.convert(scales, f32), zero, integers, axis_from_front(node, axis, rank))
    if is_quantizing:
        return quantized(op, op.convert(input, f32), aligned(op, parameters, rank))
    return dequantized(op, input, aligned(op, parameters, rank))


@aten.lowers("torchao.dequantize_affine.default")
def dequantize_affine(
    node: LoweringNode, op: OpBuilder, input: SSAValue, scale: SSAValue, zero_point: SSAValue | None = None, *, block_size: tuple[int, ...]
) -> SSAValue:
    """aten.torchao.dequantize_affine.default(x [N, K], scale [N, K / B]) {block_size = [1, B]}
    -> (x as [N, K / B, B] - zero_point) · scale, as [N, K]
    """
    blocks = Blocks(node, block_size)
    element = inferred_element(node)
    value = op.convert(blocks.of(op, input), element)
    if zero_point is not None and not is_zero(op, zero_point):
        value = op.Subtract(value, op.convert(blocks.broadcast(op, zero_point), element))
    return blocks.whole(op, op.Multiply(value, op.convert(blocks.broadcast(op, scale), element)))
