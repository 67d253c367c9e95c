"""Elementwise arithmetic with broadcasting, and operations on bits."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import traits_def
from xdsl.traits import Commutative

from moir.dialects.data import Array
from moir.dialects.opset.interfaces.bounds import Bounds, OperandBounds, at_corners, of_remainders
from moir.dialects.opset.interfaces.elementwise import (
    BOOLEANS,
    INTEGERS,
    BroadcastingFunctionOp,
    BroadcastingOp,
    FunctionOp,
    elementwise,
    is_real,
)
from moir.dialects.opset.interfaces.properties import boolean_property, deferred_definition
from moir.dialects.symbols import Sum, Symbol

Number = Any
"""An entry of an array: an integer, a float or a symbol."""


@deferred_definition
class Add(BroadcastingFunctionOp):
    """a + b"""

    name = "opset1.Add"
    traits = traits_def(Commutative())
    NEUTRAL: ClassVar[float | None] = 0
    PASSES_ERRORS_ON: ClassVar[bool] = True
    FUNCTION: ClassVar[np.ufunc] = np.add
    SYMBOLIC: ClassVar[bool] = True

    def integral_bounds(self, index: int, of: OperandBounds) -> Bounds | None:
        return at_corners(of, lambda a, b: a + b)


@deferred_definition
class Subtract(BroadcastingFunctionOp):
    """a - b"""

    name = "opset1.Subtract"
    NEUTRAL: ClassVar[float | None] = 0
    PASSES_ERRORS_ON: ClassVar[bool] = True
    FUNCTION: ClassVar[np.ufunc] = np.subtract
    SYMBOLIC: ClassVar[bool] = True

    def integral_bounds(self, index: int, of: OperandBounds) -> Bounds | None:
        return at_corners(of, lambda a, b: a - b)


@deferred_definition
class Multiply(BroadcastingFunctionOp):
    """a * b"""

    name = "opset1.Multiply"
    traits = traits_def(Commutative())
    NEUTRAL: ClassVar[float | None] = 1
    PASSES_ERRORS_ON: ClassVar[bool] = True
    FUNCTION: ClassVar[np.ufunc] = np.multiply
    SYMBOLIC: ClassVar[bool] = True

    def integral_bounds(self, index: int, of: OperandBounds) -> Bounds | None:
        return at_corners(of, lambda a, b: a * b if a and b else 0.0)


def _has_zero_divisor(a: Array, b: Array) -> bool:
    """Whether a divisor among integers is zero, so that the result is not defined."""
    return not is_real(a) and not is_real(b) and any(not isinstance(entry, Symbol) and entry == 0 for entry in b.flat)


def _is_size(entry: Number) -> bool:
    """Whether a number or symbol is known not to be negative."""
    return entry.dimension if isinstance(entry, Symbol) else entry >= 0


@deferred_definition
class Divide(BroadcastingOp):
    """a / b; the quotient of integers is rounded down with `m_pythondiv`, else towards zero."""

    name = "opset1.Divide"
    NEUTRAL: ClassVar[float | None] = 1
    PASSES_ERRORS_ON: ClassVar[bool] = True
    m_pythondiv = boolean_property(True)
    SYMBOLIC: ClassVar[bool] = True

    def compute(self, a: Array, b: Array) -> Array | None:
        if is_real(a):
            return np.divide(a, b)
        if _has_zero_divisor(a, b):
            return None
        floored = np.floor_divide(a, b)
        if self.flag("m_pythondiv"):
            return floored
        return floored + ((np.remainder(a, b) != 0) & ((a < 0) != (b < 0)))

    def compute_symbolic(self, a: Array, b: Array) -> Array | None:
        if _has_zero_divisor(a, b):
            return None
        return _floored_quotient(a, b) if self.flag("m_pythondiv") else _truncated_quotient(a, b)


def _floored(a: Number, b: Number) -> Number:
    if isinstance(a, float) or isinstance(b, float):
        return a / b if b else Symbol()
    return a // b


def _truncated(a: Number, b: Number) -> Number:
    if isinstance(a, float) or isinstance(b, float) or (_is_size(a) and _is_size(b)):
        return _floored(a, b)
    if isinstance(a, Symbol) or isinstance(b, Symbol):
        return Symbol()
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_floored_quotient, _truncated_quotient = elementwise(_floored, 2), elementwise(_truncated, 2)


@deferred_definition
class Mod(BroadcastingOp):
    """Remainder with the sign of the dividend, as in truncated division."""

    name = "opset1.Mod"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (0, 1)
    PASSES_ERRORS_ON: ClassVar[bool] = True
    SYMBOLIC: ClassVar[bool] = True

    def compute(self, a: Array, b: Array) -> Array | None:
        return None if _has_zero_divisor(a, b) else np.fmod(a, b)

    def compute_symbolic(self, a: Array, b: Array) -> Array | None:
        return None if _has_zero_divisor(a, b) else _symbolic_remainder(a, b)

    def integral_bounds(self, index: int, of: OperandBounds) -> Bounds | None:
        return of_remainders(of, is_floored=False)


def _remainder(a: Number, b: Number) -> Number:
    if isinstance(a, Symbol) or isinstance(b, Symbol):
        return a % b
    return math.fmod(a, b) if isinstance(a, float) else int(math.copysign(abs(a) % abs(b), a))


_symbolic_remainder = elementwise(_remainder, 2)


@deferred_definition
class FloorMod(BroadcastingOp):
    """Remainder with the sign of the divisor, as in floored division."""

    name = "opset1.FloorMod"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (0, 1)
    PASSES_ERRORS_ON: ClassVar[bool] = True
    SYMBOLIC: ClassVar[bool] = True

    def compute(self, a: Array, b: Array) -> Array | None:
        return None if _has_zero_divisor(a, b) else np.mod(a, b)

    def integral_bounds(self, index: int, of: OperandBounds) -> Bounds | None:
        return of_remainders(of, is_floored=True)


@deferred_definition
class Power(BroadcastingOp):
    """a to the power of b; integers are computed as floats where the exponent is negative."""

    name = "opset1.Power"
    NEUTRAL: ClassVar[float | None] = 1
    PASSES_ERRORS_ON: ClassVar[bool] = True

    def compute(self, a: Array, b: Array) -> Array | None:
        if not is_real(b) and np.any(b < 0):
            quotient = np.power(a.astype(np.float64), b)
            return np.trunc(quotient) if np.all(np.isfinite(quotient)) else None
        return np.power(a, b)


@deferred_definition
class SquaredDifference(BroadcastingOp):
    """(a - b)²"""

    name = "opset1.SquaredDifference"
    traits = traits_def(Commutative())

    def compute(self, a: Array, b: Array) -> Array | None:
        return np.square(np.subtract(a, b))


def _larger(a: Number, b: Number) -> Number:
    if isinstance(a, Symbol) or isinstance(b, Symbol):
        if a is b:
            return a
        for size, other in ((a, b), (b, a)):
            if isinstance(size, Symbol) and size.dimension and not isinstance(other, Symbol) and other <= 0:
                return size
            if isinstance(size, Sum) and size.is_from(other):
                return size
        return Symbol(_is_size(a) or _is_size(b))
    return max(a, b)


def _smaller(a: Number, b: Number) -> Number:
    if isinstance(a, Symbol) or isinstance(b, Symbol):
        if a is b:
            return a
        for size, other in ((a, b), (b, a)):
            if isinstance(size, Symbol) and size.dimension and not isinstance(other, Symbol) and other <= 0:
                return other
        return Symbol(_is_size(a) and _is_size(b))
    return min(a, b)


larger, smaller = elementwise(_larger, 2), elementwise(_smaller, 2)
"""Maximum and minimum of numbers that may be symbols, on arrays of dtype object."""


@deferred_definition
class Maximum(BroadcastingFunctionOp):
    """The larger of a and b."""

    name = "opset1.Maximum"
    traits = traits_def(Commutative())
    PASSES_ERRORS_ON: ClassVar[bool] = True
    FUNCTION: ClassVar[np.ufunc] = np.maximum
    SCALAR_FUNCTION: ClassVar[np.ufunc | None] = larger
    SYMBOLIC: ClassVar[bool] = True

    def integral_bounds(self, index: int, of: OperandBounds) -> Bounds | None:
        return at_corners(of, max)


@deferred_definition
class Minimum(BroadcastingFunctionOp):
    """The smaller of a and b."""

    name = "opset1.Minimum"
    traits = traits_def(Commutative())
    PASSES_ERRORS_ON: ClassVar[bool] = True
    FUNCTION: ClassVar[np.ufunc] = np.minimum
    SCALAR_FUNCTION: ClassVar[np.ufunc | None] = smaller
    SYMBOLIC: ClassVar[bool] = True

    def integral_bounds(self, index: int, of: OperandBounds) -> Bounds | None:
        return at_corners(of, min)


BITS = INTEGERS | BOOLEANS
"""Accepted element types: integers and boolean."""


@deferred_definition
class BitwiseNot(FunctionOp):
    """Every bit inverted; for booleans, logical not."""

    name = "opset13.BitwiseNot"
    FUNCTION: ClassVar[np.ufunc] = np.bitwise_not
    ELEMENTS: ClassVar[frozenset[Attribute] | None] = BITS
    REAL_ONLY: ClassVar[bool] = False


@deferred_definition
class BitwiseAnd(BroadcastingFunctionOp):
    """Bits set in both a and b."""

    name = "opset13.BitwiseAnd"
    traits = traits_def(Commutative())
    FUNCTION: ClassVar[np.ufunc] = np.bitwise_and
    ELEMENTS: ClassVar[frozenset[Attribute] | None] = BITS


@deferred_definition
class BitwiseOr(BroadcastingFunctionOp):
    """Bits set in a or b."""

    name = "opset13.BitwiseOr"
    traits = traits_def(Commutative())
    FUNCTION: ClassVar[np.ufunc] = np.bitwise_or
    ELEMENTS: ClassVar[frozenset[Attribute] | None] = BITS


@deferred_definition
class BitwiseXor(BroadcastingFunctionOp):
    """Bits set in one of a and b only."""

    name = "opset13.BitwiseXor"
    traits = traits_def(Commutative())
    FUNCTION: ClassVar[np.ufunc] = np.bitwise_xor
    ELEMENTS: ClassVar[frozenset[Attribute] | None] = BITS


class ShiftOp(BroadcastingOp):
    """A shift; a shift by a negative number, or by at least the number of bits, is not defined."""

    ELEMENTS: ClassVar[frozenset[Attribute] | None] = INTEGERS
    FUNCTION: ClassVar[np.ufunc]

    def compute(self, a: Array, b: Array) -> Array | None:
        if np.any(b < 0) or np.any(b >= 8 * a.itemsize):
            return None
        return self.FUNCTION(a, b)


@deferred_definition
class BitwiseLeftShift(ShiftOp):
    """a · 2ᵇ; bits beyond the width are lost."""

    name = "opset15.BitwiseLeftShift"
    FUNCTION: ClassVar[np.ufunc] = np.left_shift


@deferred_definition
class BitwiseRightShift(ShiftOp):
    """a shifted to the right by b bits; the sign of a signed integer is kept."""

    name = "opset15.BitwiseRightShift"
    FUNCTION: ClassVar[np.ufunc] = np.right_shift
