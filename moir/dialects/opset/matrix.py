"""Matrix products and inversion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def

from moir.dialects.data import Array
from moir.dialects.large_arrays import Values
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.elementwise import REALS, UnaryOp, is_real, narrowed, widened
from moir.dialects.opset.interfaces.operation import OpsetOp, Types
from moir.dialects.opset.interfaces.properties import boolean_property, deferred_definition, optional_operands
from moir.dialects.shapes import (
    Shapes,
    SymbolicShape,
    broadcast_shapes,
    format_shape,
    is_fixed,
    merge_dimensions,
)
from moir.errors import InferenceError


def product_shape(a: SymbolicShape, b: SymbolicShape, transpose_a: bool, transpose_b: bool) -> SymbolicShape:
    """Shape of a matrix product.

    An operand of rank 1 is a row on the left and a column on the right; the result lacks that dimension. Raises
    InferenceError for scalars and for shapes that are not compatible.
    """
    if a == () or b == ():
        raise InferenceError("a matrix product has no scalar operands")
    if a is None or b is None:
        return None
    left = (1, *a) if len(a) == 1 else (*a[:-2], a[-1], a[-2]) if transpose_a else a
    right = (*b, 1) if len(b) == 1 else (*b[:-2], b[-1], b[-2]) if transpose_b else b
    if is_fixed(left[-1]) and is_fixed(right[-2]) and left[-1] != right[-2]:
        raise InferenceError(f"the inner dimensions of {format_shape(a)} and {format_shape(b)} differ, {left[-1]} and {right[-2]}")
    batch = broadcast_shapes(left[:-2], right[:-2]) or ()
    return (*batch, *((left[-2],) if len(a) > 1 else ()), *((right[-1],) if len(b) > 1 else ()))


@deferred_definition
class MatMul(OpsetOp):
    """Matrix product over the last two dimensions; the other dimensions are broadcast.

    The transposition flags have no effect on an operand of rank 1.
    """

    name = "opset1.MatMul"
    PASSES_ERRORS_ON: ClassVar[bool] = True
    a = operand_def()
    b = operand_def()
    transpose_a = boolean_property(False)
    transpose_b = boolean_property(False)
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        return product_shape(shapes[0], shapes[1], self.flag("transpose_a"), self.flag("transpose_b"))

    def result_element(self) -> Attribute:
        return self.common_element()

    def steps(self, *operands: Values) -> int:
        # Each element of one operand is multiplied by as many as the other one has columns or rows.
        a, b = operands
        rows = a.shape[-1 if self.flag("transpose_a") else -2] if a.ndim > 1 else 1
        columns = b.shape[-2 if self.flag("transpose_b") else -1] if b.ndim > 1 else 1
        products = max(a.size * columns, b.size * rows)
        # Products of floats are computed sixteen at a time.
        return products // 16 if a.dtype.kind == "f" else products

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        a, b = map(widened, operands)
        if a.dtype.kind not in "fiu":
            return None
        a = np.swapaxes(a, -1, -2) if self.flag("transpose_a") and a.ndim > 1 else a
        b = np.swapaxes(b, -1, -2) if self.flag("transpose_b") and b.ndim > 1 else b
        return (narrowed(np.asarray(np.matmul(a, b)), operands[0].dtype),)


@deferred_definition
class Inverse(UnaryOp):
    """Inverses of the square matrices in the last two dimensions, or their adjugates with `adjoint`."""

    name = "opset14.Inverse"
    adjoint = boolean_property(False)

    ELEMENTS: ClassVar[frozenset[Attribute] | None] = REALS

    def infer(self, known: OperandValues) -> Types:
        self.result_shape([self.shape(0)], known)
        return super().infer(known)

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape = shapes[0]
        if shape is not None:
            if len(shape) < 2:
                raise InferenceError(f"{format_shape(shape)} is no shape of matrices")
            merge_dimensions(shape[-1], shape[-2])
        return shape

    def steps(self, *operands: Values) -> int:
        return operands[0].size * operands[0].shape[-1]

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        x = widened(operands[0])
        determinant = np.linalg.det(x)
        # The result for a singular matrix is left to the runtime.
        if not is_real(x) or self.flag("adjoint") or not np.all(determinant):
            return None
        return (narrowed(np.linalg.inv(x), operands[0].dtype),)


@deferred_definition
class GroupedMatMul(OpsetOp):
    """Products of groups of rows with matrices, each of which is stored transposed.

    Data [groups, M, K] or, as rows [rows, K] of groups that end at `offsets` [groups], and matrices [groups, N, K];
    result [groups, M, N] or [rows, N].
    """

    name = "opset17.GroupedMatMul"
    mat_a = operand_def()
    mat_b = operand_def()
    offsets = optional_operands(1)
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        a, b = shapes[:2]
        if len(shapes) > 2 and shapes[2] is not None and len(shapes[2]) != 1:
            raise InferenceError("offsets have one dimension")
        if (a is not None and len(a) not in (2, 3)) or (b is not None and len(b) != 3):
            raise InferenceError(f"{format_shape(a)} and {format_shape(b)} are no groups of matrices")
        if a is None or b is None:
            return None
        merge_dimensions(a[-1], b[2])
        if len(a) == 3:
            return (merge_dimensions(a[0], b[0]), a[1], b[1])
        if self.optional_operand(2) is None:
            raise InferenceError("rows of groups need offsets")
        return (a[0], b[1])

    def result_element(self) -> Attribute:
        return self.common_element(0, 1)
