"""Elementwise comparisons; results are boolean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Commutative

from moir.dialects import element_types
from moir.dialects.data import Array
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.elementwise import REALS, BroadcastingFunctionOp, elementwise, require_element, widened
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import boolean_property, deferred_definition
from moir.dialects.opset.interfaces.truth import negated
from moir.dialects.shapes import Shapes, SymbolicShape
from moir.dialects.symbols import Symbol

Number = Any
"""An integer, a boolean or a symbol."""


def _equal(a: Number, b: Number) -> bool | Symbol:
    if isinstance(a, Symbol):
        return a.equals(b)
    return b.equals(a) if isinstance(b, Symbol) else bool(a == b)


def _less(a: Number, b: Number) -> bool | Symbol:
    if not isinstance(a, Symbol) and not isinstance(b, Symbol):
        return bool(a < b)
    if a is b or (isinstance(a, Symbol) and a.dimension and not isinstance(b, Symbol) and b <= 0):
        return False
    if isinstance(b, Symbol) and b.dimension and not isinstance(a, Symbol) and a < 0:
        return True
    return Symbol()


def _not_equal(a: Number, b: Number) -> bool | Symbol:
    return negated(_equal(a, b))


def _less_equal(a: Number, b: Number) -> bool | Symbol:
    return negated(_less(b, a))


def _greater(a: Number, b: Number) -> bool | Symbol:
    return _less(b, a)


def _greater_equal(a: Number, b: Number) -> bool | Symbol:
    return negated(_less(a, b))


class ComparisonOp(BroadcastingFunctionOp):
    """Base of the comparisons of two tensors of one element type."""

    ELEMENTS: ClassVar[frozenset[Attribute] | None] = None
    RESULT: ClassVar[Attribute | None] = element_types.boolean
    SYMBOLIC: ClassVar[bool] = True


@deferred_definition
class Equal(ComparisonOp):
    """a = b"""

    name = "opset1.Equal"
    traits = traits_def(Commutative())
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (0, 1)
    FUNCTION: ClassVar[np.ufunc] = np.equal
    SCALAR_FUNCTION: ClassVar[np.ufunc | None] = elementwise(_equal, 2)


@deferred_definition
class NotEqual(ComparisonOp):
    """a ≠ b"""

    name = "opset1.NotEqual"
    traits = traits_def(Commutative())
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (0, 1)
    FUNCTION: ClassVar[np.ufunc] = np.not_equal
    SCALAR_FUNCTION: ClassVar[np.ufunc | None] = elementwise(_not_equal, 2)


@deferred_definition
class Less(ComparisonOp):
    """a < b"""

    name = "opset1.Less"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (0, 1)
    FUNCTION: ClassVar[np.ufunc] = np.less
    SCALAR_FUNCTION: ClassVar[np.ufunc | None] = elementwise(_less, 2)


@deferred_definition
class LessEqual(ComparisonOp):
    """a ≤ b"""

    name = "opset1.LessEqual"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (0, 1)
    FUNCTION: ClassVar[np.ufunc] = np.less_equal
    SCALAR_FUNCTION: ClassVar[np.ufunc | None] = elementwise(_less_equal, 2)


@deferred_definition
class Greater(ComparisonOp):
    """a > b"""

    name = "opset1.Greater"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (0, 1)
    FUNCTION: ClassVar[np.ufunc] = np.greater
    SCALAR_FUNCTION: ClassVar[np.ufunc | None] = elementwise(_greater, 2)


@deferred_definition
class GreaterEqual(ComparisonOp):
    """a ≥ b"""

    name = "opset1.GreaterEqual"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (0, 1)
    FUNCTION: ClassVar[np.ufunc] = np.greater_equal
    SCALAR_FUNCTION: ClassVar[np.ufunc | None] = elementwise(_greater_equal, 2)


class PredicateOp(OpsetOp):
    """Base of the predicates of floating-point numbers."""

    POINTWISE: ClassVar[bool] = True

    data = operand_def()
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        return shapes[0]

    def result_element(self) -> Attribute:
        require_element(self.element_type(0), REALS)
        return element_types.boolean

    def compute(self, x: Array) -> Array:
        """The result for numbers of at least 32 bits."""
        raise NotImplementedError(self.name)

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        return (np.asarray(self.compute(widened(operands[0])), dtype=bool),)


@deferred_definition
class IsFinite(PredicateOp):
    """Whether x is neither infinite nor NaN."""

    name = "opset10.IsFinite"

    def compute(self, x: Array) -> Array:
        return np.isfinite(x)


@deferred_definition
class IsInf(PredicateOp):
    """Whether x is infinite, with a sign that is to be detected."""

    name = "opset10.IsInf"
    detect_negative = boolean_property(True)
    detect_positive = boolean_property(True)

    def compute(self, x: Array) -> Array:
        return (np.isposinf(x) & self.flag("detect_positive")) | (np.isneginf(x) & self.flag("detect_negative"))


@deferred_definition
class IsNaN(PredicateOp):
    """Whether x is not a number."""

    name = "opset10.IsNaN"

    def compute(self, x: Array) -> Array:
        return np.isnan(x)
