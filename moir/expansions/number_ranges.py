"""Ranges of floats, for which each framework computes the number of elements in its own way.

    torch.arange(0, 1, 0.01)         100 elements: ⌈(1 - 0) / 0.01⌉ of f64
    tf.range(0.0, 1.0, 0.01)         100 elements: ⌈(1 - 0) / 0.01⌉ of f32
    onnx.Range(0.0, 1.0, 0.01)       101 elements: ⌈(1 - 0) / 0.01⌉ of real numbers, since 0.01 in f32 is less than that

opset4.Range does not say how the quotient is rounded. So the length of a range of floats is computed first if that
matters, and the range is start + step · opset4.Range(0, count, 1).
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import REAL_TYPES, f32, f64, si64, to_numpy
from moir.dialects.opset.data_types import Convert
from moir.dialects.shapes import element_of
from moir.errors import InferenceError
from moir.rewriting.builder import OpBuilder

Number: TypeAlias = "int | float | SSAValue"

MAXIMUM_CONSTANT = 1 << 16
"""Ranges of up to this many elements become constants, whose elements are rounded once; longer ones are computed."""

LARGEST_EXACT = 1 << 24
"""Whole numbers up to this one are exact in f32."""


def known_number(op: OpBuilder, value: Number) -> float | None:
    """The value of a constant of one element or a Python number, floats in full precision; None if it is not
    constant.
    """
    if not isinstance(value, SSAValue):
        return value
    known = op.known.constant(value)
    return None if known is None or known.size != 1 else known.reshape(()).item()


def is_whole(op: OpBuilder, value: Number) -> bool:
    """Whether a scalar is a whole number in any type: a constant that f32 holds exactly, or a converted integer."""
    known = known_number(op, value)
    if known is not None:
        return math.isfinite(known) and known == int(known) and abs(known) < LARGEST_EXACT
    assert isinstance(value, SSAValue)
    element = element_of(value)
    if isinstance(value.owner, Convert) and element in REAL_TYPES:
        element = element_of(value.owner.operands[0])
    return element not in REAL_TYPES


def is_counted_exactly(op: OpBuilder, start: SSAValue, stop: SSAValue, step: SSAValue) -> bool:
    """Whether the length of a range does not depend on the precision in which it is computed.

    True if start, stop and step are whole numbers, or the step is a power of 2: then the quotient is exact.
    """
    known = known_number(op, step)
    is_power = known is not None and math.isfinite(known) and abs(math.frexp(known)[0]) == 0.5
    return is_power or all(is_whole(op, each) for each in (start, stop, step))


def length_of_range(start: float, stop: float, step: float) -> int:
    """The number of elements of a range: ⌈(stop - start) / step⌉ in the type of the arguments, at least 0.

    Raises InferenceError if the number is infinite or NaN.
    """
    with np.errstate(all="ignore"):
        # In full precision for Python's numbers, in their type for NumPy's.
        length = float(np.divide(np.subtract(stop, start), step))
    if not math.isfinite(length):
        raise InferenceError(f"a range from {start} to {stop} by {step} has no end")
    return max(math.ceil(length), 0)


def range_counted_in_type(op: OpBuilder, start: SSAValue, stop: SSAValue, step: SSAValue, element: Attribute) -> SSAValue:
    """Build a range whose length is computed in the range's element type.

    Args:
        op: the builder.
        start, stop, step: scalars, integers or floats that are rounded to the element type.
        element: the element type.
    """
    bounds = (start, stop, step)
    if element not in REAL_TYPES or is_counted_exactly(op, *bounds):
        return op.Range(*bounds, output_type=element)
    known = [op.known.constant(each) for each in bounds]
    if all(each is not None for each in known):
        constants: list[Any] = [each.reshape(()).astype(to_numpy(element))[()] for each in known if each is not None]
        return counted_range(op, constants[0], constants[2], length_of_range(*constants), element)
    return length_in_f64(op, *bounds, element) if element == f64 else op.Range(*bounds, output_type=element)


def length_in_f64(op: OpBuilder, start: SSAValue, stop: SSAValue, step: SSAValue, element: Attribute) -> SSAValue:
    """Build a range from scalars; its length, ⌈(stop - start) / step⌉, is computed in f64."""
    first, last, distance = (op.convert(each, f64) for each in (start, stop, step))
    length = op.Maximum(op.Ceiling(op.Divide(op.Subtract(last, first), distance)), 0.0)
    return counted_range(op, start, step, op.convert(length, si64), element)


def counted_range(op: OpBuilder, start: Number, step: Number, count: int | SSAValue, element: Attribute) -> SSAValue:
    """Build the 1-D tensor start + step · i for i = 0 … count - 1, in an element type.

    It is a constant if start, step and count are known and count is not large.
    """
    first, distance = known_number(op, start), known_number(op, step)
    if isinstance(count, int) and count <= MAXIMUM_CONSTANT and first is not None and distance is not None:
        return op.constant((first + distance * np.arange(count)).astype(to_numpy(element)), element)
    inner = (f64 if element == f64 else f32) if element in REAL_TYPES else si64
    steps = op.convert(op.Range(0, count, 1, output_type=si64), inner)
    start, step = (_as_number(op, each, inner) for each in (start, step))
    return op.convert(op.Add(op.Multiply(steps, step), start), element)


def _as_number(op: OpBuilder, value: Number, element: Attribute) -> SSAValue:
    return op.convert(value, element) if isinstance(value, SSAValue) else op.constant(np.array(value, to_numpy(element)), element)
