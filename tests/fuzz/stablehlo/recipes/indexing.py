"""Gather and scatter in their general forms, and the indexing of JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from tests.fuzz.draw import Array, Draw
from tests.fuzz.stablehlo.recipe import EVERY, NUMERIC, array, jnp, lax, like, recipe

Drawn = tuple[Callable[..., Any], Sequence[Array]]


@recipe("gather scatter scatter_add scatter_mul scatter_min scatter_max")
def general(draw: Draw, name: str) -> Drawn:
    """Windows at places, with any dimension numbers and batching dimensions."""
    shape = [max(1, size) for size in draw.shape(1, 4)]
    rank = len(shape)
    batching = [0] if rank > 1 and draw.chance(0.2) else []
    indexed = [axis for axis in draw.permutation(rank) if axis not in batching][: draw.integer(1, rank - len(batching))]
    sizes = [1 if axis in batching else draw.integer(1, size) for axis, size in enumerate(shape)]
    collapsed = sorted(axis for axis in range(rank) if axis not in batching and sizes[axis] == 1 and draw.chance(0.7))
    batch = [shape[0]] if batching else []
    batch += draw.integers(draw.integer(0, 2), 1, 3)
    type_ = draw.one_of((np.int32, np.int64))
    places = draw.random.integers(-1, np.array([shape[axis] + 1 for axis in indexed]), size=(*batch, len(indexed))).astype(type_)
    windows = [axis for axis in range(rank) if axis not in collapsed and axis not in batching]
    out_rank = len(batch) + len(windows)
    offsets = tuple(sorted(draw.permutation(out_rank)[: len(windows)]))
    mode = draw.one_of(("clip", "fill", "promise_in_bounds"))
    if mode == "promise_in_bounds":
        places = np.minimum(np.maximum(places, 0), [shape[axis] - sizes[axis] for axis in indexed]).astype(type_)
    if name == "gather":
        numbers: Any = jax.lax.GatherDimensionNumbers(
            offset_dims=offsets,
            collapsed_slice_dims=tuple(collapsed),
            start_index_map=tuple(indexed),
            operand_batching_dims=tuple(batching),
            start_indices_batching_dims=(0,) if batching else (),
        )
        return lambda x, i: lax.gather(x, i, numbers, sizes, mode=mode), [array(draw, EVERY, shape), places]
    numbers = jax.lax.ScatterDimensionNumbers(
        update_window_dims=offsets,
        inserted_window_dims=tuple(collapsed),
        scatter_dims_to_operand_dims=tuple(indexed),
        operand_batching_dims=tuple(batching),
        scatter_indices_batching_dims=(0,) if batching else (),
    )
    result, window, place = [], iter([sizes[axis] for axis in windows]), iter(batch)
    for axis in range(out_rank):
        result.append(next(window) if axis in offsets else next(place))
    data = array(draw, NUMERIC, shape, 0.0)
    if name == "scatter":
        # Which of several updates of a place remains is not defined.
        _, first = np.unique(places.reshape(-1, len(indexed)), axis=0, return_index=True)
        if len(first) * max(1, int(np.prod([sizes[axis] for axis in indexed]))) < int(np.prod(batch)) or any(
            sizes[axis] > 1 for axis in indexed
        ):
            places = places.reshape(-1, len(indexed))[:1].reshape([1] * len(batch) + [len(indexed)])
            if batch != [1] * len(batch):
                return lambda x, i, u: lax.scatter_add(x, i, u, numbers, mode=mode), [
                    data,
                    np.broadcast_to(places, (*batch, len(indexed))).copy(),
                    like(draw, data, result, 0.0),
                ]
    function = getattr(lax, name)
    return lambda x, i, u: function(x, i, u, numbers, mode=mode), [data, places, like(draw, data, result, 0.0)]


@recipe("indexed take take_along_axis at_set at_add at_max one_hot dynamic_index dynamic_update_index segment_sum searchsorted where")
def of_numpy(draw: Draw, name: str) -> Drawn:
    """Indexing as programs write it."""
    shape = draw.filled(1, 3)
    data, axis = array(draw, EVERY, shape), draw.integer(0, len(shape) - 1)
    type_ = draw.one_of((np.int32, np.int64))
    size = shape[axis]
    # Some are out of range, for which JAX has modes.
    places = draw.between(type_, draw.filled(1, 2), -size - 2, size + 1)
    rows = draw.between(type_, [draw.integer(1, 3)], -shape[0] - 2, shape[0] + 1)
    match name:
        case "indexed":
            return lambda x, i: x[i], [data, rows]
        case "take":
            mode = draw.one_of((None, "clip", "wrap", "fill"))
            return lambda x, i: jnp.take(x, i, axis=axis, mode=mode), [data, places]
        case "take_along_axis":
            other = list(shape)
            other[axis] = draw.integer(1, 3)
            return lambda x, i: jnp.take_along_axis(x, i, axis), [data, draw.between(type_, other, -size - 2, size + 1)]
        case "one_hot":
            return lambda i: jax.nn.one_hot(i, 5), [draw.between(type_, shape, -1, 5)]
        case "dynamic_index":
            return lambda x, i: lax.dynamic_index_in_dim(x, i, axis), [data, np.asarray(draw.integer(-size, size - 1), type_)]
        case "dynamic_update_index":
            part = like(draw, data, [each for number, each in enumerate(shape) if number != axis])
            return lambda x, u, i: lax.dynamic_update_index_in_dim(x, u, i, axis), [
                data,
                part,
                np.asarray(draw.integer(0, size - 1), type_),
            ]
        case "segment_sum":
            values = array(draw, NUMERIC, shape, 0.0)
            return lambda x, i: jax.ops.segment_sum(x, i, 4), [values, draw.between(type_, shape[:1], 0, 4)]
        case "searchsorted":
            line = np.sort(array(draw, (np.float32, np.int32), [draw.integer(1, 5)], 0.0))
            side = draw.one_of(("left", "right"))
            return lambda a, x: jnp.searchsorted(a, x, side=side), [line, like(draw, line, draw.filled(1, 2))]
        case "where":
            return lambda x: jnp.where(x > 0, x, 0), [array(draw, NUMERIC, shape)]
        case _:
            rows = np.unique(rows % shape[0]).astype(type_)
            values = array(draw, NUMERIC, shape, 0.0)
            method = name.removeprefix("at_")
            return lambda x, i, u: getattr(x.at[i], method)(u), [values, rows, like(draw, values, [len(rows), *shape[1:]], 0.0)]
