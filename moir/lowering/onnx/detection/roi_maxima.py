"""Maxima of the samples of regions, as RoiAlign defines them in mode `max`.

A sample lies between four elements, each with a weight; its value is the largest product of element and weight, not
their sum. Source: the reference implementation of ONNX, with which ONNX Runtime agrees.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si64
from moir.dialects.shapes import element_of
from moir.expansions.shape_values import dimension_value
from moir.rewriting.builder import OpBuilder


def roi_maxima(
    op: OpBuilder, x: SSAValue, rois: SSAValue, images: SSAValue, *, scale: float, size: Sequence[int], half_pixel: bool, samples: int
) -> SSAValue:
    """The maxima of `samples` * `samples` samples in each cell of each region: [R, C, height, width].

    Args:
        op: the builder.
        x: the images [N, C, H, W].
        rois: the regions [R, 4] as (x1, y1, x2, y2).
        images: the image of each region [R].
        scale: the factor from the coordinates of regions to elements of the images.
        size: the cells of a region, height and width.
        half_pixel: whether coordinates are shifted by half an element.
        samples: the samples along each side of a cell.
    """
    scaled = op.Multiply(op.convert(rois, f32), scale)
    ends = op.Subtract(scaled, 0.5) if half_pixel else scaled
    height, width = (dimension_value(op, x, axis) for axis in (2, 3))
    counts = [cells * samples for cells in size]
    rows = _samples(op, ends, (1, 3), counts[0], height, half_pixel)
    columns = _samples(op, ends, (0, 2), counts[1], width, half_pixel)
    image = op.Reshape(op.convert(images, si64), [-1, 1, 1], special_zero=False)
    inside = op.LogicalAnd(op.Unsqueeze(rows.inside, [2]), op.Unsqueeze(columns.inside, [1]))
    # [N * H * W, C]: the channels of each element.
    flat = op.Transpose(op.Reshape(x, [0, 0, -1], special_zero=True), [0, 2, 1])
    flat = op.Reshape(flat, op.Concat([-1], dimension_value(op, x, 1, (1,)), axis=0), special_zero=False)
    products: list[SSAValue] = []
    for row, row_weight in rows.ends:
        for column, column_weight in columns.ends:
            line = op.Add(op.Multiply(image, height), op.Unsqueeze(row, [2]))
            index = op.Add(op.Multiply(line, width), op.Unsqueeze(column, [1]))
            weight = op.Multiply(op.Unsqueeze(row_weight, [2]), op.Unsqueeze(column_weight, [1]))
            weight, index = op.Select(inside, weight, 0.0), op.Select(inside, index, 0)
            products.append(op.Multiply(op.convert(op.Gather(flat, index, 0), f32), op.Unsqueeze(weight, [3])))
    maxima = op.Transpose(reduce(op.Maximum, products), [0, 3, 1, 2])
    if samples > 1:
        sizes = (each for count in counts for each in (count // samples, samples))
        maxima = op.ReduceMax(op.Reshape(maxima, [0, 0, *sizes], special_zero=True), [3, 5], keep_dims=False)
    return op.convert(maxima, element_of(x))


class _Samples:
    """Samples along an axis, [R, count]: whether they are in the image, and the two neighbouring elements with their
    interpolation weights.
    """

    def __init__(self, inside: SSAValue, ends: list[tuple[SSAValue, SSAValue]]) -> None:
        self.inside = inside
        self.ends = ends


def _samples(op: OpBuilder, rois: SSAValue, columns: tuple[int, int], count: int, size: SSAValue, half_pixel: bool) -> _Samples:
    start, stop = (op.Gather(rois, [column], 1) for column in columns)
    extent = op.Subtract(stop, start)
    if not half_pixel:
        extent = op.Maximum(extent, 1.0)
    steps = op.constant(((np.arange(count) + 0.5) / count).astype(np.float32).reshape(1, -1))
    coordinate = op.Add(start, op.Multiply(extent, steps))
    limit = op.convert(size, f32)
    inside = op.LogicalAnd(op.GreaterEqual(coordinate, -1.0), op.LessEqual(coordinate, limit))
    last = op.Subtract(limit, 1.0)
    coordinate = op.Minimum(op.Maximum(coordinate, 0.0), last)
    low = op.Floor(coordinate)
    part = op.Subtract(coordinate, low)
    high = op.Minimum(op.Add(low, 1.0), last)
    return _Samples(inside, [(op.convert(low, si64), op.Subtract(1.0, part)), (op.convert(high, si64), part)])
