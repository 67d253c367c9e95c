"""Quantized values: integers with scale and zero point, in the forms that passes for low precision recognize.

quantized:    FakeQuantize(x, (low - zero) * scale, (high - zero) * scale, low, high), Convert to the integer type
dequantized:  (Convert(x) - zero) * scale
dequantized after quantized: one FakeQuantize from floats to floats

The record of scale, zero point and integers is `moir.dialects.quantization.Quantization`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import REAL_TYPES, bf16, boolean, f16, f32, to_numpy
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.quantization import IntegerRange, Quantization
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.constant_forms import as_type, constant_array, unpacked_type, with_dimensions_after
from moir.rewriting.builder import OpBuilder

MAXIMUM_LEVEL_BITS = 16
"""The largest number of bits of integers for which FakeQuantize is used."""

TINY = float(np.finfo(np.float32).tiny)
"""The lower limit of a computed scale.

A scale would be 0 for data of zeros; with the limit no division by 0 occurs, and 0 remains 0.
"""

LARGEST = float(np.finfo(np.float32).max)

Parameters = Quantization[SSAValue]
"""The scale and zero point of a quantization as values of a model."""

Rounding = Callable[[OpBuilder, SSAValue], SSAValue]
"""A function that rounds numbers to whole numbers."""


class NumberRange(NamedTuple):
    """The real numbers that the smallest and the largest integer of a quantized tensor stand for; both broadcast to the
    tensor.
    """

    low: SSAValue
    high: SSAValue


# Rounding


def half_to_even(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The nearest whole number; in the middle between two of them the even one."""
    return op.Round(x, mode="half_to_even")


