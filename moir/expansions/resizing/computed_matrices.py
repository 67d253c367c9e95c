"""Matrices [result, data] that resize an axis of dynamic size."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si64
from moir.expansions.resizing.image_kernels import CUBIC_COEFFICIENT, CUBIC_STEPS, NEGLIGIBLE, Gaussian, Kernel, Lanczos
from moir.rewriting.builder import OpBuilder


def numbers(op: OpBuilder, count: SSAValue, shape: list[int]) -> SSAValue:
    """The numbers 0 … count - 1 as f32, for a scalar `count`, in the shape [1, -1] of a row or [-1, 1] of a column."""
    return op.Reshape(op.convert(op.Range(0, count, 1, output_type=si64), f32), shape, special_zero=False)


def cubic_matrix(op: OpBuilder, size: SSAValue, resized: SSAValue) -> SSAValue:
    """The matrix [result, data] of cubic interpolation with half_pixel_centers, like `image_kernels.cubic_weights`.

    Args:
        size, resized: sizes of the axis in the data and in the result, i64 scalars.
    """
    scale = op.Divide(op.convert(size, f32), op.convert(resized, f32))
    sample = op.Subtract(op.Multiply(op.Add(numbers(op, resized, [-1, 1]), 0.5), scale), 0.5)
    before = op.Floor(sample)
    steps = op.Round(op.Multiply(op.Subtract(sample, before), CUBIC_STEPS), mode="half_to_even")
    position = op.Add(before, op.Divide(steps, CUBIC_STEPS))
    x, a = op.Abs(op.Subtract(numbers(op, size, [1, -1]), position)), CUBIC_COEFFICIENT
    square = op.Multiply(x, x)
    near = op.Add(op.Multiply(op.Subtract(op.Multiply(x, a + 2), a + 3), square), 1.0)
    far = op.Subtract(op.Multiply(op.Add(op.Multiply(op.Subtract(op.Multiply(x, a), 5 * a), x), 8 * a), x), 4 * a)
    return normalized(op, op.Select(op.Less(x, 1.0), near, op.Select(op.Less(x, 2.0), far, 0.0)))


def normalized(op: OpBuilder, weights: SSAValue) -> SSAValue:
    """Weights [result, data] with each row divided by its sum."""
    sums = op.ReduceSum(weights, [1], keep_dims=True)
    return op.Divide(weights, op.Select(op.GreaterEqual(op.Abs(sums), NEGLIGIBLE), sums, 1.0))


def area_matrix(op: OpBuilder, size: SSAValue, resized: SSAValue, *, align_corners: bool) -> SSAValue:
    """The matrix [result, data] of resizing by area: the share of each pixel of the data in each pixel of the result.

    Args:
        size, resized: sizes of the axis in the data and in the result, i64 scalars.
        align_corners: whether the scale is (size - 1) / (resized - 1) if both are above 1, else size / resized.
    """
    if align_corners:
        several = op.LogicalAnd(op.Greater(size, 1), op.Greater(resized, 1))
        data, new_size = (op.Select(several, op.Subtract(each, 1), each) for each in (size, resized))
    else:
        data, new_size = size, resized
    scale = op.Divide(op.convert(data, f32), op.convert(new_size, f32))
    row, pixel = numbers(op, resized, [-1, 1]), numbers(op, size, [1, -1])
    # Positions beyond the last pixel take its value.
    last = op.Equal(pixel, op.convert(op.Subtract(size, 1), f32))
    until = op.Select(last, float(np.finfo(np.float32).max), op.Add(pixel, 1.0))
    end = op.Minimum(until, op.Multiply(op.Add(row, 1.0), scale))
    return op.Divide(op.Maximum(op.Subtract(end, op.Maximum(pixel, op.Multiply(row, scale))), 0.0), scale)


def kernel_matrix(
    op: OpBuilder,
    kernel: Kernel,
    size: SSAValue,
    resized: SSAValue,
    *,
    scale: SSAValue,
    translation: SSAValue,
    antialias: bool,
    beyond: bool = False,
) -> SSAValue:
    """The matrix [result, data] of the normalized weights of a kernel, like `image_kernels.kernel_weights`.

    Args:
        size, resized: sizes of the axis in the data and in the result, i64 scalars.
        scale, translation: element i of the data is at scale · i + translation of the result; f32 scalars.
        antialias: whether the kernel is widened for a scale below 1.
        beyond: whether samples outside of the data are computed from the pixels within reach of the kernel; else they
            are 0.
    """
    stretch = op.Maximum(op.Divide(1.0, scale), 1.0) if antialias else op.constant(1.0)
    pixels = op.Add(numbers(op, resized, [-1, 1]), 0.5)
    samples = op.Divide(op.Subtract(pixels, translation), scale)
    distance = op.Abs(op.Subtract(op.Add(numbers(op, size, [1, -1]), 0.5), samples))
    # A pixel has a weight if its centre lies within the radius; an element of the result has weights if its position
    # lies in the data.
    within = op.LessEqual(distance, op.Multiply(stretch, kernel.radius))
    weights = normalized(op, op.Select(within, _weights(op, kernel, op.Divide(distance, stretch)), 0.0))
    if beyond:
        return weights
    inside = op.LogicalAnd(op.GreaterEqual(samples, 0.0), op.LessEqual(samples, op.convert(size, f32)))
    return op.Select(inside, weights, 0.0)


def _weights(op: OpBuilder, kernel: Kernel, x: SSAValue) -> SSAValue:
    """The values of a kernel at the distances x, elementwise."""
    if isinstance(kernel, Lanczos):
        return op.Multiply(_sinc(op, x), _sinc(op, op.Divide(x, kernel.radius)))
    if isinstance(kernel, Gaussian):
        bell = op.Exp(op.Multiply(op.Multiply(x, x), -1 / (2 * kernel.deviation * kernel.deviation)))
        return op.Select(op.Less(x, kernel.radius), bell, 0.0)
    weights: SSAValue = op.constant(0.0)
    for end, (first, *others) in reversed(kernel.pieces):
        value: SSAValue = op.constant(first)
        for coefficient in others:
            value = op.Add(op.Multiply(value, x), coefficient)
        weights = op.Select(op.Less(x, end), value, weights)
    return weights


def _sinc(op: OpBuilder, x: SSAValue) -> SSAValue:
    angle = op.Multiply(x, np.pi)
    return op.Select(op.Equal(x, 0.0), 1.0, op.Divide(op.Sin(angle), angle))
