"""Functions of `tf.image`.

An image has the dimensions [height, width, channels], a batch of images one more in front.
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES, f32, to_numpy
from moir.dialects.shapes import element_of
from moir.lowering.keras.tensorflow.arrays import saturate_cast
from moir.lowering.keras.tensorflow.calls import Call, Tensor, function
from moir.lowering.keras.tensorflow.reduction import moments_of

HEIGHT, WIDTH = -3, -2
"""The axes of height and width, counted from the end."""

_METHODS = {"bilinear": "ResizeBilinear", "nearest": "ResizeNearestNeighbor", "bicubic": "ResizeBicubic", "area": "ResizeArea"}
_KERNELS = {"lanczos3": "lanczos3", "lanczos5": "lanczos5", "gaussian": "gaussian", "mitchellcubic": "mitchellcubic"}
_SCALED = {"bilinear": "triangle", "bicubic": "keyscubic"}


@function("image.resize")
def resize(
    call: Call, images: Tensor, size: Tensor, method: str = "bilinear", preserve_aspect_ratio: bool = False, antialias: bool = False
) -> SSAValue:
    """tf.image.resize: tf.ResizeBilinear and so on with half-pixel centers, tf.ScaleAndTranslate with antialiasing"""
    data = call.tensor(images)
    is_one = call.rank(data) == 3
    batch = call.op.Unsqueeze(data, [0]) if is_one else data
    wanted = size
    if preserve_aspect_ratio:
        wanted = _kept_ratio(call, batch, call.numbers(size, "sizes"))
    name = str(method).rpartition(".")[2].lower()
    resized = _resized(call, batch, wanted, name, antialias)
    return call.raw("Squeeze", resized, squeeze_dims=[0]) if is_one else resized


def _kept_ratio(call: Call, batch: SSAValue, size: list[int]) -> list[int]:
    """The largest height and width within `size` that keep the aspect ratio of the images, computed in single
    precision.
    """
    own = call.size(batch, HEIGHT), call.size(batch, WIDTH)
    scale = min(np.float32(limit) / np.float32(each) for limit, each in zip(size, own, strict=True))
    return [int(np.round(np.float32(scale) * np.float32(each))) for each in own]


def _resized(call: Call, batch: SSAValue, size: Tensor, name: str, antialias: bool) -> SSAValue:
    wanted = call.integers(size)
    if name in _METHODS and (not antialias or name in ("nearest", "area")):
        centers: dict[str, object] = {} if name == "area" else {"half_pixel_centers": True}
        return call.raw(_METHODS[name], batch, wanted, align_corners=False, **centers)
    kernel = _KERNELS.get(name) or _SCALED.get(name)
    if kernel is None:
        call.fail(f"the method {name!r} does not exist")
    own = call.integers([call.size(batch, HEIGHT), call.size(batch, WIDTH)])
    scale = call.raw("RealDiv", call.op.convert(wanted, f32), call.op.convert(own, f32))
    data = call.op.convert(batch, f32)
    return call.raw("ScaleAndTranslate", data, wanted, scale, call.tensor([0.0, 0.0]), kernel_type=kernel, antialias=antialias)


@function("image.flip_left_right", "image.flip_up_down")
def flip(call: Call, image: Tensor) -> SSAValue:
    """tf.image.flip_left_right: tf.ReverseV2 of the width; likewise flip_up_down of the height"""
    return _flipped(call, call.tensor(image), WIDTH if call.node.text("function").endswith("right") else HEIGHT)


def _flipped(call: Call, image: SSAValue, axis: int) -> SSAValue:
    return call.raw("ReverseV2", image, call.integers([call.rank(image) + axis]))


@function("image.transpose")
def transpose(call: Call, image: Tensor) -> SSAValue:
    """tf.image.transpose: tf.Transpose of height and width"""
    return _turned(call, call.tensor(image))


def _turned(call: Call, image: SSAValue) -> SSAValue:
    rank = call.rank(image)
    return call.raw("Transpose", image, call.integers([*range(rank - 3), rank - 2, rank - 3, rank - 1]))


@function("image.rot90")
def rot90(call: Call, image: Tensor, k: int = 1) -> SSAValue:
    """tf.image.rot90: quarters of a turn, counter-clockwise"""
    data = call.tensor(image)
    match call.numbers(k, "turns")[0] % 4:
        case 1:
            return _flipped(call, _turned(call, data), HEIGHT)
        case 2:
            return _flipped(call, _flipped(call, data, HEIGHT), WIDTH)
        case 3:
            return _turned(call, _flipped(call, data, HEIGHT))
        case _:
            return data


def _part(call: Call, image: SSAValue, top: int, left: int, height: int, width: int) -> SSAValue:
    rank = call.rank(image)
    begin = [*[0] * (rank - 3), top, left, 0]
    return call.raw("Slice", image, call.integers(begin), call.integers([*[-1] * (rank - 3), height, width, -1]))


@function("image.crop_to_bounding_box")
def crop(call: Call, image: Tensor, offset_height: int, offset_width: int, target_height: int, target_width: int) -> SSAValue:
    """tf.image.crop_to_bounding_box: tf.Slice"""
    return _part(call, call.tensor(image), offset_height, offset_width, target_height, target_width)


@function("image.central_crop")
def central_crop(call: Call, image: Tensor, central_fraction: float) -> SSAValue:
    """tf.image.central_crop: tf.Slice of the middle"""
    data = call.tensor(image)
    if central_fraction == 1:
        return data
    sizes = call.size(data, HEIGHT), call.size(data, WIDTH)
    starts = [int((each - each * central_fraction) / 2) for each in sizes]
    height, width = (each - 2 * start for each, start in zip(sizes, starts, strict=True))
    return _part(call, data, starts[0], starts[1], height, width)


@function("image.pad_to_bounding_box")
def pad(call: Call, image: Tensor, offset_height: int, offset_width: int, target_height: int, target_width: int) -> SSAValue:
    """tf.image.pad_to_bounding_box: tf.Pad"""
    data = call.tensor(image)
    return _padded(call, data, offset_height, offset_width, target_height, target_width)


def _padded(call: Call, image: SSAValue, top: int, left: int, height: int, width: int) -> SSAValue:
    below, right = height - top - call.size(image, HEIGHT), width - left - call.size(image, WIDTH)
    pads = [[0, 0]] * (call.rank(image) - 3) + [[top, below], [left, right], [0, 0]]
    return call.raw("Pad", image, call.integers(pads))


@function("image.resize_with_crop_or_pad")
def crop_or_pad(call: Call, image: Tensor, target_height: int, target_width: int) -> SSAValue:
    """tf.image.resize_with_crop_or_pad: tf.Slice of the middle, then tf.Pad around it"""
    return _cropped_or_padded(call, call.tensor(image), target_height, target_width)


def _cropped_or_padded(call: Call, image: SSAValue, height: int, width: int) -> SSAValue:
    own = call.size(image, HEIGHT), call.size(image, WIDTH)
    cut = [max((size - wanted) // 2, 0) for size, wanted in zip(own, (height, width), strict=True)]
    pads = [max((wanted - size) // 2, 0) for size, wanted in zip(own, (height, width), strict=True)]
    part = _part(call, image, cut[0], cut[1], min(height, own[0]), min(width, own[1]))
    return _padded(call, part, pads[0], pads[1], height, width)


@function("image.resize_with_pad")
def resize_with_pad(
    call: Call, image: Tensor, target_height: int, target_width: int, method: str = "bilinear", antialias: bool = False
) -> SSAValue:
    """tf.image.resize_with_pad: the image resized with its ratio of sides, and zeros around it"""
    data = call.tensor(image)
    own = call.size(data, HEIGHT), call.size(data, WIDTH)
    ratio = max(np.float64(own[1]) / target_width, np.float64(own[0]) / target_height)
    sizes = [math.floor(each / ratio) for each in own]
    pads = [max(0, math.floor((wanted - each / ratio) / 2)) for each, wanted in zip(own, (target_height, target_width), strict=True)]
    resized = resize(call, data, sizes, method, antialias=antialias)
    return _padded(call, resized, pads[0], pads[1], target_height, target_width)


# Colors


def _colors(call: Call, images: SSAValue, matrix: list[list[float]]) -> SSAValue:
    """The product of images' channels, their last dimension, and a matrix [channels, new channels]."""
    rank = call.rank(images)
    letters = "abcdefg"[: rank - 1]
    return call.raw("Einsum", images, call.tensor(matrix, element_of(images)), equation=f"{letters}y,yz->{letters}z")


