"""Sampling grids: the grids of affine maps, and the sampling of volumes, which opset9.GridSample does not
do.

    %y = onnx.GridSample(%x, %grid)        // %x: [N, C, D, H, W], %grid: [N, D', H', W', 3] of (x, y, z) from -1 to 1
->  the sum over the 8 corners around each point of weight · opset8.Gather(%x as [N, D * H * W, C], corner)
"""

from __future__ import annotations

import math
from functools import reduce
from itertools import product

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si64
from moir.dialects.shapes import element_of, rank_of
from moir.errors import UnsupportedOperationError
from moir.expansions.shape_values import dimension_value
from moir.rewriting.builder import OpBuilder, Operand

LARGEST_CONSTANT = 1 << 20
"""The largest number of elements of a grid whose positions are stored as a constant."""


PADDINGS = ("zeros", "border", "reflection")


def sampled_volume(op: OpBuilder, data: SSAValue, grid: SSAValue, *, mode: str, padding: str, aligned: bool) -> SSAValue:
    """Volumes [N, C, D, H, W] sampled at the points of a grid [N, D', H', W', 3]: [N, C, D', H', W'].

    With `aligned`, -1 and 1 are the centres of the outermost elements, otherwise their outer edges.

    Raises ConversionError for modes other than `bilinear` (trilinear here) and `nearest`, and for unknown paddings.
    """
    # Coordinates of 16 bits would be rounded to whole elements of large volumes.
    grid = op.convert(grid, f32)
    for operand, rank in enumerate((rank_of(data), rank_of(grid))):
        if rank is None:
            raise UnsupportedOperationError(f"the rank of operand {operand} is dynamic", hint="give the model's inputs a static rank")
        if rank != 5:
            raise UnsupportedOperationError(f"operand {operand} has rank {rank}; volumes and their grids have rank 5")
    if mode not in ("bilinear", "nearest") or padding not in PADDINGS:
        raise UnsupportedOperationError(f"sampling of volumes in mode {mode!r} with padding {padding!r} is not supported")
    sizes = [dimension_value(op, data, axis) for axis in (2, 3, 4)]
    # The grid has x first, which counts along the last axis.
    coordinates = [_coordinate(op, op.Gather(grid, 2 - index, -1), size, padding, aligned=aligned) for index, size in enumerate(sizes)]
    flat = op.Reshape(data, [0, 0, -1], special_zero=True)
    if mode == "nearest":
        return _corner(op, flat, [op.Round(coordinate, mode="half_to_even") for coordinate in coordinates], sizes, padding)
    lower = [op.Floor(coordinate) for coordinate in coordinates]
    parts: list[SSAValue] = []
    for corner in product((0, 1), repeat=3):
        ends = [op.Add(low, float(step)) if step else low for low, step in zip(lower, corner, strict=True)]
        distances = [op.Subtract(1.0, op.Abs(op.Subtract(coordinate, end))) for coordinate, end in zip(coordinates, ends, strict=True)]
        weight = op.Unsqueeze(reduce(op.Multiply, distances), [1])
        parts.append(op.Multiply(_corner(op, flat, ends, sizes, padding), op.convert(weight, element_of(data))))
    return reduce(op.Add, parts)


def _coordinate(op: OpBuilder, line: SSAValue, size: SSAValue, padding: str, *, aligned: bool) -> SSAValue:
    """Coordinates `line` from -1 to 1 along an axis of `size` elements, scaled to element indices.

    With the padding `border` or `reflection`, indices outside of the data are moved inside. `aligned` as in
    `sampled_volume`.
    """
    count = op.convert(size, element_of(line))
    last = op.Subtract(count, 1.0)
    if aligned:
        coordinate = op.Multiply(op.Multiply(op.Add(line, 1.0), 0.5), last)
    else:
        coordinate = op.Subtract(op.Multiply(op.Multiply(op.Add(line, 1.0), 0.5), count), 0.5)
    if padding == "reflection":
        low, span = (0.0, last) if aligned else (-0.5, count)
        # A triangle wave of the period 2 * span: the distance to the nearest even multiple of the span.
        period = op.Maximum(op.Multiply(span, 2.0), 1e-6)
        shifted = op.FloorMod(op.Subtract(coordinate, low), period)
        coordinate = op.Add(op.Minimum(shifted, op.Subtract(period, shifted)), low)
    return coordinate if padding == "zeros" else op.Maximum(op.Minimum(coordinate, last), 0.0)


