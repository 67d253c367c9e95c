"""Integers with a range of real numbers, as the quantized operations of TensorFlow 1 have them.

Each such operation has a minimum and a maximum beside every tensor of integers, as operands and as results. The
smallest integer stands for the minimum and the largest for the maximum, but for a shift that makes 0 an integer:

    integers 0 to 255, range -1 to 4: step 5 / 255, zero point 51; 102 stands for (102 - 51) * 5 / 255 = 1

Ranges are scalars, or lists with an entry for each channel, which is the last dimension.

Source: tensorflow/core/kernels/quantization_utils.h.
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import describe, f32
from moir.dialects.shapes import element_of
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.quantization.conversions import TINY, type_range
from moir.rewriting.builder import OpBuilder


class Limits(NamedTuple):
    """The minimum and the maximum of a range."""

    low: SSAValue
    high: SSAValue


def limits_of(node: LoweringNode, op: OpBuilder, index: int, *, scalar: bool = True) -> Limits:
    """The range in two operands of a node."""
    low, high = node.operand(index), node.operand(index + 1)
    return Limits(as_scalar(op, low), as_scalar(op, high)) if scalar else Limits(low, high)


def step_of(op: OpBuilder, limits: Limits, element: Attribute, *, symmetric: bool = False) -> SSAValue:
    """The distance of the numbers that neighbouring integers stand for; `symmetric` leaves the smallest one out."""
    levels = type_range(element)
    count = levels.high - levels.low - (symmetric and levels.low < 0)
    return op.Maximum(op.Divide(op.Subtract(limits.high, limits.low), float(count)), TINY)


def zero_point(op: OpBuilder, limits: Limits, element: Attribute) -> SSAValue:
    """The integer that stands for 0, as a float; it may lie outside of the integers of the element type.

    That of 32 bits is computed from the middle of the range, since floats do not have all of these integers.
    """
    levels = type_range(element)
    per_unit = op.Divide(float(levels.high - levels.low), op.Maximum(op.Subtract(limits.high, limits.low), TINY))
    if describe(element).bits == 32:
        middle = op.Multiply(op.Multiply(op.Add(limits.low, limits.high), per_unit), 0.5)
        return op.Negative(op.Round(middle, mode="half_away_from_zero"))
    first = op.Round(op.Multiply(limits.low, per_unit), mode="half_away_from_zero")
    return op.Subtract(float(levels.low), first)


def numbers(op: OpBuilder, x: SSAValue, limits: Limits) -> SSAValue:
    """The numbers that integers stand for: (x - zero point) * step.

    TensorFlow divides by the step here, where it multiplies by the reciprocal in `zero_point`. If 0 lies in the middle
    between two integers, the zero points may differ.
    """
    element = element_of(x)
    step = step_of(op, limits, element)
    if describe(element).bits == 32:
        zero = zero_point(op, limits, element)
    else:
        first = op.Round(op.Divide(limits.low, step), mode="half_away_from_zero")
        zero = op.Subtract(float(type_range(element).low), first)
    return op.Multiply(op.Subtract(op.convert(x, f32), zero), step)


def integers(op: OpBuilder, real: SSAValue, limits: Limits, element: Attribute) -> SSAValue:
    """The integers that stand for numbers: x / step rounded, plus the zero point, within the element type."""
    step = step_of(op, limits, element)
    level = op.Round(op.Divide(real, step), mode="half_away_from_zero")
    return within(op, op.Add(level, zero_point(op, limits, element)), element)


def within(op: OpBuilder, level: SSAValue, element: Attribute) -> SSAValue:
    """Whole numbers as integers of an element type, the nearest ones where they lie outside of it."""
    low, high = type_range(element)
    # The largest integer of 32 bits is no f32, and the next smaller one is that far from it.
    return op.convert(op.Clamp(level, min=float(low), max=float(high if high < 1 << 24 else high - 127)), element)


def largest(op: OpBuilder, limits: Limits) -> SSAValue:
    """The largest magnitude of a range."""
    return op.Maximum(op.Abs(limits.low), op.Abs(limits.high))
