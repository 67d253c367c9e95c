"""Slices of TensorFlow, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.draw import Draw, NoCase
from tests.fuzz.tensorflow.recipe import Node, index_type, recipe


@recipe("Slice")
def part(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data, index = draw.array(dtype, draw.shape(0, 4)), index_type(draw)
    begin = [draw.integer(0, size) for size in data.shape]
    size = [-1 if draw.chance(0.2) else draw.integer(0, whole - start) for whole, start in zip(data.shape, begin, strict=True)]
    return Node({"input": data, "begin": np.array(begin, index), "size": np.array(size, index)}, {}, ("begin", "size"))


@recipe("StridedSlice")
def strided(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data, index = draw.array(dtype, draw.filled(1, 4)), index_type(draw)
    count = draw.integer(1, data.ndim)
    begin = [draw.integer(-size, size - 1) for size in data.shape[:count]]
    end = [draw.integer(-size - 1, size + 1) for size in data.shape[:count]]
    steps = [draw.one_of((1, 1, 1, 2, -1, -2)) for _ in range(count)]
    masks = {name: draw.integer(0, (1 << count) - 1) if draw.chance(0.4) else 0 for name in ("begin_mask", "end_mask", "shrink_axis_mask")}
    if draw.chance(0.15):
        masks["new_axis_mask"] = draw.integer(0, (1 << count) - 1)
    if draw.chance(0.15):
        masks["ellipsis_mask"] = 1 << draw.integer(0, count - 1)
    return Node(
        {"input": data, "begin": np.array(begin, index), "end": np.array(end, index), "strides": np.array(steps, index)},
        masks,
        ("begin", "end", "strides"),
    )


@recipe("TensorStridedSliceUpdate")
def strided_update(draw: Draw, dtype: np.dtype[Any]) -> Node:
    """Only parts that have elements are written."""
    data, index = draw.array(dtype, draw.filled(1, 3), special=0.0), index_type(draw)
    count = draw.integer(1, data.ndim)
    begin = [draw.integer(0, size - 1) for size in data.shape[:count]]
    end = [draw.integer(start + 1, size) for start, size in zip(begin, data.shape, strict=False)]
    steps = draw.integers(count, 1, 2)
    shape = data[tuple(slice(*each) for each in zip(begin, end, steps, strict=True))].shape
    if not np.prod(shape):
        raise NoCase("nothing is written")
    operands = {"input": data, "begin": np.array(begin, index), "end": np.array(end, index), "strides": np.array(steps, index)}
    value = draw.array(dtype, shape, special=0.0)
    return Node({**operands, "value": value}, {}, ("begin", "end", "strides"))
