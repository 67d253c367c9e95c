"""Images and windows of TensorFlow, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.draw import Array, Draw
from tests.fuzz.tensorflow.recipe import NO_TYPE, Node, recipe


def image(draw: Draw, dtype: np.dtype[Any], channels: int | None = None) -> Array:
    return draw.array(dtype, [draw.integer(1, 2), draw.integer(1, 6), draw.integer(1, 6), channels or draw.integer(1, 3)], special=0.0)


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


@recipe("FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3")
def batch_norm(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = image(draw, dtype)
    single = np.dtype(np.float32)
    scale, offset = (draw.array(single, [data.shape[-1]], special=0.0) for _ in range(2))
    training = draw.chance(0.2)
    known = [0] if training else scale.shape
    statistics = {"mean": draw.array(single, known, special=0.0), "variance": draw.positive(np.float32, known)}
    attributes = {"is_training": training, "epsilon": draw.one_of((1e-4, 1e-2))}
    return Node({"x": data, "scale": scale, "offset": offset, **statistics}, attributes, (), 1)


@recipe("ResizeArea")
def resize_area(draw: Draw, dtype: np.dtype[Any]) -> Node:
    operands = {"images": image(draw, dtype), "size": np.array(draw.integers(2, 1, 7), np.int32)}
    return Node(operands, {"align_corners": draw.chance(0.3)}, ("size",))


@recipe("ResizeBicubic")
def resize_cubic(draw: Draw, dtype: np.dtype[Any]) -> Node:
    """Without half_pixel_centers the sizes are such that no position is rounded: TensorFlow rounds them to 1/1024 pixels."""
    node = resize(draw, dtype)
    if node.attributes["half_pixel_centers"]:
        return node
    sizes, aligned = np.shape(node.operands["images"])[1:3], int(node.attributes["align_corners"])
    factor = draw.one_of((1, 2, 4))
    wanted = np.array([max((size - aligned) * factor + aligned, 1) for size in sizes], np.int32)
    return Node({**node.operands, "size": wanted}, node.attributes, node.structural)


@recipe("ScaleAndTranslate")
def scaled(draw: Draw, dtype: np.dtype[Any]) -> Node:
    operands = {
        "images": image(draw, dtype),
        "size": np.array(draw.integers(2, 1, 7), np.int32),
        "scale": draw.positive(np.float32, [2]) * 2,
        "translation": draw.array(np.dtype(np.float32), [2], special=0.0),
    }
    kernel = draw.one_of(("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic"))
    return Node(operands, {"kernel_type": kernel, "antialias": draw.chance(0.5)}, ("size", "scale", "translation"))


@recipe("ImageProjectiveTransformV2 ImageProjectiveTransformV3", "dtype")
def projected(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = image(draw, dtype)
    transforms = np.array([1, 0, 0, 0, 1, 0, 0, 0], np.float32) + draw.array(np.dtype(np.float32), [8], special=0.0) * np.float32(0.1)
    transforms[6:] *= np.float32(0.1)
    operands = {
        "images": data,
        "transforms": np.tile(transforms, (draw.one_of((1, len(data))), 1)),
        "output_shape": np.array(draw.integers(2, 1, 7), np.int32),
    }
    modes = {"interpolation": draw.one_of(("NEAREST", "BILINEAR")), "fill_mode": draw.one_of(("CONSTANT", "REFLECT", "WRAP", "NEAREST"))}
    return Node(operands, modes, ("output_shape",))


@recipe("ImageProjectiveTransformV3", "dtype")
def projected_on(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = projected(draw, dtype)
    return Node({**node.operands, "fill_value": np.array(1.5, np.float32)}, node.attributes, node.structural)


def colors(draw: Draw, dtype: np.dtype[Any], least: int = 0) -> Array:
    return np.asarray(draw.random.uniform(0, 1, [*draw.filled(least, 3), 3])).astype(dtype)


@recipe("RGBToHSV HSVToRGB")
def color(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"images": colors(draw, dtype)})


@recipe("AdjustHue")
def hue(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"images": colors(draw, dtype, 2), "delta": np.array(draw.random.uniform(-1, 1), np.float32)})


@recipe("AdjustSaturation")
def saturation(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"images": colors(draw, dtype, 2), "scale": np.array(draw.random.uniform(0, 2), np.float32)})


@recipe("AdjustContrastv2")
def contrast(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"images": image(draw, dtype), "contrast_factor": np.array(draw.random.uniform(0, 2), np.float32)})


@recipe("ExtractGlimpseV2", NO_TYPE)
def glimpses(draw: Draw, dtype: np.dtype[Any]) -> Node:
    """The offsets are multiples of 1/8, whose products with sizes are exact."""
    batch, height, width = draw.integer(1, 2), *draw.integers(2, 1, 8)
    images = draw.array(dtype, [batch, height, width, draw.integer(1, 3)], special=0.0)
    normalized = draw.chance(0.5)
    offsets = np.asarray(draw.random.integers(-10, 11, (batch, 2)) / 8 * (1 if normalized else 8), np.float32)
    attributes = {"centered": draw.chance(0.5), "normalized": normalized, "uniform_noise": False, "noise": "zero"}
    return Node({"input": images, "size": np.array(draw.integers(2, 1, 9), np.int32), "offsets": offsets}, attributes, ("size",))
