"""What an operation may ask about its operands while the shapes of its results are computed."""

from __future__ import annotations

from typing import Protocol

from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.shapes import SymbolicShape
from moir.dialects.symbols import Dimension, Symbol


class OperandValues(Protocol):
    """Values that are known while compiling. `moir.analysis.known_values` computes them for type inference,
    `moir.analysis.dimensions` for symbolic dimensions."""

    def elements(self, value: SSAValue) -> Array | None:
        """The value, entries of which may be symbols (then the array has dtype object); None if nothing is known."""
        ...

    def constant(self, value: SSAValue) -> Array | None:
        """The value if all of it is known."""
        ...

    def integers(self, value: SSAValue | None) -> tuple[int, ...] | None:
        """The value as integers (a scalar as one), if all of it is known."""
        ...

    def sizes(self, value: SSAValue) -> SymbolicShape:
        """The value read as a shape: numbers, and symbols for entries that are not known, or -1 where nothing is known
        of the value; None if not even the number of entries is known."""
        ...

    def dimension(self, value: SSAValue, axis: int) -> Dimension:
        """A dimension of a value: an integer, or the symbol that stands for it."""
        ...

    def named(self, name: str) -> Dimension:
        """The dimension to which the model gives a name, -1 if dimensions of one name are not followed."""
        ...

    def sum(self, a: Dimension, b: Dimension) -> Dimension:
        """Sum of two dimensions, -1 if one is unknown."""
        ...

    def of_body(self) -> OperandValues:
        """Values inside a body, about which nothing is remembered yet."""
        ...

    def set_dimension(self, value: SSAValue, axis: int, symbol: Symbol) -> None:
        """Remember which symbol stands for a dimension of a value."""
        ...
