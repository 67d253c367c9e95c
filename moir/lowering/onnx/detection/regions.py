"""Pooling of regions of images."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.expansions.roi_maxima import roi_maxima
from moir.expansions.shape_values import with_last_dimension
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder


@onnx.lowers("RoiAlign", since=10)
def roi_align(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.RoiAlign(x, rois, batch) {output_height, …} -> opset9.ROIAlign(x, rois, batch) {pooled_h, …, aligned_mode}

    Before version 16 coordinates are not shifted by half a pixel. Maxima of the runtime are others than those of ONNX.
    """
    aligned_modes = {"half_pixel": "half_pixel_for_nn", "output_half_pixel": "asymmetric"}
    coordinates = node.text("coordinate_transformation_mode", "half_pixel") if node.version >= 16 else "output_half_pixel"
    mode = node.text("mode", "avg")
    if coordinates not in aligned_modes or mode not in ("avg", "max"):
        node.fail(f"mode {mode!r} with coordinates {coordinates!r} is not defined")
    samples = node.integer("sampling_ratio", 0)
    if mode == "max" and samples < 1:
        node.fail("maxima of a number of samples that depends on the region are not supported", hint="set sampling_ratio")
    rois = with_last_dimension(op, node.operand(1), 2, 4)
    if mode == "max":
        return roi_maxima(
            op,
            node.operand(0),
            rois,
            node.operand(2),
            scale=node.number("spatial_scale", 1.0),
            size=[node.integer(name, 1) for name in ("output_height", "output_width")],
            half_pixel=coordinates == "half_pixel",
            samples=samples,
        )
    return op.ROIAlign(
        node.operand(0),
        rois,
        node.operand(2),
        pooled_h=node.integer("output_height", 1),
        pooled_w=node.integer("output_width", 1),
        sampling_ratio=samples,
        spatial_scale=node.number("spatial_scale", 1.0),
        mode="avg",
        aligned_mode=aligned_modes[coordinates],
    )


@onnx.lowers("MaxRoiPool")
def max_roi_pool(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.MaxRoiPool(x, rois) {pooled_shape, spatial_scale = 1}
    -> opset2.ROIPooling(x, rois) {pooled_h, pooled_w, method = max}
    """
    size = node.integers("pooled_shape")
    if len(size) != 2:
        node.fail(f"pooled_shape has {len(size)} entries, not 2")
    return op.ROIPooling(
        node.operand(0),
        with_last_dimension(op, node.operand(1), 2, 5),
        output_size=size,
        output_roi=size,
        pooled_h=size[0],
        pooled_w=size[1],
        spatial_scale=node.number("spatial_scale", 1.0),
        method="max",
    )
