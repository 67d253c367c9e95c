"""Resizing and sampling of images. Layout: N, H, W, C.

    %y = tf.ResizeBilinear(%x, %size) {half_pixel_centers = true}
->  %y = opset11.Interpolate(%x, %size, [1, 2]) {mode = "linear_onnx", coordinate_transformation_mode = "half_pixel"}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES, bf16, dynamic, f16, f32, si8, si32, si64, ui8
from moir.dialects.shapes import element_of, shape_of
from moir.expansions.resizing.computed_matrices import area_matrix, cubic_matrix, kernel_matrix
from moir.expansions.resizing.image_kernels import KERNELS, area_weights, cubic_weights, kernel_weights
from moir.expansions.resizing.resampling import MAXIMUM_WEIGHTS, Weights, multiplied, resized_to
from moir.frameworks.traits import SAYS_LAYOUT
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_parts
from moir.lowering.ranks import fixed
from moir.lowering.tensorflow.attributes.data_format import channel_first, channel_last
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

ROWS_AND_COLUMNS = [1, 2]

INTERPOLATED = (f16, bf16, f32, si8, ui8, si32, si64, dynamic)
"""The element types that Interpolate supports."""


def coordinates(node: LoweringNode) -> str:
    """The `coordinate_transformation_mode` of opset11.Interpolate for the attributes of a node.

    Raises ConversionError if both align_corners and half_pixel_centers are true.
    """
    align, half = node.flag("align_corners"), node.flag("half_pixel_centers")
    if align and half:
        node.fail("align_corners and half_pixel_centers exclude each other")
    return "align_corners" if align else "half_pixel" if half else "asymmetric"


def keeps_size(node: LoweringNode) -> bool:
    """Whether the image is known to have the size of the result."""
    shape, size = node.shape(0), node.constant_integers(1)
    return shape is not None and size is not None and len(shape) == 4 and shape[1:3] == size


@tf.lowers("ResizeBilinear", rank=fixed(4, 1))
def resize_bilinear(node: LoweringNode, op: OpBuilder, images: SSAValue, size: SSAValue) -> SSAValue:
    """tf.ResizeBilinear(x, size)
    -> opset11.Interpolate(x, size, [1, 2]) {mode = linear_onnx}; the element type of the result is always f32
    """
    data = op.convert(images, f32)
    return data if keeps_size(node) else resized_linearly(op, data, size, coordinates(node))


def resized_linearly(op: OpBuilder, data: SSAValue, size: SSAValue, mode: str) -> SSAValue:
    """Images [N, H, W, C] resized by linear interpolation; `mode` is the `coordinate_transformation_mode` of
    Interpolate.
    """
    return resized_to(op, data, size, ROWS_AND_COLUMNS, "linear_onnx", mode)


@tf.lowers("ResizeNearestNeighbor", rank=fixed(4, 1))
def resize_nearest(node: LoweringNode, op: OpBuilder, images: SSAValue, size: SSAValue) -> SSAValue:
    """tf.ResizeNearestNeighbor(images, size)
    -> opset11.Interpolate(images, size, [1, 2]) {mode = nearest, nearest_mode = floor}
    """
    mode = coordinates(node)
    if keeps_size(node):
        return images
    # Interpolate is for some element types only; 16-bit integers are exact in f32.
    is_supported = element_of(images) in INTERPOLATED
    data = images if is_supported else op.convert(images, f32)
    transformation = "tf_half_pixel_for_nn" if mode == "half_pixel" else mode
    rounding = "round_prefer_ceil" if mode == "align_corners" else "floor"
    resized = resized_to(op, data, size, ROWS_AND_COLUMNS, "nearest", transformation, nearest_mode=rounding)
    return resized if is_supported else op.convert(resized, element_of(images))


@tf.lowers("ResizeBicubic", rank=fixed(4, 1))
def resize_bicubic(node: LoweringNode, op: OpBuilder, images: SSAValue, size: SSAValue) -> SSAValue:
    """tf.ResizeBicubic(x, size) -> opset11.Interpolate(x, size, [1, 2]) {mode = cubic, cube_coeff = -0.75}

    With half_pixel_centers the weights of pixels outside of the image are 0, which Interpolate does not support: x is
    multiplied by a matrix for each axis.
    """
    data, mode = op.convert(images, f32), coordinates(node)
    if keeps_size(node):
        return data
    if mode != "half_pixel":
        return resized_to(op, data, size, ROWS_AND_COLUMNS, "cubic", mode, cube_coeff=-0.75)
    if has_known_sizes(node):
        return resample_by(op, data, [constant_matrix(op, cubic_weights(*sizes)) for sizes in known_sizes(node)])
    return resample_by(op, data, [cubic_matrix(op, *sizes) for sizes in computed_sizes(node, op)])


def has_known_sizes(node: LoweringNode) -> bool:
    """Whether height and width of the image and of the result are static or constant."""
    shape, size = node.shape(0), node.constant_integers(1)
    return shape is not None and len(shape) == 4 and size is not None and len(size) == 2 and min(*shape[1:3], *size) > 0


def computed_sizes(node: LoweringNode, op: OpBuilder) -> list[tuple[SSAValue, SSAValue]]:
    """Pairs (size in the image, size in the result) of height and width, as i64 scalars."""
    shape, size = op.ShapeOf(node.operand(0)), op.convert(node.operand(1), si64)
    return [(op.Gather(shape, axis, 0), op.Gather(size, axis - 1, 0)) for axis in ROWS_AND_COLUMNS]


def known_sizes(node: LoweringNode) -> list[tuple[int, int]]:
    """Pairs (size in the image, size in the result) of height and width. Raises ConversionError for a dynamic
    dimension.
    """
    shape, size = node.shape(0), node.constant_integers(1)
    if shape is None or size is None or not has_known_sizes(node):
        node.fail("such resizing needs sizes that are known while converting", hint="give the model's input a static shape")
    pairs = list(zip(shape[1:3], size, strict=True))
    if any(a * b > MAXIMUM_WEIGHTS for a, b in pairs):
        node.fail(f"an image of {list(shape[1:3])} is too large to be resized to {list(size)} by matrices")
    return pairs


def constant_matrix(op: OpBuilder, matrix: Weights) -> SSAValue | None:
    """A matrix as a constant; None for the identity."""
    return None if np.array_equal(matrix, np.eye(len(matrix))) else op.constant(matrix.astype(np.float32))


def resample_by(op: OpBuilder, data: SSAValue, matrices: Sequence[SSAValue | None]) -> SSAValue:
    """Data [N, H, W, C] whose rows and columns are each multiplied by a matrix [result size, data size], unless it is
    None.
    """
    for axis, matrix in zip(ROWS_AND_COLUMNS, matrices, strict=True):
        if matrix is not None:
            data = multiplied(op, data, matrix, axis, 4)
    return data


@tf.lowers("ResizeArea", rank=fixed(4, 1))
def resize_area(node: LoweringNode, op: OpBuilder, images: SSAValue, *, align_corners: bool = False) -> SSAValue:
    """tf.ResizeArea(x, size) -> x multiplied by matrices that hold the share of each pixel of x in each pixel of the
    result
    """
    data = op.convert(images, f32)
    if has_known_sizes(node):
        matrices = [constant_matrix(op, area_weights(*sizes, align_corners=align_corners)) for sizes in known_sizes(node)]
        return resample_by(op, data, matrices)
    return resample_by(op, data, [area_matrix(op, *sizes, align_corners=align_corners) for sizes in computed_sizes(node, op)])


@tf.lowers("ScaleAndTranslate")
def scale_and_translate(node: LoweringNode, op: OpBuilder, images: SSAValue, *, antialias: bool = True) -> SSAValue:
    """tf.ScaleAndTranslate(x, size, scale, translation) {kernel_type, antialias}
    -> x multiplied by the matrices of the kernel
    """
    kernel = KERNELS.get(node.text("kernel_type", "lanczos3"))
    if kernel is None:
        node.fail(f"the kernel {node.text('kernel_type')!r} does not exist")
    data, scale, translation = op.convert(images, f32), node.constant(2), node.constant(3)
    matrices: list[SSAValue | None] = []
    if scale is not None and translation is not None and has_known_sizes(node):
        for sizes, factor, offset in zip(known_sizes(node), scale.tolist(), translation.tolist(), strict=True):
            if factor <= 0:
                node.fail(f"there is no scale {factor}")
            matrices.append(constant_matrix(op, kernel_weights(kernel, *sizes, scale=factor, translation=offset, antialias=antialias)))
        return resample_by(op, data, matrices)
    for index, (size, resized) in enumerate(computed_sizes(node, op)):
        factor, offset = (op.Gather(node.operand(operand), index, 0) for operand in (2, 3))
        matrices.append(kernel_matrix(op, kernel, size, resized, scale=factor, translation=offset, antialias=antialias))
    return resample_by(op, data, matrices)


@tf.lowers("ExtractImagePatches", complex=by_parts(0), traits=(SAYS_LAYOUT,))
def extract_image_patches(
    node: LoweringNode, op: OpBuilder, images: SSAValue, *, ksizes: tuple[int, ...], strides: tuple[int, ...], rates: tuple[int, ...]
) -> SSAValue:
    """tf.ExtractImagePatches(x) -> Transpose(opset3.ExtractImagePatches(Transpose(x)))"""
    for name, entries in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
        if len(entries) != 4 or (entries[0], entries[3]) != (1, 1):
            node.fail(f"{name} {list(entries)} are not four entries, 1 for batch and channels")
    result = op.ExtractImagePatches(
        channel_first(op, images, 4),
        sizes=ksizes[1:3],
        strides=strides[1:3],
        rates=rates[1:3],
        auto_pad=same_or_valid(node),
    )
    return channel_last(op, result, 4)


def same_or_valid(node: LoweringNode) -> str:
    """The IR's `auto_pad` for the attribute `padding` of a node. Raises ConversionError for values other than SAME and
    VALID.
    """
    spelled = node.text("padding")
    if spelled not in ("SAME", "VALID"):
        node.fail(f"padding {spelled!r} does not exist")
    return "same_upper" if spelled == "SAME" else "valid"


@tf.lowers("ExtractVolumePatches")
def extract_volume_patches(
    node: LoweringNode, op: OpBuilder, input: SSAValue, *, ksizes: tuple[int, ...], strides: tuple[int, ...]
) -> SSAValue:
    """tf.ExtractVolumePatches(x)
    -> opset8.Gather of the positions in the windows, along each axis; their dimensions become the last one
    """
    if len(ksizes) != 5 or len(strides) != 5 or (*ksizes[::4], *strides[::4]) != (1, 1, 1, 1) or not 0 < np.prod(ksizes) <= 4096:
        node.fail("ksizes and strides are not five entries, 1 for batch and channels")
    data, same = input, same_or_valid(node) == "same_upper"
    lengths = [op.Gather(op.ShapeOf(data), axis, 0) for axis in (1, 2, 3)]
    if same and max(ksizes) > 1:
        before, after = [(size - 1) // 2 for size in ksizes], [size // 2 for size in ksizes]
        data = op.Pad(data, before, after, op.constant_like(0, data), pad_mode="constant")
    for axis, (length, size, stride) in enumerate(zip(lengths, ksizes[1:4], strides[1:4], strict=True)):
        data = op.Gather(data, window_positions(op, length, size, stride, same=same), 1 + 2 * axis)
    order = [0, 1, 3, 5, 2, 4, 6, 7]
    shape = op.Gather(op.ShapeOf(data), [0, 1, 3, 5], 0)
    return op.Reshape(op.Transpose(data, order), op.Concat(shape, [-1], axis=0), special_zero=False)


def window_positions(op: OpBuilder, length: SSAValue, size: int, stride: int, *, same: bool) -> SSAValue:
    """The indices of the elements of each window along an axis, [windows, size].

    With `same` they refer to the padded axis, which has (size - 1) // 2 more elements at its beginning. If the stride
    exceeds the window, TensorFlow leaves elements out at both ends.
    """
    reach = op.Add(length, stride - 1) if same else op.Add(length, stride - size)
    count = op.Divide(reach, stride)
    starts = op.Multiply(op.Range(0, count, 1, output_type=si64), stride)
    if same:
        padded = op.Subtract(op.Add(op.Multiply(op.Subtract(count, 1), stride), size), length)
        beginning = op.Divide(op.Maximum(padded, 0), 2)
        unreached = op.Divide(op.Maximum(op.Negative(padded), 0), 2)
        starts = op.Add(starts, op.Add(op.Subtract((size - 1) // 2, beginning), unreached))
    return op.Add(op.Unsqueeze(starts, [1]), np.arange(size))


@tf.lowers("ImageProjectiveTransformV2", "ImageProjectiveTransformV3")
def projective_transform(
    node: LoweringNode,
    op: OpBuilder,
    images: SSAValue,
    transforms: SSAValue,
    output_shape: SSAValue,
    fill_value: SSAValue | None = None,
    *,
    fill_mode: str = "CONSTANT",
    interpolation: str,
) -> SSAValue:
    """tf.ImageProjectiveTransformV3(x, transforms [N or 1, 8], size, fill)
    -> opset9.GridSample(Transpose(x), points of x)

    The points are (a0 x + a1 y + a2, b0 x + b1 y + b2) / (c0 x + c1 y + 1) for each pixel (x, y) of the result.
    """
    paddings = {"CONSTANT": "zeros", "NEAREST": "border", "REFLECT": "reflection", "WRAP": "border"}
    fill_mode, interpolation = fill_mode.upper(), interpolation.upper()
    if fill_mode not in paddings or interpolation not in ("NEAREST", "BILINEAR"):
        node.fail(f"fill mode {fill_mode} with interpolation {interpolation} is not supported")
    image, element = op.convert(images, f32), element_of(images)
    sizes = op.ShapeOf(image)
    points, shape = pixel_points(op, output_shape)
    ones = op.Slice(op.Multiply(transforms, 0.0), [0], [1], [1], [1])
    matrices = op.Reshape(op.Concat(transforms, op.Add(ones, 1.0), axis=1), [-1, 3, 3], special_zero=False)
    x, y, divisor = op.Split.parts(3, op.MatMul(points, matrices, transpose_b=True), 2, num_splits=3)
    lines: list[SSAValue] = []
    for value, axis in ((x, 2), (y, 1)):
        coordinate, size = op.Divide(value, divisor), op.convert(op.Gather(sizes, axis, 0), f32)
        if fill_mode == "WRAP":
            coordinate = wrapped(op, coordinate, size)
        if interpolation == "NEAREST":
            # opset9.GridSample rounds halves to even integers, TensorFlow rounds them away from zero.
            coordinate = op.Round(coordinate, mode="half_away_from_zero")
        line = op.Subtract(op.Divide(op.Add(op.Multiply(coordinate, 2.0), 1.0), size), 1.0)
        # A point at infinity is replaced by one outside of the image.
        lines.append(op.Select(op.Equal(divisor, 0.0), 3.0, line) if fill_mode == "CONSTANT" else line)
    batch = op.Gather(sizes, [0], 0)
    flat = op.Concat(*lines, axis=2)
    if (shape_of(image) or (-1,))[0] != (shape_of(flat) or (-2,))[0] or (shape_of(flat) or (-1,))[0] < 0:
        flat = op.Broadcast(flat, op.Concat(batch, [1, 1], axis=0), mode="bidirectional")
    grid = op.Reshape(flat, op.Concat(batch, op.convert(shape, si64), [2], axis=0), special_zero=False)
    is_integer, fill = element in INTEGER_TYPES, fill_value
    if fill is not None:
        fill = op.convert(op.convert(fill, element), f32) if is_integer else op.convert(fill, f32)
    known = None if fill is None else op.known.constant(fill)
    shifted = fill is not None and fill_mode == "CONSTANT" and (known is None or bool(known.any()))
    data = op.Subtract(image, fill) if shifted and fill is not None else image
    result = op.GridSample(
        channel_first(op, data, 4), grid, mode=interpolation.lower(), padding_mode=paddings[fill_mode], align_corners=False
    )
    result = channel_last(op, result, 4)
    if shifted and fill is not None:
        result = op.Add(result, fill)
    if is_integer and interpolation == "BILINEAR":
        # TensorFlow truncates integer coordinates. Coordinates that f32 cannot represent exactly are moved past the
        # integer.
        result = op.Add(result, op.Multiply(op.Sign(result), 2.0**-10))
    return op.convert(result, element)


def wrapped(op: OpBuilder, coordinate: SSAValue, size: SSAValue) -> SSAValue:
    """Positions outside of an axis, wrapped around modulo its size; TensorFlow counts from the last position.

    Positions between the last element and the first one of the next period are moved to the nearer of both, as
    TensorFlow does not interpolate there.
    """
    last = op.Subtract(size, 1.0)
    steps = op.Maximum(last, 1.0)
    before = op.Add(op.Floor(op.Divide(op.Negative(coordinate), steps)), 1.0)
    after = op.Floor(op.Divide(coordinate, steps))
    coordinate = op.Select(op.Less(coordinate, 0.0), op.Add(coordinate, op.Multiply(size, before)), coordinate)
    # A position before the first element is at most equal to the size after wrapping.
    moved = op.Subtract(coordinate, op.Multiply(size, after))
    coordinate = op.Select(op.LogicalAnd(op.Greater(coordinate, last), op.Greater(after, 0.0)), moved, coordinate)
    return op.Minimum(op.Maximum(coordinate, 0.0), last)


def pixel_points(op: OpBuilder, size: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The homogeneous points (x, y, 1) of all pixels of an image of size [H, W], as [H * W, 3], and the size as
    floats.
    """
    known = op.known.integers(size)
    if known is not None and len(known) == 2 and 0 < np.prod(known) <= MAXIMUM_WEIGHTS:
        rows, columns = np.indices(known)
        return op.constant(np.stack([columns, rows, np.ones_like(rows)], -1).reshape(-1, 3).astype(np.float32)), size
    long = op.convert(size, si64)
    lines: list[SSAValue] = []
    for axis in (1, 0):
        pixels = op.convert(op.Range(0, op.Gather(long, axis, 0), 1, output_type=si64), f32)
        aligned = op.Reshape(pixels, [1, -1] if axis else [-1, 1], special_zero=False)
        lines.append(op.Reshape(op.Broadcast(aligned, long), [-1, 1], special_zero=False))
    ones = op.Add(op.Multiply(lines[0], 0.0), 1.0)
    return op.Concat(*lines, ones, axis=1), size


