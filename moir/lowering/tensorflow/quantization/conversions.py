"""Quantization.

    %y = tf.FakeQuantWithMinMaxVars(%x, %low, %high) {num_bits = 8}
->  %y = opset1.FakeQuantize(%x, %first, %last, %first, %last) {levels = 256}

TensorFlow moves the limits so that 0 is one of the levels. This is computed by operations, which are folded if the
limits are constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import describe, f32, to_numpy
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.shape_values import all_axes
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

TINY = float(np.finfo(np.float32).tiny)
"""Lower limit of a step, which is 0 if all numbers are 0: no division by 0 occurs, and 0 remains 0."""

HALF_UP = 2.0**-24
"""The part of the highest level by which levels are moved so that the middle between two of them is rounded up."""

MAXIMUM_LEVEL_BITS = 16
"""FakeQuantize is not used for integers of more bits."""


class Levels(NamedTuple):
    """The smallest and the largest integer of the quantized range."""

    low: int
    high: int


def level_bits(node: LoweringNode, bits: int) -> int:
    """The number of bits, verified. Raises ConversionError unless it is 1 to 63."""
    if not 1 <= bits <= 63:
        node.fail(f"{bits} bits are not possible")
    return bits


def level_range(bits: int, signed: bool, narrow: bool) -> Levels:
    """The range of integers of a number of bits; a narrow range excludes the smallest one."""
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return Levels(low + narrow, high)


def type_range(element: Attribute, narrow: bool = False) -> Levels:
    """The range of integers of an element type."""
    row = describe(element)
    return level_range(row.bits, row.xml[0] == "i", narrow)


def fake_quantized(op: OpBuilder, x: SSAValue, low: SSAValue, high: SSAValue, levels: int) -> SSAValue:
    """Numbers rounded to the nearest of evenly spaced levels between two limits."""
    return op.FakeQuantize(x, low, high, low, high, levels=levels)


# Rounding to levels that include 0


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
    -> opset1.FakeQuantize(x, …); limits of one dimension have an entry for each element of the last dimension
    """
    return nudged(node, op, inputs, min, max)


def nudged(node: LoweringNode, op: OpBuilder, x: SSAValue, low: SSAValue, high: SSAValue) -> SSAValue:
    """Numbers rounded to levels between limits that are moved so that 0 is a level.

    TensorFlow rounds the middle between two levels up, FakeQuantize to the even level. So the limits of the input are
    lower by the distance of floats at the highest level, which moves the middles up. Of the floats next to a middle
    some round otherwise than in TensorFlow, as they do without that: both compute levels in f32.
    """
    bits = level_bits(node, node.integer("num_bits", 8))
    first, last = level_range(bits, False, node.flag("narrow_range"))
    if bits > MAXIMUM_LEVEL_BITS or last == first:
        node.fail(f"{bits} bits are not supported", hint=f"at least 2 and at most {MAXIMUM_LEVEL_BITS} bits are")
    step = op.Maximum(op.Divide(op.Subtract(high, low), float(last - first)), TINY)
    zero = op.Subtract(float(first), op.Divide(low, step))
    zero = op.Clamp(op.Floor(op.Add(zero, 0.5)), min=float(first), max=float(last))
    levels = last - first + 1
    low, high = (op.Multiply(op.Subtract(float(end), zero), step) for end in (first, last))
    shift = op.Multiply(step, levels * HALF_UP)
    limits = (op.Subtract(low, shift), op.Subtract(high, shift), low, high)
    return op.FakeQuantize(x, *limits, levels=levels)


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


def rounded(node: LoweringNode, op: OpBuilder, limits: tuple[SSAValue, SSAValue], given: bool, bits: int) -> SSAValue:
    """Numbers rounded to multiples of the smallest step for which integers of `bits` bits reach both limits.

    If the limits are not `given`, they are the minimum and the maximum of the numbers, and nothing is cut off.
    """
    x, axis = node.operand(0), node.integer("axis", -1)
    signed = node.flag("signed_input", True)
    levels = level_range(level_bits(node, bits), signed, signed and node.flag("narrow_range"))
    half_up = node.text("round_mode", "HALF_TO_EVEN") == "HALF_UP"
    if not given:
        axes = _other_axes(node, op, x, axis)
        low, high = (reduce(x, axes, keep_dims=axis >= 0) for reduce in (op.ReduceMin, op.ReduceMax))
        scale, step = scale_and_step(op, low, high, levels)
        return op.Multiply(_whole(op, op.Multiply(x, scale), half_up), step)
    if axis >= 0:
        limits = along_axis(node, op, limits[0], axis), along_axis(node, op, limits[1], axis)
    step = symmetric_step(op, *limits, levels)
    ends = [op.Multiply(step, float(end)) for end in levels]
    if not half_up and bits <= MAXIMUM_LEVEL_BITS and levels.high > levels.low:
        return fake_quantized(op, x, ends[0], ends[1], levels.high - levels.low + 1)
    quotient = op.Divide(op.Minimum(op.Maximum(x, ends[0]), ends[1]), step)
    return op.Multiply(_whole(op, quotient, half_up), step)


def _whole(op: OpBuilder, x: SSAValue, half_up: bool) -> SSAValue:
    """x rounded to integers, the middle between two of them up or to the even one."""
    return op.Floor(op.Add(x, 0.5)) if half_up else op.Round(x, mode="half_to_even")


