"""Interpolation: that of operation set 1, and by factors in attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from moir.lowering.table import Replacement
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
    return op.Interpolate(
        node.operand(0),
        node.operand(1) if sizes is None else sizes,
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
    return _scaled(op, node.operand(0), scales, [1, 2] if node.is_channel_last else [2, 3], mode)


def _scaled(op: OpBuilder, data: SSAValue, scales: npt.NDArray[np.float32], axes: list[int], mode: str) -> SSAValue:
    """Data whose axes are enlarged: repeated elements for the mode nearest, else linear."""
    nearest = mode == "nearest"
    return op.Interpolate(
        data,
        scales,
        axes,
        mode="nearest" if nearest else "linear_onnx",
        shape_calculation_mode="scales",
        coordinate_transformation_mode="asymmetric" if nearest else "half_pixel",
        nearest_mode="floor",
    )
