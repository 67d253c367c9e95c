"""Matrix products, inversion and Einstein summation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects.data import Array
from moir.dialects.large_arrays import Values
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.bounds import ANY, Bounds, OperandBounds
from moir.dialects.opset.interfaces.elementwise import NUMBERS, REALS, UnaryOp, is_real, narrowed, require_element, widened
from moir.dialects.opset.interfaces.operation import OpsetOp, Types
from moir.dialects.opset.interfaces.properties import boolean_property, deferred_definition, optional_operands, string_property
from moir.dialects.shapes import (
    Shapes,
    SymbolicShape,
    broadcast_dimension,
    broadcast_shapes,
    format_shape,
    is_fixed,
    merge_dimensions,
)
from moir.dialects.symbols import Dimension
from moir.errors import InferenceError
from moir.support.records import Record


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
        # The number of multiplications: each element of one operand meets each column or row of the other operand.
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
        return (narrowed(np.matmul(a, b), operands[0].dtype),)

    def integral_bounds(self, index: int, of: OperandBounds) -> Bounds | None:
        a, b, shape = of(0), of(1), self.shape(1)
        if a is None or b is None:
            return None
        width = -1 if not shape or len(shape) < 2 else shape[-1 if self.flag("transpose_b") else -2]
        if not is_fixed(width):
            return ANY
        largest = width * max(map(abs, a)) * max(map(abs, b))
        return -largest, largest


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
                raise InferenceError(f"{format_shape(shape)} is not a shape of matrices")
            merge_dimensions(shape[-1], shape[-2])
        return shape

    def steps(self, *operands: Values) -> int:
        return operands[0].size * operands[0].shape[-1]

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        x = widened(operands[0])
        determinant = np.linalg.det(x)
        # The result for a singular matrix is not defined.
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
            raise InferenceError(f"{format_shape(a)} and {format_shape(b)} are not groups of matrices")
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


ELLIPSIS = "..."


LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Equation(Record):
    """A parsed equation: the labels of each operand and of the result, each a letter or `...`."""

    inputs: tuple[tuple[str, ...], ...]
    output: tuple[str, ...]

    @property
    def text(self) -> str:
        """The equation with its result spelled out."""
        return f"{','.join(map(''.join, self.inputs))}->{''.join(self.output)}"

    @staticmethod
    @lru_cache(maxsize=1024)
    def parse(text: str) -> Equation:
        """Parse an equation; raises InferenceError if it is malformed.

        Without an arrow the result has the ellipsis, followed by the labels that occur once, in alphabetical order.
        """
        left, arrow, right = text.replace(" ", "").partition("->")
        inputs = tuple(_labels(term, text) for term in left.split(","))
        every = [label for term in inputs for label in term]
        if not arrow:
            once = sorted(label for label in set(every) if label != ELLIPSIS and every.count(label) == 1)
            return Equation(inputs, ((ELLIPSIS,) if ELLIPSIS in every else ()) + tuple(once))
        output = _labels(right, text)
        if len(set(output)) != len(output) or not set(output) <= {*every, ELLIPSIS}:
            raise InferenceError(f"the result of equation {text!r} repeats a label or has one that no operand has")
        return Equation(inputs, output)

    def without_ellipsis(self, ranks: Sequence[int]) -> str | None:
        """The equation with letters in place of ellipses, for operands of these ranks; None if no letters are left."""
        used = {label for labels in (*self.inputs, self.output) for label in labels}
        spare = "".join(letter for letter in LETTERS if letter not in used)
        spreads = [rank - len(labels) + 1 for labels, rank in zip(self.inputs, ranks, strict=True) if ELLIPSIS in labels]
        widest = max(spreads, default=0)
        if widest > len(spare):
            return None

        def spelled(labels: Sequence[str], spread: int) -> str:
            return "".join(spare[widest - spread : widest] if label == ELLIPSIS else label for label in labels)

        terms = [spelled(labels, rank - len(labels) + 1) for labels, rank in zip(self.inputs, ranks, strict=True)]
        return f"{','.join(terms)}->{spelled(self.output, widest)}"

    def result_shape(self, shapes: Shapes) -> SymbolicShape:
        """Shape of the result. Raises InferenceError where ranks or dimensions contradict the equation."""
        if len(shapes) != len(self.inputs):
            raise InferenceError(f"the equation has {len(self.inputs)} terms for {len(shapes)} operands")
        dimensions: dict[str, Dimension] = {}
        covered: SymbolicShape = ()
        for labels, shape in zip(self.inputs, shapes, strict=True):
            letters = [label for label in labels if label != ELLIPSIS]
            if shape is None:
                covered = None if ELLIPSIS in labels else covered
                sizes: Sequence[Dimension] = (-1,) * len(letters)
            elif ELLIPSIS not in labels:
                sizes = shape
            else:
                front, spread = labels.index(ELLIPSIS), len(shape) - len(letters)
                covered = broadcast_shapes(covered, shape[front : front + max(0, spread)])
                sizes = shape[:front] + shape[front + spread :] if spread >= 0 else ()
            if len(sizes) != len(letters):
                raise InferenceError(f"shape {format_shape(shape)} does not fit {''.join(labels)!r}")
            own: dict[str, Dimension] = {}
            for label, size in zip(letters, sizes, strict=True):
                own[label] = merge_dimensions(own.get(label, -1), size)
            for label, size in own.items():
                dimensions[label] = broadcast_dimension(dimensions.get(label, 1), size)
        if covered is None and ELLIPSIS in self.output:
            return None
        return tuple(size for label in self.output for size in ((covered or ()) if label == ELLIPSIS else (dimensions[label],)))


def _labels(term: str, equation: str) -> tuple[str, ...]:
    head, dots, tail = term.partition(ELLIPSIS)
    labels = (*head, *((ELLIPSIS,) if dots else ()), *tail)
    if any(label != ELLIPSIS and label not in LETTERS for label in labels):
        raise InferenceError(f"equation {equation!r} has something other than letters, commas, one ellipsis a term and an arrow")
    return labels


@deferred_definition
class Einsum(OpsetOp):
    """Einstein summation by `equation`: products of operands, summed over the labels that the result lacks."""

    name = "opset7.Einsum"
    PASSES_ERRORS_ON: ClassVar[bool] = True
    inputs = var_operand_def()
    equation = string_property()
    result = result_def()

    def check_invariants(self) -> None:
        text = self.text("equation")
        try:
            equation = Equation.parse(text)
        except InferenceError as error:
            raise VerifyException(error.reason) from error
        # opset7.Einsum has no blanks, and leaves open whether repeated labels are in an implicit result.
        if " " in text or ("->" not in text and any(len(set(labels)) < len(labels) for labels in equation.inputs)):
            raise VerifyException(f"equation {text!r} should be spelled out as {equation.text!r}")
        if len(equation.inputs) != len(self.operands):
            raise VerifyException(f"the equation is of {len(equation.inputs)} operands, {len(self.operands)} are given")

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        return Equation.parse(self.text("equation")).result_shape(shapes)

    def result_element(self) -> Attribute:
        element = self.common_element()
        require_element(element, NUMBERS)
        return element

    def steps(self, *operands: Values) -> int:
        equation = Equation.parse(self.text("equation")).without_ellipsis([operand.ndim for operand in operands]) or ""
        terms = equation.partition("->")[0].split(",")
        sizes = {
            label: size for term, operand in zip(terms, operands, strict=False) for label, size in zip(term, operand.shape, strict=False)
        }
        return math.prod(sizes.values()) * len(operands)

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        arrays = [widened(operand) for operand in operands]
        equation = Equation.parse(self.text("equation")).without_ellipsis([array.ndim for array in arrays])
        if equation is None or arrays[0].dtype.kind not in "fiu":
            return None
        return (narrowed(np.einsum(equation, *arrays), operands[0].dtype),)
