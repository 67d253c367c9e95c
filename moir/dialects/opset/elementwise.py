"""Mathematical functions of single elements, trigonometric ones among them."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute

from moir.dialects.data import Array
from moir.dialects.opset.interfaces.bounds import ANY, Bounds, OperandBounds
from moir.dialects.opset.interfaces.elementwise import REALS, ElementwiseOp, FunctionOp, elementwise, error_function, is_real
from moir.dialects.opset.interfaces.properties import deferred_definition, string_property


def _inverse_error(x: float) -> float:
    if -1 < x < 1:
        from statistics import NormalDist

        return NormalDist().inv_cdf((x + 1) / 2) / math.sqrt(2)
    return math.copysign(math.inf, x) if abs(x) == 1 else math.nan


_inverse_error_function = elementwise(_inverse_error, 1)


@deferred_definition
class Abs(FunctionOp):
    """|x|"""

    name = "opset1.Abs"
    PASSES_ERRORS_ON: ClassVar[bool] = True
    FUNCTION: ClassVar[np.ufunc] = np.absolute
    REAL_ONLY: ClassVar[bool] = False
    SYMBOLIC: ClassVar[bool] = True


@deferred_definition
class Ceiling(FunctionOp):
    """The least integer not below x."""

    name = "opset1.Ceiling"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (0,)
    PASSES_ERRORS_ON: ClassVar[bool] = True
    FUNCTION: ClassVar[np.ufunc] = np.ceil
    REAL_ONLY: ClassVar[bool] = False

    def integral_bounds(self, index: int, of: OperandBounds) -> Bounds | None:
        return ANY


@deferred_definition
class Erf(ElementwiseOp):
    """Gauss error function of x."""

    name = "opset1.Erf"

    def compute(self, x: Array) -> Array:
        return error_function(x)


@deferred_definition
class ErfInv(ElementwiseOp):
    """Inverse of the Gauss error function: infinite at -1 and 1, NaN beyond."""

    name = "opset17.ErfInv"
    ELEMENTS: ClassVar[frozenset[Attribute] | None] = REALS

    def compute(self, x: Array) -> Array:
        return np.asarray(_inverse_error_function(x.astype(np.float64))).astype(x.dtype)


@deferred_definition
class Exp(FunctionOp):
    """e to the power of x."""

    name = "opset1.Exp"
    FUNCTION: ClassVar[np.ufunc] = np.exp


@deferred_definition
class Floor(FunctionOp):
    """The greatest integer not above x."""

    name = "opset1.Floor"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (0,)
    PASSES_ERRORS_ON: ClassVar[bool] = True
    FUNCTION: ClassVar[np.ufunc] = np.floor
    REAL_ONLY: ClassVar[bool] = False

    def integral_bounds(self, index: int, of: OperandBounds) -> Bounds | None:
        return ANY


@deferred_definition
class Log(FunctionOp):
    """Natural logarithm of x."""

    name = "opset1.Log"
    FUNCTION: ClassVar[np.ufunc] = np.log


@deferred_definition
class Negative(FunctionOp):
    """-x"""

    name = "opset1.Negative"
    PASSES_ERRORS_ON: ClassVar[bool] = True
    FUNCTION: ClassVar[np.ufunc] = np.negative
    REAL_ONLY: ClassVar[bool] = False
    SYMBOLIC: ClassVar[bool] = True

    def integral_bounds(self, index: int, of: OperandBounds) -> Bounds | None:
        bounds = of(0)
        return None if bounds is None else (-bounds[1], -bounds[0])


@deferred_definition
class Round(ElementwiseOp):
    """x rounded to an integer; `mode` selects whether a half is rounded to even or away from zero."""

    name = "opset5.Round"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (0,)
    PASSES_ERRORS_ON: ClassVar[bool] = True
    ELEMENTS: ClassVar[frozenset[Attribute] | None] = None
    mode = string_property("half_to_even", "half_away_from_zero", "half_to_even")
    REAL_ONLY: ClassVar[bool] = False

    def compute(self, x: Array) -> Array:
        if self.text("mode") == "half_to_even" or not is_real(x):
            return np.rint(x)
        whole = np.trunc(x)
        return whole + np.where(np.abs(x - whole) >= 0.5, np.sign(x), 0).astype(x.dtype)

    def integral_bounds(self, index: int, of: OperandBounds) -> Bounds | None:
        return ANY


@deferred_definition
class Sign(FunctionOp):
    """-1, 0 or 1 by the sign of x; NaN stays NaN."""

    name = "opset1.Sign"
    FUNCTION: ClassVar[np.ufunc] = np.sign
    REAL_ONLY: ClassVar[bool] = False


@deferred_definition
class Sqrt(FunctionOp):
    """Square root of x."""

    name = "opset1.Sqrt"
    PASSES_ERRORS_ON: ClassVar[bool] = True
    FUNCTION: ClassVar[np.ufunc] = np.sqrt


@deferred_definition
class Tanh(FunctionOp):
    """Hyperbolic tangent of x."""

    name = "opset1.Tanh"
    FUNCTION: ClassVar[np.ufunc] = np.tanh


@deferred_definition
class Acos(FunctionOp):
    """Arc cosine of x, in radians."""

    name = "opset1.Acos"
    FUNCTION: ClassVar[np.ufunc] = np.arccos


@deferred_definition
class Acosh(FunctionOp):
    """Inverse hyperbolic cosine of x."""

    name = "opset4.Acosh"
    FUNCTION: ClassVar[np.ufunc] = np.arccosh


@deferred_definition
class Asin(FunctionOp):
    """Arc sine of x, in radians."""

    name = "opset1.Asin"
    FUNCTION: ClassVar[np.ufunc] = np.arcsin


@deferred_definition
class Asinh(FunctionOp):
    """Inverse hyperbolic sine of x."""

    name = "opset4.Asinh"
    FUNCTION: ClassVar[np.ufunc] = np.arcsinh


@deferred_definition
class Atan(FunctionOp):
    """Arc tangent of x, in radians."""

    name = "opset1.Atan"
    FUNCTION: ClassVar[np.ufunc] = np.arctan


@deferred_definition
class Atanh(FunctionOp):
    """Inverse hyperbolic tangent of x."""

    name = "opset4.Atanh"
    FUNCTION: ClassVar[np.ufunc] = np.arctanh


@deferred_definition
class Cos(FunctionOp):
    """Cosine of x, in radians."""

    name = "opset1.Cos"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (0,)
    FUNCTION: ClassVar[np.ufunc] = np.cos


@deferred_definition
class Cosh(FunctionOp):
    """Hyperbolic cosine of x."""

    name = "opset1.Cosh"
    FUNCTION: ClassVar[np.ufunc] = np.cosh


@deferred_definition
class Sin(FunctionOp):
    """Sine of x, in radians."""

    name = "opset1.Sin"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (0,)
    FUNCTION: ClassVar[np.ufunc] = np.sin


@deferred_definition
class Sinh(FunctionOp):
    """Hyperbolic sine of x."""

    name = "opset1.Sinh"
    FUNCTION: ClassVar[np.ufunc] = np.sinh


@deferred_definition
class Tan(FunctionOp):
    """Tangent of x, in radians."""

    name = "opset1.Tan"
    FUNCTION: ClassVar[np.ufunc] = np.tan
