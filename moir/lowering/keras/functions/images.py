"""Functions of images: resizing, colours, borders, patches.

%y = keras.ops.Resize(%x) {size = [8, 8]}  ->  %y = opset11.Interpolate(%x, [8, 8], [1, 2])
"""

from __future__ import annotations

from math import prod

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import REAL_TYPES, f32, si64
from moir.dialects.shapes import element_of, shape_of
from moir.expansions.images.colors import hue_saturation_value, red_green_blue, split_colour
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import Arguments, by_axis, is_channel_last
from moir.lowering.keras.images import image_axes, resized_images
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder


def images_of(node: LoweringNode) -> SSAValue:
    """The argument `images` of a function. Raises ConversionError if it is no tensor."""
    return Arguments(node, "images").tensor("images")


@keras.lowers("ops.Resize")
def resize(
    node: LoweringNode,
    op: OpBuilder,
    *,
    size: tuple[int, ...],
    interpolation: str = "bilinear",
    antialias: bool = False,
    crop_to_aspect_ratio: bool = False,
    pad_to_aspect_ratio: bool = False,
    fill_mode: str = "constant",
    fill_value: float = 0.0,
    data_format: str | None = None,
) -> SSAValue:
    """keras.ops.Resize(x) {size, interpolation} -> opset11.Interpolate(x); integers are rounded"""
    images, sizes = images_of(node), by_axis(node, "size", size, 2)
    if pad_to_aspect_ratio and fill_mode != "constant":
        node.fail(f"the fill mode {fill_mode!r} does not exist")
    way = "crop" if crop_to_aspect_ratio else "pad" if pad_to_aspect_ratio else ""
    resized_ = resized_images(node, op, images, sizes, interpolation, data_format, way, fill_value, antialias=antialias)
    element = element_of(images)
    return resized_ if element in REAL_TYPES else op.convert(op.Round(resized_, mode="half_to_even"), element)


@keras.lowers("ops.RGBToGrayscale", "ops.RGBToHSV", "ops.HSVToRGB")
def colours(node: LoweringNode, op: OpBuilder, *, data_format: str | None = None) -> SSAValue:
    """keras.ops.RGBToHSV(x) -> opset1.Concat of hue, saturation and value; likewise HSVToRGB and RGBToGrayscale"""
    images, rank = images_of(node), node.known_rank(0)
    axis = rank - 1 if is_channel_last(node, data_format) else rank - 3
    if node.op.KIND == "ops.RGBToGrayscale":
        if (shape_of(images) or ())[axis] == 1:
            return images
        weights = np.array([0.2989, 0.5870, 0.1140]).reshape([3, *(1,) * (rank - 1 - axis)])
        data = op.convert(images, f32) if element_of(images) not in REAL_TYPES else images
        converted = op.ReduceSum(op.Multiply(data, op.constant_like(weights, data)), [axis], keep_dims=True)
        return op.convert(converted, element_of(images))
    order = [*(each for each in range(rank) if each != axis), axis]
    data = op.transposed(images, order)
    if node.op.KIND == "ops.RGBToHSV":
        converted = op.Concat(*hue_saturation_value(op, data), axis=-1)
    else:
        converted = red_green_blue(op, *split_colour(op, data))
    return op.transposed(converted, [order.index(each) for each in range(rank)])


def borders(node: LoweringNode, before: object, after: object, wanted: object, size: int) -> tuple[int, int]:
    """The widths of the borders at both ends of an axis.

    `before` and `after` are the widths as given in the call; a width of None is computed from `wanted`, the size of the
    result, and `size`, the size of the image. Raises ConversionError if one of these is needed and unknown.
    """
    borders_ = [each if isinstance(each, int) else None for each in (before, after)]
    if None in borders_:
        if not isinstance(wanted, int) or size < 1:
            node.fail("its borders follow from sizes that are dynamic", hint="give the model's inputs static shapes")
        borders_ = [wanted - size - (borders_[1] or 0) if borders_[0] is None else borders_[0], borders_[1]]
        borders_[1] = wanted - size - (borders_[0] or 0) if borders_[1] is None else borders_[1]
    return borders_[0] or 0, borders_[1] or 0


