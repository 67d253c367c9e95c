"""Fake quantization, quantization and dequantization of floats.

    %y = tf.FakeQuantWithMinMaxVars(%x, %low, %high) {num_bits = 8}
->  %y = opset1.FakeQuantize(%x, %first, %last, %first, %last) {levels = 256}

TensorFlow shifts the range so that 0 is one of the quantized values. Operations compute the shifted range; they are
folded if the limits are constants.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f32, to_numpy
from moir.dialects.quantization import IntegerRange, Quantization
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.quantization import (
    MAXIMUM_LEVEL_BITS,
    TINY,
    NumberRange,
    Parameters,
    aligned,
    along_axis,
    dequantized,
    fake_quantized,
    half_away_from_zero,
    half_to_even,
    half_up,
    number_range,
    saturated,
)
from moir.expansions.shape_values import all_axes
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

HALF_UP = 2.0**-24
"""How far the limits are shifted, relative to the highest quantized value, so that FakeQuantize rounds midpoints up."""


def quantized_bits(node: LoweringNode, bits: int) -> int:
    """The attribute that is the number of bits. Raises ConversionError unless it is 1 to 63."""
    if not 1 <= bits <= 63:
        node.fail(f"{bits} bits are not possible")
    return bits


# Rounding to quantized values that include 0


@tf.lowers("FakeQuantWithMinMaxArgs")
def fake_quantize(node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, min: float = -6.0, max: float = 6.0) -> SSAValue:
    """tf.FakeQuantWithMinMaxArgs(inputs) {min = -6, max = 6, num_bits = 8, narrow_range = false}
    -> opset1.FakeQuantize(inputs, …)
    """
    if not min < max:
        node.fail(f"the range from {min} to {max} is empty")
    return nudged(node, op, inputs, op.constant_like(min, inputs), op.constant_like(max, inputs))


@tf.lowers("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
def fake_quantize_computed(node: LoweringNode, op: OpBuilder, inputs: SSAValue, min: SSAValue, max: SSAValue) -> SSAValue:
    """tf.FakeQuantWithMinMaxVars(x, min, max) {num_bits = 8, narrow_range = false}
    -> opset1.FakeQuantize(x, …); 1-D limits have an element for each index of the last dimension
    """
    return nudged(node, op, inputs, min, max)


def nudged(node: LoweringNode, op: OpBuilder, x: SSAValue, low: SSAValue, high: SSAValue) -> SSAValue:
    """x rounded to quantized values in the range from `low` to `high`, shifted so that 0 is a quantized value.

    TensorFlow rounds a midpoint between two quantized values up, FakeQuantize to the even one. So the limits of the
    input are decreased by the distance of neighbouring floats at the highest value, which rounds midpoints up. Floats
    right next to a midpoint may be rounded otherwise than in TensorFlow, since both compute in f32. Raises
    ConversionError for too few or too many bits.
    """
    integers = IntegerRange(quantized_bits(node, node.integer("num_bits", 8)), False, node.flag("narrow_range"))
    if integers.bits > MAXIMUM_LEVEL_BITS or not integers.steps:
        node.fail(f"{integers.bits} bits are not supported", hint=f"at least 2 and at most {MAXIMUM_LEVEL_BITS} bits are")
    first, last = integers.ends
    step = op.Maximum(op.Divide(op.Subtract(high, low), float(integers.steps)), TINY)
    zero = op.Clamp(half_up(op, op.Subtract(float(first), op.Divide(low, step))), min=float(first), max=float(last))
    results = number_range(op, Quantization(step, zero, integers))
    shift = op.Multiply(step, (integers.steps + 1) * HALF_UP)
    limits = NumberRange(*(op.Subtract(end, shift) for end in results))
    return fake_quantized(op, x, limits, results, integers)


# Rounding to multiples of a step


@tf.lowers("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4")
def quantize_and_dequantize(
    node: LoweringNode,
    op: OpBuilder,
    _input: SSAValue,
    input_min: SSAValue,
    input_max: SSAValue,
    *,
    range_given: bool = False,
    num_bits: int = 8,
) -> SSAValue:
    """tf.QuantizeAndDequantizeV2(x, min, max) {signed_input, num_bits, range_given, narrow_range, axis}
    -> FakeQuantize(x, …)
    """
    return rounded(node, op, (input_min, input_max), range_given, num_bits)


@tf.lowers("QuantizeAndDequantizeV3")
def quantize_and_dequantize_bits(
    node: LoweringNode,
    op: OpBuilder,
    _input: SSAValue,
    input_min: SSAValue,
    input_max: SSAValue,
    num_bits: SSAValue,
    *,
    range_given: bool = True,
) -> SSAValue:
    """tf.QuantizeAndDequantizeV3(x, min, max, num_bits) {signed_input, range_given = true, narrow_range, axis}
    -> FakeQuantize(x, …)
    """
    bits = op.known.integers(num_bits)
    if not bits:
        node.fail("the number of bits is computed when the model runs", hint="make the number of bits a constant")
    return rounded(node, op, (input_min, input_max), range_given, bits[0])


@tf.lowers("QuantizeAndDequantize")
def quantize_and_dequantize_attributes(
    node: LoweringNode, op: OpBuilder, input: SSAValue, *, range_given: bool = False, num_bits: int = 8
) -> SSAValue:
    """tf.QuantizeAndDequantize(x) {input_min, input_max, signed_input, num_bits, range_given} -> FakeQuantize(x, …)"""
    limits = [op.constant_like(node.number(name, 0.0), input) for name in ("input_min", "input_max")]
    return rounded(node, op, (limits[0], limits[1]), range_given, num_bits)


def rounded(node: LoweringNode, op: OpBuilder, limits: tuple[SSAValue, SSAValue], is_given: bool, bits: int) -> SSAValue:
    """Operand 0 rounded to multiples of the smallest step for which integers of `bits` bits reach both limits.

    Unless `is_given`, `limits` are not used: the limits are the minimum and the maximum of the data, so that nothing is
    clamped.
    """
    x, axis = node.operand(0), node.integer("axis", -1)
    signed = node.flag("signed_input", True)
    integers = IntegerRange(quantized_bits(node, bits), signed, signed and node.flag("narrow_range"))
    rounding = half_up if node.text("round_mode", "HALF_TO_EVEN") == "HALF_UP" else half_to_even
    if not is_given:
        axes = _other_axes(node, op, x, axis)
        low, high = (reduce(x, axes, keep_dims=axis >= 0) for reduce in (op.ReduceMin, op.ReduceMax))
        scale, step = scale_and_step(op, low, high, integers)
        return op.Multiply(rounding(op, op.Multiply(x, scale)), step)
    how = _aligned(node, op, symmetric(op, *limits, integers, axis))
    ends = number_range(op, how, element_of(x))
    if rounding is half_to_even and bits <= MAXIMUM_LEVEL_BITS and integers.steps:
        return fake_quantized(op, x, ends, ends, integers)
    quotient = op.Divide(op.Minimum(op.Maximum(x, ends.low), ends.high), how.scale)
    return op.Multiply(rounding(op, quotient), how.scale)


def scale_and_step(op: OpBuilder, low: SSAValue, high: SSAValue, integers: IntegerRange) -> tuple[SSAValue, SSAValue]:
    """The largest factor that maps both limits into the range of the integers, and its inverse, the step.

    As in TensorFlow, a limit whose sign differs from that of its integer does not bound the factor, which is then the
    largest number of the element type; likewise both limits of a negative range with unsigned integers. The step is
    still the quotient of limit and integer, so results may be infinite. For infinite limits the factor is 0 and the
    step infinite, so that all results are NaN.
    """
    kind = to_numpy(element_of(low))
    largest = float(np.finfo(np.float16 if kind == np.float16 else np.float32).max)
    upper = op.Select(op.Greater(high, 0.0), op.Divide(float(integers.highest), high), largest)
    step = op.Divide(high, float(integers.highest))
    if not integers.lowest:
        return upper, step
    lower = op.Select(op.Less(low, 0.0), op.Divide(float(integers.lowest), low), largest)
    return op.Minimum(lower, upper), op.Select(op.Less(lower, upper), op.Divide(low, float(integers.lowest)), step)


def symmetric(op: OpBuilder, low: SSAValue, high: SSAValue, integers: IntegerRange, axis: int) -> Parameters:
    """The smallest scale for which the integers reach both limits, `low` and `high`.

    With a non-negative `axis` the limits are 1-D tensors along it.
    """
    step = op.Divide(high, float(integers.highest))
    if integers.lowest:
        step = op.Maximum(op.Divide(low, float(integers.lowest)), step)
    return Quantization(op.Maximum(step, TINY), None, integers, axis if axis >= 0 else None)


def _aligned(node: LoweringNode, op: OpBuilder, how: Parameters) -> Parameters:
    """The parameters `how` with the scale reshaped to broadcast to operand 0."""
    return how if how.axis is None else aligned(op, how, node.known_rank(0))


def _other_axes(node: LoweringNode, op: OpBuilder, x: SSAValue, axis: int) -> SSAValue:
    """All axes of x except `axis`; all axes if `axis` is negative."""
    if axis < 0:
        return all_axes(op, x)
    return op.constant([each for each in range(node.known_rank(0)) if each != axis])


def placed(node: LoweringNode, op: OpBuilder, limit: SSAValue, axis: int) -> SSAValue:
    """A 1-D limit, reshaped to broadcast along an axis of operand 0; a scalar, or for a negative axis any limit,
    unchanged.
    """
    return limit if rank_of(limit) == 0 or axis < 0 else along_axis(op, limit, axis, node.known_rank(0))


# Quantized and dequantized values


@tf.lowers("Dequantize")
def dequantize(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    min_range: SSAValue,
    max_range: SSAValue,
    *,
    axis: int = -1,
    mode: str = "MIN_COMBINED",
    dtype: Attribute = f32,
    narrow_range: bool = False,
) -> SSAValue:
    """tf.Dequantize(x, min, max) {mode, narrow_range, axis, dtype}
    -> (x - offset) * step + min; the mode determines offset and step
    """
    x = input
    element = element_of(x)
    low, high = min_range, max_range
    integers = IntegerRange.of(node.element_attribute("T", element), mode == "SCALED" and narrow_range)
    if mode == "SCALED":
        result = dequantized(op, x, _aligned(node, op, symmetric(op, low, high, integers, axis)))
    else:
        quantized, low, high = op.convert(x, f32), placed(node, op, low, axis), placed(node, op, high, axis)
        step = op.Divide(op.Subtract(high, low), float(integers.steps))
        if mode == "MIN_FIRST":
            low = op.Multiply(half_away_from_zero(op, op.Divide(low, step)), step)
        counted = op.Subtract(quantized, float(integers.lowest)) if integers.lowest else quantized
        result = op.Add(op.Multiply(counted, step), low)
    return op.convert(result, dtype)


@tf.lowers("QuantizeV2")
def quantize(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    min_range: SSAValue,
    max_range: SSAValue,
    *,
    axis: int = -1,
    T: Attribute,
    mode: str = "MIN_COMBINED",
    round_mode_: str = "HALF_AWAY_FROM_ZERO",
    ensure_minimum_range: float = 0.01,
    narrow_range: bool = False,
) -> Sequence[SSAValue]:
    """tf.QuantizeV2(input, min, max) {mode, round_mode, narrow_range, axis, ensure_minimum_range}
    -> integers and the limits that they represent
    """
    low, high = _ensured(op, min_range, max_range, ensure_minimum_range)
    integers = IntegerRange.of(T, mode == "SCALED" and narrow_range)
    rounding = half_to_even if round_mode_ == "HALF_TO_EVEN" and mode != "MIN_FIRST" else half_away_from_zero
    if mode == "SCALED":
        how = symmetric(op, low, high, integers, axis)
        low, high = number_range(op, how)
        quantized = rounding(op, op.Divide(input, _aligned(node, op, how).scale))
    else:
        step = op.Divide(op.Subtract(high, low), float(integers.steps))
        first, step = placed(node, op, low, axis), placed(node, op, step, axis)
        if mode == "MIN_FIRST":
            quantized = op.Subtract(rounding(op, op.Divide(input, step)), rounding(op, op.Divide(first, step)))
            quantized = op.Add(quantized, float(integers.lowest)) if integers.lowest else quantized
        else:
            counted = op.Divide(op.Subtract(input, first), step)
            quantized = rounding(op, op.Add(counted, float(integers.lowest)) if integers.lowest else counted)
    return [saturated(op, quantized, integers), low, high]


def _ensured(op: OpBuilder, low: SSAValue, high: SSAValue, minimum: float) -> tuple[SSAValue, SSAValue]:
    """The range from `low` to `high` extended to contain 0 and to have a minimum width.

    The width is at least `minimum` times the larger magnitude of both, or times 1.
    """
    first = op.Minimum(low, 0.0)
    largest = op.Maximum(op.Maximum(op.Abs(low), op.Abs(high)), 1.0)
    last = op.Maximum(high, op.Add(first, op.Multiply(largest, minimum)))
    return first, op.Maximum(last, 0.0)
