"""Windows that move over data: convolutions and pooling."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.draw import Draw, NoCase
from tests.fuzz.signature import Signature, Values, recipe


def window(draw: Draw, signature: Signature, axes: int, kernel: list[int]) -> Values:
    """Strides, dilations and pads, automatic ones among them."""
    values: dict[str, Any] = {
        "kernel_shape": kernel,
        "strides": draw.integers(axes, 1, 3),
        "dilations": draw.integers(axes, 1, 2) if signature.takes("dilations") and draw.chance(0.3) else None,
        "auto_pad": None,
    }
    padding = draw.integer(0, 5)
    if padding == 0 and signature.takes("auto_pad"):
        values |= {"auto_pad": draw.one_of(("SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET")), "pads": None, "dilations": None}
    elif padding < 4:
        limits = [size - 1 for size in kernel] * 2
        values["pads"] = [draw.integer(0, limit) for limit in limits]
    else:
        values["pads"] = None
    return values


def data_shape(draw: Draw, axes: int, channels: int) -> list[int]:
    """A shape [N, C, …]: the batch may be empty, the rest is large enough for most windows."""
    return [draw.size(), channels, *(draw.integer(3, 8) if draw.chance(0.9) else draw.integer(0, 2) for _ in range(axes))]


def convolution_shapes(draw: Draw, transposed: bool = False) -> tuple[list[int], list[int], int, list[int]]:
    """Shapes of data and weights, the number of groups, the window."""
    axes = draw.one_of((1, 2, 2, 2, 3))
    group = draw.one_of((1, 1, 2, 3))
    inputs, outputs = group * draw.integer(1, 3), group * draw.integer(1, 3)
    kernel = draw.integers(axes, 1, 3)
    weights = [inputs, outputs // group, *kernel] if transposed else [outputs, inputs // group, *kernel]
    return data_shape(draw, axes, inputs), weights, group, kernel


@recipe("Conv")
def convolution(draw: Draw, signature: Signature) -> Values:
    shape, weights, group, kernel = convolution_shapes(draw)
    dtype = signature.dtype()
    return {
        "X": draw.array(dtype, shape, special=0),
        "W": draw.array(dtype, weights, special=0),
        "B": draw.array(dtype, weights[:1], special=0),
        "group": group,
    } | window(draw, signature, len(kernel), kernel)


@recipe("ConvTranspose")
def transposed(draw: Draw, signature: Signature) -> Values:
    shape, weights, group, kernel = convolution_shapes(draw, transposed=True)
    dtype = signature.dtype()
    result = window(draw, signature, len(kernel), kernel)
    result["output_padding"] = [draw.integer(0, stride - 1) for stride in result["strides"]] if draw.chance(0.3) else None
    result["output_shape"] = None
    if draw.chance(0.15):
        result["output_shape"] = [size * stride for size, stride in zip(shape[2:], result["strides"], strict=True)]
        result |= {"pads": None, "output_padding": None}
    return result | {
        "X": draw.array(dtype, shape, special=0),
        "W": draw.array(dtype, weights, special=0),
        "B": draw.array(dtype, [weights[1] * group], special=0),
        "group": group,
    }


@recipe("ConvInteger")
def integer_convolution(draw: Draw, signature: Signature) -> Values:
    shape, weights, group, kernel = convolution_shapes(draw)
    x, w = signature.dtype("x"), signature.dtype("w")
    return {
        "x": draw.array(x, shape),
        "w": draw.array(w, weights),
        "x_zero_point": draw.array(x, []),
        "w_zero_point": draw.array(w, draw.one_of(([], weights[:1]))),
        "group": group,
    } | window(draw, signature, len(kernel), kernel)


@recipe("QLinearConv")
def quantized_convolution(draw: Draw, signature: Signature) -> Values:
    shape, weights, group, kernel = convolution_shapes(draw)
    x, w, y = signature.dtype("x"), signature.dtype("w"), signature.dtype("y_zero_point")
    channels = draw.one_of(([], weights[:1]))
    values: Values = {"x": draw.array(x, shape), "w": draw.array(w, weights), "group": group}
    values |= {
        "x_scale": draw.positive(np.float32, []),
        "w_scale": draw.positive(np.float32, channels),
        "y_scale": draw.positive(np.float32, []),
    }
    values |= {"x_zero_point": draw.array(x, []), "w_zero_point": draw.array(w, channels), "y_zero_point": draw.array(y, [])}
    values["B"] = draw.array(np.dtype(np.int32), weights[:1], special=0)
    return values | window(draw, signature, len(kernel), kernel)


@recipe("DeformConv")
def deformable(draw: Draw, signature: Signature) -> Values:
    group, offset_group = draw.integer(1, 2), draw.integer(1, 2)
    inputs, outputs = 2 * group, group * draw.integer(1, 2)
    kernel, sizes = draw.integers(2, 1, 3), draw.integers(2, 3, 6)
    strides, pads = draw.integers(2, 1, 2), draw.integers(4, 0, 1)
    batch = draw.integer(1, 2)
    positions = [(size + pads[axis] + pads[axis + 2] - kernel[axis]) // strides[axis] + 1 for axis, size in enumerate(sizes)]
    count = offset_group * kernel[0] * kernel[1]
    dtype = signature.dtype()
    return {
        "X": draw.array(dtype, [batch, inputs, *sizes], special=0),
        "W": draw.array(dtype, [outputs, inputs // group, *kernel], special=0),
        "offset": draw.array(dtype, [batch, 2 * count, *positions], special=0),
        "B": draw.array(dtype, [outputs], special=0),
        "mask": draw.positive(dtype, [batch, count, *positions]),
        "strides": strides,
        "pads": pads,
        "group": group,
        "offset_group": offset_group,
        "kernel_shape": kernel,
        "dilations": None,
    }


@recipe("AveragePool", "MaxPool", "LpPool")
def pool(draw: Draw, signature: Signature) -> Values:
    axes = draw.one_of((1, 2, 2, 2, 3))
    kernel = draw.integers(axes, 1, 3)
    result = window(draw, signature, axes, kernel)
    special = 0.05 if signature.name == "MaxPool" else 0
    return result | {
        "X": draw.array(signature.dtype(), data_shape(draw, axes, draw.integer(1, 3)), special=special),
        "p": draw.integer(1, 3),
    }


@recipe("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def whole_pool(draw: Draw, signature: Signature) -> Values:
    return {"X": draw.array(signature.dtype(), data_shape(draw, draw.integer(1, 3), draw.size()), special=0), "p": draw.integer(1, 3)}


@recipe("MaxUnpool")
def unpool(draw: Draw, signature: Signature) -> Values:
    """The indices are those of a pooling with windows that do not overlap."""
    batch, channels, height, width = (draw.integer(1, 3) for _ in range(4))
    kernel = draw.integers(2, 1, 2)
    full = (batch, channels, height * kernel[0], width * kernel[1])
    rows = np.arange(height)[:, None] * kernel[0] + draw.random.integers(0, kernel[0], (batch, channels, height, width))
    columns = np.arange(width) * kernel[1] + draw.random.integers(0, kernel[1], (batch, channels, height, width))
    planes = np.arange(batch * channels).reshape(batch, channels, 1, 1) * full[2] * full[3]
    larger = [*full[:2], full[2] + draw.integer(0, 1), full[3]]
    return {
        "X": draw.array(signature.dtype("X"), [batch, channels, height, width]),
        "I": planes + rows * full[3] + columns,
        "output_shape": larger if draw.chance(0.3) else None,
        "kernel_shape": kernel,
        "strides": kernel,
        "pads": None,
    }


@recipe("Col2Im")
def columns_to_image(draw: Draw, signature: Signature) -> Values:
    axes = draw.one_of((1, 2, 2, 3))
    image, block = draw.integers(axes, 3, 6), draw.integers(axes, 1, 3)
    strides, dilations, pads = draw.integers(axes, 1, 2), draw.integers(axes, 1, 1 + draw.integer(0, 1)), draw.integers(2 * axes, 0, 1)
    positions = [
        (image[axis] + pads[axis] + pads[axis + axes] - dilations[axis] * (block[axis] - 1) - 1) // strides[axis] + 1
        for axis in range(axes)
    ]
    if min(positions) <= 0:
        raise NoCase("no position")
    shape = [draw.integer(1, 2), draw.integer(1, 2) * int(np.prod(block)), int(np.prod(positions))]
    return {
        "input": draw.array(signature.dtype(), shape, special=0),
        "image_shape": image,
        "block_shape": block,
        "strides": strides,
        "dilations": dilations,
        "pads": pads,
    }


@recipe("CausalConvWithState")
def causal(draw: Draw, signature: Signature) -> Values:
    batch, channels, length, kernel = draw.integer(1, 2), draw.integer(1, 3), draw.integer(1, 5), draw.integer(1, 4)
    dtype = signature.dtype()
    return {
        "input": draw.array(dtype, [batch, channels, length], special=0),
        "weight": draw.array(dtype, [channels, 1, kernel], special=0),
        "bias": draw.array(dtype, [channels], special=0),
        "past_state": draw.array(dtype, [batch, channels, kernel - 1], special=0),
    }
