"""Functions of two numbers in one element type, by their names in `keras.ops`.

ARITHMETIC["Fmax"](op, %a, %b)  ->  %y = opset1.Maximum(%a, %b), or the other one where one is NaN
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from xdsl.ir import SSAValue

from moir.dialects.element_types import REAL_TYPES, boolean, si32, ui8, ui16
from moir.dialects.shapes import element_of
from moir.expansions.complex_numbers import angle_of, hypotenuse
from moir.expansions.special.neighbours import neighbour_toward
from moir.rewriting.builder import OpBuilder

Pair = Callable[[OpBuilder, SSAValue, SSAValue], SSAValue]


def _floor_divided(op: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    quotient = op.Divide(a, b)
    return op.Floor(quotient) if element_of(a) in REAL_TYPES else quotient


def _without_nan(kind: str) -> Pair:
    """Build a function of two tensors: their Maximum or Minimum, as `kind` says; where one is NaN, the other one."""

    def function(op: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
        result = getattr(op, kind)(a, b)
        return op.Select(op.IsNaN(a), b, op.Select(op.IsNaN(b), a, result)) if element_of(a) in REAL_TYPES else result

    return function


def _scaled_by_power(op: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """a · 2ᵇ; a itself where it is 0 or infinite."""
    product = op.Multiply(a, op.Power(op.constant_like(2.0, b), b))
    return op.Select(op.LogicalOr(op.Equal(a, 0.0), op.IsInf(a)), a, product)


def _log_add_exp(op: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    larger = op.Maximum(a, b)
    return op.Add(larger, op.SoftPlus(op.Negative(op.Abs(op.Subtract(a, b)))))


def _no_nan(op: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    is_zero = op.Equal(b, 0.0)
    return op.Select(is_zero, op.constant_like(0.0, a), op.Divide(a, op.Select(is_zero, op.constant_like(1.0, b), b)))


def _heaviside(op: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """The Heaviside step function: 0 for negative a, 1 for positive a, and b where a is 0 or NaN."""
    is_positive = op.Greater(a, 0.0)
    return op.Select(op.LogicalOr(op.Less(a, 0.0), is_positive), op.convert(is_positive, element_of(a)), b)


def _power(op: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """aᵇ; unsigned integers of fewer than 32 bits are computed in 32 bits."""
    element = element_of(a)
    wide = si32 if element in (boolean, ui8, ui16) else element
    return op.convert(op.Power(op.convert(a, wide), op.convert(b, wide)), si32 if element == boolean else element)


ARITHMETIC: Mapping[str, Pair] = {
    "Add": lambda op, a, b: op.LogicalOr(a, b) if element_of(a) == boolean else op.Add(a, b),
    "Fmax": _without_nan("Maximum"),
    "Fmin": _without_nan("Minimum"),
    "FloorDivide": _floor_divided,
    "Fmod": lambda op, a, b: op.Mod(a, b),
    "Maximum": lambda op, a, b: op.Maximum(a, b),
    "Minimum": lambda op, a, b: op.Minimum(a, b),
    "Mod": lambda op, a, b: op.FloorMod(a, b),
    "Multiply": lambda op, a, b: op.LogicalAnd(a, b) if element_of(a) == boolean else op.Multiply(a, b),
    "Power": _power,
    "Subtract": lambda op, a, b: op.Subtract(a, b),
}
"""Functions of two numbers, in the common type of both."""

REAL_ARITHMETIC: Mapping[str, Pair] = {
    "Arctan2": angle_of,
    "Divide": lambda op, a, b: op.Divide(a, b),
    "DivideNoNan": _no_nan,
    "Heaviside": _heaviside,
    "Hypot": hypotenuse,
    "Ldexp": _scaled_by_power,
    "Logaddexp": _log_add_exp,
    "Logaddexp2": lambda op, a, b: op.Multiply(_log_add_exp(op, op.Multiply(a, math.log(2)), op.Multiply(b, math.log(2))), 1 / math.log(2)),
    "Nextafter": neighbour_toward,
    "TrueDivide": lambda op, a, b: op.Divide(a, b),
}
"""Functions of two numbers whose result is a float, also for integers."""
