"""Elementwise arithmetic with numpy broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.irdl import irdl_op_definition, operand_def, result_def

from moir.dialects.data import Array
from moir.dialects.known_values import KnownValues, is_symbolic
from moir.dialects.opset.base import OpsetOp, Types, string_property
from moir.dialects.shapes import broadcast_shapes, element_of, merge_elements, merge_shapes, shape_of, tensor


def binary_shape(op: OpsetOp) -> tuple[int, ...] | None:
    """Result shape of an operation on two operands under its `auto_broadcast`."""
    a, b = shape_of(op.operands[0]), shape_of(op.operands[1])
    if op.text("auto_broadcast") == "numpy":
        return broadcast_shapes(a, b)
    if op.text("auto_broadcast") == "none":
        return merge_shapes(a, b)
    return a


class BroadcastingBinaryOp(OpsetOp):
    """Base of the operations on two tensors of one element type; the result has that type too."""

    a = operand_def()
    b = operand_def()
    auto_broadcast = string_property("numpy", "none", "numpy", "pdpd")
    result = result_def()

    def infer(self, known: KnownValues) -> Types:
        return (tensor(binary_shape(self), merge_elements(element_of(self.operands[0]), element_of(self.operands[1]))),)


class NumpyBinaryOp(BroadcastingBinaryOp):
    """A broadcasting operation that a numpy function computes."""

    FUNCTION: ClassVar[np.ufunc]

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        a, b = operands
        result = self.FUNCTION(a, b)
        return (np.asarray(result, dtype=object if is_symbolic(a) or is_symbolic(b) else a.dtype),)


@irdl_op_definition
class Add(NumpyBinaryOp):
    """a + b"""

    name = "opset1.Add"
    FUNCTION: ClassVar[np.ufunc] = np.add
    SYMBOLIC: ClassVar[bool] = True


@irdl_op_definition
class Subtract(NumpyBinaryOp):
    """a - b"""

    name = "opset1.Subtract"
    FUNCTION: ClassVar[np.ufunc] = np.subtract
    SYMBOLIC: ClassVar[bool] = True


@irdl_op_definition
class Multiply(NumpyBinaryOp):
    """a * b"""

    name = "opset1.Multiply"
    FUNCTION: ClassVar[np.ufunc] = np.multiply
    SYMBOLIC: ClassVar[bool] = True
