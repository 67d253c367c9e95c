"""What an operation may ask about its operands while its result types are inferred."""

from __future__ import annotations

from typing import Protocol

from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.shapes import Shape
from moir.dialects.symbols import Symbol


class OperandValues(Protocol):
    """Values that are known while compiling; `moir.analysis.known_values` computes them."""

    def elements(self, value: SSAValue) -> Array | None:
        """The value, entries of which may be symbols (then the array has dtype object); None if nothing is known."""
        ...

    def constant(self, value: SSAValue) -> Array | None:
        """The value if all of it is known."""
        ...

    def integers(self, value: SSAValue | None) -> tuple[int, ...] | None:
        """The value as integers (a scalar as one), if all of it is known."""
        ...

    def target_shape(self, value: SSAValue) -> Shape:
        """The value read as a shape: -1 for unknown entries, None if not even their number is known."""
        ...

    def dimension(self, value: SSAValue, axis: int) -> int | Symbol:
        """A dimension of a value: an integer, or the symbol that stands for it."""
        ...

    def of_body(self) -> OperandValues:
        """Values inside a body, about which nothing is remembered yet."""
        ...

    def set_dimension(self, value: SSAValue, axis: int, symbol: Symbol) -> None:
        """Remember which symbol stands for a dimension of a value."""
        ...