@tf.lowers("ExtractGlimpse")
def extract_glimpse(node: LoweringNode, _: OpBuilder) -> NoReturn:
    """tf.ExtractGlimpse: raises an error, because windows beyond the image contain random noise."""
    node.fail("glimpses with noise around the image are not supported", hint="replace the node by tf.image.crop_and_resize in the model")


@tf.lowers("AdjustContrastv2")
def adjust_contrast(node: LoweringNode, op: OpBuilder, images: SSAValue) -> SSAValue:
    """tf.AdjustContrastv2(x, factor) -> (x - m) * factor + m, where m is opset1.ReduceMean(x, [-3, -2])"""
    return contrasted(node, op, images)


@tf.lowers("AdjustContrast")
def adjust_contrast_within(
    node: LoweringNode, op: OpBuilder, images: SSAValue, _contrast_factor: SSAValue, min_value: SSAValue, max_value: SSAValue
) -> SSAValue:
    """tf.AdjustContrast(x, factor, lowest, highest)
    -> as AdjustContrastv2, limited to lowest and highest; the element type of the result is f32
    """
    result = contrasted(node, op, op.convert(images, f32))
    return op.Minimum(op.Maximum(result, min_value), max_value)


def contrasted(node: LoweringNode, op: OpBuilder, data: SSAValue) -> SSAValue:
    """Data with the difference from the mean of each channel multiplied by a factor, operand 1."""
    mean = op.ReduceMean(data, [-3, -2], keep_dims=True)
    return op.Add(op.Multiply(op.Subtract(data, mean), op.convert(node.operand(1), element_of(data))), mean)
