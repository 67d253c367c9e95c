"""Integers that are unknown at compile time: dimensions of inputs, and values that are computed from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, cast
from weakref import WeakValueDictionary

import numpy as np

from moir.dialects.memory_map import Array
from moir.errors import InferenceError


class Symbol:
    """An unknown integer. Two symbols are known to be equal only if they are the same object.

    A `dimension` is a size: it is not negative, so it differs from every negative number. Arithmetic that preserves the
    value (`+ 0`, `* 1`, `// 1`) returns the same symbol, equal products the same `Product`, any other a new symbol.
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
        if isinstance(other, Symbol | int | np.integer):
            return product((self, other if isinstance(other, Symbol) else int(cast(int, other))))
        return 0 if other == 0 else self._combine(other, 1, True)

    __rmul__ = __mul__

    def __floordiv__(self, other: object) -> Symbol | int:
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


def _integer(value: object) -> int:
    """The value itself if it is an integer; 0 for a symbol or anything else."""
    return int(cast(int, value)) if isinstance(value, int | np.integer) else 0


class Product(Symbol):
    """The product of a number and symbols, none of which is itself a product."""

    __slots__ = ("__weakref__", "number", "symbols")

    def __init__(self, symbols: Sequence[Symbol], number: int) -> None:
        super().__init__(number > 0 and all(each.dimension for each in symbols))
        self.symbols, self.number = tuple(symbols), number

    def __floordiv__(self, other: object) -> Symbol | int:
        (divisors, divisor), rest = factors_of([other if isinstance(other, Symbol) else _integer(other)]), list(self.symbols)
        if divisor and self.number % divisor == 0 and all(rest.count(each) >= divisors.count(each) for each in divisors):
            for each in divisors:
                rest.remove(each)
            return product((*rest, self.number // divisor))
        return self._combine(other, 1, True)

    __truediv__ = __floordiv__


class Sum(Symbol):
    """The sum of two terms, numbers or symbols: a size if both are."""

    __slots__ = ("terms",)

    def __init__(self, first: Dimension, second: Dimension) -> None:
        super().__init__(is_size(first) and is_size(second))
        self.terms = (first, second)

    def __sub__(self, other: object) -> Symbol | int:
        if other is self:
            return 0
        first, second = self.terms
        if isinstance(other, Symbol) and other in self.terms:
            return second if other is first else first
        return self._combine(other, 0, False)

    def is_from(self, other: object) -> bool:
        """Whether the sum is certainly not less than a number or symbol, as that and a size are its terms."""
        return any(term is other and is_size(rest) for term, rest in (self.terms, self.terms[::-1]))


class Clipped(Symbol):
    """The minimum of a size and a number that is at least 1: the length of a slice that ends there or at the end of
    the data.

    Broadcast against the size itself it gives that size: if it differs from the size, it has to be 1.
    """

    __slots__ = ("size",)

    def __init__(self, size: Symbol) -> None:
        super().__init__(dimension=True)
        self.size = size


_PRODUCTS: WeakValueDictionary[tuple[frozenset[tuple[Symbol, int]], int], Product] = WeakValueDictionary()
"""The existing products by their factors: the multiplicity of each symbol, and the number."""


def factors_of(values: Iterable[int | Symbol]) -> tuple[list[Symbol], int]:
    """The factors of the product of values: the symbols, and the product of the numbers."""
    symbols, number = list[Symbol](), 1
    for value in values:
        if isinstance(value, Product):
            symbols += value.symbols
            number *= value.number
        elif isinstance(value, Symbol):
            symbols.append(value)
        else:
            number *= value
    return symbols, number


def product(values: Iterable[int | Symbol]) -> int | Symbol:
    """The product of integers and symbols; the same symbol for equal factors."""
    symbols, number = factors_of(values)
    if not symbols or number == 0:
        return number
    if len(symbols) == 1 and number == 1:
        return symbols[0]
    key = (frozenset([(each, symbols.count(each)) for each in symbols]), number)
    known_product = _PRODUCTS.get(key)
    if known_product is None:
        known_product = _PRODUCTS[key] = Product(symbols, number)
    return known_product


Dimension: TypeAlias = int | Symbol
"""A dimension of a tensor: an integer, -1 if dynamic, or the symbol that stands for it."""


def is_size(dimension: Dimension) -> bool:
    """Whether a number or symbol is certainly not negative."""
    return dimension.dimension if isinstance(dimension, Symbol) else dimension >= 0


def is_symbolic(array: Array) -> bool:
    """Whether entries of an array may be symbols: its dtype is object and it does not hold strings."""
    return array.dtype == object and any(isinstance(entry, Symbol) for entry in array.ravel())


BEYOND_INTEGERS = 2.0**63
"""The smallest float that is larger than every integer of 64 bits."""


def integer_array(array: Array) -> Array:
    """An array of integers or of floats as i64.

    Raises InferenceError for strings, and for floats that do not fit into 64 bits.
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
    """The integers and symbols of an array, flat. Raises InferenceError for a value that is neither."""
    return (array if is_symbolic(array) else integer_array(array)).ravel().tolist()


def simplified(array: Array, dtype: np.dtype[Any]) -> Array:
    """An array of integers and symbols, converted to `dtype` if it contains no symbol."""
    return array if is_symbolic(array) else array.astype(dtype)


def same(a: int | Symbol, b: int | Symbol) -> bool:
    """Whether two integers are certainly equal."""
    return a is b or (not isinstance(a, Symbol) and not isinstance(b, Symbol) and a == b)
