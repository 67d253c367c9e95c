"""Images and windows of TensorFlow, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.draw import Array, Draw, NoCase
from tests.fuzz.tensorflow.recipe import Node, recipe


def image(draw: Draw, dtype: np.dtype[Any], channels: int | None = None) -> Array:
    return draw.array(dtype, [draw.integer(1, 2), draw.integer(1, 6), draw.integer(1, 6), channels or draw.integer(1, 3)], special=0.0)


@recipe("MaxPool AvgPool")
def pool(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = image(draw, dtype)
    sizes = [draw.integer(1, min(3, size)) for size in data.shape[1:3]]
    return Node(
        {"input": data}, {"ksize": [1, *sizes, 1], "strides": [1, *draw.integers(2, 1, 3), 1], "padding": draw.one_of(("SAME", "VALID"))}
    )


@recipe("AvgPool")
def average(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = pool(draw, dtype)
    return Node({"value": node.operands["input"]}, node.attributes)


@recipe("MaxPoolWithArgmax")
def pool_positions(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = pool(draw, dtype)
    # Equal numbers have no one position.
    data = np.asarray(node.operands["input"])
    distinct = draw.random.permutation(data.size).reshape(data.shape).astype(dtype)
    if len(np.unique(distinct)) < data.size:
        raise NoCase("equal numbers")
    return Node({"input": distinct}, {**node.attributes, "include_batch_in_index": draw.chance(0.5)})


@recipe("Conv2D DepthwiseConv2dNative")
def convolution(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = image(draw, dtype)
    filters = draw.array(dtype, [*draw.integers(2, 1, 3), data.shape[-1], draw.integer(1, 3)], special=0.0)
    stride = draw.integer(1, 2)
    return Node({"input": data, "filter": filters}, {"strides": [1, stride, stride, 1], "padding": draw.one_of(("SAME", "VALID"))})


@recipe("Dilation2D")
def dilation(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = image(draw, dtype)
    filters = draw.array(dtype, [*draw.integers(2, 1, 3), data.shape[-1]], special=0.0)
    return Node(
        {"input": data, "filter": filters}, {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": draw.one_of(("SAME", "VALID"))}
    )


@recipe("ResizeBilinear ResizeNearestNeighbor")
def resize(draw: Draw, dtype: np.dtype[Any]) -> Node:
    half = draw.chance(0.4)
    flags = {"half_pixel_centers": half, "align_corners": not half and draw.chance(0.4)}
    return Node({"images": image(draw, dtype), "size": np.array(draw.integers(2, 1, 7), np.int32)}, flags, ("size",))


@recipe("LRN")
def local_response(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node(
        {"input": image(draw, dtype, draw.integer(1, 6))}, {"depth_radius": draw.integer(0, 3), "bias": 1.5, "alpha": 0.3, "beta": 0.7}
    )


@recipe("FusedBatchNormV3")
def batch_norm(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = image(draw, dtype)
    scale, offset, mean = (draw.array(np.dtype(np.float32), [data.shape[-1]], special=0.0) for _ in range(3))
    return Node(
        {"x": data, "scale": scale, "offset": offset, "mean": mean, "variance": draw.positive(np.float32, scale.shape)},
        {"is_training": False},
        (),
        1,
    )


@recipe("FakeQuantWithMinMaxVars", "no attribute")
def fake_quantization(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    bits = draw.integer(2, 8)
    step = 2.0 ** draw.integer(-4, 0)
    low = -draw.integer(0, 2**bits - 1) * step
    data = draw.random.integers(-(2 ** (bits + 2)), 2 ** (bits + 2), tuple(draw.shape())) * step / 4
    limits = {"min": np.array(low, np.float32), "max": np.array(low + (2**bits - 1) * step, np.float32)}
    return Node({"inputs": np.asarray(data, np.float32), **limits}, {"num_bits": bits}, ("min", "max"))


@recipe("Range", "Tidx")
def numbers(draw: Draw, dtype: np.dtype[Any]) -> Node:
    start, stop = draw.integers(2, 0, 9)
    step = draw.integer(1, 3) * (1 if stop >= start else -1)
    if dtype.kind == "u" and step < 0:
        raise NoCase("no negative steps")
    values = {name: np.array(value, dtype) for name, value in (("start", start), ("limit", stop), ("delta", step))}
    return Node(values)


@recipe("LinSpace")
def even(draw: Draw, dtype: np.dtype[Any]) -> Node:
    values = {name: np.array(draw.integer(-4, 4), dtype) for name in ("start", "stop")}
    return Node({**values, "num": np.array(draw.integer(1, 6), np.int32)}, {}, ("num",))
