"""Functions that move elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.fuzz.draw import Array, Draw
from tests.fuzz.stablehlo.recipe import EVERY, NUMERIC, array, lax, like, recipe

Drawn = tuple[Callable[..., Any], Sequence[Array]]


@recipe("broadcast_in_dim reshape transpose rev squeeze expand_dims iota concatenate tile")
def shapes(draw: Draw, name: str) -> Drawn:
    """Another shape or order."""
    shape = draw.shape(1, 4)
    rank = len(shape)
    match name:
        case "broadcast_in_dim":
            places = sorted(draw.permutation(rank + draw.integer(0, 2))[:rank])
            result = draw.integers(max(places) + 1 + draw.integer(0, 1), 1, 3)
            for axis, place in enumerate(places):
                result[place] = shape[axis] if shape[axis] != 1 or draw.chance(0.5) else result[place]
            return lambda x: lax.broadcast_in_dim(x, result, places), [array(draw, EVERY, shape)]
        case "reshape":
            size = int(np.prod(shape))
            target = draw.one_of(([size], [1, size], shape[::-1], [size, 1], [shape[0], *shape[1:], 1]))
            return lambda x: lax.reshape(x, target), [array(draw, EVERY, shape)]
        case "transpose":
            order = draw.permutation(rank)
            return lambda x: lax.transpose(x, order), [array(draw, EVERY, shape)]
        case "rev":
            axes = draw.permutation(rank)[: draw.integer(0, rank)]
            return lambda x: lax.rev(x, axes), [array(draw, EVERY, shape)]
        case "squeeze":
            axis = draw.integer(0, rank - 1)
            shape[axis] = 1
            return lambda x: lax.squeeze(x, [axis]), [array(draw, EVERY, shape)]
        case "expand_dims":
            axis = draw.integer(0, rank)
            return lambda x: lax.expand_dims(x, [axis]), [array(draw, EVERY, shape)]
        case "iota":
            axis = draw.integer(0, rank - 1)
            data = array(draw, NUMERIC, shape)
            return lambda x: x + lax.broadcasted_iota(data.dtype, x.shape, axis), [data]
        case "tile":
            repeats = draw.integers(rank, 0, 3)
            return lambda x: lax.tile(x, repeats), [array(draw, EVERY, shape)]
        case _:
            axis, first = draw.integer(0, rank - 1), array(draw, EVERY, shape)
            others = []
            for _ in range(draw.integer(0, 3)):
                other = list(shape)
                other[axis] = draw.size()
                others.append(like(draw, first, other))
            return lambda *each: lax.concatenate(each, axis), [first, *others]


@recipe("slice dynamic_slice dynamic_update_slice pad")
def parts(draw: Draw, name: str) -> Drawn:
    """Parts of a tensor, and padding, also between elements and with negative numbers."""
    data = array(draw, EVERY, draw.shape(1, 4))
    shape = data.shape
    if name == "pad":
        value = draw.array(data.dtype, (), 0.2)
        config = [(draw.integer(-1, 2), draw.integer(-1, 2), draw.integer(0, 2)) for _ in shape]
        return lambda x, value: lax.pad(x, value, config), [data, value]
    sizes = [draw.integer(0 if draw.chance(0.1) else min(1, size), size) for size in shape]
    if name == "slice":
        starts = [draw.integer(0, size - length) for size, length in zip(shape, sizes, strict=True)]
        limits = [start + length for start, length in zip(starts, sizes, strict=True)]
        strides = [draw.integer(1, 3) for _ in shape] if draw.chance(0.5) else None
        return lambda x: lax.slice(x, starts, limits, strides), [data]
    type_ = draw.one_of((np.int32, np.int64, np.uint8))
    starts = [np.asarray(draw.integer(0 if type_ is np.uint8 else -1, size + 1), type_) for size in shape]
    if name == "dynamic_slice":
        return lambda x, *starts: lax.dynamic_slice(x, starts, sizes), [data, *starts]
    return lambda x, update, *starts: lax.dynamic_update_slice(x, update, starts), [data, like(draw, data, sizes), *starts]
