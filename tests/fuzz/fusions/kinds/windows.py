"""Convolutions, pooling and resizing of images of one to three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tests.fuzz.draw import NoCase
from tests.fuzz.fusions.draft import Draft, Value
from tests.fuzz.fusions.kinds.registry import Kind, add, kind


def image(d: Draft, x: Value, ranks: Sequence[int] = (3, 4, 5)) -> Value:
    """A value as an image with channels second. Raises NoCase if it is none."""
    if x.rank not in ranks or not x.is_float:
        raise NoCase("no image")
    return d.channels_second(x)


def window(d: Draft, sizes: Sequence[int], largest: int = 3) -> list[int]:
    """The sizes of a window over an image: 1, those of the image, or small ones."""
    draw = d.draw
    match draw.integer(0, 9):
        case 0 | 1 | 2:
            return [1] * len(sizes)
        case 3 | 4:
            return list(sizes)
        case 5:
            return [draw.one_of((1, min(size, largest))) for size in sizes]
        case _:
            return [min(size, draw.integer(2, largest)) for size in sizes]


def placed(d: Draft, sizes: Sequence[int], kernel: Sequence[int], *, most: int | None = None) -> dict[str, list[int]]:
    """Strides, dilations and pads of windows. Pads are at most as large as a limit, by default half of the window."""
    draw = d.draw
    stride = draw.one_of((1, 1, 2, 2, 3))
    strides = [stride] * len(sizes) if draw.chance(0.8) else [draw.integer(1, 3) for _ in sizes]
    dilations = [2 if size >= 2 * each > 2 and draw.chance(0.15) else 1 for size, each in zip(sizes, kernel, strict=True)]
    match draw.integer(0, 3):
        case 0 | 1:
            pads = [each // 2 * step for each, step in zip(kernel, dilations, strict=True)] * 2
        case 2:
            pads = [0] * 2 * len(sizes)
        case _:
            pads = [draw.integer(0, max(1, each // 2)) for each in (*kernel, *kernel)]
    limits = [max(0, each - 1) if most is None else most for each in kernel] * 2
    pads = [min(pad, limit) for pad, limit in zip(pads, limits, strict=True)]
    return {"strides": strides, "dilations": dilations, "pads": pads}


def filters_of(d: Draft, channels: int, *, depthwise: bool = False) -> tuple[int, int]:
    """The number of groups and of filters of a convolution."""
    draw = d.draw
    if depthwise or draw.chance(0.2):
        return channels, channels * draw.one_of((1, 1, 2))
    divisors = [each for each in range(2, channels) if channels % each == 0]
    if divisors and draw.chance(0.2):
        groups = draw.one_of(divisors)
        return groups, groups * draw.integer(1, 3)
    return 1, draw.one_of((1, 2, 3, 4, 6, 8, channels, channels))


def convolved(d: Draft, x: Value, *, depthwise: bool = False) -> Value:
    """A convolution of an image."""
    data = image(d, x)
    sizes, channels = data.shape[2:], data.shape[1]
    kernel = window(d, sizes)
    groups, filters = filters_of(d, channels, depthwise=depthwise)
    operands = [data, quantized_or_plain(d, d.weights((filters, channels // groups, *kernel), data))]
    if d.draw.chance(0.5):
        operands.append(d.weights((filters,), data, 0.5))
    attributes = placed(d, sizes, kernel, most=3)
    return d.as_image(d.op("Conv", *operands, group=groups, kernel_shape=kernel, **attributes))


def quantized_or_plain(d: Draft, weights: Value) -> Value:
    """Weights that are plain numbers, or dequantized from 8 bits per filter."""
    if not d.draw.chance(d.quantized_weights):
        return weights
    array = d.constants.pop(weights.name)
    axes = tuple(range(1, array.ndim))
    scales = np.maximum(np.abs(array).max(axis=axes), 1e-3).astype(np.float32) / 127
    codes = np.clip(np.round(array / scales.reshape(-1, *[1] * len(axes))), -127, 127).astype(np.int8)
    zeros = d.constant(np.zeros(scales.shape, np.int8))
    return d.op("DequantizeLinear", d.constant(codes), d.constant(scales.astype(weights.dtype)), zeros, axis=0)


@kind("Conv", "window", 4.0)
def convolution(d: Draft, x: Value) -> Value:
    return convolved(d, x)


@kind("Conv.depthwise", "window", 1.5)
def depthwise_convolution(d: Draft, x: Value) -> Value:
    return convolved(d, x, depthwise=True)


@kind("Conv.strided", "window", 1.5)
def pointwise_convolution(d: Draft, x: Value) -> Value:
    """A convolution with kernels of one element and strides."""
    data = image(d, x)
    channels = data.shape[1]
    groups, filters = filters_of(d, channels)
    spatial = data.rank - 2
    strides = [d.draw.integer(1, 3) for _ in range(spatial)] if d.draw.chance(0.4) else [2] * spatial
    weights = d.weights((filters, channels // groups, *[1] * spatial), data)
    return d.as_image(d.op("Conv", data, weights, group=groups, kernel_shape=[1] * spatial, strides=strides))


@kind("Conv.computed", "window", 0.3)
def convolution_by_computed(d: Draft, x: Value) -> Value:
    """A convolution by filters that are an input, or computed of one."""
    data = image(d, x)
    kernel = [min(2, size) for size in data.shape[2:]]
    filters = d.input((d.draw.integer(1, 4), data.shape[1], *kernel), data.dtype)
    return d.as_image(d.op("Conv", data, d.op("Tanh", filters) if d.draw.chance(0.5) else filters))


@kind("ConvTranspose", "window", 1.0)
def transposed_convolution(d: Draft, x: Value) -> Value:
    data = image(d, x)
    draw, channels, spatial = d.draw, data.shape[1], data.rank - 2
    kernel = [draw.integer(1, 3) for _ in range(spatial)]
    groups = channels if draw.chance(0.2) else 1
    filters = draw.integer(1, 4)
    operands = [data, d.weights((channels, filters, *kernel), data)]
    if draw.chance(0.5):
        operands.append(d.weights((filters * groups,), data, 0.5))
    strides = [draw.integer(1, 2) for _ in range(spatial)]
    pads = [draw.integer(0, each // 2) for each in kernel] * 2
    added = [draw.integer(0, stride - 1) for stride in strides]
    result = d.op("ConvTranspose", *operands, group=groups, kernel_shape=kernel, strides=strides, pads=pads, output_padding=added)
    return d.as_image(result)


@kind("MaxPool", "pooling", 3.0)
def max_pool(d: Draft, x: Value) -> Value:
    data = image(d, x)
    kernel = window(d, data.shape[2:])
    attributes = placed(d, data.shape[2:], kernel)
    return d.as_image(d.op("MaxPool", data, kernel_shape=kernel, ceil_mode=int(d.draw.chance(0.15)), **attributes))


@kind("AveragePool", "pooling", 2.5)
def average_pool(d: Draft, x: Value) -> Value:
    data = image(d, x)
    kernel = window(d, data.shape[2:])
    attributes = placed(d, data.shape[2:], kernel)
    attributes.pop("dilations")
    included = int(d.draw.chance(0.3))
    return d.as_image(d.op("AveragePool", data, kernel_shape=kernel, count_include_pad=included, **attributes))


def _global(name: str) -> Callable[[Draft, Value], Value]:
    def apply(d: Draft, x: Value) -> Value:
        return d.as_image(d.op(name, image(d, x)))

    return apply


for _name in ("GlobalAveragePool", "GlobalMaxPool"):
    add(Kind(_name, "pooling", _global(_name)))


@kind("Resize", "pooling", 1.5)
def resize(d: Draft, x: Value) -> Value:
    data, draw = image(d, x), d.draw
    factors = [1.0, 1.0, *[draw.one_of((1.0, 2.0, 2.0, 0.5)) for _ in data.shape[2:]]]
    mode = draw.one_of(("nearest", "nearest", "linear", "cubic" if data.rank == 4 else "linear"))
    coordinates = draw.one_of(("asymmetric", "half_pixel", "align_corners") if mode == "linear" else ("asymmetric", "half_pixel"))
    nearest = "floor" if coordinates == "asymmetric" else "round_prefer_floor"
    sizes = [max(1, int(size * factor)) for size, factor in zip(data.shape, factors, strict=True)]
    wanted = d.constant(np.array(sizes, np.int64))
    return d.as_image(d.op("Resize", data, None, None, wanted, mode=mode, coordinate_transformation_mode=coordinates, nearest_mode=nearest))


@kind("DepthToSpace", "pooling", 0.7)
def depth_to_space(d: Draft, x: Value) -> Value:
    data = image(d, x, (4,))
    if data.shape[1] % 4 == 0 and d.draw.chance(0.6):
        return d.as_image(d.op("DepthToSpace", data, blocksize=2, mode=d.draw.one_of(("DCR", "CRD"))))
    return d.as_image(d.op("SpaceToDepth", data, blocksize=2))


@kind("ChannelShuffle", "pooling", 0.7)
def shuffle(d: Draft, x: Value) -> Value:
    """Reshape, Transpose, Reshape."""
    data = image(d, x)
    channels, sizes = data.shape[1], data.shape[2:]
    divisors = [each for each in range(2, channels) if channels % each == 0]
    if not divisors:
        raise NoCase("channels cannot be shuffled")
    groups = d.draw.one_of(divisors)
    split = d.reshape(data, (data.shape[0], groups, channels // groups, *sizes))
    moved = d.transpose(split, (0, 2, 1, *range(3, split.rank)))
    return d.as_image(d.reshape(moved, data.shape))


@kind("SqueezeExcite", "window", 0.7)
def squeeze_and_excite(d: Draft, x: Value) -> Value:
    """A gate for each channel, computed of the mean of the image."""
    data = image(d, x)
    axes = list(range(2, data.rank))
    mean = d.op("GlobalAveragePool", data) if d.draw.chance(0.5) else d.reduce("ReduceMean", data, axes)
    ones = [1] * len(axes)
    inner = d.op("Relu", d.op("Conv", mean, d.weights((2, data.shape[1], *ones), data), d.weights((2,), data, 0.5)))
    outer = d.op("Conv", inner, d.weights((data.shape[1], 2, *ones), data), d.weights((data.shape[1],), data, 0.5))
    return d.as_image(d.op("Mul", data, d.op(d.draw.one_of(("Sigmoid", "HardSigmoid")), outer)))


@kind("Pad", "movement", 1.0)
def pad(d: Draft, x: Value) -> Value:
    draw = d.draw
    if x.rank < 1 or not x.is_float:
        raise NoCase("nothing to be padded")
    mode = draw.one_of(("constant", "constant", "constant", "reflect", "edge"))
    axes = range(x.rank) if draw.chance(0.3) else range(2, x.rank) if not d.channels_last else range(1, x.rank - 1)
    ends = [0] * 2 * x.rank
    for axis in axes:
        most = min(2, x.shape[axis] - 1) if mode == "reflect" else 2
        ends[axis], ends[x.rank + axis] = draw.integer(0, most), draw.integer(0, most)
    if not any(ends):
        raise NoCase("no padding")
    value = d.constant(draw.one_of((0.0, 0.0, 0.0, 1.0, -0.5)), x.dtype)
    return d.op("Pad", x, d.constant(np.array(ends, np.int64)), *([value] if mode == "constant" else []), mode=mode)
