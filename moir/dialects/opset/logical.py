"""Elementwise logic on booleans."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import traits_def
from xdsl.traits import Commutative

from moir.dialects.data import Array
from moir.dialects.element_types import boolean
from moir.dialects.opset.interfaces.elementwise import BOOLEANS, BroadcastingFunctionOp, ElementwiseOp, elementwise
from moir.dialects.opset.interfaces.properties import deferred_definition
from moir.dialects.opset.interfaces.truth import Truth, both, either, negated
from moir.dialects.symbols import Symbol, is_symbolic


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
