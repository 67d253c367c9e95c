"""Quantized tensors: integers as the numbers that they stand for, and numbers rounded as their integers are.

    tflite.fake_quantize(x) {scale, zero_point, element}
->  opset1.FakeQuantize(x, (-128 - zero_point) · scale, (127 - zero_point) · scale, …) {levels = 256}

Constants of integers stay integers, which a Convert, a Subtract and a Multiply turn into numbers: the runtime computes
with them where activations are rounded, and keeps them where not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.analysis.constants import DECOMPRESSION, is_decompression
from moir.dialects.element_types import describe, f16, f32
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.quantization import IntegerRange, Quantization
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.quantization import Parameters, aligned, constant_parameters, dequantized, fake_quantized, number_range, quantized
from moir.lowering.binder import LoweringNode
from moir.lowering.tflite.table import tflite
from moir.rewriting.builder import OpBuilder


def parameters_of(node: LoweringNode, op: OpBuilder, value: SSAValue) -> Parameters:
    """The quantization that the attributes of a node say, which broadcasts to a value."""
    element = node.element_attribute("element")
    axis = node.integer("axis") if node.has("axis") else None
    scale = np.asarray(node.number("scale") if axis is None else node.numbers("scale"), np.float32)
    zeros = np.asarray(node.attribute("zero_point", None))
    zero = op.constant(np.broadcast_to(zeros, scale.shape).astype(np.int32)) if zeros.any() else None
    how = Quantization(op.constant(scale), zero, IntegerRange.of(element), axis)
    rank = rank_of(value)
    if axis is not None and rank is None:
        node.fail("the rank of a tensor with scales along a dimension is unknown")
    return how if axis is None or rank is None else aligned(op, how, rank)


@tflite.lowers("dequantize")
def dequantize(node: LoweringNode, op: OpBuilder, integers: SSAValue, *, element: Attribute, offset: tuple[float, ...] = ()) -> SSAValue:
    """tflite.dequantize(q) {scale, zero_point} -> opset1.Multiply(opset1.Subtract(Convert(q), zero_point), scale)

    Of integers of more than 16 bits, which are biases, only the numbers are kept, to which the offset is added.
    """
    how = parameters_of(node, op, integers)
    data = node.known.constant(integers)
    if data is not None and describe(element).bits > 16:
        parameters = constant_parameters(op, how)
        assert parameters is not None
        scales, zeros = (each.astype(np.float64) for each in parameters)
        numbers = (data.astype(np.float64) - zeros) * scales
        return op.constant((numbers + np.array(offset or 0.0)).astype(np.float32), f32)
    return dequantized(op, integers, how)


@tflite.lowers("fake_quantize")
def fake_quantize(node: LoweringNode, op: OpBuilder, numbers: SSAValue) -> SSAValue:
    """tflite.fake_quantize(x) {scale, zero_point} -> opset1.FakeQuantize(x, low, high, low, high) {levels}

    Integers of 16 bits are so many that only their range matters: opset1.Clamp(x).
    """
    how = parameters_of(node, op, numbers)
    limits = number_range(op, how)
    if how.range.bits > 8 and how.axis is None and (ends := [node.known.constant(each) for each in limits]):
        low, high = (float(each.reshape(())) for each in ends if each is not None)
        return op.Clamp(numbers, min=low, max=high)
    return fake_quantized(op, numbers, limits, limits, how.range)


@tflite.lowers("quantize")
def quantize(node: LoweringNode, op: OpBuilder, numbers: SSAValue) -> SSAValue:
    """tflite.quantize(x) {scale, zero_point} -> Convert(opset1.FakeQuantize(x, low, high, -128, 127) {levels})

    Of numbers that are rounded already only one rounding is left.
    """
    how = parameters_of(node, op, numbers)
    rounding = numbers.owner
    if isinstance(rounding, FakeQuantize) and rounding.integer("levels") == how.range.steps + 1:
        given = [node.known.constant(each) for each in rounding.operands[1:]]
        wanted = [node.known.constant(each) for each in number_range(op, how)] * 2
        if all(a is not None and b is not None and np.array_equal(a, b) for a, b in zip(given, wanted, strict=True)):
            return quantized(op, rounding.data, how)
    return quantized(op, numbers, how)


@tflite.lowers("QUANTIZE", "DEQUANTIZE", "DENSIFY")
def converted(op: OpBuilder, input: SSAValue) -> SSAValue:
    """tflite.DEQUANTIZE(x) -> opset1.Convert(x) from halves to floats; x if it is numbers already

    Weights stay halves.
    """
    is_weight = isinstance(input.owner, Constant) and element_of(input) == f16 and (rank_of(input) or 0) > 1
    return restored(op, input) if is_weight else op.convert(input, f32)


def restored(op: OpBuilder, halves: SSAValue) -> SSAValue:
    """Weights that are stored as halves as floats; a mark tells the runtime not to fold the Convert."""
    value = op.Convert(halves, destination_type=f32)
    assert isinstance(value.owner, Convert)
    value.owner.attributes["runtime_info"] = DECOMPRESSION
    return value


def transposed_weights(op: OpBuilder, weights: SSAValue, order: Sequence[int], shape: Sequence[int] | None = None) -> SSAValue:
    """Weights transposed, and reshaped if a shape is given; those stored as halves before they are restored."""
    is_stored = isinstance(convert := weights.owner, Convert) and is_decompression(convert)
    moved = op.Transpose(convert.data if is_stored and isinstance(convert, Convert) else weights, list(order))
    moved = moved if shape is None else op.Reshape(moved, list(shape), special_zero=False)
    return restored(op, moved) if is_stored else moved
