"""Reductions of symbolic tensors: sums, products and extremes along axes.

A sum along an axis of few elements is written out. Along a symbolic size it is a symbol applied to the size and to a
function of the index, `sum(n, λk. x[k])`; `polynomials` knows its laws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import cache, reduce
from itertools import product
from typing import Any

import numpy as np

from moir.proofs.context import guarded, require
from moir.proofs.scalars import REALS, Scalar, UnprovableError, integer_functions
from moir.proofs.smt import z3
from moir.proofs.tensors import Index, Size, Tensor, elementwise

MOST_WRITTEN = 16
"""The largest number of elements whose reduction is written out."""

NAMES = {"add": "sum", "multiply": "product", "maximum": "greatest", "minimum": "least", "logical_and": "all", "logical_or": "any"}
"""The symbol of the reduction by a function of numpy."""

_DEPTH: ContextVar[int] = ContextVar("depth", default=0)
"""The number of indices bound by the sums around an element.

The names of indices depend on it alone, so that equal sums are one term.
"""


@cache
def symbol(name: str, axes: int, sort: Any) -> Any:
    """The uninterpreted z3 function of a reduction along `axes` axes: from their sizes and the elements to an
    element.
    """
    integers = [z3.IntSort()] * axes
    return z3.Function(f"{name}{axes}", *integers, z3.ArraySort(*integers, sort), sort)


def reduced(function: str, sizes: Sequence[Size], element: Callable[[Index], Scalar], dtype: np.dtype[Any]) -> Scalar:
    """The reduction of elements by one of the functions of NAMES, over all indices below sizes."""
    if not sizes:
        return element(())
    static = [size for size in sizes if isinstance(size, int)]
    if len(static) < len(sizes) or np.prod(static) > MOST_WRITTEN:
        return _symbolic(function, sizes, element)
    elements = [element(index) for index in product(*map(range, static))]
    if not elements:
        raise UnprovableError("a reduction of no elements")
    if dtype.kind == "b":
        return (z3.And if function == "logical_and" else z3.Or)(*elements)
    table = REALS if dtype.kind in "fV" else integer_functions(dtype.kind == "i")
    return reduce(table[function], elements)


def _symbolic(function: str, sizes: Sequence[Size], element: Callable[[Index], Scalar]) -> Scalar:
    depth = _DEPTH.get()
    bound = [z3.Int(f"k!{depth + number}") for number in range(len(sizes))]
    token = _DEPTH.set(depth + len(sizes))
    try:
        with guarded(z3.And(*(condition for each, size in zip(bound, sizes, strict=True) for condition in (each >= 0, each < size)))):
            body = element(tuple(bound))
    finally:
        _DEPTH.reset(token)
    return symbol(NAMES[function], len(sizes), body.sort())(*sizes, z3.Lambda(bound, body))


def axes_of(axis: Any, rank: int) -> list[int]:
    """The axes of a reduction of numpy, counted from the front; None are all."""
    if axis is None:
        return list(range(rank))
    entries: list[Any] = list(axis) if hasattr(axis, "__iter__") else [axis]
    axes = [int(entry) + rank if entry < 0 else int(entry) for entry in entries]
    if any(not 0 <= each < rank for each in axes) or len(set(axes)) < len(axes):
        raise UnprovableError(f"axes {entries} of rank {rank}")
    return axes


def reduce_tensor(function: str, x: Tensor, axis: Any, keepdims: bool) -> Tensor:
    """A reduction of a tensor by one of the functions of NAMES along axes, in the form of numpy's functions."""
    axes = axes_of(axis, x.ndim)
    sizes = [x.shape[each] for each in axes]
    kept = [each for each in range(x.ndim) if each not in axes]
    shape = [1 if each in axes else size for each, size in enumerate(x.shape)] if keepdims else [x.shape[each] for each in kept]

    def at(index: Index) -> Scalar:
        own: list[Any] = [0] * x.ndim
        for position, each in enumerate(kept):
            own[each] = index[each if keepdims else position]

        def element(inner: Index) -> Scalar:
            for each, entry in zip(axes, inner, strict=True):
                own[each] = entry
            return x.at(tuple(own))

        return reduced(function, sizes, element, x.dtype)

    return Tensor(shape, x.dtype, at)


def count_of(sizes: Sequence[Size]) -> Scalar:
    """The product of sizes, as a real number."""
    total = reduce(lambda a, b: a * b, sizes, z3.IntVal(1))
    return z3.ToReal(z3.simplify(total))


def mean(x: Tensor, axis: Any, keepdims: bool) -> Tensor:
    """The mean along axes; the number of elements along them is required to be above 0."""
    sizes = [x.shape[each] for each in axes_of(axis, x.ndim)]
    total, number = reduce_tensor("add", x, axis, keepdims), count_of(sizes)
    for size in sizes:
        if not isinstance(size, int):
            require(size >= 1)
    return elementwise("divide", total, Tensor((), x.dtype, lambda _: number))