def scale_and_step(op: OpBuilder, low: SSAValue, high: SSAValue, levels: Levels) -> tuple[SSAValue, SSAValue]:
    """The largest factor with which both limits are within the levels, and its inverse.

    As in TensorFlow, a limit on the other side of 0 than its level allows the largest number of the element type, and
    so do both limits of negative numbers with unsigned levels; the step is their quotient all the same, so that the
    results are infinite.
    Infinite numbers have the factor 0 and an infinite step, so that all results are NaN.
    """
    kind = to_numpy(element_of(low))
    largest = float(np.finfo(np.float16 if kind == np.float16 else np.float32).max)
    upper = op.Select(op.Greater(high, 0.0), op.Divide(float(levels.high), high), largest)
    step = op.Divide(high, float(levels.high))
    if not levels.low:
        return upper, step
    lower = op.Select(op.Less(low, 0.0), op.Divide(float(levels.low), low), largest)
    return op.Minimum(lower, upper), op.Select(op.Less(lower, upper), op.Divide(low, float(levels.low)), step)


def symmetric_step(op: OpBuilder, low: SSAValue, high: SSAValue, levels: Levels) -> SSAValue:
    """The smallest step for which the range of integers reaches both limits."""
    step = op.Divide(high, float(levels.high))
    if levels.low:
        step = op.Maximum(op.Divide(low, float(levels.low)), step)
    return op.Maximum(step, TINY)


def _other_axes(node: LoweringNode, op: OpBuilder, x: SSAValue, axis: int) -> SSAValue:
    """All axes of x; for a non-negative `axis` all others."""
    if axis < 0:
        return all_axes(op, x)
    return op.constant([each for each in range(node.known_rank(0)) if each != axis])


def along_axis(node: LoweringNode, op: OpBuilder, limit: SSAValue, axis: int) -> SSAValue:
    """A limit of one dimension, reshaped to extend along an axis of operand 0."""
    if rank_of(limit) == 0 or axis < 0:
        return limit
    return op.Reshape(limit, [-1, *(1,) * (node.known_rank(0) - 1 - axis)], special_zero=False)


# Integers and the numbers they represent


@tf.lowers("Dequantize")
def dequantize(
    node: LoweringNode, op: OpBuilder, *, axis: int = -1, mode: str = "MIN_COMBINED", dtype: Attribute = f32, narrow_range: bool = False
) -> SSAValue:
    """tf.Dequantize(x, min, max) {mode, narrow_range, axis, dtype}
    -> (x - offset) * step + min; the mode determines offset and step
    """
    x = node.operand(0)
    element = element_of(x)
    low, high = (along_axis(node, op, node.operand(index), axis) for index in (1, 2))
    levels = type_range(node.element_attribute("T", element))
    number = op.convert(x, f32)
    if mode == "SCALED":
        step = symmetric_step(op, low, high, Levels(levels.low + narrow_range, levels.high))
        result = op.Multiply(number, step)
    else:
        step = op.Divide(op.Subtract(high, low), float(levels.high - levels.low))
        if mode == "MIN_FIRST":
            low = op.Multiply(op.Round(op.Divide(low, step), mode="half_away_from_zero"), step)
        counted = op.Subtract(number, float(levels.low)) if levels.low else number
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
    levels = type_range(T, mode == "SCALED" and narrow_range)
    round_mode = "half_to_even" if round_mode_ == "HALF_TO_EVEN" and mode != "MIN_FIRST" else "half_away_from_zero"
    if mode == "SCALED":
        step = symmetric_step(op, low, high, levels)
        low, high = (op.Multiply(step, float(end)) for end in levels)
        level = op.Round(op.Divide(input, along_axis(node, op, step, axis)), mode=round_mode)
    else:
        step = op.Divide(op.Subtract(high, low), float(levels.high - levels.low))
        first, step = along_axis(node, op, low, axis), along_axis(node, op, step, axis)
        if mode == "MIN_FIRST":
            level = op.Subtract(op.Round(op.Divide(input, step), mode=round_mode), op.Round(op.Divide(first, step), mode=round_mode))
            level = op.Add(level, float(levels.low)) if levels.low else level
        else:
            counted = op.Divide(op.Subtract(input, first), step)
            level = op.Round(op.Add(counted, float(levels.low)) if levels.low else counted, mode=round_mode)
    # The largest integer of 32 bits is not an f32; the next smaller f32 is the limit.
    largest = levels.high if describe(T).bits < 32 else np.nextafter(np.float32(levels.high), np.float32(0))
    return [op.convert(op.Clamp(level, min=float(levels.low), max=float(largest)), T), low, high]


def _ensured(op: OpBuilder, low: SSAValue, high: SSAValue, minimum: float) -> tuple[SSAValue, SSAValue]:
    """Limits that contain 0 and have a minimum distance, as a share of the larger magnitude or of 1."""
    first = op.Minimum(low, 0.0)
    largest = op.Maximum(op.Maximum(op.Abs(low), op.Abs(high)), 1.0)
    last = op.Maximum(high, op.Add(first, op.Multiply(largest, minimum)))
    return first, op.Maximum(last, 0.0)
