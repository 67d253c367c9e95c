"""Resizing to sizes that are computed when the model runs; `resampling` is the module for static sizes.

Along an axis an element of the result is the sum of the elements around its position in the data, with weights:

    result(i) = sum of data(floor(position(i)) + k) · filter(floor(position(i)) + k - position(i)), k from -1 to 2

With antialiasing the filter is wider, in proportion to the scale; or the filter may have to exclude positions outside
of the data. In both cases the result is the product of a matrix [count, size + 2 · margin] with the data, whose border
elements are repeated `margin` times, the width of the filter:

    weight of element j for result i = filter((j - margin - position(i)) · stretch)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from xdsl.ir import SSAValue

from moir.dialects.element_types import REAL_TYPES, f32, si64
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.expansions.resizing.resampling import Sampling, multiplied
from moir.rewriting.builder import OpBuilder


@dataclass(frozen=True)
class ComputedResizing:
    """The resizing of one axis, in scalars.

    Args:
        axis: the axis, counted from the front.
        size: its size in the data, i64.
        count: its size in the result, i64.
        scale: the scale, f32, which need not be the quotient of the sizes.
        region: begin and end of the resized part of the data, f32, from 0 to 1 (tf_crop_and_resize).
    """

    axis: int
    size: SSAValue
    count: SSAValue
    scale: SSAValue
    region: tuple[SSAValue, SSAValue] | None = None


def resample_with_computed_sizes(
    op: OpBuilder, data: SSAValue, axes: Sequence[ComputedResizing], sampling: Sampling, extrapolation: float
) -> SSAValue:
    """Data of static rank resized along axes of computed sizes.

    `extrapolation` is the value of elements outside of the data if a region is cropped.
    """
    element, rank = element_of(data), rank_of(data) or 0
    value = data if element in REAL_TYPES else op.convert(data, f32)
    beyond: SSAValue | None = None
    for axis in axes:
        coordinates = _positions(op, axis, sampling.coordinates)
        if axis.region is not None:
            last = op.Subtract(op.convert(axis.size, f32), 1.0)
            outside = op.LogicalOr(op.Less(coordinates, 0.0), op.Greater(coordinates, last))
            outside = op.Reshape(outside, [-1 if index == axis.axis else 1 for index in range(rank)], special_zero=False)
            beyond = outside if beyond is None else op.LogicalOr(beyond, outside)
        if sampling.mode == "nearest":
            value = _nearest(op, value, axis, coordinates, sampling)
        elif sampling.antialias or sampling.exclude_outside:
            value = _filtered(op, value, axis, coordinates, sampling)
        else:
            value = _weighted(op, value, axis, coordinates, sampling)
    if beyond is not None:
        value = op.Select(beyond, op.constant_like(extrapolation, value), value)
    return op.convert(value, element)


def _positions(op: OpBuilder, axis: ComputedResizing, coordinates: str) -> SSAValue:
    """The coordinates in the data, in elements, of the elements of the result, f32 [count].

    `coordinates` is the coordinate transformation mode of ONNX Resize.
    """
    x = op.convert(op.Range(0, axis.count, 1, output_type=si64), f32)
    size, count = op.convert(axis.size, f32), op.convert(axis.count, f32)
    last, steps = op.Subtract(size, 1.0), op.Maximum(op.Subtract(count, 1.0), 1.0)
    is_single = op.Equal(axis.count, 1)
    # Not all targets broadcast the operand that replaces a Select whose condition is known.
    none = op.Multiply(x, 0.0)
    centered = op.Subtract(_quotient(op, op.Add(x, 0.5), axis.scale), 0.5)
    match coordinates:
        case "align_corners":
            return _quotient(op, op.Multiply(x, last), steps)
        case "asymmetric":
            return _quotient(op, x, axis.scale)
        case "tf_half_pixel_for_nn":
            return op.Add(centered, 0.5)
        case "pytorch_half_pixel":
            return op.Select(is_single, none, centered)
        case "half_pixel_symmetric":
            # The result is centred on the data if size times scale is not an integer.
            fraction = op.Divide(count, op.Multiply(axis.scale, size))
            return op.Add(centered, op.Multiply(op.Divide(size, 2.0), op.Subtract(1.0, fraction)))
        case "tf_crop_and_resize" if axis.region is not None:
            start, end = axis.region
            # The division comes last, so that the end of the data is not a position outside of them.
            passed = _quotient(op, op.Multiply(x, op.Multiply(op.Subtract(end, start), last)), steps)
            middle = op.Add(none, op.Multiply(op.Multiply(op.Add(start, end), 0.5), last))
            return op.Select(is_single, middle, op.Add(op.Multiply(start, last), passed))
        case _:
            return centered


def _quotient(op: OpBuilder, x: SSAValue, divisor: SSAValue) -> SSAValue:
    """x / divisor, corrected by the remainder.

    Runtimes may multiply by the reciprocal of the divisor; the last bit matters, since it decides which element is the
    nearest.
    """
    quotient = op.Divide(x, divisor)
    return op.Add(quotient, op.Divide(op.Subtract(x, op.Multiply(quotient, divisor)), divisor))


def _nearest(op: OpBuilder, data: SSAValue, axis: ComputedResizing, coordinates: SSAValue, sampling: Sampling) -> SSAValue:
    match sampling.nearest:
        case "round_prefer_floor":
            rounded = op.Ceiling(op.Subtract(coordinates, 0.5))
        case "round_prefer_ceil":
            rounded = op.Floor(op.Add(coordinates, 0.5))
        case "ceil":
            rounded = op.Ceiling(coordinates)
        case "simple":
            # Positions are rounded up if the axis is downsampled, else down.
            rounded = op.Select(op.Less(axis.scale, 1.0), op.Ceiling(coordinates), op.Floor(coordinates))
        case _:
            rounded = op.Floor(coordinates)
    columns = op.convert(rounded, si64)
    if shape_of(columns) == (1,):
        # Not all targets keep the dimension of a computed vector of one index.
        columns = op.Squeeze(columns, [0])
        return op.Unsqueeze(op.Gather(data, op.Maximum(op.Minimum(columns, op.Subtract(axis.size, 1)), 0), axis.axis), [axis.axis])
    return op.Gather(data, op.Maximum(op.Minimum(columns, op.Subtract(axis.size, 1)), 0), axis.axis)


def _weighted(op: OpBuilder, data: SSAValue, axis: ComputedResizing, coordinates: SSAValue, sampling: Sampling) -> SSAValue:
    """Data resized along an axis: the weighted sum of the two (linear) or four (cubic) elements around each
    coordinate.
    """
    before, rank = op.Floor(coordinates), rank_of(data) or 0
    passed, last = op.Subtract(coordinates, before), op.Subtract(axis.size, 1)
    terms: list[SSAValue] = []
    for offset in (0, 1) if sampling.mode == "linear" else (-1, 0, 1, 2):
        columns = op.Maximum(op.Minimum(op.convert(op.Add(before, float(offset)), si64), last), 0)
        distance = op.Subtract(float(offset), passed)
        weight = _linear(op, distance) if sampling.mode == "linear" else _cubic(op, distance, sampling.cube_coefficient)
        weight = op.Reshape(weight, [-1 if index == axis.axis else 1 for index in range(rank)], special_zero=False)
        terms.append(op.Multiply(op.Gather(data, columns, axis.axis), op.convert(weight, element_of(data))))
    return reduce(op.Add, terms)


def _filtered(op: OpBuilder, data: SSAValue, axis: ComputedResizing, coordinates: SSAValue, sampling: Sampling) -> SSAValue:
    rank, reach = rank_of(data) or 0, 1.0 if sampling.mode == "linear" else 2.0
    # With antialias, the filter is as wide as one element of the result: 1 / scale elements of the data.
    stretch = op.Minimum(axis.scale, 1.0) if sampling.antialias else op.constant(1.0)
    margin = op.convert(op.Add(op.Ceiling(op.Divide(reach, stretch)), 1.0), si64)
    columns = axis.size
    if not sampling.exclude_outside:
        pads = op.Concat(*(op.Reshape(margin, [1], special_zero=False) if index == axis.axis else [0] for index in range(rank)), axis=0)
        data = op.Pad(data, pads, pads, pad_mode="edge")
        columns = op.Add(axis.size, op.Multiply(margin, 2))
    elements = op.Range(0, columns, 1, output_type=si64)
    if not sampling.exclude_outside:
        elements = op.Subtract(elements, margin)
    distances = op.Multiply(op.Subtract(op.Unsqueeze(op.convert(elements, f32), [0]), op.Unsqueeze(coordinates, [1])), stretch)
    weights = _linear(op, distances) if sampling.mode == "linear" else _cubic(op, distances, sampling.cube_coefficient)
    if sampling.exclude_outside or sampling.antialias:
        weights = op.Divide(weights, op.ReduceSum(weights, [1], keep_dims=True))
    return multiplied(op, data, op.convert(weights, element_of(data)), axis.axis, rank)


def _linear(op: OpBuilder, distances: SSAValue) -> SSAValue:
    return op.Maximum(op.Subtract(1.0, op.Abs(distances)), 0.0)


def _cubic(op: OpBuilder, distances: SSAValue, a: float) -> SSAValue:
    x = op.Abs(distances)
    near = op.Add(op.Multiply(op.Multiply(op.Subtract(op.Multiply(x, a + 2), a + 3), x), x), 1.0)
    far = op.Subtract(op.Multiply(op.Add(op.Multiply(op.Subtract(op.Multiply(x, a), 5 * a), x), 8 * a), x), 4 * a)
    return op.Select(op.LessEqual(x, 1.0), near, op.Select(op.Less(x, 2.0), far, 0.0))
