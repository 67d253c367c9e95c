"""Images as inputs of a model, decoded and resized by Pillow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from moir.dialects.memory_map import Array
from moir.dialects.shapes import Shape
from moir.errors import ConversionError, ExecutionError, UsageError
from moir.support.records import Record

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".gif", ".tif", ".tiff")
_LARGEST_SIZE = 1 << 14


class Preparation(Record):
    """How the elements of an image, from 0 to 255, become those of an input: (x - mean) / scale.

    Args:
        mean: one number for all channels, or one for each.
        scale: likewise.
    """

    mean: Sequence[float] = (0.0,)
    scale: Sequence[float] = (1.0,)


def read_image(path: Path, shape: Shape | None, dtype: np.dtype[Any], preparation: Preparation) -> Array:
    """An image as a batch of one.

    Args:
        path: the file.
        shape: the shape of the input: [N,C,H,W] or [N,H,W,C] of 1 or 3 channels, -1 for a dynamic dimension. Dynamic
            heights and widths are those of the image.
        dtype: the element type of the input.
        preparation: what is done to the elements.

    Raises UsageError for an input that does not take images, and for means or scales that do not fit its channels;
    ExecutionError if Pillow is not installed, ConversionError for a file that is not an image.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise ExecutionError("Pillow, which reads images, is not installed", hint="install moir[images], or the package pillow") from error
    channels, axis = _channels(shape)
    assert shape is not None
    height, width = (shape[index] for index in ((2, 3) if axis == 1 else (1, 2)))
    for numbers in (preparation.mean, preparation.scale):
        if len(numbers) not in (1, channels):
            raise UsageError(f"there are {len(numbers)} means or scales for images with {channels} channels", hint="give one, or one each")
    if 0 in preparation.scale:
        raise UsageError("images cannot be divided by a scale of 0")
    try:
        with Image.open(path) as opened:
            image = opened.convert("RGB" if channels == 3 else "L")
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise ConversionError(f"the image cannot be read: {error}", location=str(path)) from error
    size = (width if width > 0 else min(image.width, _LARGEST_SIZE), height if height > 0 else min(image.height, _LARGEST_SIZE))
    pixels = np.asarray(image if image.size == size else image.resize(size, Image.Resampling.BILINEAR), dtype=np.float64)
    pixels = pixels.reshape(*pixels.shape[:2], channels)
    pixels = (pixels - np.asarray(preparation.mean)) / np.asarray(preparation.scale)
    batch = pixels[None].transpose(0, 3, 1, 2) if axis == 1 else pixels[None]
    count = max(shape[0], 1)
    return np.repeat(batch.astype(dtype), count, axis=0)


def _channels(shape: Shape | None) -> tuple[int, int]:
    """The number of channels (1 or 3) of an input of rank 4, and their axis, 1 or 3.

    Raises UsageError for an input of another shape.
    """
    if shape is not None and len(shape) == 4:
        for axis in (1, 3):
            if shape[axis] in (1, 3):
                return shape[axis], axis
    text = "dynamic rank" if shape is None else f"the shape {list(shape)}"
    raise UsageError(f"an input of {text} does not take a batch of images with 1 or 3 channels", hint="give arrays: samples.npz")