@keras.lowers("ops.PadImages", "ops.CropImages")
def bordered(node: LoweringNode, op: OpBuilder, *, data_format: str | None = None) -> SSAValue:
    """keras.ops.PadImages(x) {top_padding, …, target_width} -> opset12.Pad(x); likewise CropImages ->
    opset8.Slice(x)
    """
    images, rank = images_of(node), node.known_rank(0)
    axes, shape = image_axes(node, data_format), shape_of(images) or ()
    pads = [[0] * rank, [0] * rank]
    what, sign = ("padding", 1) if node.op.KIND == "ops.PadImages" else ("cropping", -1)
    for axis, sides, name in zip(axes, (("top", "bottom"), ("left", "right")), ("height", "width"), strict=True):
        before, after = (node.attribute(f"{side}_{what}", None) for side in sides)
        before, after = (each if not isinstance(each, int) else sign * each for each in (before, after))
        pads[0][axis], pads[1][axis] = borders(node, before, after, node.attribute(f"target_{name}", None), shape[axis])
    if min(*pads[0], *pads[1]) < 0 < max(*pads[0], *pads[1]) or sign * min(*pads[0], *pads[1], key=lambda each: sign * each) < 0:
        node.fail(f"its borders are {pads}")
    if sign > 0:
        return op.Pad(images, *pads, op.constant_like(0, images), pad_mode="constant")
    ends = [shape[axis] + pads[1][axis] for axis in axes]
    if min(shape[axis] for axis in axes) < 1:
        node.fail("the sizes of its images are dynamic", hint="give the model's inputs static shapes")
    return op.Slice(images, [-pads[0][axis] for axis in axes], ends, [1, 1], axes)


@keras.lowers("ops.ExtractPatches")
def patches(
    node: LoweringNode,
    op: OpBuilder,
    *,
    size: tuple[int, ...],
    strides: tuple[int, ...] | None = None,
    dilation_rate: tuple[int, ...] = (1,),
    padding: str = "valid",
    data_format: str | None = None,
) -> SSAValue:
    """keras.ops.ExtractPatches(x) {size} -> opset8.Gather of the elements of each window, which become channels"""
    name = "volumes" if len(size) == 3 else "images"
    x, rank, last = Arguments(node, name).tensor(name), node.known_rank(0), is_channel_last(node, data_format)
    axes = len(size) if len(size) > 1 else 2
    if rank not in (axes + 1, axes + 2):
        node.fail(f"patches of {axes} axes of a tensor of rank {rank}")
    data = x if rank == axes + 2 else op.Unsqueeze(x, [0])
    data = data if last else op.transposed(data, [0, *range(2, axes + 2), 1])
    shape = tuple(shape_of(data) or ())[1:]
    if len(shape) != axes + 1 or min(shape) < 1:
        node.fail("the sizes of its images are dynamic", hint="give the model's inputs static shapes")
    window, rates = by_axis(node, "size", size, axes), by_axis(node, "dilation_rate", dilation_rate, axes)
    steps = window if strides is None else by_axis(node, "strides", strides, axes)
    if prod(window) > 1 << 14 or min(*window, *steps, *rates) < 1:
        node.fail(f"windows of {window}")
    counts: list[int] = []
    for axis in range(axes):
        extent = (window[axis] - 1) * rates[axis] + 1
        count = -(-shape[axis] // steps[axis]) if padding == "same" else (shape[axis] - extent) // steps[axis] + 1
        if count < 1:
            node.fail("its windows are larger than the images")
        total = max((count - 1) * steps[axis] + extent - shape[axis], 0) if padding == "same" else 0
        axis_ = 1 + 2 * axis
        pads = [[0] * (axes + 2 + axis) for _ in range(2)]
        pads[0][axis_], pads[1][axis_] = total // 2, total - total // 2
        data = op.Pad(data, *pads, op.constant_like(0, data), pad_mode="constant") if total else data
        indices = np.arange(count)[:, None] * steps[axis] + np.arange(window[axis]) * rates[axis]
        data = op.Gather(data, op.constant(indices, si64), axis_)
        counts.append(count)
    # [N, windows, kh, windows, kw, C] -> [N, windows, windows, kh · kw · C], with the channels first for convolutions
    order = [0, *range(1, 2 * axes, 2), *range(2, 2 * axes + 1, 2), 2 * axes + 1]
    windows = op.Reshape(op.transposed(data, order), [-1, *counts, prod(window) * shape[-1]], special_zero=False)
    windows = windows if last else op.transposed(windows, [0, axes + 1, *range(1, axes + 1)])
    return windows if rank == axes + 2 else op.Squeeze(windows, [0])
