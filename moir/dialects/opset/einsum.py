"""Einstein summation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import result_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects.data import Array
from moir.dialects.large_arrays import Values
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.elementwise import NUMBERS, narrowed, require_element, widened
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import deferred_definition, string_property
from moir.dialects.shapes import (
    Shapes,
    SymbolicShape,
    broadcast_dimension,
    broadcast_shapes,
    format_shape,
    merge_dimensions,
)
from moir.dialects.symbols import Dimension
from moir.errors import InferenceError
from moir.records import Record

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
        # The runtime accepts no blanks, and interprets the implicit result of repeated labels differently.
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
        return (narrowed(np.asarray(np.einsum(equation, *arrays)), operands[0].dtype),)
