"""Sampling of images at points, and the decoding of images. Layout: N, C, spatial axes."""

from __future__ import annotations

from typing import NoReturn

from xdsl.ir import SSAValue

from moir.dialects.shapes import rank_of, shape_of
from moir.expansions.resizing.sampling_grids import affine_coordinates
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.operands import declared_rank, of_length
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder


@onnx.lowers("com.microsoft.GridSample")
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
        from moir.expansions.resizing.sampling_grids import sampled_volume

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
        node.fail("the size is not a list of 4 or 5 numbers", hint="make size an initializer")
    return affine_coordinates(op, theta, size, count, align_corners=align_corners)


@onnx.lowers("ImageDecoder", since=20)
def image_decoder(node: LoweringNode, _: OpBuilder) -> NoReturn:
    """onnx.ImageDecoder: refused, because images have to be decoded before the model runs."""
    node.fail("compressed images cannot be decoded by a model", hint="decode them before and make the pixels an input")