_COLOR_SPACES: dict[str, list[list[float]]] = {
    "rgb_to_yiq": [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]],
    "yiq_to_rgb": [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]],
    "rgb_to_yuv": [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]],
    "yuv_to_rgb": [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]],
}
"""For each change of the color space, the matrix by which the channels are multiplied; its rows are for the source's
channels.
"""


@function(*(f"image.{name}" for name in _COLOR_SPACES))
def color_space(call: Call, images: Tensor) -> SSAValue:
    """tf.image.rgb_to_yuv: the product of the channels and a matrix; likewise the other color spaces"""
    return _colors(call, call.tensor(images), _COLOR_SPACES[call.node.text("function").rpartition(".")[2]])


@function("image.rgb_to_grayscale")
def rgb_to_grayscale(call: Call, images: Tensor) -> SSAValue:
    """tf.image.rgb_to_grayscale: the weighted sum of the channels, in the element type of the image"""
    data = call.tensor(images)
    gray = _colors(call, convert_type(call, data, "float32"), [[0.2989], [0.5870], [0.1140]])
    return _converted_back(call, gray, data)


@function("image.grayscale_to_rgb")
def grayscale_to_rgb(call: Call, images: Tensor) -> SSAValue:
    """tf.image.grayscale_to_rgb: tf.Tile of the channel"""
    data = call.tensor(images)
    return call.raw("Tile", data, call.integers([1] * (call.rank(data) - 1) + [3]))