def half_away_from_zero(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The nearest whole number; in the middle between two of them the one of larger magnitude."""
    return op.Round(x, mode="half_away_from_zero")


def half_up(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The nearest whole number; in the middle between two of them the larger one."""
    return op.Floor(op.Add(x, 0.5))


# Parameters


def along_axis(op: OpBuilder, value: SSAValue, axis: int, rank: int) -> SSAValue:
    """A scale or zero point along an axis of a tensor of rank `rank`, reshaped to broadcast to it; a scalar unchanged.

    Constants remain constants; packed integers are unpacked to whole bytes.
    """
    if rank_of(value) == 0:
        return value
    after, array = rank - 1 - axis, constant_array(op, value)
    if array is not None:
        return op.constant(array.reshape(-1, *(1,) * after), unpacked_type(element_of(value)))
    if rank_of(value) is None:
        # A scalar or a 1-D tensor.
        return op.Reshape(value, [-1, *(1,) * after], special_zero=False)
    return with_dimensions_after(op, value, after)


def aligned(op: OpBuilder, how: Parameters, rank: int) -> Parameters:
    """Scale and zero point that broadcast to a tensor of rank `rank`; those without an axis are unchanged.

    1-D tensors along an axis get dimensions of 1 for the axes after it.
    """
    if how.axis is None:
        return how
    scale, zero = (value and along_axis(op, value, how.axis, rank) for value in (how.scale, how.zero_point))
    assert scale is not None
    return how._replace(scale=scale, zero_point=zero, axis=None)


def is_zero(op: OpBuilder, value: SSAValue | None) -> bool:
    """Whether a zero point is absent, or a constant of zeros."""
    array = None if value is None else constant_array(op, value)
    return value is None or (array is not None and not array.any())


def is_one(op: OpBuilder, scale: SSAValue) -> bool:
    """Whether a scale is a constant of ones."""
    array = constant_array(op, scale)
    return array is not None and bool(np.all(array == 1))


def constant_parameters(op: OpBuilder, how: Parameters) -> tuple[Array, Array] | None:
    """The arrays of scale and zero point; None unless both are constants."""
    scales = constant_array(op, how.scale)
    zeros = np.asarray(0) if how.zero_point is None else constant_array(op, how.zero_point)
    return None if scales is None or zeros is None else (scales, zeros)


def number_range(op: OpBuilder, how: Parameters, real: Attribute = f32) -> NumberRange:
    """The dequantized values of the smallest and the largest integer; constants if scale and zero point are constants.

    Values beyond the range of f32 are clamped to it.
    """
    arrays, ends = constant_parameters(op, how), how.range.ends
    if arrays is not None:
        scales, zeros = (array.astype(np.float64) for array in arrays)
        limits = [np.clip((end - zeros) * scales, -LARGEST, LARGEST) for end in ends]
        return NumberRange(*(op.constant(each.astype(to_numpy(real)), real) for each in limits))
    if how.zero_point is None:
        return NumberRange(*(op.Multiply(how.scale, float(end)) for end in ends))
    return NumberRange(*(op.Multiply(op.Subtract(float(end), how.zero_point), how.scale) for end in ends))


def magnitude(op: OpBuilder, limits: NumberRange) -> SSAValue:
    """The larger absolute value of both ends of a range."""
    return op.Maximum(op.Abs(limits.low), op.Abs(limits.high))


# Numbers to integers


def quantized(op: OpBuilder, x: SSAValue, how: Parameters) -> SSAValue:
    """x / scale rounded, plus the zero point, saturated to the range of the integers.

    The result is a FakeQuantize and a Convert if scale and zero point are constants, otherwise arithmetic.
    """
    integers = how.range
    x = in_real_type(op, x, how, integers.bits)
    # The reciprocal of a constant of f16, and the limits of levels, would be rounded to f16.
    x = op.convert(x, f32) if element_of(x) == f16 else x
    real, arrays = element_of(x), constant_parameters(op, how)
    if arrays is not None and np.all(arrays[0] > 0) and _takes_levels(*arrays, integers.bits):
        limits = number_range(op, how, real)
        bounds = NumberRange(*(op.constant(np.asarray(end, to_numpy(real)), real) for end in integers.ends))
        return op.convert(fake_quantized(op, x, limits, bounds, integers), integers.element)
    return quantized_by_arithmetic(op, x, how, half_to_even)


def in_real_type(op: OpBuilder, x: SSAValue, how: Parameters, bits: int) -> SSAValue:
    """Convert x to f32 unless its type is a float type that represents all integers of `bits` bits exactly.

    bf16 is converted always, f16 for 16 bits and more or if the scale has another type.
    """
    element = element_of(x)
    is_narrow = element == f16 and (bits >= 16 or element_of(how.scale) != f16)
    return op.convert(x, f32) if element not in REAL_TYPES or element == bf16 or is_narrow else x


def _takes_levels(scales: Array, zeros: Array, bits: int) -> bool:
    """Whether a FakeQuantize gives the same integers of `bits` bits as arithmetic.

    For more than 8 bits it does not if a scale is 1 and its zero point 0, since arithmetic then has no rounding error;
    nor for more than `MAXIMUM_LEVEL_BITS` bits.
    """
    return bits <= 8 or (bits <= MAXIMUM_LEVEL_BITS and not np.any((scales == 1) & (zeros == 0)))


def quantized_by_arithmetic(op: OpBuilder, x: SSAValue, how: Parameters, rounding: Rounding) -> SSAValue:
    """x / scale rounded by `rounding`, plus the zero point, saturated to the range of the integers."""
    result = rounding(op, divided(op, x, how.scale))
    if how.zero_point is not None:
        result = op.Add(result, as_type(op, how.zero_point, element_of(x)))
    return saturated(op, result, how.range)


def divided(op: OpBuilder, x: SSAValue, scale: SSAValue) -> SSAValue:
    """x / scale in the element type of x."""
    return x if is_one(op, scale) else op.Divide(x, as_type(op, scale, element_of(x)))


def saturated(op: OpBuilder, values: SSAValue, integers: IntegerRange) -> SSAValue:
    """Convert whole numbers to integers; numbers outside of the integers' range become the nearest integer in it."""
    return op.convert(clamped(op, values, integers), integers.element)


def clamped(op: OpBuilder, values: SSAValue, integers: IntegerRange) -> SSAValue:
    """Clamp whole numbers to the range of integers; they remain floats."""
    low, high = integers.ends
    # The largest integer of 32 bits is not an f32 number, and the next smaller f32 is 127 less.
    return op.Clamp(values, min=float(low), max=float(high if high < 1 << 24 else high - 127))


def fake_quantized(op: OpBuilder, x: SSAValue, limits: NumberRange, results: NumberRange, integers: IntegerRange) -> SSAValue:
    """Build a FakeQuantize: x, clamped to `limits` and rounded to evenly spaced levels, mapped linearly to `results`.

    There are as many levels as integers in the range `integers`.
    """
    return op.FakeQuantize(x, *limits, *results, levels=integers.steps + 1)


# Integers to numbers


def dequantized(op: OpBuilder, x: SSAValue, how: Parameters, real: Attribute = f32) -> SSAValue:
    """(x - zero point) * scale; one FakeQuantize for x that is the result of `quantized`."""
    fused = _requantized(op, x, how, real)
    if fused is not None:
        return fused
    value = centered(op, x, how, real)
    return value if is_one(op, how.scale) else op.Multiply(value, as_type(op, how.scale, real))


def centered(op: OpBuilder, x: SSAValue, how: Parameters, real: Attribute = f32) -> SSAValue:
    """x - zero point, as floats of type `real`."""
    value = op.convert(x, real)
    return value if how.zero_point is None else op.Subtract(value, as_type(op, how.zero_point, real))


def _requantized(op: OpBuilder, x: SSAValue, how: Parameters, real: Attribute) -> SSAValue | None:
    """One FakeQuantize from floats to floats of type `real`, in place of the quantization that computed x and of its
    dequantization.

    None if `quantized` did not build x, scale or zero point are not constant, or the quantization computed in another
    type.
    """
    rounding = quantizer_of(op, x)
    if rounding is None or element_of(x) == boolean or constant_parameters(op, how) is None:
        return None
    computed = element_of(rounding.data)
    if computed != real and (computed, real) != (f32, f16):
        return None
    results = number_range(op, how._replace(integers=IntegerRange.of(element_of(x))), computed)
    limits = (rounding.input_low, rounding.input_high, *results)
    return op.convert(op.FakeQuantize(rounding.data, *limits, levels=rounding.integer("levels")), real)


def quantizer_of(op: OpBuilder, x: SSAValue) -> FakeQuantize | None:
    """The FakeQuantize of a value that `quantized` built; None for any other value."""
    convert = x.owner
    if not isinstance(convert, Convert) or not isinstance(rounding := convert.data.owner, FakeQuantize):
        return None
    ends = [op.known.constant(limit) for limit in (rounding.output_low, rounding.output_high)]
    if any(end is None or end.size != 1 for end in ends) or element_of(x) in REAL_TYPES:
        return None
    low, high = (float(end.reshape(())) for end in ends if end is not None)
    return rounding if (low, high) == IntegerRange.of(element_of(x)).ends else None
