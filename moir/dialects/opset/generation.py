"""Operations that create tensors of numbers: ranges, identity matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def

from moir.dialects import element_types
from moir.dialects.data import Array
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.bounds import Bounds, OperandBounds
from moir.dialects.opset.interfaces.elementwise import NUMBERS, require_element, widened
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import (
    deferred_definition,
    element_property,
    optional_operands,
)
from moir.dialects.shapes import Shapes, SymbolicShape, element_of
from moir.dialects.symbols import Dimension, Symbol
from moir.errors import InferenceError

SIZES = frozenset((element_types.si32, element_types.si64, element_types.dynamic))
"""Element types of operands that are sizes."""


def require_scalar(op: OpsetOp, index: int, what: str) -> None:
    """Raise InferenceError, which names `what`, unless the shape of the operand at `index` is unknown, [] or [1]."""
    shape = op.shape(index)
    if shape is not None and (len(shape) > 1 or any(dimension not in (1, -1) for dimension in shape)):
        raise InferenceError(f"{what} should be a scalar or have one element")


def one_dimension(known: OperandValues, op: OpsetOp, index: int, what: str) -> Dimension:
    """The size that an operand contains, -1 if it is not constant.

    Raises InferenceError if the size is negative or not a single number; `what` names it.
    """
    require_scalar(op, index, what)
    size = known.integers(op.operands[index])
    if size is not None and size[0] < 0:
        raise InferenceError(f"{what} is {size[0]}")
    return (known.sizes(op.operands[index]) or (-1,))[0]


@deferred_definition
class Eye(OpsetOp):
    """Matrices with ones on the diagonal `diagonal_index`, counted upwards from the main one, and zeros elsewhere."""

    name = "opset9.Eye"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (0, 1, 2)
    num_rows = operand_def()
    num_columns = operand_def()
    diagonal_index = operand_def()
    batch_shape = optional_operands(1)
    output_type = element_property()
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        rows, columns = one_dimension(known, self, 0, "num_rows"), one_dimension(known, self, 1, "num_columns")
        require_scalar(self, 2, "diagonal_index")
        if len(self.operands) > 3 and self.rank(3) not in (1, None):
            raise InferenceError("batch_shape should have one dimension")
        batch = () if len(self.operands) == 3 else known.sizes(self.operands[3])
        return None if batch is None else (*batch, rows, columns)

    def result_element(self) -> Attribute:
        for operand in self.operands:
            require_element(element_of(operand), SIZES)
        return self.element("output_type")

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        rows, columns, diagonal = (int(operand.reshape(())) for operand in operands[:3])
        batch = tuple(int(entry) for entry in operands[3]) if len(operands) > 3 else ()
        row = element_types.describe(self.element("output_type"))
        if row.is_packed:
            return None
        return (np.broadcast_to(np.eye(rows, columns, diagonal).astype(row.numpy), (*batch, rows, columns)),)


def range_length(start: float, stop: float, step: float) -> int:
    """Number of elements of a range from start by step, excluding stop. Raises InferenceError if it is infinite."""
    if not isinstance(start, float):
        # Not len(range(…)), which has a limit of 63 bits.
        return max(0, -((start - int(stop)) // int(step)))
    length = (stop - start) / step
    if not math.isfinite(length):
        raise InferenceError(f"a range from {start} to {stop} by {step} is infinite")
    return max(0, math.ceil(length))


class RangeOp(OpsetOp):
    """Base of the versions of Range: numbers from start by step, excluding stop."""

    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (0, 1, 2)
    start = operand_def()
    stop = operand_def()
    step = operand_def()

    def output_element(self) -> Attribute:
        """The element type of the numbers."""
        raise NotImplementedError

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        if any(shapes):
            raise InferenceError("start, stop and step should be scalars")
        start, stop, step = (self.scalar(known.constant(operand)) for operand in self.operands)
        if step == 0:
            raise InferenceError("step is zero")
        if step == 1 and (start is None or stop is None):
            # As many numbers as the stop says beyond the start, unless that may be negative.
            (first,), (end,) = (known.sizes(operand) or (-1,) for operand in self.operands[:2])
            size = end - first if isinstance(end, Symbol) and (start == 0 or isinstance(first, Symbol)) else -1
            return (size if isinstance(size, Symbol) and size.dimension else -1,)
        return (-1 if start is None or stop is None or step is None else range_length(start, stop, step),)

    def result_element(self) -> Attribute:
        require_element(self.output_element(), NUMBERS)
        for operand in self.operands:
            require_element(element_of(operand), NUMBERS)
        return self.output_element()

    def scalar(self, operand: Array | None) -> int | float | None:
        """The number that an operand holds, truncated to an integer if the result is of integers; None for an unknown
        operand.

        Raises InferenceError if the number is not finite.
        """
        if operand is None:
            return None
        value = widened(operand).reshape(()).item()
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise InferenceError("start, stop and step should be finite")
        return float(value) if self.output_element() in element_types.REAL_TYPES else int(value)

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        row = element_types.describe(self.output_element())
        if row.is_packed or row.bits == 0:
            return None
        start, stop, step = map(self.scalar, operands)
        if start is None or stop is None or not step:
            return None
        return ((start + step * np.arange(range_length(start, stop, step))).astype(row.numpy),)

    def integral_bounds(self, index: int, of: OperandBounds) -> Bounds | None:
        start, stop, step = map(of, range(3))
        if start is None or stop is None or step is None or step[0] < 1:
            return None
        return start[0], max(start[0], stop[1] - 1)


@deferred_definition
class Range1(RangeOp):
    """The numbers from start by step, excluding stop, in the element type of the operands."""

    name = "opset1.Range"
    result = result_def()

    def output_element(self) -> Attribute:
        return self.common_element()


@deferred_definition
class Range(RangeOp):
    """The numbers from start by step, excluding stop, in the element type `output_type`."""

    name = "opset4.Range"
    output_type = element_property()
    result = result_def()

    def output_element(self) -> Attribute:
        return self.element("output_type")
