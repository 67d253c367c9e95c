"""The interface through which shape inference of an operation accesses the known values of its operands."""

from __future__ import annotations

from typing import Protocol

from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.shapes import SymbolicShape
from moir.dialects.symbols import Dimension, Symbol


class OperandValues(Protocol):
    """Operand values that are known at compile time.

    `moir.analysis.known_values` computes them for type inference, `moir.analysis.dimensions` for symbolic dimensions.
    """

    def elements(self, value: SSAValue) -> Array | None:
        """The elements of a value, an array of dtype object if some may be symbols; None if the value is unknown."""
        ...

    def constant(self, value: SSAValue) -> Array | None:
        """The elements of a value; None unless all are known."""
        ...

    def integers(self, value: SSAValue | None) -> tuple[int, ...] | None:
        """The elements of a value as integers, one for a scalar; None unless all are known."""
        ...

    def sizes(self, value: SSAValue) -> SymbolicShape:
        """The elements of a value interpreted as a shape: integers, and symbols for unknown entries.

        -1 for each entry if the value is unknown; None if the number of entries is unknown, too.
        """
        ...

    def dimension(self, value: SSAValue, axis: int) -> Dimension:
        """A dimension of a value: an integer, or the symbol that stands for it."""
        ...

    def named(self, name: str) -> Dimension:
        """The symbol for all dimensions with a name in the model; -1 if names of dimensions are ignored."""
        ...

    def sum(self, a: Dimension, b: Dimension) -> Dimension:
        """Sum of two dimensions, -1 if one is dynamic."""
        ...

    def of_body(self) -> OperandValues:
        """Known values for operations within a body: initially nothing is known."""
        ...

    def set_dimension(self, value: SSAValue, axis: int, symbol: Symbol) -> None:
        """Set the symbol that stands for a dimension of a value."""
        ...
