"""The functions of numpy, by name, in versions that compute with symbolic tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from moir.proofs.context import require
from moir.proofs.reductions import mean, reduce_tensor
from moir.proofs.reshapes import reshape
from moir.proofs.scalars import literal
from moir.proofs.smt import z3
from moir.proofs.tensors import Tensor, elementwise, select, terms_of


def _reduction(function: str) -> Callable[..., Tensor]:
    def apply(x: Tensor, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Tensor:
        return reduce_tensor(function, x, axis, bool(keepdims))

    return apply


def _mean(x: Tensor, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Tensor:
    return mean(x, axis, bool(keepdims))


def _clip(x: Tensor, low: Any, high: Any) -> Tensor:
    return elementwise("minimum", elementwise("maximum", x, low), high)


def _filled(number: int) -> Callable[..., Tensor]:
    def apply(x: Tensor, **options: Any) -> Tensor:
        return Tensor(x.shape, x.dtype, lambda _: literal(number, x.dtype))

    return apply


def _is_nowhere(x: Tensor, *arguments: Any, **options: Any) -> bool:
    """numpy.any in proofs: requires that a condition is false everywhere, and returns False.

    Definitions of operations use it for conditions under which they are undefined. The other arguments are ignored.
    """
    for element in terms_of(x).ravel():
        require(z3.Not(element))
    return False


IMPLEMENTATIONS: dict[str, Callable[..., Any]] = {
    "reduce": reduce_tensor,
    "reshape": reshape,
    "where": select,
    "clip": _clip,
    "zeros_like": _filled(0),
    "ones_like": _filled(1),
    "sum": _reduction("add"),
    "prod": _reduction("multiply"),
    "amax": _reduction("maximum"),
    "max": _reduction("maximum"),
    "amin": _reduction("minimum"),
    "min": _reduction("minimum"),
    "mean": _mean,
    "any": _is_nowhere,
}
"""Implementations, which take the arguments of numpy's functions."""
