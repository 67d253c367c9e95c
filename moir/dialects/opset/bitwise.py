"""Operations on the bits of integers."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import traits_def
from xdsl.traits import Commutative

from moir.dialects.data import Array
from moir.dialects.opset.interfaces.elementwise import BOOLEANS, INTEGERS, BroadcastingFunctionOp, BroadcastingOp, FunctionOp
from moir.dialects.opset.interfaces.properties import deferred_definition

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
    """A shift; a shift by a negative number, or by at least the number of bits, is left to the runtime."""

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
