"""Matrices [result, data] that resize an axis: by the area of pixels, and by the kernels of ScaleAndTranslate."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from moir.lowering.resampling import Weights

Kernel = tuple[float, Callable[[Weights], Weights]]
"""The radius of a kernel, and its weight as a function of the distance within the radius."""

NEGLIGIBLE = 1000 * float(np.finfo(np.float32).tiny)
"""Smaller sums of weights are not normalized to 1."""


CUBIC_STEPS = 1024
"""Positions between two pixels for which TensorFlow has weights of cubic interpolation; others are rounded to them."""

CUBIC_COEFFICIENT = -0.5
"""Of cubic interpolation with half_pixel_centers."""


def cubic_weights(size: int, resized: int) -> Weights:
    """The weights of cubic interpolation with half_pixel_centers; those of the pixels within the image add up to 1."""
    single = np.float32
    samples = (np.arange(resized, dtype=single) + single(0.5)) * (single(size) / single(resized)) - single(0.5)
    before = np.floor(samples)
    places = before + np.round((samples - before) * single(CUBIC_STEPS)) / CUBIC_STEPS
    x, a = np.abs(np.arange(size) - places[:, None]), CUBIC_COEFFICIENT
    near, far = ((a + 2) * x - (a + 3)) * x * x + 1, ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    matrix = np.where(x < 1, near, np.where(x < 2, far, 0.0))
    sums = matrix.sum(axis=1, keepdims=True)
    return matrix / np.where(np.abs(sums) >= NEGLIGIBLE, sums, 1.0)


def area_weights(size: int, resized: int, *, align_corners: bool) -> Weights:
    """The share of each pixel of the data in each pixel of the result, by area."""
    scale = (size - 1) / (resized - 1) if align_corners and min(size, resized) > 1 else size / resized
    matrix = np.zeros((resized, size))
    for row in range(resized):
        start, end = row * scale, (row + 1) * scale
        for place in range(math.floor(start), math.ceil(end)):
            matrix[row, min(place, size - 1)] += (min(place + 1, end) - max(place, start)) / scale
    return matrix


def _lanczos(radius: float) -> Kernel:
    def weight(x: Weights) -> Weights:
        near = np.sinc(x) * np.sinc(x / radius)
        return np.where(x > radius, 0, near)

    return radius, weight


def _gaussian(x: Weights) -> Weights:
    deviation = 0.5
    return np.where(x >= 1.5, 0, np.exp(-x * x / (2 * deviation * deviation)))


def _box(x: Weights) -> Weights:
    return np.where(x < 0.5, 1.0, np.where(x == 0.5, 0.5, 0.0))


def _keys(x: Weights) -> Weights:
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x >= 2, 0, np.where(x >= 1, far, (1.5 * x - 2.5) * x * x + 1))


def _mitchell(x: Weights) -> Weights:
    far = ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.where(x >= 2, 0, np.where(x >= 1, far, (7 / 6 * x - 2) * x * x + 8 / 9))


KERNELS: dict[str, Kernel] = {
    "lanczos1": _lanczos(1.0),
    "lanczos3": _lanczos(3.0),
    "lanczos5": _lanczos(5.0),
    "gaussian": (1.5, _gaussian),
    "box": (0.5, _box),
    "triangle": (1.0, lambda x: np.maximum(1 - x, 0)),
    "keyscubic": (2.0, _keys),
    "mitchellcubic": (2.0, _mitchell),
}


def kernel_weights(kernel: str, size: int, resized: int, *, scale: float, translation: float, antialias: bool) -> Weights | None:
    """The normalized weights of a kernel; None if the kernel is unknown.

    With `antialias` and a scale below 1 the kernel is widened to the size of a pixel of the result.
    """
    if kernel not in KERNELS:
        return None
    radius, weight = KERNELS[kernel]
    stretch = max(1 / scale, 1.0) if antialias else 1.0
    samples = (np.arange(resized) + 0.5) / scale - translation / scale
    distance = np.arange(size) + 0.5 - samples[:, None]
    # A pixel has a weight if its centre lies within the radius.
    within = np.abs(distance) <= radius * stretch
    matrix = np.where(within, weight(np.abs(distance) / stretch), 0.0)
    sums = matrix.sum(axis=1, keepdims=True)
    matrix = np.where(np.abs(sums) >= NEGLIGIBLE, matrix / np.where(sums == 0, 1, sums), matrix)
    matrix[(samples < 0) | (samples > size)] = 0
    return matrix
