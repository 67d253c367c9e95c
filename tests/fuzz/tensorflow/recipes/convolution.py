"""Windows of TensorFlow, drawn: convolutions, pooling, patches."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.draw import Draw, NoCase
from tests.fuzz.tensorflow.recipe import Node, recipe
from tests.fuzz.tensorflow.recipes.image import image


@recipe("MaxPool")
def pool(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return windowed(draw, dtype, 2)


def windowed(draw: Draw, dtype: np.dtype[Any], count: int) -> Node:
    """Pooling of images or volumes."""
    data = draw.array(dtype, [draw.integer(1, 2), *draw.integers(count, 1, 6), draw.integer(1, 3)], special=0.0)
    sizes = [draw.integer(1, min(3, size)) for size in data.shape[1:-1]]
    strides = [1, *draw.integers(count, 1, 3), 1]
    return Node({"input": data}, {"ksize": [1, *sizes, 1], "strides": strides, "padding": draw.one_of(("SAME", "VALID"))})


@recipe("MaxPool3D AvgPool3D")
def pool_volumes(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return windowed(draw, dtype, 3)


@recipe("MaxPoolV2")
def pool_of_operands(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = pool(draw, dtype)
    sizes = {name: np.array(node.attributes[name], np.int32) for name in ("ksize", "strides")}
    return Node({**node.operands, **sizes}, {"padding": node.attributes["padding"]}, ("ksize", "strides"))


@recipe("ExtractImagePatches")
def patches(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = pool(draw, dtype)
    attributes = {"ksizes": node.attributes["ksize"], "strides": node.attributes["strides"], "padding": node.attributes["padding"]}
    return Node({"images": node.operands["input"]}, {**attributes, "rates": [1, *draw.integers(2, 1, 2), 1]})


@recipe("ExtractVolumePatches")
def volume_patches(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = windowed(draw, dtype, 3)
    attributes = {"ksizes": node.attributes["ksize"], "strides": node.attributes["strides"], "padding": node.attributes["padding"]}
    return Node(node.operands, attributes)


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
    """The kernel fits into the image: the runtime has no convolution without results."""
    data = image(draw, dtype)
    kernel = [draw.integer(1, min(3, size)) for size in data.shape[1:3]]
    filters = draw.array(dtype, [*kernel, data.shape[-1], draw.integer(1, 3)], special=0.0)
    stride, rates = draw.integer(1, 2), draw.one_of(([1, 1], [1, 1], [2, 1], [2, 2]))
    padding = draw.one_of(("SAME", "VALID", "EXPLICIT"))
    attributes: dict[str, Any] = {"strides": [1, stride, stride, 1], "padding": padding}
    reach = [(size - 1) * rate + 1 for size, rate in zip(kernel, rates, strict=True)]
    if stride == 1 and all(size <= length for size, length in zip(reach, data.shape[1:3], strict=True)):
        attributes["dilations"] = [1, *rates, 1]
    if padding == "EXPLICIT":
        attributes["explicit_paddings"] = [0, 0, *draw.integers(4, 0, 2), 0, 0]
    return Node({"input": data, "filter": filters}, attributes, fixed=("filter",))


@recipe("Conv3D")
def volume_convolution(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, [draw.integer(1, 2), *draw.integers(3, 1, 4), draw.integer(1, 3)], special=0.0)
    kernel = [draw.integer(1, min(3, size)) for size in data.shape[1:4]]
    filters = draw.array(dtype, [*kernel, data.shape[-1], draw.integer(1, 3)], special=0.0)
    strides = [1, *draw.integers(3, 1, 2), 1]
    return Node({"input": data, "filter": filters}, {"strides": strides, "padding": draw.one_of(("SAME", "VALID"))}, fixed=("filter",))


def transposed(draw: Draw, dtype: np.dtype[Any], count: int, multiplied: bool = False) -> Node:
    """A convolution backwards: from the result of some convolution to data of its size."""
    data = [draw.integer(1, 2), *draw.integers(count, 3, 6), draw.integer(1, 3)]
    kernel, stride = draw.integers(count, 1, 3), draw.integer(1, 2)
    padding = draw.one_of(("SAME", "VALID"))
    sizes = [-(-(size - (reach - 1) * (padding == "VALID")) // stride) for size, reach in zip(data[1:-1], kernel, strict=True)]
    channels = draw.integer(1, 3)
    filters = draw.array(dtype, [*kernel, data[-1], channels], special=0.0)
    results = draw.array(dtype, [data[0], *sizes, channels * data[-1] if multiplied else channels], special=0.0)
    operands = {"input_sizes": np.array(data, np.int32), "filter": filters, "out_backprop": results}
    return Node(operands, {"strides": [1, *[stride] * count, 1], "padding": padding}, ("input_sizes",), fixed=("filter", "input_sizes"))


@recipe("Conv2DBackpropInput")
def transposed_convolution(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return transposed(draw, dtype, 2)


@recipe("DepthwiseConv2dNativeBackpropInput")
def transposed_depthwise_convolution(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return transposed(draw, dtype, 2, multiplied=True)


@recipe("Conv3DBackpropInputV2")
def transposed_volume_convolution(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return transposed(draw, dtype, 3)


@recipe("Dilation2D")
def dilation(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = image(draw, dtype)
    filters = draw.array(dtype, [*draw.integers(2, 1, 3), data.shape[-1]], special=0.0)
    strides, rates = ([1, *draw.integers(2, 1, 2), 1] for _ in range(2))
    return Node(
        {"input": data, "filter": filters},
        {"strides": strides, "rates": rates, "padding": draw.one_of(("SAME", "VALID"))},
        fixed=("filter",),
    )


@recipe("Conv")
def general(draw: Draw, dtype: np.dtype[Any]) -> Node:
    count, channels = draw.integer(2, 3), draw.integer(1, 3)
    batch = draw.integer(0, 2) if count == 2 else 1
    sizes = draw.integers(count, 3, 6)
    data = draw.array(dtype, [*draw.integers(batch, 1, 2), *sizes, channels], special=0.0)
    filters = draw.array(dtype, [*draw.integers(count, 1, 3), channels, draw.integer(1, 3)], special=0.0)
    attributes = {"strides": [1, *draw.integers(count, 1, 2), 1], "padding": draw.one_of(("SAME", "VALID")), "batch_dims": batch}
    return Node({"input": data, "filter": filters}, attributes, fixed=("filter",))


@recipe("FusedPadConv2D")
def mirrored(draw: Draw, dtype: np.dtype[Any]) -> Node:
    """One image: of several TensorFlow 2.21 computes the first one several times."""
    channels = draw.integer(1, 3)
    data = draw.array(dtype, [1, *draw.integers(2, 3, 5), channels], special=0.0)
    filters = draw.array(dtype, [*draw.integers(2, 1, 3), channels, draw.integer(1, 3)], special=0.0)
    borders = np.array([[0, 0], draw.integers(2, 0, 2), draw.integers(2, 0, 2), [0, 0]], np.int32)
    attributes = {"mode": draw.one_of(("REFLECT", "SYMMETRIC")), "padding": draw.one_of(("SAME", "VALID"))}
    return Node(
        {"input": data, "paddings": borders, "filter": filters},
        {**attributes, "strides": [1, *draw.integers(2, 1, 2), 1]},
        ("paddings",),
        fixed=("filter",),
    )


@recipe("FusedResizeAndPadConv2D")
def resized(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = mirrored(draw, dtype)
    operands = {**node.operands, "size": np.array(draw.integers(2, 3, 8), np.int32)}
    return Node(operands, {**node.attributes, "resize_align_corners": draw.chance(0.5)}, ("paddings", "size"), fixed=("filter",))
