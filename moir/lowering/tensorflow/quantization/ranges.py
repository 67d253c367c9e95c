"""Quantization by ranges, as in the quantized operations of TensorFlow 1.

In these operations, each tensor of integers comes with a minimum and a maximum, as operands and as results. The
smallest integer represents the minimum and the largest the maximum, shifted so that 0 is represented exactly:

    integers 0 to 255, range -1 to 4: step 5 / 255, zero point 51; 102 is dequantized to (102 - 51) * 5 / 255 = 1

Ranges are scalars, or 1-D tensors with an element for each channel, which is the last dimension.

Source: tensorflow/core/kernels/quantization_utils.h.
"""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from moir.dialects.quantization import IntegerRange, Quantization
from moir.dialects.shapes import element_of
from moir.expansions.quantization import (
    TINY,
    NumberRange,
    dequantized,
    half_away_from_zero,
    quantized_by_arithmetic,
)
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder


def limits_of(node: LoweringNode, op: OpBuilder, index: int, *, scalar: bool = True) -> NumberRange:
    """The range whose minimum and maximum are the operands `index` and `index` + 1 of a node."""
    low, high = node.operand(index), node.operand(index + 1)
    return NumberRange(as_scalar(op, low), as_scalar(op, high)) if scalar else NumberRange(low, high)


def step_of(op: OpBuilder, limits: NumberRange, element: Attribute, *, symmetric: bool = False) -> SSAValue:
    """The scale of integers of an element type in the range `limits`: the difference of neighbouring dequantized
    values.

    `symmetric` excludes the smallest integer.
    """
    integers = IntegerRange.of(element)
    steps = integers.steps - (symmetric and integers.signed)
    return op.Maximum(op.Divide(op.Subtract(limits.high, limits.low), float(steps)), TINY)


def zero_point(op: OpBuilder, limits: NumberRange, element: Attribute) -> SSAValue:
    """The integer that represents 0, as a float; it may lie outside of the element type.

    For 32-bit integers it is computed from the middle of the range, since not all of them are exact in floats.
    """
    integers = IntegerRange.of(element)
    per_unit = op.Divide(float(integers.steps), op.Maximum(op.Subtract(limits.high, limits.low), TINY))
    if integers.bits == 32:
        middle = op.Multiply(op.Multiply(op.Add(limits.low, limits.high), per_unit), 0.5)
        return op.Negative(half_away_from_zero(op, middle))
    return op.Subtract(float(integers.lowest), half_away_from_zero(op, op.Multiply(limits.low, per_unit)))


def numbers(op: OpBuilder, x: SSAValue, limits: NumberRange) -> SSAValue:
    """Integers dequantized: (x - zero point) * step.

    TensorFlow divides by the step here, but multiplies by its reciprocal in `zero_point`. If 0 lies midway between two
    integers, the two zero points may differ.
    """
    element, integers = element_of(x), IntegerRange.of(element_of(x))
    step = step_of(op, limits, element)
    if integers.bits == 32:
        zero = zero_point(op, limits, element)
    else:
        zero = op.Subtract(float(integers.lowest), half_away_from_zero(op, op.Divide(limits.low, step)))
    return dequantized(op, x, Quantization(step, zero, integers))


def integers(op: OpBuilder, real: SSAValue, limits: NumberRange, element: Attribute) -> SSAValue:
    """Floats quantized to integers of an element type in the range `limits`.

    They are x / step, rounded, plus the zero point, clamped to the element type.
    """
    how = Quantization(step_of(op, limits, element), zero_point(op, limits, element), IntegerRange.of(element))
    return quantized_by_arithmetic(op, real, how, half_away_from_zero)
