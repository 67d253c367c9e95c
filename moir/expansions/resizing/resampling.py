"""Resizing to given sizes: by opset11.Interpolate, and by matrices for modes that it does not have.

Resizing is separable: along each axis every element of the result is a weighted sum of elements of the data. If the
sizes are known while converting, the weights are a constant matrix [result, data], and the data is multiplied by one
matrix for each axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import SSAValue

from moir.dialects.element_types import REAL_TYPES, f32, to_numpy
from moir.dialects.shapes import element_of, rank_of
from moir.rewriting.builder import OpBuilder, Operand

Weights = NDArray[np.floating[Any]]


def resized_to(op: OpBuilder, x: SSAValue, sizes: Operand, axes: Sequence[int], mode: str, coordinates: str, **further: Any) -> SSAValue:
    """Build opset11.Interpolate(x, sizes, axes) {mode, coordinate_transformation_mode = coordinates}.

    `further` are its other attributes.
    """
    attributes = {"shape_calculation_mode": "sizes", "coordinate_transformation_mode": coordinates, **further}
    return op.Interpolate(x, sizes, list(axes), mode=mode, **attributes)


MAXIMUM_WEIGHTS = 1 << 24
"""Largest number of elements of the matrix of an axis."""


class AxisResizing(NamedTuple):
    """The resizing of one axis.

    Args:
        axis: the axis, counted from the front.
        size: its size in the data.
        resized: its size in the result.
        scale: the scale, which need not be the quotient of the sizes.
        region: begin and end of the resized part of the data, from 0 to 1 (tf_crop_and_resize).
    """

    axis: int
    size: int
    resized: int
    scale: float
    region: tuple[float, float] = (0.0, 1.0)


class Sampling(NamedTuple):
    """How positions and weights are computed, by the attributes of ONNX Resize."""

    mode: str
    coordinates: str
    nearest: str
    antialias: bool
    exclude_outside: bool
    cube_coefficient: float


def _positions(axis: AxisResizing, coordinates: str, real: type[np.float32 | np.float64] = np.float64) -> Weights:
    """The coordinates in the data, in elements, of the elements of the result, computed in the type `real`.

    `coordinates` is the coordinate transformation mode of ONNX Resize.
    """
    x, last, scale = np.arange(axis.resized, dtype=real), axis.size - 1, real(axis.scale)
    match coordinates:
        case "align_corners":
            return x * real(last) / real(axis.resized - 1) if axis.resized > 1 else np.zeros_like(x)
        case "asymmetric":
            return x / scale
        case "tf_crop_and_resize":
            start, end = axis.region
            if axis.resized == 1:
                return np.full(1, 0.5 * (start + end) * last)
            return start * last + x * ((end - start) * last) / (axis.resized - 1)
        case "tf_half_pixel_for_nn":
            return (x + real(0.5)) / scale
        case "pytorch_half_pixel" if axis.resized == 1:
            return np.zeros(1)
        case "half_pixel_symmetric":
            # The result is centred on the data if size times scale is not an integer.
            fraction = axis.resized / (axis.scale * axis.size)
            return axis.size / 2 * (1 - fraction) + (x + real(0.5)) / scale - real(0.5)
        case _:
            return (x + real(0.5)) / scale - real(0.5)


_ROUNDINGS: dict[str, Callable[[Weights], Weights]] = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


def _linear(distance: Weights) -> Weights:
    return np.clip(1 - np.abs(distance), 0, 1)


def _cubic(distance: Weights, a: float) -> Weights:
    x = np.abs(distance)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def weights(axis: AxisResizing, sampling: Sampling) -> tuple[Weights, NDArray[np.bool_]]:
    """The matrix [result, data] that resizes an axis, and a mask [result] of the elements that lie outside the data."""
    # The last bit decides which element is the nearest.
    x = _positions(axis, sampling.coordinates, np.float32 if sampling.mode == "nearest" else np.float64)
    matrix, rows = np.zeros((axis.resized, axis.size)), np.arange(axis.resized)
    outside = (x < 0) | (x > axis.size - 1)
    if sampling.mode == "nearest":
        # Rounded up where the size becomes smaller.
        nearest = ("ceil" if axis.scale < 1 else "floor") if sampling.nearest == "simple" else sampling.nearest
        columns = np.clip(_ROUNDINGS[nearest](x), 0, axis.size - 1).astype(np.int64)
        matrix[rows, columns] = 1
        return matrix, outside
    reach = 1 if sampling.mode == "linear" else 2
    # With antialias, the filter is as wide as one element of the result: 1 / scale elements of the data.
    stretch = min(axis.scale, 1.0) if sampling.antialias else 1.0
    base = np.floor(x).astype(np.int64)
    taps = np.arange(math.floor(-reach / stretch) + 1, math.ceil(reach / stretch) + 1)
    columns = base[:, None] + taps
    distance = (columns - x[:, None]) * stretch
    values = _linear(distance) if sampling.mode == "linear" else _cubic(distance, sampling.cube_coefficient)
    if sampling.exclude_outside:
        values = np.where((columns >= 0) & (columns < axis.size), values, 0)
    if sampling.exclude_outside or sampling.antialias:
        values /= values.sum(axis=1, keepdims=True)
    np.add.at(matrix, (rows[:, None], np.clip(columns, 0, axis.size - 1)), values)
    return matrix, outside


def resample(op: OpBuilder, data: SSAValue, axes: Sequence[AxisResizing], sampling: Sampling, extrapolation: float) -> SSAValue:
    """Data of static rank resized along axes of static sizes, by a product with the matrix of each.

    `extrapolation` is the value of elements outside of the data if a region is cropped.
    """
    element, rank = element_of(data), rank_of(data) or 0
    reckoned = element if element in REAL_TYPES else f32
    value = data if sampling.mode == "nearest" and sampling.coordinates != "tf_crop_and_resize" else op.convert(data, reckoned)
    beyond = np.zeros((1,) * rank, dtype=bool)
    for axis in axes:
        matrix, outside = weights(axis, sampling)
        if sampling.coordinates == "tf_crop_and_resize":
            beyond = beyond | outside.reshape([-1 if i == axis.axis else 1 for i in range(rank)])
        if axis.resized == 0:
            value = op.Slice(value, [0], [0], [1], [axis.axis])
        elif sampling.mode == "nearest":
            value = op.Gather(value, matrix.argmax(axis=1).astype(np.int64), axis.axis)
        else:
            value = multiplied(op, value, op.constant(matrix.astype(to_numpy(reckoned)), reckoned), axis.axis, rank)
    if beyond.any():
        value = op.Select(op.constant(beyond), op.constant_like(extrapolation, value), value)
    return op.convert(value, element)


def multiplied(op: OpBuilder, data: SSAValue, matrix: SSAValue, axis: int, rank: int) -> SSAValue:
    """Multiply data of static rank `rank` by a matrix [result, data] along an axis."""
    if axis == rank - 1:
        return op.MatMul(data, matrix, transpose_b=True)
    if axis == rank - 2:
        return op.MatMul(matrix, data)
    order = [index for index in range(rank) if index != axis] + [axis]
    product = op.MatMul(op.Transpose(data, order), matrix, transpose_b=True)
    return op.Transpose(product, np.argsort(order).tolist())
