"""Operand values that are known at compile time.

The value of a constant is known. So is, in part, the value of a small integer computation that starts at ShapeOf: its
entries are integers where a dimension is static and `Symbol`s where it is not. Both are computed by the `evaluate`
methods of the operations, on demand and once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import OpResult, SSAValue

from moir.analysis.constants import array_of
from moir.analysis.input_dependence import is_computed_of_sizes
from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import describe
from moir.dialects.names import name_of
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import SymbolicShape, element_count, shape_of, size_along, unknown_dimensions
from moir.dialects.symbols import Dimension, Symbol, integer_array, is_symbolic, simplified
from moir.errors import InferenceError

MAXIMUM_ELEMENTS = 1024
"""Maximum number of elements of computed values: shapes, axes and scales are small."""

MAXIMUM_STEPS = 1 << 17
"""Maximum number of steps of an operation whose work is not proportional to its elements."""


class Integers(tuple[int, ...]):
    """The elements of a constant. Indexing out of range raises InferenceError, since the model is wrong."""

    def __getitem__(self, index: Any) -> Any:
        try:
            return cast(Any, super().__getitem__(index))
        except IndexError:
            raise InferenceError(f"a constant has {len(self)} elements where more are needed") from None


class KnownValues:
    """Cache of known operand values and dimensions.

    It stays valid while operations are inserted and erased. After operands are changed in place, create a new cache,
    which is cheap, or call `forget`.

    Args:
        sizes_are_fixed: whether static dimensions are certain not to change, since the model cannot be reshaped later.
    """

    maximum_elements = MAXIMUM_ELEMENTS
    """Maximum number of elements of computed values."""

    def __init__(self, sizes_are_fixed: bool = False) -> None:
        self.sizes_are_fixed = sizes_are_fixed
        self._elements: dict[SSAValue, Array | None] = {}
        self._dimensions: dict[tuple[SSAValue, int], Symbol] = {}

    def forget(self) -> None:
        """Clear the cache."""
        self._elements.clear()
        self._dimensions.clear()

    def of_body(self) -> KnownValues:
        """A new, empty cache for the values inside a body."""
        return KnownValues(self.sizes_are_fixed)

    def dimension(self, value: SSAValue, axis: int) -> Dimension:
        """A dimension of a value: an integer, or the symbol that stands for it.

        Raises InferenceError if the value has no such axis.
        """
        shape = shape_of(value)
        if shape is not None and (size := size_along(shape, axis)) >= 0:
            return size
        return self._dimensions.setdefault((value, axis), Symbol(dimension=True))

    def set_dimension(self, value: SSAValue, axis: int, symbol: Symbol) -> None:
        """Set the symbol that stands for a dimension of a value."""
        self._dimensions[value, axis] = symbol

    def named(self, name: str) -> Dimension:
        """The symbol of the dimensions that have a name in the model; here always -1, since this class does not track
        names.
        """
        return -1

    def sum(self, a: Dimension, b: Dimension) -> Dimension:
        """Sum of two dimensions, -1 if one is dynamic."""
        return -1 if a == -1 or b == -1 else a + b

    def elements(self, value: SSAValue) -> Array | None:
        """The elements of a value, an array of dtype object if some may be symbols; None if the value is unknown."""
        if isinstance(value, OpResult) and (data := value.op.properties.get("value")) is not None and isinstance(data, DataAttr):
            return array_of(data)
        try:
            return self._elements[value]
        except KeyError:
            self._compute(value)
            return self._elements[value]

    def _compute(self, value: SSAValue) -> None:
        """Evaluate the producers of `value`, without recursion: shape computations can be long chains."""
        pending = [value]
        while pending:
            current = pending.pop()
            if current in self._elements:
                continue
            op = self._evaluable(current)
            if op is None:
                self._elements[current] = None
            elif missing := self._missing(op):
                pending += (current, *missing)
            else:
                self._evaluate(op)

    def _evaluable(self, value: SSAValue) -> OpsetOp | None:
        if not isinstance(value, OpResult) or not isinstance(op := value.op, OpsetOp) or op.regions or not op.DETERMINISTIC:
            return None
        count = element_count(shape_of(value))
        return op if count is not None and count <= self.maximum_elements and op.operands else None

    def _missing(self, op: OpsetOp) -> list[SSAValue]:
        """The operands that have to be evaluated before an operation; empty for ShapeOf, which needs only the shape."""
        return [] if op.name.endswith(".ShapeOf") else [v for v in op.operands if v not in self._elements and not _is_source(v)]

    def _evaluate(self, op: OpsetOp) -> None:
        results = self._shape(op) if op.name.endswith(".ShapeOf") else self._evaluated(op)
        for index, result in enumerate(op.results):
            self._elements[result] = None if results is None else results[index]

    def _evaluated(self, op: OpsetOp) -> Sequence[Array] | None:
        arrays: list[Array] = []
        for operand in op.operands:
            array = self.elements(operand)
            if array is None or array.size > self.maximum_elements or (not op.SYMBOLIC and is_symbolic(array)):
                return None
            arrays.append(array)
        if type(op).steps is not OpsetOp.steps and op.steps(*arrays) > MAXIMUM_STEPS:
            return None
        return evaluate(op, arrays)

    def _shape(self, op: OpsetOp) -> Sequence[Array] | None:
        source = op.operands[0]
        shape = shape_of(source)
        if shape is None:
            return None
        entries = np.empty(len(shape), dtype=object)
        for axis in range(len(shape)):
            entries[axis] = self.dimension(source, axis)
        return (simplified(entries, describe(op.result_element()).numpy),)

    def constant(self, value: SSAValue) -> Array | None:
        """The elements of a value; None unless all are known."""
        array = self.elements(value)
        return None if array is None or is_symbolic(array) else array

    def integers(self, value: SSAValue | None) -> tuple[int, ...] | None:
        """The elements of a value as integers, one for a scalar; None unless all are known.

        Raises InferenceError for strings, for floats that are NaN or infinite, and for an index out of range.
        """
        array = None if value is None else self.constant(value)
        return None if array is None else Integers(integer_array(array).ravel().tolist())

    def lasting(self, value: SSAValue | None) -> Array | None:
        """The elements of a value if they are known whatever shapes the inputs of the model get, else None."""
        array = None if value is None else self.constant(value)
        return None if array is None or value is None or is_computed_of_sizes(value) else array

    def lasting_integers(self, value: SSAValue | None) -> tuple[int, ...] | None:
        """The elements of a value as integers if they are known whatever shapes the inputs of the model get, else
        None.
        """
        return None if self.lasting(value) is None else self.integers(value)

    def sizes(self, value: SSAValue) -> SymbolicShape:
        """The elements of a value interpreted as a shape: integers, and symbols for elements that are unknown.

        All are -1 if the value is unknown; None if the number of elements is unknown, too.
        """
        array = self.elements(value)
        if array is None:
            return unknown_dimensions(element_count(shape_of(value)))
        if not is_symbolic(array):
            array = integer_array(array)
        return tuple([entry if isinstance(entry, Symbol) else max(int(entry), -1) for entry in array.ravel().tolist()])


def _is_source(value: SSAValue) -> bool:
    """Whether a value has no operands to be evaluated: a constant or an input."""
    return not isinstance(value, OpResult) or not value.op.operands


def evaluate(op: OpsetOp, operands: Sequence[Array]) -> Sequence[Array] | None:
    """Results of an operation for known operands; None if they cannot be computed, also for lack of memory.

    Raises InferenceError if the operation is undefined for these operands.
    """
    try:
        with np.errstate(all="ignore"):
            return op.evaluate(*operands)
    except MemoryError:
        return None
    except (ValueError, IndexError, ZeroDivisionError, OverflowError, TypeError, AttributeError) as error:
        raise InferenceError(f"its constant operands cannot be computed with: {error}", operation=op.name, node=name_of(op)) from error
