"""Base class and checks of the operations that only move elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from moir.dialects import element_types
from moir.dialects.data import Array
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import SymbolicShape, format_shape, is_fixed, shape_of
from moir.dialects.symbols import Dimension, is_symbolic, same, simplified
from moir.errors import InferenceError


class MovementOp(OpsetOp):
    """Base of the operations whose results hold elements of their first operand.

    They hold no other values if `MOVES` is True. A subclass that sets it to False also has others, such as padding.
    """

    SYMBOLIC: ClassVar[bool] = True
    MOVES: ClassVar[bool] = True

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        if any(is_symbolic(operand) for operand in operands[1:]):
            return None
        results = self.move(*operands)
        return None if results is None else [self._settled(result) for result in results]

    def move(self, *operands: Array) -> Sequence[Array] | None:
        """The results for values of the operands, of which only the first may contain symbols; None if they are not
        computed.
        """
        return None

    def _settled(self, array: Array) -> Array:
        return array if array.dtype != object else simplified(array, element_types.to_numpy(self.element_type(0)))


def integer_list(array: Array) -> list[int]:
    """The entries of an array (a scalar has one) as integers."""
    return [int(entry) for entry in array.ravel()]


def require_rank(shape: SymbolicShape, least: int) -> None:
    """Raise InferenceError if a shape has fewer dimensions than `least`."""
    if shape is not None and len(shape) < least:
        raise InferenceError(f"the data has at least {least} dimensions, not shape {format_shape(shape)}")


def require_operand_rank(op: OpsetOp, index: int, rank: int) -> None:
    """Raise InferenceError if the rank of an operand is known and differs from `rank`."""
    if op.rank(index) not in (rank, None):
        raise InferenceError(f"operand {index} has rank {rank}, not shape {format_shape(op.shape(index))}")


def exact_quotient(dimension: Dimension, divisor: int, what: str) -> Dimension:
    """A dimension divided by `divisor`, -1 if dynamic. Raises InferenceError if there is a remainder."""
    if is_fixed(dimension) and dimension % divisor:
        raise InferenceError(f"dimension {dimension} cannot be divided by the {what} {divisor}")
    return -1 if dimension == -1 else dimension // divisor


def replaced(shape: tuple[Dimension, ...], axis: int, dimension: Dimension) -> tuple[Dimension, ...]:
    """A shape with the dimension at a nonnegative axis replaced."""
    return (*shape[:axis], dimension, *shape[axis + 1 :])


def keeps_sizes(op: OpsetOp, known: OperandValues) -> bool:
    """Whether all sizes of the first operand are known to equal those of the result, whatever shapes the inputs of the
    model get.
    """
    shape, result = shape_of(op.operands[0]), shape_of(op.results[0])
    if shape is None or shape != result:
        return False
    return all(same(known.dimension(op.operands[0], axis), known.dimension(op.results[0], axis)) for axis in range(len(shape)))
