"""Interpolation in the form of operation set 1, and with factors in attributes; pooling of regions of an image to
computed sizes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from moir.expansions.resizing.resampling import resized_to
from moir.lowering.table import Replacement
from moir.model_optimizer.lowering.layout import as_given, channel_first
from moir.model_optimizer.lowering.node import MoLoweringNode
from moir.model_optimizer.lowering.table import lowers
from moir.rewriting.builder import OpBuilder


@lowers("Interpolate")
def interpolate(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """opset1.Interpolate(x, sizes) {axes, mode, align_corners} -> opset11.Interpolate(x, sizes, axes)

    With a `factor` in place of the sizes: opset11.Interpolate(x, scales, axes). The sizes may also be the attributes
    `height` and `width`, of the last two axes.
    """
    if node.optional(1) is None and node.has("factor"):
        axes = list(node.axes("axes") or (2, 3))
        scales = np.full(len(axes), node.number("factor"), np.float32)
        return _scaled(op, node.operand(0), scales, axes, node.text("mode", "nearest"))
    if node.get("version") != "opset1":
        return NotImplemented
    axes = node.axes("axes")
    if axes is None:
        node.fail("it has no attribute axes")
    mode = node.text("mode")
    padding = {name: [node.integer(name, 0)] for name in ("pads_begin", "pads_end")}
    if any(amounts != [0] for amounts in padding.values()):
        node.fail("padding is not supported", hint="pad the data with a Pad")
    sizes = node.optional(1)
    if sizes is None and node.has("height") and node.has("width"):
        sizes = op.constant([node.integer("height"), node.integer("width")])
    sizes, antialias = node.operand(1) if sizes is None else sizes, node.flag("antialias")
    mode = "linear_onnx" if mode == "linear" and not antialias else mode
    coordinates = "align_corners" if node.flag("align_corners") else "asymmetric"
    return resized_to(op, node.operand(0), sizes, axes, mode, coordinates, nearest_mode="simple", antialias=antialias)


@lowers("Upsample")
def upsample(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.Upsample(x) {height_scale, width_scale, mode} -> opset11.Interpolate(x, scales, axes)"""
    mode = node.text("mode", "nearest")
    if mode not in ("nearest", "linear"):
        node.fail(f"its mode {mode!r} is neither nearest nor linear")
    scales = np.array([node.number("height_scale"), node.number("width_scale")], np.float32)
    return _scaled(op, node.operand(0), scales, [1, 2] if node.is_channel_last else [2, 3], mode)


@lowers("Resample")
def resample(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.Resample(x, sizes) {resample_type, factor, height, width} -> opset11.Interpolate(x, sizes, axes)

    Operand 1 has the two sizes, or, in Caffe, the shape that x gets. The last part of resample_type is the mode.
    """
    mode = node.text("resample_type", "nearest").rpartition(".")[2].lower()
    if mode not in ("nearest", "linear"):
        node.fail(f"its resample_type {mode!r} is neither nearest nor linear")
    axes = _spatial_axes(node)
    sizes = _given_sizes(node, op, axes)
    if sizes is None:
        return _scaled(op, node.operand(0), np.full(2, node.number("factor"), np.float32), axes, mode)
    return _sized(op, node.operand(0), sizes, axes, mode, "asymmetric" if mode == "nearest" else "half_pixel")


@lowers("Interp")
def interp(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.Interp(x, sizes) {height, width, align_corners} -> opset11.Interpolate(x, sizes, axes) {mode = linear}

    Operand 1 is the shape that x gets if parse_2nd_input is "shape", else it has the two sizes.
    """
    axes = _spatial_axes(node)
    sizes = _given_sizes(node, op, axes)
    if sizes is None:
        node.fail("neither an input nor height and width say its sizes", hint="give it height and width")
    return _sized(op, node.operand(0), sizes, axes, "linear", "align_corners" if node.flag("align_corners") else "asymmetric")


def _spatial_axes(node: MoLoweringNode) -> list[int]:
    return [1, 2] if node.is_channel_last else [2, 3]


def _given_sizes(node: MoLoweringNode, op: OpBuilder, axes: list[int]) -> SSAValue | None:
    """The two sizes of the result: operand 1, or its shape at `axes`, or else the attributes height and width.

    None if neither is given.
    """
    given = node.optional(1)
    if given is not None:
        return given if node.rank_of_value(given) == 1 else op.Gather(op.ShapeOf(given), axes, 0)
    height, width = node.integer("height", 0), node.integer("width", 0)
    return op.constant(np.array([height, width], np.int64)) if height > 0 and width > 0 else None


def _sized(op: OpBuilder, data: SSAValue, sizes: SSAValue, axes: list[int], mode: str, transformation: str) -> SSAValue:
    mode = "nearest" if mode == "nearest" else "linear_onnx"
    return resized_to(op, data, sizes, axes, mode, transformation, nearest_mode="floor")


@lowers("ROIPooling")
def regions(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """mo.ROIPooling(x, regions, numbers, size) {spatial_scale, method} -> opset2.ROIPooling(x, regions) {output_size}

    This is TensorFlow's CropAndResize after an extension changed its regions to [number, left, top, right, bottom];
    the third input, the indices of the images, is not used. A node without the input `size` is written from its
    attributes.
    """
    if node.optional(3) is None:
        return NotImplemented
    size = node.constant_integers(3)
    if size is None or len(size) != 2:
        node.fail("the size of its regions must be a constant of two numbers")
    node.optional(2)
    value = op.ROIPooling(
        channel_first(node, op, node.operand(0)),
        node.operand(1),
        pooled_h=size[0],
        pooled_w=size[1],
        spatial_scale=node.number("spatial_scale", 1.0),
        method=node.text("method", "max"),
    )
    return as_given(node, op, value)


def _scaled(op: OpBuilder, data: SSAValue, scales: npt.NDArray[np.float32], axes: list[int], mode: str) -> SSAValue:
    """Resize the data along the axes by the factors `scales`: repeat elements for the mode nearest, else interpolate
    linearly.
    """
    mode, coordinates = ("nearest", "asymmetric") if mode == "nearest" else ("linear_onnx", "half_pixel")
    return resized_to(op, data, scales, axes, mode, coordinates, shape_calculation_mode="scales", nearest_mode="floor")
