"""Matrices [result, data] that resize an axis: by the area of pixels, and by the kernels of ScaleAndTranslate."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from moir.expansions.resizing.resampling import Weights
from moir.support.records import Record

NEGLIGIBLE = 1000 * float(np.finfo(np.float32).tiny)
"""The smallest sum of weights that is normalized to 1."""


CUBIC_STEPS = 1024
"""The number of positions between two pixels at which TensorFlow tabulates cubic weights; positions are rounded to
these.
"""

CUBIC_COEFFICIENT = -0.5
"""The coefficient of cubic interpolation with half_pixel_centers."""


def cubic_weights(size: int, resized: int) -> Weights:
    """The matrix [resized, size] of cubic interpolation with half_pixel_centers; the weights within the image
    sum to 1.
    """
    single = np.float32
    samples = (np.arange(resized, dtype=single) + single(0.5)) * (single(size) / single(resized)) - single(0.5)
    before = np.floor(samples)
    coordinates = before + np.round((samples - before) * single(CUBIC_STEPS)) / CUBIC_STEPS
    x, a = np.abs(np.arange(size) - coordinates[:, None]), CUBIC_COEFFICIENT
    near, far = ((a + 2) * x - (a + 3)) * x * x + 1, ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    matrix = np.where(x < 1, near, np.where(x < 2, far, 0.0))
    sums = matrix.sum(axis=1, keepdims=True)
    return matrix / np.where(np.abs(sums) >= NEGLIGIBLE, sums, 1.0)


def area_weights(size: int, resized: int, *, align_corners: bool) -> Weights:
    """The matrix [resized, size] of resizing by area: the share of each pixel of the data in each pixel of the
    result.
    """
    scale = (size - 1) / (resized - 1) if align_corners and min(size, resized) > 1 else size / resized
    matrix = np.zeros((resized, size))
    for row in range(resized):
        start, end = row * scale, (row + 1) * scale
        for index in range(math.floor(start), math.ceil(end)):
            matrix[row, min(index, size - 1)] += (min(index + 1, end) - max(index, start)) / scale
    return matrix


class Polynomials(Record):
    """A kernel that is a piecewise polynomial of the distance, and 0 after the last piece.

    Each piece is a pair: the distance at which it ends, and the coefficients, highest power first.
    """

    radius: float
    pieces: tuple[tuple[float, tuple[float, ...]], ...]

    def weights(self, x: Weights) -> Weights:
        """The values of the kernel at the distances x, elementwise."""
        weights = np.zeros_like(x)
        for end, coefficients in reversed(self.pieces):
            weights = np.where(x < end, np.polyval(coefficients, x), weights)
        return weights


class Lanczos(Record):
    """The kernel sinc(x) · sinc(x / radius)."""

    radius: float

    def weights(self, x: Weights) -> Weights:
        """The values of the kernel at the distances x, elementwise."""
        return np.where(x > self.radius, 0, np.sinc(x) * np.sinc(x / self.radius))


class Gaussian(Record):
    """The kernel exp(-x² / (2 · deviation²))."""

    radius: float
    deviation: float

    def weights(self, x: Weights) -> Weights:
        """The values of the kernel at the distances x, elementwise."""
        return np.where(x >= self.radius, 0, np.exp(-x * x / (2 * self.deviation * self.deviation)))


Kernel: TypeAlias = Polynomials | Lanczos | Gaussian

_AT_HALF = float(np.nextafter(np.float32(0.5), np.float32(1.0)))

KERNELS: dict[str, Kernel] = {
    "lanczos1": Lanczos(1.0),
    "lanczos3": Lanczos(3.0),
    "lanczos5": Lanczos(5.0),
    "gaussian": Gaussian(1.5, 0.5),
    "box": Polynomials(0.5, ((0.5, (1.0,)), (_AT_HALF, (0.5,)))),
    "triangle": Polynomials(1.0, ((1.0, (-1.0, 1.0)),)),
    "keyscubic": Polynomials(2.0, ((1.0, (1.5, -2.5, 0.0, 1.0)), (2.0, (-0.5, 2.5, -4.0, 2.0)))),
    "mitchellcubic": Polynomials(2.0, ((1.0, (7 / 6, -2.0, 0.0, 8 / 9)), (2.0, (-7 / 18, 2.0, -10 / 3, 16 / 9)))),
}
"""The kernels of ScaleAndTranslate, by name, as functions of the nonnegative distance in pixels."""


def kernel_weights(
    kernel: Kernel, size: int, resized: int, *, scale: float, translation: float, antialias: bool, beyond: bool = False
) -> Weights:
    """The matrix [resized, size] of the normalized weights of a kernel.

    With `antialias` and a scale below 1 the kernel is widened to the size of a pixel of the result. Samples outside of
    the data are 0; with `beyond` they are computed from the pixels within reach of the kernel.
    """
    stretch = max(1 / scale, 1.0) if antialias else 1.0
    samples = (np.arange(resized) + 0.5) / scale - translation / scale
    distance = np.arange(size) + 0.5 - samples[:, None]
    # A pixel has a weight if its centre lies within the radius.
    within = np.abs(distance) <= kernel.radius * stretch
    matrix = np.where(within, kernel.weights(np.abs(distance) / stretch), 0.0)
    sums = matrix.sum(axis=1, keepdims=True)
    matrix = np.where(np.abs(sums) >= NEGLIGIBLE, matrix / np.where(sums == 0, 1, sums), matrix)
    if not beyond:
        matrix[(samples < 0) | (samples > size)] = 0
    return matrix
