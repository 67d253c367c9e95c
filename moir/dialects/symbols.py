"""Integers that are not known while compiling: dimensions of inputs, and what is computed from them."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray


class Symbol:
    """An integer that is not known. Two symbols are the same number only if they are the same object.

    A `dimension` is a size: it is not negative, so it differs from every negative number. Arithmetic that leaves it as
    it is (`+ 0`, `* 1`, `// 1`) returns the same symbol, anything else a new one.
    """

    __slots__ = ("dimension",)

    def __init__(self, dimension: bool = False) -> None:
        self.dimension = dimension

    def __repr__(self) -> str:
        return "?"

    def _combine(self, other: object, neutral: int | None, keeps_sign: bool) -> Symbol:
        if neutral is not None and not isinstance(other, Symbol) and other == neutral:
            return self
        other_is_size = other.dimension if isinstance(other, Symbol) else cast(float, other) >= 0
        return Symbol(keeps_sign and self.dimension and other_is_size)

    def __add__(self, other: object) -> Symbol:
        return self._combine(other, 0, True)

    __radd__ = __add__

    def __sub__(self, other: object) -> Symbol | int:
        return 0 if other is self else self._combine(other, 0, False)

    def __rsub__(self, other: object) -> Symbol:
        return Symbol()

    def __mul__(self, other: object) -> Symbol | int:
        if not isinstance(other, Symbol) and other == 0:
            return 0
        return self._combine(other, 1, True)

    __rmul__ = __mul__

    def __floordiv__(self, other: object) -> Symbol:
        return self._combine(other, 1, True)

    __truediv__ = __floordiv__

    def __rfloordiv__(self, other: object) -> Symbol:
        return Symbol()

    __rtruediv__ = __rfloordiv__

    def __mod__(self, other: object) -> Symbol | int:
        return 0 if not isinstance(other, Symbol) and other == 1 else Symbol()

    def __rmod__(self, other: object) -> Symbol:
        return Symbol()

    def __neg__(self) -> Symbol:
        return Symbol()

    def __abs__(self) -> Symbol:
        return self if self.dimension else Symbol(True)

    def equals(self, other: object) -> bool | Symbol:
        """Whether this is the same number as `other`: True, False, or a symbol if that is not known."""
        if other is self:
            return True
        if self.dimension and not isinstance(other, Symbol) and cast(float, other) < 0:
            return False
        return Symbol()


Dimension: TypeAlias = int | Symbol
"""A dimension of a tensor: a number, -1 where nothing is known, or the symbol that stands for it."""


def is_symbolic(array: NDArray[Any]) -> bool:
    """Whether an array has dtype object because entries of it may be symbols (arrays of strings have strings in them)."""
    return array.dtype == object and any(isinstance(entry, Symbol) for entry in array.ravel())


def simplified(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """An array of integers and symbols, as an ordinary array of `dtype` if no symbol is left in it."""
    return array if is_symbolic(array) else array.astype(dtype)


def same(a: int | Symbol, b: int | Symbol) -> bool:
    """Whether two integers are certainly equal."""
    return a is b or (not isinstance(a, Symbol) and not isinstance(b, Symbol) and a == b)
