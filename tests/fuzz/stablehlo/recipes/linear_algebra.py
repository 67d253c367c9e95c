"""Decompositions and solutions, which exports for the CPU have as calls of LAPACK."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from tests.fuzz.draw import Array, Draw
from tests.fuzz.stablehlo.recipe import jnp, lax, recipe

Drawn = tuple[Callable[..., Any], Sequence[Array]]


@recipe("cholesky triangular_solve solve inv det slogdet lu qr eigh svd matrix_power expm")
def decompositions(draw: Draw, name: str) -> Drawn:
    """A function of a matrix that is far from singular."""
    size, batch = draw.integer(1, 4), draw.one_of(([], [], [2]))
    random = draw.random.normal(size=[*batch, size, size])
    matrix = (random @ np.swapaxes(random, -1, -2) + 2 * np.eye(size)).astype(np.float32)
    other = draw.random.normal(size=[*batch, size, draw.integer(1, 3)]).astype(np.float32)
    match name:
        case "cholesky":
            return jnp.linalg.cholesky, [matrix]
        case "triangular_solve":
            options = {"left_side": True, "lower": draw.chance(0.5), "transpose_a": draw.chance(0.4), "unit_diagonal": draw.chance(0.3)}
            return lambda a, b: lax.linalg.triangular_solve(a, b, **options), [matrix, other]
        case "solve":
            return jnp.linalg.solve, [matrix, other]
        case "lu":
            return lambda a: lax.linalg.lu(a), [matrix]
        case "qr":
            return lambda a: jnp.abs(jnp.linalg.qr(a)[1]), [matrix]
        case "eigh":
            return lambda a: jnp.linalg.eigh(a)[0], [matrix]
        case "svd":
            return lambda a: jnp.linalg.svd(a, compute_uv=False), [matrix]
        case "matrix_power":
            return lambda a: jnp.linalg.matrix_power(a, 3), [matrix]
        case "expm":
            return lambda a: jax.scipy.linalg.expm(a * 0.1), [matrix]
        case _:
            return getattr(jnp.linalg, name), [matrix]
