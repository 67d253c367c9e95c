"""Bases of the elementwise operations, unary and broadcasting.

Values that are stored in 16 bits are computed in float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def

from moir.dialects.data import Array
from moir.dialects.element_types import INTEGER_TYPES, REAL_TYPES, boolean, describe, dynamic, f16, is_element_type, to_numpy
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.operation import OpsetOp, Types
from moir.dialects.opset.interfaces.properties import string_property
from moir.dialects.shapes import (
    Shapes,
    SymbolicShape,
    broadcast_shapes,
    element_of,
    is_fixed,
    merge_elements,
    merge_shapes,
    shape_of,
    tensor,
)
from moir.dialects.symbols import Dimension, is_symbolic, simplified
from moir.errors import InferenceError

_HALF = to_numpy(f16)

REALS = REAL_TYPES | {dynamic}
INTEGERS = INTEGER_TYPES | {dynamic}
NUMBERS = REALS | INTEGERS
BOOLEANS = frozenset((boolean, dynamic))
"""Sets of element types that operations accept; each contains `!moir.dynamic`, the type that is not known yet."""


_ACCEPTED: dict[tuple[int, int], tuple[Attribute, frozenset[Attribute]]] = {}
"""Pairs of an element type and a set that contains it, by the `id` of both, as a cache of accepted types. To hash an
element type takes longer than all else of a type inference."""


def require_element(element: Attribute, accepted: frozenset[Attribute]) -> None:
    """Raise InferenceError if an element type is not accepted."""
    if (id(element), id(accepted)) in _ACCEPTED:
        return
    if element not in accepted:
        raise InferenceError(f"it does not take the element type {describe(element).xml if is_element_type(element) else element}")
    _ACCEPTED[id(element), id(accepted)] = element, accepted


def is_real(array: Array) -> bool:
    """Whether an array holds floating-point numbers (those of ml_dtypes have kind V)."""
    return array.dtype.kind in "fV"


def widened(array: Array) -> Array:
    """An array for computations: floats narrower than 32 bits are converted to float32."""
    return array.astype(np.float32) if array.dtype.kind == "V" or array.dtype == _HALF else array


def narrowed(array: Array, dtype: np.dtype[Any]) -> Array:
    """A computed result, converted to the element type of the operand."""
    # The symbolic tensors of proofs convert themselves; np.asarray would wrap them as objects.
    return (array if hasattr(array, "__array_function__") else np.asarray(array)).astype(dtype, copy=False)


def elementwise(function: Callable[..., object], count: int) -> np.ufunc:
    """A scalar function of `count` integers or symbols, as a ufunc on arrays of dtype object."""
    return np.frompyfunc(function, count, 1)


_error_function = elementwise(math.erf, 1)


def error_function(x: Array) -> Array:
    """The Gauss error function."""
    return narrowed(_error_function(x.astype(np.float64)), x.dtype)


class UnaryOp(OpsetOp):
    """Base of the operations whose result has the type of their first operand."""

    data = operand_def()
    result = result_def()

    ELEMENTS: ClassVar[frozenset[Attribute] | None] = None
    """Element types the operation takes, all if None."""

    def infer(self, known: OperandValues) -> Types:
        self.result_element()
        return (self._operands[0].type,)

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        return shapes[0]

    def result_element(self) -> Attribute:
        element = element_of(self._operands[0])
        if self.ELEMENTS is not None:
            require_element(element, self.ELEMENTS)
        return element


class ElementwiseOp(UnaryOp):
    """An operation on single elements, evaluated by numpy."""

    POINTWISE: ClassVar[bool] = True

    ELEMENTS: ClassVar[frozenset[Attribute] | None] = NUMBERS

    REAL_ONLY: ClassVar[bool] = True
    """Whether the operation is evaluated for floats only, because the rounding of integers is not defined."""

    def compute(self, x: Array) -> Array:
        """The result for an array of numbers of at least 32 bits, or of integers and symbols."""
        raise NotImplementedError(self.name)

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        (x,) = operands
        if is_symbolic(x):
            return (np.asarray(self.compute(x), dtype=object),)
        if self.REAL_ONLY and not is_real(x):
            return None
        return (narrowed(self.compute(widened(x)), x.dtype),)


class FunctionOp(ElementwiseOp):
    """An elementwise operation that is a numpy function."""

    FUNCTION: ClassVar[np.ufunc]

    def compute(self, x: Array) -> Array:
        return self.FUNCTION(x)


def _paddle_dimension(a: Dimension, b: Dimension) -> Dimension:
    if a == b or (b == 1 and a != 0):
        return a
    if not is_fixed(b):
        return a if is_fixed(a) and a != 1 else -1
    if not is_fixed(a) or (a == 1 and b == 0):
        return b
    raise InferenceError(f"dimension {b} does not broadcast to {a}")


def paddle_shape(a: SymbolicShape, b: SymbolicShape) -> SymbolicShape:
    """Result shape under `pdpd` broadcasting, in which only `b` is broadcast, to consecutive dimensions of `a`.

    Raises InferenceError if the shapes are not compatible.
    """
    if a is None or b is None:
        return None
    if len(b) > len(a):
        raise InferenceError("the second operand has more dimensions than the first")
    return (*map(_paddle_dimension, a, b), *a[len(b) :])


def binary_shape(mode: str, a: SymbolicShape, b: SymbolicShape) -> SymbolicShape:
    """Result shape of an operation on two operands, for a value of `auto_broadcast`."""
    if mode == "numpy":
        return a if a is b else broadcast_shapes(a, b)
    return (merge_shapes if mode == "none" else paddle_shape)(a, b)


class BroadcastingOp(OpsetOp):
    """Base of the operations on two tensors of one element type.

    The result has that element type, too, unless `RESULT` is set.
    """

    a = operand_def()
    b = operand_def()
    auto_broadcast = string_property("numpy", "none", "numpy", "pdpd")
    result = result_def()

    BROADCASTS: ClassVar[bool] = True

    ELEMENTS: ClassVar[frozenset[Attribute] | None] = NUMBERS
    """Element types the operation takes, all if None."""

    RESULT: ClassVar[Attribute | None] = None
    """Element type of the result; None for that of the operands."""

    SCALAR_FUNCTION: ClassVar[np.ufunc | None] = None
    """Function for elements that may be symbols; None if `compute` accepts them."""

    def infer(self, known: OperandValues) -> Types:
        a, b = [operand.type for operand in self._operands]
        element = self.result_element()
        if a is b and self.RESULT is None:
            return (a,)
        return (tensor(binary_shape(self.text("auto_broadcast"), shape_of(a), shape_of(b)), element),)

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        return binary_shape(self.text("auto_broadcast"), shapes[0], shapes[1])

    def result_element(self) -> Attribute:
        a, b = self._operands
        element = merge_elements(element_of(a), element_of(b))
        if self.ELEMENTS is not None:
            require_element(element, self.ELEMENTS)
        return element if self.RESULT is None else self.RESULT

    def compute(self, a: Array, b: Array) -> Array | None:
        """The result for an array of numbers of at least 32 bits, or of integers and symbols.

        None if the result is not defined.
        """
        raise NotImplementedError(self.name)

    def compute_symbolic(self, a: Array, b: Array) -> Array | None:
        """The result for arrays with symbols in them; None if it is not defined."""
        return self.compute(a, b) if self.SCALAR_FUNCTION is None else self.SCALAR_FUNCTION(a, b)

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        a, b = operands
        if self.text("auto_broadcast") == "pdpd":
            b = b.reshape(b.shape + (1,) * (a.ndim - b.ndim))
        element = b.dtype if a.dtype == object else a.dtype
        dtype = element if self.RESULT is None else to_numpy(self.RESULT)
        symbolic = is_symbolic(a) or is_symbolic(b)
        result = self.compute_symbolic(a, b) if symbolic else self.compute(widened(a), widened(b))
        if result is None:
            return None
        return (simplified(np.asarray(result, dtype=object), dtype) if symbolic else narrowed(result, dtype),)


class BroadcastingFunctionOp(BroadcastingOp):
    """A broadcasting operation that is a numpy function."""

    FUNCTION: ClassVar[np.ufunc]

    def compute(self, a: Array, b: Array) -> Array | None:
        return self.FUNCTION(a, b)
