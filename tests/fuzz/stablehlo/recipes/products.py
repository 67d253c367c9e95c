"""Products of matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.fuzz.draw import Array, Draw
from tests.fuzz.stablehlo.recipe import array, jnp, lax, like, recipe

Drawn = tuple[Callable[..., Any], Sequence[Array]]
TYPES = (*(np.float32,) * 5, np.float16, np.float64, np.int32)


@recipe("dot_general")
def general(draw: Draw, _: str) -> Drawn:
    """A product along any axes, with batches in any place."""
    batch, common = draw.integers(draw.integer(0, 2), 1, 3), draw.integers(draw.integer(0, 2), 1, 4)
    shapes, numbers = [], []
    for _ in range(2):
        free = draw.integers(draw.integer(0, 2), 1, 3)
        sizes = [*batch, *common, *free]
        order = draw.permutation(len(sizes))
        if draw.chance(0.4):
            order = sorted(order)
        shapes.append([sizes[each] for each in order])
        numbers.append(([order.index(len(batch) + each) for each in range(len(common))], [order.index(each) for each in range(len(batch))]))
    dimensions = tuple(zip(*numbers, strict=True))
    first = array(draw, TYPES, shapes[0], 0.0)
    return lambda x, y: lax.dot_general(x, y, dimensions), [first, like(draw, first, shapes[1], 0.0)]


EQUATIONS = (
    "ij,jk->ik",
    "bij,bjk->bik",
    "bhqd,bhkd->bhqk",
    "bqhd,bkhd->bhqk",
    "i,j->ij",
    "ijk,kl->ijl",
    "ij,ij->",
    "bqhgd,bkhd->bhgqk",
    "ii->i",
)


@recipe("einsum matmul outer dot tensordot")
def of_numpy(draw: Draw, name: str) -> Drawn:
    """Products as programs write them."""
    if name == "einsum":
        equation = draw.one_of(EQUATIONS)
        sizes = {letter: draw.integer(1, 4) for letter in equation}
        terms = equation.split("->")[0].split(",")
        return lambda *each: jnp.einsum(equation, *each), [
            array(draw, (np.float32,), [sizes[letter] for letter in term], 0.0) for term in terms
        ]
    size = draw.integer(1, 4)
    shapes: Any = draw.one_of((([2, size], [size, 3]), ([size], [size]), ([3, 2, size], [size, 4]), ([3, 2, size], [3, size, 4])))
    if name in ("outer", "dot", "tensordot"):
        shapes = shapes[:1] * 2 if name == "outer" else ([2, size], [size, 3])
    function = (lambda x, y: jnp.tensordot(x, y, 1)) if name == "tensordot" else getattr(jnp, name)
    first = array(draw, TYPES, shapes[0], 0.0)
    return function, [first, like(draw, first, shapes[1], 0.0)]
