"""Quantized tensors: integers are replaced by their dequantized values, rounded as the integers would be.

    tflite.fake_quantize(x) {scale, zero_point, element}
->  opset1.FakeQuantize(x, (-128 - zero_point) · scale, (127 - zero_point) · scale, …) {levels = 256}

Constants of integers stay integers, dequantized by a Convert, a Subtract and a Multiply: a target may compute
with the integers if activations are rounded, and stores the weights as integers in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import frexp

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.analysis.constants import DECOMPRESSION, is_decompression
from moir.dialects.element_types import describe, f16, f32
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.quantization import IntegerRange, Quantization
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.quantization import (
    NumberRange,
    Parameters,
    aligned,
    constant_parameters,
    dequantized,
    fake_quantized,
    number_range,
    quantized,
)
from moir.lowering.binder import LoweringNode
from moir.lowering.tflite.table import tflite
from moir.rewriting.builder import OpBuilder


def parameters_of(node: LoweringNode, op: OpBuilder, value: SSAValue) -> Parameters:
    """The scale and zero point in the attributes of a node, in shapes that broadcast to a value.

    Raises ConversionError if there are scales along an axis and the rank of the value is dynamic.
    """
    element = node.element_attribute("element")
    axis = node.integer("axis") if node.has("axis") else None
    scale = node.tensor("scale") if axis is not None else np.asarray(node.number("scale"), np.float32)
    if scale is None:
        node.fail("attribute scale is not a tensor")
    zeros = np.asarray(node.attribute("zero_point", None))
    zero = op.constant(np.broadcast_to(zeros, scale.shape).astype(np.int32)) if zeros.any() else None
    how = Quantization(op.constant(scale), zero, IntegerRange.of(element), axis)
    rank = rank_of(value)
    if axis is not None and rank is None:
        node.fail("the rank of a tensor with scales along a dimension is dynamic")
    return how if axis is None or rank is None else aligned(op, how, rank)


@tflite.lowers("dequantize")
def dequantize(node: LoweringNode, op: OpBuilder, integers: SSAValue, *, element: Attribute) -> SSAValue:
    """tflite.dequantize(q) {scale, zero_point} -> opset1.Multiply(opset1.Subtract(Convert(q), zero_point), scale)

    Constants of more than 16 bits are biases: they become floats.
    """
    how = parameters_of(node, op, integers)
    data = node.known.constant(integers)
    if data is not None and describe(element).bits > 16:
        parameters = constant_parameters(op, how)
        assert parameters is not None
        scales, zeros = (each.astype(np.float64) for each in parameters)
        return op.constant(((data.astype(np.float64) - zeros) * scales).astype(np.float32), f32)
    return dequantized(op, integers, how)


@tflite.lowers("fake_quantize")
def fake_quantize(node: LoweringNode, op: OpBuilder, real: SSAValue) -> SSAValue:
    """tflite.fake_quantize(x) {scale, zero_point} -> opset1.FakeQuantize(x, low, high, low, high) {levels}

    Rounding to integers of 16 bits is left out, since it changes little: opset1.Clamp(x). A FakeQuantize rounds the
    middle between two integers to the even one; for a kernel that rounds it otherwise, its input limits are moved.
    """
    how = parameters_of(node, op, real)
    limits = number_range(op, how)
    if how.range.bits > 8 and how.axis is None and (ends := [node.known.constant(each) for each in limits]):
        low, high = (float(each.reshape(())) for each in ends if each is not None)
        return op.Clamp(real, min=low, max=high)
    moved = MOVED_LIMITS.get(node.text("ties", ""))
    return fake_quantized(op, real, limits if moved is None else moved(op, how, limits), limits, how.range)


def _moved_down(op: OpBuilder, how: Parameters, limits: NumberRange) -> NumberRange:
    """Both limits lowered by `TIE` times the scale, so that a midpoint between two integers is rounded up."""
    return NumberRange(*(op.Subtract(each, op.Multiply(how.scale, TIE)) for each in limits))


def _moved_inwards(op: OpBuilder, how: Parameters, limits: NumberRange) -> NumberRange:
    """Limits moved closer to the value of integer 0, so that a midpoint is rounded to the integer of larger magnitude.

    In 8 bits they move by a hundredth of an integer at most, less than the distance between averages of 49 integers.
    """
    factor = 1 / (1 + TIE / 8)
    if how.zero_point is None:
        return NumberRange(*(op.Multiply(each, factor) for each in limits))
    origin = op.Multiply(op.convert(op.Negative(how.zero_point), f32), how.scale)
    return NumberRange(*(op.Add(op.Multiply(op.Subtract(each, origin), factor), origin) for each in limits))


TIE = 2.0**-11
"""The distance, in steps, by which limits are moved to change the rounding of midpoints: larger than the rounding
errors of f32 sums.
"""

MOVED_LIMITS: Mapping[str, Callable[[OpBuilder, Parameters, NumberRange], NumberRange]] = {"up": _moved_down, "away": _moved_inwards}
"""The input limits of a FakeQuantize, by the direction in which a kernel rounds midpoints between two integers."""


@tflite.lowers("quantize")
def quantize(node: LoweringNode, op: OpBuilder, real: SSAValue) -> SSAValue:
    """tflite.quantize(x) {scale, zero_point} -> Convert(opset1.FakeQuantize(x, low, high, -128, 127) {levels})

    If x is the result of a FakeQuantize with the same levels and output limits, its input limits are used for both.
    """
    how = parameters_of(node, op, real)
    rounding = real.owner
    if isinstance(rounding, FakeQuantize) and rounding.integer("levels") == how.range.steps + 1:
        results = [node.known.constant(each) for each in (rounding.output_low, rounding.output_high)]
        wanted = [node.known.constant(each) for each in number_range(op, how)]
        if all(a is not None and b is not None and np.array_equal(a, b) for a, b in zip(results, wanted, strict=True)):
            bounds = NumberRange(*(op.constant(np.asarray(end, np.float32)) for end in how.range.ends))
            limits = NumberRange(rounding.input_low, rounding.input_high)
            return op.convert(fake_quantized(op, rounding.data, limits, bounds, how.range), how.range.element)
    return quantized(op, real, how)


@tflite.lowers("round_for_comparison")
def round_for_comparison(op: OpBuilder, real: SSAValue, *, scale: float) -> SSAValue:
    """tflite.round_for_comparison(x) {scale} -> opset5.Round(opset5.Round(x · 2⁸ · n) / n)

    The kernel multiplies an integer, shifted by 8 bits, by the scale, which is stored as m / n with m from ½ to 1. It
    rounds twice: the product with m, and the quotient of this product and n.
    """
    steps = 2.0 ** -frexp(scale)[1]
    rounded = op.Round(op.Multiply(real, 256.0 * steps), mode="half_away_from_zero")
    return rounded if steps == 1 else op.Round(op.Multiply(rounded, 1 / steps), mode="half_away_from_zero")


@tflite.lowers("QUANTIZE", "DEQUANTIZE", "DENSIFY")
def converted(op: OpBuilder, input: SSAValue) -> SSAValue:
    """tflite.DEQUANTIZE(x) -> opset1.Convert(x) from f16 to f32; x itself if it is dequantized already

    Weights remain stored as f16. Likewise QUANTIZE and DENSIFY.
    """
    is_weight = isinstance(input.owner, Constant) and element_of(input) == f16 and (rank_of(input) or 0) > 1
    return restored(op, input) if is_weight else op.convert(input, f32)


def restored(op: OpBuilder, halves: SSAValue) -> SSAValue:
    """Weights that are stored as f16, converted to f32; a mark says that the Convert is not to be folded."""
    value = op.Convert(halves, destination_type=f32)
    assert isinstance(value.owner, Convert)
    value.owner.attributes["runtime_info"] = DECOMPRESSION
    return value


def transposed_weights(op: OpBuilder, weights: SSAValue, order: Sequence[int], shape: Sequence[int] | None = None) -> SSAValue:
    """Weights transposed to an order of their axes, and reshaped unless `shape` is None.

    Weights stored as f16 are transposed before their Convert.
    """
    is_stored = isinstance(convert := weights.owner, Convert) and is_decompression(convert)
    moved = op.Transpose(convert.data if is_stored and isinstance(convert, Convert) else weights, list(order))
    moved = moved if shape is None else op.Reshape(moved, list(shape), special_zero=False)
    return restored(op, moved) if is_stored else moved
