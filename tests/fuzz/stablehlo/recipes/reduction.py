"""Reductions, sorts, functions along an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from tests.fuzz.draw import Array, Draw
from tests.fuzz.stablehlo.recipe import EVERY, INTEGERS, NUMERIC, REAL, array, jnp, lax, like, recipe

Drawn = tuple[Callable[..., Any], Sequence[Array]]


@recipe("reduce_sum reduce_prod reduce_max reduce_min reduce_and reduce_or reduce_xor")
def reduced(draw: Draw, name: str) -> Drawn:
    """A reduction along axes."""
    shape = draw.shape(1, 4)
    axes = tuple(sorted(draw.permutation(len(shape))[: draw.integer(0, len(shape))]))
    if name in ("reduce_and", "reduce_or", "reduce_xor"):
        monoid = {"reduce_and": lax.bitwise_and, "reduce_or": lax.bitwise_or, "reduce_xor": lax.bitwise_xor}[name]
        data = array(draw, (np.bool_, np.bool_, *INTEGERS), shape)
        init = np.asarray(-1 if name == "reduce_and" and data.dtype.kind == "i" else 0, data.dtype)
        if name == "reduce_and" and data.dtype.kind in "ub":
            init = np.asarray(True if data.dtype.kind == "b" else np.iinfo(data.dtype).max, data.dtype)
        return lambda x: lax.reduce(x, init, monoid, axes), [data]
    data = array(draw, NUMERIC, shape, 0.0)
    # XLA leaves out the first value of a reduction of single elements.
    are_several = all(data.shape[axis] > 1 for axis in axes) and len(axes) > 0
    if are_several and draw.chance(0.3) and name in ("reduce_sum", "reduce_max", "reduce_min"):
        monoid = {"reduce_sum": lax.add, "reduce_max": lax.max, "reduce_min": lax.min}[name]
        return lambda x, init: lax.reduce(x, init, monoid, axes), [data, draw.array(data.dtype, (), 0.0)]
    return lambda x: getattr(jnp, name.removeprefix("reduce_"))(x, axis=axes), [data]


@recipe("argmax argmin")
def places(draw: Draw, name: str) -> Drawn:
    """The place of an extreme number."""
    shape = draw.filled(1, 4)
    axis, type_ = draw.integer(0, len(shape) - 1), draw.one_of((np.int32, np.int64))
    return lambda x: getattr(lax, name)(x, axis, type_), [array(draw, NUMERIC, shape)]


@recipe("reduce_several")
def several(draw: Draw, _: str) -> Drawn:
    """A reduction of two tensors together."""
    shape = draw.filled(1, 3)
    first = array(draw, (np.float32, np.int32), shape, 0.0)
    zero, least = np.asarray(0, first.dtype), np.asarray(-np.inf if first.dtype.kind == "f" else np.iinfo(first.dtype).min, first.dtype)

    def both(a: Any, b: Any) -> Any:
        return a[0] + b[0], lax.max(a[1], b[1])

    return lambda x, y: lax.reduce((x, y), (zero, least), both, (0,)), [first, like(draw, first, special=0.0)]


@recipe("cumsum cumprod cummax cummin cumlogsumexp")
def running(draw: Draw, name: str) -> Drawn:
    """A running sum, product or extreme."""
    shape = draw.filled(1, 3)
    axis, reverse = draw.integer(0, len(shape) - 1), draw.chance(0.3)
    types = REAL if name == "cumlogsumexp" else NUMERIC
    return lambda x: getattr(lax, name)(x, axis=axis, reverse=reverse), [array(draw, types, shape, 0.0)]


@recipe("sort sort_pairs argsort top_k")
def ordered(draw: Draw, name: str) -> Drawn:
    """A sort, of one tensor or several, or the largest numbers."""
    shape = draw.filled(1, 3)
    axis = draw.integer(0, len(shape) - 1)
    data = array(draw, NUMERIC, shape, 0.0)
    match name:
        case "sort":
            return lambda x: lax.sort(x, dimension=axis), [data]
        case "sort_pairs":
            keys = draw.integer(1, 2)
            return lambda x, y: lax.sort((x, y), dimension=axis, num_keys=keys), [data, array(draw, EVERY, shape, 0.0)]
        case "argsort":
            descending = draw.chance(0.3)
            return lambda x: jnp.argsort(x, axis=axis, descending=descending), [data]
        case _:
            count = draw.integer(1, shape[-1])
            # Adding 0 makes 0 of -0, which is less than 0 for JAX, and equal to it in the runtime.
            return lambda x: lax.top_k(x, count), [data + data.dtype.type(0)]


@recipe("mean std var median any all argwhere_count logsumexp nansum ptp norm quantile diff unique_counts histogram")
def of_numpy(draw: Draw, name: str) -> Drawn:
    """Functions of several operations that programs have."""
    shape = draw.filled(1, 3)
    axis, data = draw.integer(0, len(shape) - 1), array(draw, REAL, shape, 0.0)
    match name:
        case "argwhere_count":
            return lambda x: jnp.count_nonzero(x > 0, axis=axis), [data]
        case "logsumexp":
            return lambda x: jax.nn.logsumexp(x, axis=axis), [data]
        case "norm":
            order = draw.one_of((None, 1, 2, np.inf))
            return lambda x: jnp.linalg.norm(x, ord=order, axis=axis), [data]
        case "quantile":
            part = draw.one_of((0.25, 0.5, 0.9))
            return lambda x: jnp.quantile(x, part, axis=axis), [array(draw, (np.float32,), shape, 0.0)]
        case "unique_counts":
            return lambda x: jnp.bincount(x, length=6), [draw.between(np.int32, [draw.integer(1, 6)], 0, 6)]
        case "histogram":
            return lambda x: jnp.digitize(x, np.array([-1.0, 0.0, 1.0], np.float32)), [array(draw, (np.float32,), shape)]
        case _:
            return lambda x: getattr(jnp, name)(x, axis=axis), [data]
