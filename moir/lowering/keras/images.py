"""Resizing, cropping and rescaling of images.

    %y = keras.Resizing(%x) {height = 8, width = 8, interpolation = "bilinear"}
->  %y = opset11.Interpolate(%x, [8, 8], [1, 2]) {mode = "linear_onnx", coordinate_transformation_mode = "half_pixel"}
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import REAL_TYPES, f32
from moir.dialects.shapes import element_of, shape_of
from moir.expansions.resizing.image_kernels import KERNELS, area_weights, cubic_weights, kernel_weights
from moir.expansions.resizing.resampling import Weights, multiplied, resized_to
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import is_channel_last
from moir.lowering.keras.policies import computed_type
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder, Operand

INTERPOLATIONS = ("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5", "gaussian", "mitchellcubic", "area")
"""The interpolation methods of Keras."""


def resized(
    node: LoweringNode, op: OpBuilder, x: SSAValue, axes: Sequence[int], sizes: Operand, interpolation: str, *, antialias: bool = False
) -> SSAValue:
    """Images resized to `sizes` along two axes, with half-pixel centres; unchanged if they have these sizes.

    Raises ConversionError for an interpolation other than nearest and bilinear, or antialiasing, of dynamic sizes.
    """
    known = sizes if isinstance(sizes, list) else None
    shape = shape_of(x) or ()
    if known is not None and [shape[axis] for axis in axes] == known:
        return x
    if interpolation == "nearest" and not antialias:
        return resized_to(op, x, sizes, axes, "nearest", "tf_half_pixel_for_nn", nearest_mode="floor")
    if interpolation == "bilinear" and not antialias:
        return resized_to(op, x, sizes, axes, "linear_onnx", "half_pixel")
    if known is None or any(shape[axis] < 1 for axis in axes):
        node.fail("such resizing needs sizes that are static", hint="give the model's input a static shape")
    element = element_of(x)
    x = op.convert(x, f32)
    for axis, size in zip(axes, known, strict=True):
        matrix = _matrix(node, shape[axis], int(size), interpolation, antialias=antialias)
        if not np.array_equal(matrix, np.eye(len(matrix))):
            x = multiplied(op, x, op.constant(matrix.astype(np.float32)), axis, len(shape))
    return op.convert(x, element)


_KERNEL_NAMES = {"bilinear": "triangle", "bicubic": "keyscubic", "mitchellcubic": "mitchellcubic"}


def _matrix(node: LoweringNode, size: int, wanted: int, interpolation: str, *, antialias: bool) -> Weights:
    """The matrix [wanted, size] that resizes an axis from `size` to `wanted` elements by an interpolation method.

    Raises ConversionError for an unknown interpolation.
    """
    if interpolation == "bicubic" and not antialias:
        return cubic_weights(size, wanted)
    if interpolation == "area":
        return area_weights(size, wanted, align_corners=False)
    if interpolation == "nearest":
        # Each result is one element, so that antialiasing has no effect.
        sources = np.floor((np.arange(wanted) + 0.5) * size / wanted).astype(np.int64)
        return np.eye(size, dtype=np.float32)[np.minimum(sources, size - 1)]
    kernel = KERNELS.get(_KERNEL_NAMES.get(interpolation, interpolation))
    if kernel is None:
        node.fail(f"the interpolation {interpolation!r} is not supported", hint=f"supported are {', '.join(INTERPOLATIONS)}")
    return kernel_weights(kernel, size, wanted, scale=wanted / size, translation=0.0, antialias=antialias)


def resized_by_factor(
    node: LoweringNode, op: OpBuilder, x: SSAValue, axes: Sequence[int], factors: Sequence[int], interpolation: str
) -> SSAValue:
    """Images enlarged by the integers `factors` along `axes`."""
    sizes = [dimension_list(op, x, axis) for axis in axes]
    known = [op.known.integers(each) for each in sizes]
    if all(each is not None for each in known):
        wanted: Operand = [each[0] * factor for each, factor in zip(known, factors, strict=True) if each is not None]
    else:
        wanted = op.Concat(*(op.Multiply(each, factor) for each, factor in zip(sizes, factors, strict=True)), axis=0)
    data = x if element_of(x) in REAL_TYPES else op.convert(x, f32)
    if interpolation == "nearest":
        resized_ = resized_to(op, data, wanted, axes, "nearest", "asymmetric", nearest_mode="floor")
    else:
        resized_ = resized(node, op, data, axes, wanted, interpolation)
    return op.convert(resized_, element_of(x))


def image_axes(node: LoweringNode, data_format: str | None) -> list[int]:
    """The axes of height and width of an image, or of a batch of images, in a data format; None is channel-last.

    Raises ConversionError for a rank other than 3 and 4.
    """
    rank = node.known_rank(0)
    if rank not in (3, 4):
        node.fail(f"an image of rank {rank}")
    return [rank - 3, rank - 2] if is_channel_last(node, data_format) else [rank - 2, rank - 1]


@keras.lowers("Resizing")
def resizing(
    node: LoweringNode,
    op: OpBuilder,
    inputs: SSAValue,
    *,
    height: int,
    width: int,
    interpolation: str = "bilinear",
    crop_to_aspect_ratio: bool = False,
    pad_to_aspect_ratio: bool = False,
    fill_mode: str = "constant",
    fill_value: float = 0.0,
    antialias: bool = False,
    data_format: str | None = None,
) -> SSAValue:
    """keras.Resizing(x) {height, width, interpolation} -> opset11.Interpolate(x)"""
    if pad_to_aspect_ratio and fill_mode != "constant":
        node.fail(f"the fill mode {fill_mode!r} does not exist")
    way = "crop" if crop_to_aspect_ratio else "pad" if pad_to_aspect_ratio else ""
    return resized_images(node, op, inputs, (height, width), interpolation, data_format, way, fill_value, antialias=antialias)


def resized_images(
    node: LoweringNode,
    op: OpBuilder,
    images: SSAValue,
    size: Sequence[int],
    interpolation: str,
    data_format: str | None,
    way: str = "",
    fill: float = 0.0,
    *,
    antialias: bool = False,
) -> SSAValue:
    """Images as floats, resized to `size` (height and width), in a data format; None is channel-last.

    If `way` is `crop` or `pad`, the aspect ratio is kept: the images are cropped, or padded with `fill`, before they
    are resized. Raises ConversionError in these cases for images of dynamic size.
    """
    axes = image_axes(node, data_format)
    data = op.convert(images, f32) if element_of(images) not in REAL_TYPES else images
    shape = shape_of(images) or ()
    if way:
        sizes = [shape[axis] for axis in axes]
        if min(sizes) < 1:
            node.fail("keeping the aspect ratio needs images of a static size", hint="give the model's input a static shape")
        data = _cropped(op, data, axes, sizes, *size) if way == "crop" else _padded(op, data, axes, sizes, size[0], size[1], fill)
    return resized(node, op, data, axes, list(size), interpolation, antialias=antialias)


def _cropped(op: OpBuilder, x: SSAValue, axes: Sequence[int], sizes: Sequence[int], height: int, width: int) -> SSAValue:
    """The largest centred window of images of the given sizes whose ratio is that of `height` and `width`."""
    rows, columns = sizes
    crop = [max(1, min(int(columns * height / width), rows)), max(1, min(int(rows * width / height), columns))]
    starts = [int((size - part) / 2) for size, part in zip(sizes, crop, strict=True)]
    return op.Slice(x, starts, [start + part for start, part in zip(starts, crop, strict=True)], [1, 1], list(axes))


def _padded(op: OpBuilder, x: SSAValue, axes: Sequence[int], sizes: Sequence[int], height: int, width: int, fill: float) -> SSAValue:
    """Images of the given sizes padded with `fill` on two opposite sides, so that their ratio is that of `height` and
    `width`.

    The borders have equal widths, up to one pixel.
    """
    rows, columns = sizes
    wanted = [max(int(columns * height / width), rows), max(int(rows * width / height), columns)]
    rank = len(shape_of(x) or ())
    borders = [0] * rank
    for axis, size, padded in zip(axes, sizes, wanted, strict=True):
        borders[axis] = (padded - size) // 2
    return op.Pad(x, borders, borders, op.constant_like(fill, x), pad_mode="constant")


@keras.lowers("CenterCrop")
def center_crop(
    node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, height: int, width: int, data_format: str | None = None
) -> SSAValue:
    """keras.CenterCrop(x) {height, width} -> opset8.Slice(x); smaller images are resized and cropped"""
    axes = image_axes(node, data_format)
    sizes = [(node.shape(0) or ())[axis] for axis in axes]
    if min(sizes) < 1:
        node.fail("a crop in the middle needs images of a static size", hint="give the model's input a static shape")
    if sizes[0] < height or sizes[1] < width:
        data = op.convert(inputs, f32) if element_of(inputs) not in REAL_TYPES else inputs
        return resized(node, op, _cropped(op, data, axes, sizes, height, width), axes, [height, width], "bilinear")
    starts = [(size - wanted) // 2 for size, wanted in zip(sizes, (height, width), strict=True)]
    return op.Slice(inputs, starts, [starts[0] + height, starts[1] + width], [1, 1], axes)


@keras.lowers("RandomCrop")
def random_crop(
    node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, height: int, width: int, data_format: str | None = None
) -> SSAValue:
    """keras.RandomCrop(x) {height, width} -> x; in Keras 2 the middle with these proportions, resized"""
    if node.version >= 3:
        return inputs
    axes = image_axes(node, data_format)
    sizes = [(node.shape(0) or ())[axis] for axis in axes]
    if min(sizes) < 1:
        node.fail("a crop in the middle needs images of a static size", hint="give the model's input a static shape")
    data = op.convert(inputs, f32 if element_of(inputs) not in REAL_TYPES else computed_type(node))
    return resized(node, op, _cropped(op, data, axes, sizes, height, width), axes, [height, width], "bilinear")


@keras.lowers("AutoContrast")
def auto_contrast(op: OpBuilder, inputs: SSAValue, *, value_range: tuple[float, ...] = (0, 255)) -> SSAValue:
    """keras.AutoContrast(x [N, H, W, C]) {value_range} -> each channel of an image stretched to the range

    A channel whose elements are all equal is unchanged.
    """
    first, last = float(min(value_range)), float(max(value_range))
    low, high = (getattr(op, reduction)(inputs, [1, 2], keep_dims=True) for reduction in ("ReduceMin", "ReduceMax"))
    spread = op.Divide(op.Subtract(inputs, low), op.Subtract(high, low))
    stretched = op.Add(op.Multiply(spread, last - first), first)
    return op.Select(op.Equal(low, high), inputs, stretched)