@function("image.convert_image_dtype")
def convert_type(call: Call, image: Tensor, dtype: object, saturate: bool = False) -> SSAValue:
    """tf.image.convert_image_dtype: tf.Cast; integers are scaled to and from the range of 0 to 1"""
    data, element = call.tensor(image), call.element(dtype)
    own = element_of(data)
    if own == element:
        return data
    own_type, wanted = to_numpy(own), to_numpy(element)
    if own_type.kind in "iu" and wanted.kind in "iu":
        call.fail("images of integers that become other integers are not supported", "convert them to float32 first")
    if own_type.kind in "iu":
        scaled = call.raw("Cast", data, DstT=element)
        return call.raw("Mul", scaled, call.tensor(1.0 / np.iinfo(own_type).max, element))
    if wanted.kind not in "iu":
        return call.raw("Cast", data, DstT=element)
    scaled = call.raw("Mul", data, call.tensor(np.iinfo(wanted).max + 0.5, own))
    return saturate_cast(call, scaled, dtype) if saturate else call.raw("Cast", scaled, DstT=element)


def _converted_back(call: Call, result: SSAValue, image: SSAValue) -> SSAValue:
    """A float32 result converted to the element type of `image`; if this is an integer type, scaled to its range."""
    element = element_of(image)
    return result if element == element_of(result) else convert_type(call, result, to_numpy(element).name, saturate=True)


@function("image.adjust_brightness")
def adjust_brightness(call: Call, image: Tensor, delta: Tensor) -> SSAValue:
    """tf.image.adjust_brightness: tf.AddV2"""
    data = call.tensor(image)
    return _converted_back(call, call.raw("AddV2", *call.alike(convert_type(call, data, "float32"), delta)), data)


@function("image.adjust_gamma")
def adjust_gamma(call: Call, image: Tensor, gamma: Tensor = 1, gain: Tensor = 1) -> SSAValue:
    """tf.image.adjust_gamma: gain · image ^ gamma"""
    data = call.tensor(image)
    x, exponent, factor = call.alike(convert_type(call, data, "float32"), gamma, gain)
    return _converted_back(call, call.raw("Mul", factor, call.raw("Pow", x, exponent)), data)


@function("image.adjust_contrast")
def adjust_contrast(call: Call, images: Tensor, contrast_factor: Tensor) -> SSAValue:
    """tf.image.adjust_contrast: (x - mean) · factor + mean, with the mean of height and width"""
    data = call.tensor(images)
    x, factor = call.alike(convert_type(call, data, "float32"), contrast_factor)
    mean = call.reduced("Mean", x, [HEIGHT, WIDTH], keep=True)
    return _converted_back(call, call.raw("AddV2", call.raw("Mul", call.raw("Sub", x, mean), factor), mean), data)


@function("image.adjust_saturation", "image.adjust_hue")
def adjust_color(call: Call, image: Tensor, amount: Tensor = None, saturation_factor: Tensor = None, delta: Tensor = None) -> SSAValue:
    """tf.image.adjust_hue: tf.AdjustHue; likewise adjust_saturation: tf.AdjustSaturation"""
    data = call.tensor(image)
    chosen = next((each for each in (amount, saturation_factor, delta) if each is not None), 0)
    kind = "AdjustHue" if call.node.text("function").endswith("hue") else "AdjustSaturation"
    return _converted_back(call, call.raw(kind, *call.alike(convert_type(call, data, "float32"), chosen)), data)


