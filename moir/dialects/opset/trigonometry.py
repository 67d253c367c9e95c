"""Trigonometric and hyperbolic functions of single elements, and their inverses; Tanh is with the other functions."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from moir.dialects.opset.interfaces.elementwise import FunctionOp
from moir.dialects.opset.interfaces.properties import deferred_definition


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
