"""Convolutions in every dimension numbering, and windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from tests.fuzz.draw import Array, Draw
from tests.fuzz.stablehlo.recipe import NUMERIC, array, jnp, lax, like, recipe

Drawn = tuple[Callable[..., Any], Sequence[Array]]


def _placed(draw: Draw, first: str, second: str, rank: int) -> str:
    """A dimension numbering: the usual ones more often."""
    axes = "DHW"[3 - rank :]
    letters = [first, second, *axes]
    if draw.chance(0.6):
        return draw.one_of((first + second + axes, first + axes + second, axes + second + first))
    return "".join(letters[each] for each in draw.permutation(len(letters)))


@recipe("conv_general_dilated")
def convolution(draw: Draw, _: str) -> Drawn:
    """A convolution with strides, dilations, groups, negative padding."""
    rank = draw.one_of((1, 2, 2, 2, 3))
    groups, batches = draw.one_of((1, 1, 1, 2, 3)), 1
    if draw.chance(0.1):
        groups, batches = 1, 2
    sizes = {"N": batches * draw.integer(1, 2), "C": groups * draw.integer(1, 3), "O": groups * batches * draw.integer(1, 3)}
    sizes["I"] = sizes["C"] // groups
    numbers = (_placed(draw, "N", "C", rank), _placed(draw, "O", "I", rank), _placed(draw, "N", "C", rank))
    data = {letter: draw.integer(2, 7) for letter in "DHW"}
    kernel = {letter: draw.integer(1, 3) for letter in "DHW"}
    shapes = [[{**sizes, **data}[each] for each in numbers[0]], [{**sizes, **kernel}[each] for each in numbers[1]]]
    padding: Any = draw.one_of(("SAME", "VALID", [(draw.integer(-1, 2), draw.integer(-1, 2)) for _ in range(rank)]))
    options: dict[str, Any] = {"window_strides": draw.integers(rank, 1, 2 if draw.chance(0.7) else 3)}
    if draw.chance(0.25):
        options["rhs_dilation"] = draw.integers(rank, 1, 2)
    if draw.chance(0.2):
        options["lhs_dilation"] = draw.integers(rank, 1, 3)
        padding = [tuple(draw.integers(2, 0, 2)) for _ in range(rank)]
    types = (*(np.float32,) * 5, np.float16, np.int32)
    first = array(draw, types, shapes[0], 0.0)

    def function(x: Any, w: Any) -> Any:
        return lax.conv_general_dilated(
            x, w, padding=padding, dimension_numbers=numbers, feature_group_count=groups, batch_group_count=batches, **options
        )

    return function, [first, like(draw, first, shapes[1], 0.0)]


@recipe("conv_transpose")
def transposed(draw: Draw, _: str) -> Drawn:
    """A transposed convolution."""
    strides, flipped = draw.integers(2, 1, 3), draw.chance(0.3)
    channels, count = draw.integer(1, 3), draw.integer(1, 3)
    padding = draw.one_of(("SAME", "VALID"))
    shape = [*draw.integers(2, 1, 3), *((count, channels) if flipped else (channels, count))]
    data = array(draw, (np.float32,), [1, *draw.integers(2, 2, 5), channels], 0.0)
    return (
        lambda x, w: lax.conv_transpose(x, w, strides, padding, dimension_numbers=("NHWC", "HWIO", "NHWC"), transpose_kernel=flipped),
        [data, like(draw, data, shape, 0.0)],
    )


@recipe("reduce_window")
def windows(draw: Draw, _: str) -> Drawn:
    """A function of windows, with dilations and padding."""
    shape = draw.filled(1, 4)
    rank = len(shape)
    data = array(draw, (*(np.float32,) * 4, *NUMERIC), shape, 0.0)
    kind = draw.one_of(("max", "min", "add", "add", "mul"))
    limits: Any = {"add": 0, "mul": 1}
    if data.dtype.kind in "iu":
        limits |= {"max": np.iinfo(data.dtype).min, "min": np.iinfo(data.dtype).max}
    else:
        limits |= {"max": -np.inf, "min": np.inf}
    init = np.asarray(limits[kind]).astype(data.dtype)
    padding: Any = draw.one_of(("SAME", "VALID", [tuple(draw.integers(2, 0, 2)) for _ in range(rank)]))
    options: dict[str, Any] = {}
    if draw.chance(0.2):
        options["window_dilation"] = draw.integers(rank, 1, 2)
    if draw.chance(0.15):
        options["base_dilation"] = draw.integers(rank, 1, 2)
    sizes, strides = draw.integers(rank, 1, 3), draw.integers(rank, 1, 2)
    return lambda x: lax.reduce_window(x, init, getattr(lax, kind), sizes, strides, padding, **options), [data]


@recipe("avg_pool max_pool")
def pools(draw: Draw, name: str) -> Drawn:
    """A pooling as networks write it."""
    sizes, strides, padding = draw.integers(2, 1, 3), draw.integers(2, 1, 2), draw.one_of(("SAME", "VALID"))
    window, steps = (1, *sizes, 1), (1, *strides, 1)

    def function(x: Any) -> Any:
        if name == "max_pool":
            return lax.reduce_window(x, -jnp.inf, lax.max, window, steps, padding)
        total = lax.reduce_window(x, 0.0, lax.add, window, steps, padding)
        return total / lax.reduce_window(jnp.ones_like(x), 0.0, lax.add, window, steps, padding)

    return function, [array(draw, (np.float32,), [draw.integer(1, 2), *draw.integers(2, 3, 7), 2], 0.0)]


@recipe("gradients")
def gradients(draw: Draw, _: str) -> Drawn:
    """Gradients of poolings and convolutions: select_and_scatter, dilated and reversed windows."""
    data = array(draw, (np.float32,), [1, *draw.integers(2, 3, 6), 2], 0.0)
    window, steps, padding = (1, *draw.integers(2, 1, 3), 1), (1, *draw.integers(2, 1, 2), 1), draw.one_of(("SAME", "VALID"))
    kind = draw.one_of(("max", "add", "convolution"))
    if kind == "convolution":
        kernel = like(draw, data, [2, 2, 2, 3], 0.0)

        def loss(x: Any, w: Any) -> Any:
            return jnp.sum(lax.conv_general_dilated(x, w, steps[1:3], padding, dimension_numbers=("NHWC", "HWIO", "NHWC")) ** 2)

        return jax.grad(loss, (0, 1)), [data, kernel]
    init, function = (-jnp.inf, lax.max) if kind == "max" else (0.0, lax.add)
    return jax.grad(lambda x: jnp.sum(lax.reduce_window(x, init, function, window, steps, padding) ** 2)), [data]
