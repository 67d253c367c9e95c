"""Integers that are unknown at compile time: dimensions of inputs, and values that are computed from them."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np

from moir.dialects.memory_map import Array
from moir.errors import InferenceError


class Symbol:
    """An unknown integer. Two symbols are known to be equal only if they are the same object.

    A `dimension` is a size: it is not negative, so it differs from every negative number. Arithmetic that preserves the
    value (`+ 0`, `* 1`, `// 1`) returns the same symbol, any other a new one.
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
        """Whether the symbol equals `other`: True, False, or a symbol if that is unknown."""
        if other is self:
            return True
        if self.dimension and not isinstance(other, Symbol) and cast(float, other) < 0:
            return False
        return Symbol()


Dimension: TypeAlias = int | Symbol
"""A dimension of a tensor: an integer, -1 if unknown, or the symbol that stands for it."""


def is_symbolic(array: Array) -> bool:
    """Whether entries of an array may be symbols: its dtype is object and it does not hold strings."""
    return array.dtype == object and any(isinstance(entry, Symbol) for entry in array.ravel())


BEYOND_INTEGERS = 2.0**63
"""The smallest float that is larger than every integer of 64 bits."""


def integer_array(array: Array) -> Array:
    """An array of integers or of floats as i64.

    Raises InferenceError for strings, and for floats that are no number of 64 bits.
    """
    if array.dtype == object:
        entries = array.ravel().tolist()
        if not all(isinstance(entry, int) for entry in entries):
            raise InferenceError("a constant has strings where numbers are needed")
        if any(abs(entry) >= BEYOND_INTEGERS for entry in entries):
            raise InferenceError("a number is beyond 64 bits")
    if array.dtype.kind not in "iubO" and not (np.abs(array.astype(np.float64)) < BEYOND_INTEGERS).all():
        raise InferenceError("a constant has NaN, infinity or a number beyond 64 bits where integers are needed")
    return array.astype(np.int64)


def integer_entries(array: Array) -> list[Dimension]:
    """The integers and symbols of an array, flat. Raises InferenceError for what is neither."""
    return (array if is_symbolic(array) else integer_array(array)).ravel().tolist()


def simplified(array: Array, dtype: np.dtype[Any]) -> Array:
    """An array of integers and symbols, converted to `dtype` if it contains no symbol."""
    return array if is_symbolic(array) else array.astype(dtype)


def same(a: int | Symbol, b: int | Symbol) -> bool:
    """Whether two integers are certainly equal."""
    return a is b or (not isinstance(a, Symbol) and not isinstance(b, Symbol) and a == b)
