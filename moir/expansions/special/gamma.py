"""The logarithm of the absolute value of the gamma function, by the Lanczos approximation.

Source: C. Lanczos, "A Precision Approximation of the Gamma Function" (1964), with g = 7 and eight terms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import bf16, f16, f32
from moir.dialects.shapes import element_of, has_no_element, shape_of
from moir.rewriting.builder import OpBuilder

LANCZOS_SHIFT = 7.0
LANCZOS_BASE = 0.99999999999980993
LANCZOS_TERMS = (
    676.520368121885098567009190444019,
    -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,
    -176.61502916214059906584551354,
    12.507343278686904814458936853,
    -0.13857109526572011689554707,
    9.984369578019570859563e-6,
    1.50563273514931155834e-7,
)
"""Coefficients of the Lanczos approximation of the gamma function."""

LAST_FRACTION = -float(1 << 23)
"""Floats of 32 bits that are less than or equal to this number are integers."""


def polynomial(op: OpBuilder, x: SSAValue, coefficients: Sequence[float]) -> SSAValue:
    """The polynomial with these coefficients, that of x⁰ first."""
    *lower, highest = coefficients
    start = op.Add(op.Multiply(x, highest), lower[-1])
    return reduce(lambda value, coefficient: op.Add(op.Multiply(value, x), coefficient), reversed(lower[:-1]), start)


def in_single(op: OpBuilder, compute: Callable[..., SSAValue], *operands: SSAValue) -> SSAValue:
    """The result of an elementwise function `compute`; operands of f16 are converted to f32 and the result back.

    Constants such as π are not precise enough in f16. If the result is known to be empty, the sum of the operands is
    returned, which has its shape.
    """
    element = element_of(operands[0])
    if any(has_no_element(shape_of(each)) for each in operands):
        return reduce(op.Add, operands)
    if element not in (f16, bf16):
        return compute(*operands)
    return op.convert(compute(*(op.convert(each, f32) for each in operands)), element)


def logarithm_of_gamma(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The logarithm of the absolute value of the gamma function at x.

    With z = x - 1 and t = z + 15/2: ln gamma(x) = ln sqrt(2 π) + (z + 1/2) (ln t - 1) - 7 + ln series(z).
    """
    is_small = op.Less(x, 0.5)
    z = op.Select(is_small, op.Negative(x), op.Subtract(x, 1.0))
    half = op.Add(z, 0.5)
    logarithm = op.Log(op.Add(half, LANCZOS_SHIFT))
    denominators = op.Add(op.Unsqueeze(z, [-1]), op.constant_like(np.arange(1, len(LANCZOS_TERMS) + 1), z))
    series = op.ReduceSum(op.Divide(op.constant_like(LANCZOS_TERMS, z), denominators), [-1], keep_dims=False)
    constant = 0.5 * math.log(2 * math.pi) - LANCZOS_SHIFT
    power = op.Multiply(half, op.Subtract(logarithm, 1.0))
    upper = op.Add(op.Add(power, op.Log(op.Add(series, LANCZOS_BASE))), constant)
    # The integer part is subtracted first, so that the sine is exactly 0 for integers, where gamma is infinite.
    distance = op.Abs(x)
    part = op.Subtract(distance, op.Floor(distance))
    sine = op.Log(op.Sin(op.Multiply(part, math.pi)))
    lower = op.Subtract(op.Subtract(math.log(math.pi), sine), upper)
    # All numbers up to `LAST_FRACTION` are integers, where the result is infinite; the formula overflows for some of
    # them.
    return op.Select(op.LessEqual(x, LAST_FRACTION), math.inf, op.Select(is_small, lower, upper))
