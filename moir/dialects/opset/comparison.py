"""Elementwise comparisons and logic, and the choice between two values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Commutative

from moir.dialects import element_types
from moir.dialects.data import Array
from moir.dialects.element_types import boolean
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.bounds import Bounds, OperandBounds, union
from moir.dialects.opset.interfaces.elementwise import (
    BOOLEANS,
    REALS,
    BroadcastingFunctionOp,
    ElementwiseOp,
    elementwise,
    require_element,
    widened,
)
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import boolean_property, deferred_definition, string_property
from moir.dialects.opset.interfaces.truth import Truth, both, either, negated
from moir.dialects.shapes import Shapes, SymbolicShape, broadcast_shapes, merge_elements, merge_shapes
from moir.dialects.symbols import Symbol, is_symbolic, simplified
from moir.errors import InferenceError

Number = Any
"""An entry of an array: an integer, a boolean or a symbol."""


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
    """Whether x is infinite with a sign that `detect_negative` or `detect_positive` selects."""

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


def _exclusive_or(a: Truth, b: Truth) -> Truth:
    if a is b:
        return False
    return Symbol() if isinstance(a, Symbol) or isinstance(b, Symbol) else bool(a) != bool(b)


_negated = elementwise(negated, 1)


class LogicalOp(BroadcastingFunctionOp):
    """Base of the operations on two tensors of booleans."""

    ELEMENTS: ClassVar[frozenset[Attribute] | None] = BOOLEANS
    RESULT: ClassVar[Attribute | None] = boolean
    SYMBOLIC: ClassVar[bool] = True


@deferred_definition
class LogicalAnd(LogicalOp):
    """a and b."""

    name = "opset1.LogicalAnd"
    traits = traits_def(Commutative())
    NEUTRAL: ClassVar[float | None] = 1
    FUNCTION: ClassVar[np.ufunc] = np.logical_and
    SCALAR_FUNCTION: ClassVar[np.ufunc | None] = both


@deferred_definition
class LogicalOr(LogicalOp):
    """a or b."""

    name = "opset1.LogicalOr"
    traits = traits_def(Commutative())
    NEUTRAL: ClassVar[float | None] = 0
    FUNCTION: ClassVar[np.ufunc] = np.logical_or
    SCALAR_FUNCTION: ClassVar[np.ufunc | None] = either


class ExclusiveOrOp(LogicalOp):
    """Base of the operations that are the exclusive or of a and b."""

    traits = traits_def(Commutative())
    FUNCTION: ClassVar[np.ufunc] = np.logical_xor
    SCALAR_FUNCTION: ClassVar[np.ufunc | None] = elementwise(_exclusive_or, 2)


@deferred_definition
class Xor(ExclusiveOrOp):
    """Exclusive or of a and b."""

    name = "opset1.Xor"


@deferred_definition
class LogicalXor(ExclusiveOrOp):
    """Exclusive or of a and b."""

    name = "opset2.LogicalXor"


@deferred_definition
class LogicalNot(ElementwiseOp):
    """Not x."""

    name = "opset1.LogicalNot"
    ELEMENTS: ClassVar[frozenset[Attribute] | None] = BOOLEANS
    REAL_ONLY: ClassVar[bool] = False
    SYMBOLIC: ClassVar[bool] = True

    def compute(self, x: Array) -> Array:
        return _negated(x) if is_symbolic(x) else np.logical_not(x)


def _chosen(cond: object, then: object, otherwise: object) -> object:
    if isinstance(cond, Symbol):
        return then if then is otherwise or (not isinstance(then, Symbol) and then == otherwise) else Symbol()
    return then if cond else otherwise


@deferred_definition
class Select(OpsetOp):
    """Elements of `then` where `cond` is true and of `otherwise` elsewhere, all operands broadcast."""

    name = "opset1.Select"
    PASSES_ERRORS_ON: ClassVar[bool] = True
    BROADCASTS: ClassVar[bool] = True
    cond = operand_def()
    then = operand_def()
    otherwise = operand_def()
    auto_broadcast = string_property("numpy", "none", "numpy", "pdpd")
    result = result_def()

    SYMBOLIC: ClassVar[bool] = True

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        cond, then, otherwise = shapes
        match self.text("auto_broadcast"):
            case "numpy":
                return broadcast_shapes(then, otherwise, cond)
            case "none":
                return merge_shapes(merge_shapes(then, otherwise), cond)
            case _:
                return then

    def result_element(self) -> Attribute:
        if self.element_type(0) not in (element_types.boolean, element_types.dynamic):
            raise InferenceError("the condition of a Select is boolean")
        return merge_elements(self.element_type(1), self.element_type(2))

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        cond, then, otherwise = operands
        if self.text("auto_broadcast") == "pdpd":
            return None
        if not is_symbolic(cond):
            return (self._settled(np.where(cond.astype(bool), then, otherwise)),)
        return (self._settled(np.asarray(np.frompyfunc(_chosen, 3, 1)(cond, then, otherwise), dtype=object)),)

    def _settled(self, array: Array) -> Array:
        return array if array.dtype != object else simplified(array, element_types.to_numpy(self.element_type(1)))

    def integral_bounds(self, index: int, of: OperandBounds) -> Bounds | None:
        return union([of(1), of(2)])