def _corner(op: OpBuilder, flat: SSAValue, coordinates: list[SSAValue], sizes: list[SSAValue], padding: str) -> SSAValue:
    """The elements of [N, C, D * H * W] at integer coordinates: [N, C, D', H', W'].

    With the padding "zeros", elements outside of the data are 0.

    Args:
        op: the builder.
        flat: the data.
        coordinates: the coordinate along each axis.
        sizes: D, H and W.
        padding: the padding mode.
    """
    index: SSAValue | None = None
    inside: SSAValue | None = None
    for coordinate, size in zip(coordinates, sizes, strict=True):
        whole = op.convert(coordinate, si64)
        limited = op.Maximum(op.Minimum(whole, op.Subtract(size, 1)), 0)
        within = op.Equal(whole, limited)
        inside = within if inside is None else op.LogicalAnd(inside, within)
        index = limited if index is None else op.Add(op.Multiply(index, size), limited)
    assert index is not None
    assert inside is not None
    # After the batch, Gather puts the dimensions of the grid before the channels if the channels come last.
    channels_last = op.Gather(op.Transpose(flat, [0, 2, 1]), index, 1, batch_dims=1)
    values = op.Transpose(channels_last, [0, 4, 1, 2, 3])
    return op.Select(op.Unsqueeze(inside, [1]), values, op.constant_like(0, values)) if padding == "zeros" else values


def affine_coordinates(op: OpBuilder, theta: SSAValue, size: SSAValue, rank: int, *, align_corners: bool) -> SSAValue:
    """The grid [N, H, W, 2] of affine maps theta [N, 2, 3] of images, or [N, D, H, W, 3] of maps [N, 3, 4] of volumes.

    The centres of the outermost elements are -1 and 1 with `align_corners`, otherwise their outer edges are.

    Args:
        op: the builder.
        theta: the maps.
        size: the shape of the images, [N, C, H, W].
        rank: the number of its elements.
        align_corners: whether -1 and 1 are the centres of the first and last element, or the edges of the data.
    """
    axes = rank - 2
    known = op.known.integers(size)
    if known is not None and 0 < math.prod(known[2:]) <= LARGEST_CONSTANT:
        lines = [_line(extent, align_corners) for extent in known[2:]]
        grid = np.stack([*np.meshgrid(*lines, indexing="ij")[::-1], np.ones(known[2:])], axis=-1).reshape(-1, axes + 1)
        points = op.constant_like(grid, theta)
        target: Operand = [known[0], *known[2:], axes]
    else:
        points = _points(op, theta, op.Slice(size, [2], [rank], [1], [0]), axes, align_corners)
        target = op.Concat(op.Gather(size, [0, *range(2, rank)], 0), op.constant([axes], element_of(size)), axis=0)
    return op.Reshape(op.MatMul(points, theta, transpose_b=True), target, special_zero=False)


def _line(extent: int, align_corners: bool) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """The coordinates from -1 to 1 of the `extent` elements of an axis.

    -1 and 1 are the centres of the first and last element with `align_corners`, otherwise their outer edges.
    """
    indices = np.arange(extent, dtype=np.float64)
    return 2 * indices / max(extent - 1, 1) - 1 if align_corners else (2 * indices + 1) / extent - 1


def _points(op: OpBuilder, theta: SSAValue, extents: SSAValue, rank: int, align_corners: bool) -> SSAValue:
    """The points (x, y, 1), [H * W, 3], of a grid whose sizes [H, W] are computed when the model runs."""
    lines: list[SSAValue] = []
    element = element_of(theta)
    for axis in range(rank):
        extent = op.convert(op.Gather(extents, axis, 0), si64)
        indices = op.convert(op.Range(op.constant(0), extent, op.constant(1), output_type=si64), element)
        if align_corners:
            line = op.Divide(op.Multiply(indices, 2), op.convert(op.Maximum(op.Subtract(extent, 1), 1), element))
        else:
            line = op.Divide(op.Add(op.Multiply(indices, 2), 1), op.convert(extent, element))
        aligned = op.Reshape(op.Subtract(line, 1), [-1 if i == axis else 1 for i in range(rank)], special_zero=False)
        lines.append(op.Reshape(op.Broadcast(aligned, extents), [-1, 1], special_zero=False))
    count = op.Concat(op.ReduceProd(extents, [0], keep_dims=True), op.constant([1], element_of(extents)), axis=0)
    return op.Concat(*lines[::-1], op.Broadcast(op.constant_like(1, theta), count), axis=1)
