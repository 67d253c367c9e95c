"""The transformations of images that a network may begin with.

Source: image/image_random-inl.h, image/crop-inl.h and image/resize-inl.h of MXNet 1.9.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.expansions.resizing.resampling import resized_to
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.attributes import is_integer, numbers_of, rank_of_operand
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder


@mxnet.lowers("_image_to_tensor")
def to_tensor(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """mxnet._image_to_tensor(x [H, W, C] or [N, H, W, C]) -> x / 255 as [C, H, W] or [N, C, H, W]"""
    rank = rank_of_operand(node)
    scaled = op.Divide(op.convert(x, f32), 255.0)
    return op.transposed(scaled, [*range(rank - 3), rank - 1, rank - 3, rank - 2])


@mxnet.lowers("_image_normalize")
def normalize(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """mxnet._image_normalize(x [C, H, W] or [N, C, H, W]) {mean, std} -> (x - mean) / std of each channel"""
    mean, deviation = (np.array(numbers_of(node, name, (default,))).reshape(-1, 1, 1) for name, default in (("mean", 0.0), ("std", 1.0)))
    return op.Divide(op.Subtract(x, op.constant_like(mean, x)), op.constant_like(deviation, x))


@mxnet.lowers("_image_crop")
def crop(op: OpBuilder, x: SSAValue, *, y: int, x_: int, height: int, width: int) -> SSAValue:
    """mxnet._image_crop(x [H, W, C] or [N, H, W, C]) {x, y, width, height} -> opset8.Slice of height and width"""
    starts, sizes = [y, x_], [height, width]
    return op.Slice(x, starts, [start + size for start, size in zip(starts, sizes, strict=True)], [1, 1], [-3, -2])


@mxnet.lowers("_image_flip_left_right", "_image_flip_top_bottom")
def flip(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """mxnet._image_flip_left_right(x [H, W, C] or [N, H, W, C]) -> opset8.Slice backwards; likewise flip_top_bottom"""
    return op.Slice(x, [-1], [-(2**63 - 1)], [-1], [-2 if node.op.KIND.endswith("right") else -3])


@mxnet.lowers("_image_resize")
def resize(
    node: LoweringNode, op: OpBuilder, x: SSAValue, *, interp: int = 1, keep_ratio: bool = False, size: tuple[int, ...] = ()
) -> SSAValue:
    """mxnet._image_resize(x [H, W, C] or [N, H, W, C]) {size, interp = 1} -> opset11.Interpolate(x) {half_pixel}"""
    rank = rank_of_operand(node)
    if keep_ratio or interp not in (0, 1):
        node.fail("only bilinear and nearest interpolation to a size are supported")
    if is_integer(x) and interp == 1:
        node.fail("bilinear interpolation of integers, which OpenCV rounds in its own way, is not supported", hint="cast it to float first")
    sizes = size
    width, height = (*sizes, *sizes)[:2]
    mode, coordinates = ("linear", "half_pixel") if interp == 1 else ("nearest", "asymmetric")
    return resized_to(op, x, op.constant([height, width]), (rank - 3, rank - 2), mode, coordinates, nearest_mode="floor")
