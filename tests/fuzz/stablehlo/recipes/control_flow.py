"""Loops and branches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from tests.fuzz.draw import Array, Draw
from tests.fuzz.stablehlo.recipe import array, jnp, lax, recipe

Drawn = tuple[Callable[..., Any], Sequence[Array]]


@recipe("cond switch while_loop fori_loop scan map associative_scan vmap_cond")
def control_flow(draw: Draw, name: str) -> Drawn:
    """A loop or a branch around a few operations."""
    shape = draw.filled(1, 3)
    data = array(draw, (np.float32, np.float32, np.int32), shape, 0.0)
    number = np.asarray(draw.integer(-1, 4), np.int32)
    match name:
        case "cond":
            return lambda x, n: lax.cond(n > 1, lambda y: y * 2, lambda y: y[::-1] + n, x), [data, number]
        case "switch":
            return lambda x, n: lax.switch(n, [lambda y: y + 1, lambda y: -y, lambda y: y * y], x), [data, number]
        case "while_loop":
            return lambda x, n: lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * 2 + c[0]), (0 * n, x)), [data, number]
        case "fori_loop":
            first = draw.integer(0, 2)
            return lambda x, n: lax.fori_loop(first, n, lambda i, c: c + i * x, x), [data, number]
        case "scan":
            reverse = draw.chance(0.3)
            return lambda x: lax.scan(lambda c, row: (c + row, c * row), jnp.zeros_like(x[0]), x, reverse=reverse), [data]
        case "map":
            return lambda x: lax.map(lambda row: jnp.sum(row) + row, x), [data]
        case "associative_scan":
            return lambda x: lax.associative_scan(jnp.add, x, reverse=draw.chance(0.0)), [data]
        case _:
            return lambda x: jax.vmap(lambda row: lax.cond(jnp.sum(row) > 0, lambda y: y * 2, lambda y: y - 1, row))(x), [data]
