"""What draws a function of JAX: the function and the arrays that it is called with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import ml_dtypes
import numpy as np

from tests.fuzz.draw import Array, Draw

Recipe = Callable[[Draw, str], tuple[Callable[..., Any], Sequence[Array]]]
"""Takes the name of the function."""

RECIPES: dict[str, Recipe] = {}
"""What draws each function."""

lax: Any = jax.lax
jnp: Any = jax.numpy
nn: Any = jax.nn

REAL: tuple[Any, ...] = (*(np.float32,) * 4, np.float16, np.float64, ml_dtypes.bfloat16)
"""Element types of real numbers, the first one more often."""

INTEGERS: tuple[Any, ...] = (np.int32, np.int32, np.int64, np.uint8, np.int8, np.uint32, np.int16, np.uint16)
"""Element types of integers."""

NUMERIC: tuple[Any, ...] = (*REAL, *REAL, *INTEGERS)
"""Element types of numbers."""

EVERY: tuple[Any, ...] = (*NUMERIC, np.bool_)
"""All element types but complex ones."""


def recipe(names: str) -> Callable[[Recipe], Recipe]:
    """Registers what draws some functions."""

    def register(function: Recipe) -> Recipe:
        RECIPES.update(dict.fromkeys(names.split(), function))
        return function

    return register


def array(draw: Draw, types: Sequence[Any], shape: Sequence[int] | None = None, special: float = 0.1) -> Array:
    """An array of one of some element types."""
    return draw.array(np.dtype(draw.one_of(types)), draw.shape(0, 4) if shape is None else shape, special)


def like(draw: Draw, other: Array, shape: Sequence[int] | None = None, special: float = 0.1) -> Array:
    """An array of the element type of another one."""
    return draw.array(other.dtype, other.shape if shape is None else shape, special)
