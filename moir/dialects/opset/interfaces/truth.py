"""Logic on booleans that may be symbols, for operations that compute with symbols."""

from __future__ import annotations

from moir.dialects.opset.interfaces.elementwise import elementwise
from moir.dialects.symbols import Symbol

Truth = bool | Symbol
"""A boolean that may be unknown."""


def negated(value: Truth) -> Truth:
    """Logical not of a boolean that may be unknown."""
    return Symbol() if isinstance(value, Symbol) else not value


def _and(a: Truth, b: Truth) -> Truth:
    if isinstance(a, Symbol):
        return a if b is a or (not isinstance(b, Symbol) and b) else Symbol() if isinstance(b, Symbol) else False
    return b if a else False


def _or(a: Truth, b: Truth) -> Truth:
    if isinstance(a, Symbol):
        return a if b is a or (not isinstance(b, Symbol) and not b) else Symbol() if isinstance(b, Symbol) else True
    return True if a else b


both, either = elementwise(_and, 2), elementwise(_or, 2)
"""Conjunction and disjunction of booleans that may be symbols, on arrays of dtype object."""