@function("image.per_image_standardization")
def standardization(call: Call, image: Tensor) -> SSAValue:
    """tf.image.per_image_standardization: (x - mean) / max(deviation, 1 / √n)"""
    data = call.tensor(image)
    x = call.op.convert(data, f32) if element_of(data) in INTEGER_TYPES else data
    axes = [-1, HEIGHT, WIDTH]
    mean, variance = moments_of(call, x, axes, True)
    count = call.size(x, -1) * call.size(x, HEIGHT) * call.size(x, WIDTH)
    deviation = call.raw("Maximum", call.raw("Sqrt", variance), call.number_like(1 / math.sqrt(count), x))
    return call.raw("RealDiv", call.raw("Sub", x, mean), deviation)


# Patches and edges


@function("image.extract_patches")
def extract_patches(call: Call, images: Tensor, sizes: Tensor, strides: Tensor, rates: Tensor, padding: str) -> SSAValue:
    """tf.image.extract_patches: tf.ExtractImagePatches"""
    named = {"ksizes": call.numbers(sizes, "sizes"), "strides": call.numbers(strides, "strides"), "rates": call.numbers(rates, "rates")}
    return call.raw("ExtractImagePatches", call.tensor(images), padding=padding.upper(), **named)


@function("image.image_gradients")
def image_gradients(call: Call, image: Tensor) -> list[SSAValue]:
    """tf.image.image_gradients: the differences of neighbours, and zeros at the end"""
    data = call.tensor(image)
    return [_differences(call, data, axis) for axis in (HEIGHT, WIDTH)]


def _neighbours(call: Call, image: SSAValue, axis: int) -> SSAValue:
    """The differences of neighbouring elements along an axis, which becomes shorter by one."""
    rank = call.rank(image)
    place = rank + axis
    begin, rest = [0] * rank, [0] * rank
    begin[place], rest[place] = 1, -1
    mask = sum(1 << each for each in range(rank) if each != place)
    ones = call.integers([1] * rank)
    later = call.raw(
        "StridedSlice", image, call.integers(begin), call.integers([0] * rank), ones, begin_mask=mask, end_mask=(1 << rank) - 1
    )
    former = call.raw(
        "StridedSlice", image, call.integers([0] * rank), call.integers(rest), ones, begin_mask=(1 << rank) - 1, end_mask=mask
    )
    return call.raw("Sub", later, former)


def _differences(call: Call, image: SSAValue, axis: int) -> SSAValue:
    rank = call.rank(image)
    pads = [[0, 0] for _ in range(rank)]
    pads[rank + axis] = [0, 1]
    return call.raw("Pad", _neighbours(call, image, axis), call.integers(cast("Tensor", pads)))


@function("image.total_variation")
def total_variation(call: Call, images: Tensor) -> SSAValue:
    """tf.image.total_variation: the sum of the sizes of differences of neighbours"""
    data = call.tensor(images)
    axes = list(range(call.rank(data) - 3, call.rank(data)))
    rows, columns = (call.reduced("Sum", call.raw("Abs", _neighbours(call, data, axis)), axes) for axis in (HEIGHT, WIDTH))
    return call.raw("AddV2", rows, columns)


@function("image.sobel_edges")
def sobel_edges(call: Call, image: Tensor) -> SSAValue:
    """tf.image.sobel_edges: tf.DepthwiseConv2dNative of the image, whose edge elements are reflected"""
    data = call.tensor(image)
    channels = call.size(data, -1)
    kernels = np.array([[[-1, -2, -1], [0, 0, 0], [1, 2, 1]], [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]])
    filters = np.broadcast_to(kernels.transpose(1, 2, 0)[:, :, None, :], (3, 3, channels, 2))
    wide = call.raw("MirrorPad", data, call.integers([[0, 0], [1, 1], [1, 1], [0, 0]]), mode="REFLECT")
    weights = call.tensor(filters.tolist(), element_of(data))
    edges = call.raw("DepthwiseConv2dNative", wide, weights, strides=[1, 1, 1, 1], padding="VALID")
    shape = call.op.Concat(call.raw("Shape", data), call.integers([2]), axis=0)
    return call.raw("Reshape", edges, shape)


@function("image.non_max_suppression")
def non_max_suppression(
    call: Call, boxes: Tensor, scores: Tensor, max_output_size: Tensor, iou_threshold: Tensor = 0.5, score_threshold: Tensor = -math.inf
) -> SSAValue:
    """tf.image.non_max_suppression: tf.NonMaxSuppressionV3"""
    box, score = call.alike(boxes, scores)
    limits = [call.tensor(each, f32) for each in (iou_threshold, score_threshold)]
    return call.raw("NonMaxSuppressionV3", box, score, call.integers(max_output_size), *limits)
