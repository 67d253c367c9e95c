"""Interpolation: that of operation set 1, and by factors in attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from moir.lowering.table import Replacement
from moir.model_optimizer.lowering.node import MoLoweringNode
from moir.model_optimizer.lowering.table import lowers
from moir.rewriting.builder import OpBuilder


@lowers("Interpolate")
def interpolate(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """opset1.Interpolate(x, sizes) {axes, mode, align_corners} -> opset11.Interpolate(x, sizes, axes)"""
    if node.get("version") != "opset1":
        return NotImplemented
    axes = node.axes("axes")
    if axes is None:
        node.fail("it has no attribute axes")
    mode = node.text("mode")
    padding = {name: [node.integer(name, 0)] for name in ("pads_begin", "pads_end")}
    if any(amounts != [0] for amounts in padding.values()):
        node.fail("padding is not supported", hint="pad the data with a Pad")
    return op.Interpolate(
        node.operand(0),
        node.operand(1),
        list(axes),
        mode="linear_onnx" if mode == "linear" and not node.flag("antialias") else mode,
        shape_calculation_mode="sizes",
        coordinate_transformation_mode="align_corners" if node.flag("align_corners") else "asymmetric",
        nearest_mode="simple",
        antialias=node.flag("antialias"),
    )


@lowers("Upsample")
def upsample(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.Upsample(x) {height_scale, width_scale, mode} -> opset11.Interpolate(x, scales, axes)"""
    mode = node.text("mode", "nearest")
    if mode not in ("nearest", "linear"):
        node.fail(f"its mode {mode!r} is neither nearest nor linear")
    scales = np.array([node.number("height_scale"), node.number("width_scale")], np.float32)
    nearest = mode == "nearest"
    return op.Interpolate(
        node.operand(0),
        scales,
        [1, 2] if node.is_channel_last else [2, 3],
        mode="nearest" if nearest else "linear_onnx",
        shape_calculation_mode="scales",
        coordinate_transformation_mode="asymmetric" if nearest else "half_pixel",
        nearest_mode="floor",
    )
