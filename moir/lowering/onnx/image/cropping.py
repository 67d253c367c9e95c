"""Operations of ONNX's first operator sets on images [N, C, H, W], written by CoreML's converter.

    %y = onnx.Crop(%x) {border = [left, top, right, bottom]}
->  %y = opset8.Slice(%x, [top, left], [-bottom, -right], [1, 1], [-2, -1])

Source: the operator schemas of ONNX Runtime. These operations are not part of ONNX itself.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.shapes import shape_of
from moir.expansions.shape_values import LARGEST_SIZE
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.lowering.ranks import fixed
from moir.rewriting.builder import OpBuilder


@onnx.lowers("ImageScaler", rank=fixed(4))
def image_scaler(node: LoweringNode, op: OpBuilder, x: SSAValue, *, bias: tuple[float, ...], scale: float = 1.0) -> SSAValue:
    """onnx.ImageScaler(x) {scale, bias} -> x * scale + bias as [1, C, 1, 1]"""
    channels = _image_shape(node, x)[1]
    if channels not in (-1, len(bias)):
        node.fail(f"it has {len(bias)} biases for {channels} channels")
    scaled = x if scale == 1 else op.Multiply(x, scale)
    return op.Add(scaled, op.constant_like(np.array(bias).reshape(1, -1, 1, 1), x))


@onnx.lowers("Crop", rank=fixed(4))
def crop(node: LoweringNode, op: OpBuilder, x: SSAValue, *, border: tuple[int, ...], scale: tuple[int, ...] | None = None) -> SSAValue:
    """onnx.Crop(x) {border = [left, top, right, bottom], scale = [height, width]}
    -> opset8.Slice(x, [top, left], stop, [1, 1], [2, 3])

    The stop is [-bottom, -right] without a scale, otherwise [top + height, left + width].
    """
    sizes = _image_shape(node, x)[2:]
    if len(border) != 4 or min(border) < 0 or (scale is not None and (len(scale) != 2 or min(scale) < 0)):
        node.fail(f"border {list(border)} and scale {scale and list(scale)} are not 4 and 2 sizes")
    left, top, right, bottom = border
    starts = (top, left)
    if scale is None:
        needed, stops = (top + bottom, left + right), [-end if end else LARGEST_SIZE for end in (bottom, right)]
    else:
        needed = top + scale[0], left + scale[1]
        stops = list(needed)
    for size, least in zip(sizes, needed, strict=True):
        if 0 <= size < least:
            node.fail(f"an image of {sizes[0]}x{sizes[1]} is smaller than what is cut from it")
    return op.Slice(x, list(starts), stops, [1, 1], [2, 3])


def _image_shape(node: LoweringNode, x: SSAValue) -> tuple[int, ...]:
    """The shape of an image [N, C, H, W]; all dimensions dynamic (-1) if its rank is.

    Raises ConversionError for another rank than 4.
    """
    shape = shape_of(x)
    if shape is not None and len(shape) != 4:
        node.fail(f"the image has {len(shape)} dimensions, not 4")
    return (-1,) * 4 if shape is None else tuple(shape)
