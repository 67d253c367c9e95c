"""Sampling of images at points, and the decoding of images. Layout: N, C, spatial axes."""

from __future__ import annotations

import math
from typing import NoReturn

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import rank_of, shape_of
from moir.expansions.resampling import MAXIMUM_WEIGHTS
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.operands import declared_rank, of_length
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder, Operand


@onnx.lowers("GridSample", since=16)
def grid_sample(
    node: LoweringNode, op: OpBuilder, x: SSAValue, grid: SSAValue, *, padding_mode: str = "zeros", align_corners: bool = False
) -> SSAValue:
    """onnx.GridSample(x, grid) {mode, padding_mode, align_corners}
    -> opset9.GridSample(x, grid) {mode, padding_mode, align_corners}
    """
    modes = {"bilinear": "bilinear", "linear": "bilinear", "bicubic": "bicubic", "cubic": "bicubic", "nearest": "nearest"}
    mode = node.text("mode", "bilinear" if node.version < 20 else "linear")
    if mode not in modes:
        node.fail(f"mode {mode!r} is not one of {', '.join(modes)}")
    if node.version >= 20 and 4 not in (rank_of(x), rank_of(grid)):
        from moir.expansions.volumes import sampled_volume

        return sampled_volume(
            op,
            x,
            grid,
            mode=modes[mode],
            padding=padding_mode,
            aligned=align_corners,
        )
    return op.GridSample(
        x,
        grid,
        mode=modes[mode],
        padding_mode=padding_mode,
        align_corners=align_corners,
    )


@onnx.lowers("AffineGrid", since=20)
def affine_grid(
    node: LoweringNode, op: OpBuilder, theta: SSAValue, size: SSAValue | None = None, *, align_corners: bool = False
) -> SSAValue:
    """onnx.AffineGrid(theta, [N, C, H, W]) {align_corners}
    -> opset1.Reshape(opset1.MatMul(points, theta), [N, H, W, 2])

    The points [H * W, 3] are the coordinates (x, y, 1) of the elements of an image, from -1 to 1; those of a volume are
    (x, y, z, 1).
    """
    shape = node.shape(0) or (-1,) * 3
    if len(shape) != 3:
        node.fail(f"theta has {len(shape)} dimensions, not those of a batch of matrices")
    rows, columns = shape[-2:]
    stated = rows + 2 if rows > 0 else columns + 1 if columns > 0 else declared_rank(node)
    size = None if size is None else of_length(op, size, stated)
    count = None if size is None else (shape_of(size) or (-1,))[0]
    if size is None or count not in (4, 5):
        node.fail("the size is no list of 4 or 5 numbers", hint="make size an initializer")
    known = node.constant_integers(1)
    if known is not None and 0 < math.prod(known[2:]) <= MAXIMUM_WEIGHTS:
        lines = [grid_line(extent, align_corners) for extent in known[2:]]
        grid = np.stack([*np.meshgrid(*lines, indexing="ij")[::-1], np.ones(known[2:])], axis=-1).reshape(-1, count - 1)
        points = op.constant_like(grid, theta)
        target: Operand = [known[0], *known[2:], count - 2]
    else:
        points = grid_points(node, op, op.Slice(size, [2], [count], [1], [0]), count - 2)
        target = op.Concat(op.Gather(size, [0, *range(2, count)], 0), [count - 2], axis=0)
    return op.Reshape(op.MatMul(points, theta, transpose_b=True), target, special_zero=False)


def grid_line(extent: int, align_corners: bool) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Coordinates of the elements of an axis.

    The centres of the outermost elements are -1 and 1 with `align_corners`, otherwise their outer edges are.
    """
    numbers = np.arange(extent, dtype=np.float64)
    return 2 * numbers / max(extent - 1, 1) - 1 if align_corners else (2 * numbers + 1) / extent - 1


def grid_points(node: LoweringNode, op: OpBuilder, extents: SSAValue, rank: int) -> SSAValue:
    """The points [D * H * W, 4] of a grid whose sizes [D, H, W] are computed at run time."""
    theta, lines = node.operand(0), list[SSAValue]()
    element = node.element(0)
    for axis in range(rank):
        extent = op.Gather(extents, axis, 0)
        numbers = op.convert(op.Range(0, extent, 1, output_type=si64), element)
        if node.flag("align_corners"):
            line = op.Divide(op.Multiply(numbers, 2), op.convert(op.Maximum(op.Subtract(extent, 1), 1), element))
        else:
            line = op.Divide(op.Add(op.Multiply(numbers, 2), 1), op.convert(extent, element))
        aligned = op.Reshape(op.Subtract(line, 1), [-1 if i == axis else 1 for i in range(rank)], special_zero=False)
        lines.append(op.Reshape(op.Broadcast(aligned, extents), [-1, 1], special_zero=False))
    ones = op.Broadcast(op.constant_like(1, theta), op.Concat(op.ReduceProd(extents, [0], keep_dims=True), [1], axis=0))
    return op.Concat(*lines[::-1], ones, axis=1)


@onnx.lowers("ImageDecoder", since=20)
def image_decoder(node: LoweringNode, _: OpBuilder) -> NoReturn:
    """onnx.ImageDecoder: refused, because images have to be decoded before the model runs."""
    node.fail("compressed images cannot be decoded by a model", hint="decode them before and make the pixels an input")
