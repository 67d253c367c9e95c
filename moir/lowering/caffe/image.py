"""Layers that change the size of images: Interp, Resample, Upsample.

Source: interp_layer.cpp of DeepLab, resample_layer.cu of FlowNet, upsample_layer.cpp of SegNet and of YOLO's forks.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si64
from moir.dialects.shapes import is_static, shape_of
from moir.expansions.resizing.resampling import resized_to
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.layer_parameters import LayerParameters, bottoms, parameters, with_parameters
from moir.lowering.caffe.table import caffe
from moir.rewriting.builder import OpBuilder

_AXES = [2, 3]


@caffe.lowers("Interp")
@with_parameters("interp_param")
def interp(node: LoweringNode, op: OpBuilder, *, pad_beg: int = 0, pad_end: int = 0) -> SSAValue:
    """caffe.Interp(x, like) -> opset11.Interpolate(x, sizes, [2, 3]) {linear_onnx, align_corners}

    The sizes are `height` and `width`, those of the second bottom, or those of x divided by `shrink_factor` and
    multiplied by `zoom_factor`. Negative pads remove rows and columns first.
    """
    parameter = parameters(node, "interp_param")
    x, *others = bottoms(node, 1, 2)
    if pad_beg > 0 or pad_end > 0:
        node.fail("pad_beg and pad_end must not be positive")
    if pad_beg or pad_end:
        x = op.Slice(x, [-pad_beg] * 2, op.Add(op.Slice(op.ShapeOf(x), [2], [4], [1]), pad_end), [1, 1], _AXES)
    sizes = sizes_like(op, others[0]) if others else _interp_sizes(node, op, x, parameter)
    return resized(op, x, sizes, "linear_onnx", "align_corners")


def _interp_sizes(node: LoweringNode, op: OpBuilder, x: SSAValue, parameter: LayerParameters) -> SSAValue:
    if parameter.has("height") and parameter.has("width"):
        return op.constant([parameter.integer("height"), parameter.integer("width")])
    shrink, zoom = parameter.integer("shrink_factor", 1), parameter.integer("zoom_factor", 1)
    if shrink < 1 or zoom < 1 or (shrink == zoom == 1):
        node.fail("it says no size: no height and width, no shrink_factor and no zoom_factor")
    sizes = op.Slice(op.ShapeOf(x), [2], [4], [1])
    shrunk = op.Add(op.Divide(op.Subtract(sizes, 1), shrink), 1) if shrink > 1 else sizes
    return op.Add(shrunk, op.Multiply(op.Subtract(shrunk, 1), zoom - 1)) if zoom > 1 else shrunk


@caffe.lowers("Resample")
@with_parameters("resample_param")
def resample(node: LoweringNode, op: OpBuilder, *, antialias: bool = True) -> SSAValue:
    """caffe.Resample(x, like) {type = NEAREST, width, height} -> opset11.Interpolate(x, sizes, [2, 3]) {half_pixel}"""
    parameter = parameters(node, "resample_param")
    x, *others = bottoms(node, 1, 2)
    type_ = parameter.numbered_choice("type", {1: "NEAREST", 2: "LINEAR", 3: "CUBIC", 4: "AREA"})
    if type_ not in ("NEAREST", "LINEAR"):
        node.fail(f"resampling of type {type_} is not supported")
    if others:
        sizes = sizes_like(op, others[0])
    elif parameter.has("factor"):
        scaled = op.Multiply(op.convert(op.Slice(op.ShapeOf(x), [2], [4], [1]), f32), parameter.number("factor"))
        sizes = op.convert(op.Floor(scaled), si64)
    else:
        sizes = op.constant([parameter.integer("height"), parameter.integer("width")])
    if type_ == "NEAREST":
        return resized(op, x, sizes, "nearest", "half_pixel")
    return resized(op, x, sizes, "linear", "half_pixel", antialias=antialias)


@caffe.lowers("Upsample")
@with_parameters("upsample_param")
def upsample(node: LoweringNode, op: OpBuilder, *, scale: int = 2) -> SSAValue:
    """caffe.Upsample(x) {scale} -> opset11.Interpolate(x, sizes, [2, 3]) {nearest}

    caffe.Upsample(x, mask): a channel of zeros with each element at its index in `mask`, which is the second result of
    Pooling.
    """
    parameter = parameters(node, "upsample_param")
    x, *others = bottoms(node, 1, 2)
    sizes = op.Slice(op.ShapeOf(x), [2], [4], [1])
    scales = [parameter.integer(f"scale_{side}") if parameter.has(f"scale_{side}") else scale for side in "hw"]
    if parameter.has("upsample_h") and parameter.has("upsample_w"):
        larger: SSAValue = op.constant([parameter.integer("upsample_h"), parameter.integer("upsample_w")])
    else:
        lost = [int(parameter.flag(f"pad_out_{side}")) for side in "hw"]
        larger = op.Subtract(op.Multiply(sizes, scales), lost) if any(lost) else op.Multiply(sizes, scales)
    if not others:
        return resized(op, x, larger, "nearest", "asymmetric")
    leading = op.Slice(op.ShapeOf(x), [0], [2], [1])
    area = op.ReduceProd(larger, [0], keep_dims=True)
    empty = op.Broadcast(op.constant(0.0), op.Concat(leading, area, axis=0))
    indices = op.Reshape(op.convert(others[0], si64), [0, 0, -1], special_zero=True)
    flat = op.ScatterElementsUpdate(empty, indices, op.Reshape(x, [0, 0, -1], special_zero=True), op.constant(2))
    return op.Reshape(flat, op.Concat(leading, larger, axis=0), special_zero=False)


def sizes_like(op: OpBuilder, like: SSAValue) -> SSAValue:
    """The height and width of a blob, as a tensor of shape [2]."""
    shape = shape_of(like)
    if shape is not None and len(shape) == 4 and is_static(shape[2:]):
        return op.constant(list(shape[2:]))
    return op.Slice(op.ShapeOf(like), [2], [4], [1])


def resized(op: OpBuilder, x: SSAValue, sizes: SSAValue | Sequence[int], mode: str, coordinates: str, antialias: bool = False) -> SSAValue:
    """A blob resized to a height and width; `mode`, `coordinates` and `antialias` are those of opset11.Interpolate."""
    rounding = "floor" if coordinates == "asymmetric" else "round_prefer_floor"
    return resized_to(op, x, sizes, _AXES, mode, coordinates, nearest_mode=rounding, antialias=antialias)
