"""Object detection: non-maximum suppression and pooling of regions."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.expansions.roi_maxima import roi_maxima
from moir.expansions.shape_values import as_scalar, with_last_dimension
from moir.expansions.suppression import SMALLEST, exclusive
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder


@onnx.lowers("NonMaxSuppression", since=10)
def non_max_suppression(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.NonMaxSuppression(boxes, scores, limit, iou, score) {center_point_box}
    -> opset9.NonMaxSuppression(…) {box_encoding}

    Without an operand `limit` no box is selected; without a score threshold no score is excluded.
    """
    limit = node.optional(2)
    if limit is None or node.constant_integers(2) == (0,):
        return op.constant(np.zeros((0, 3), np.int64))
    if all(node.optional(index) is None or node.constant(index) is not None for index in range(len(node.op.operands))):
        # The CPU plugin (2026.4) does not compile it.
        node.fail("all its operands are constants", hint="compute the boxes that it selects, and replace it by them")
    overlap, threshold = node.optional(3), node.optional(4)
    return op.NonMaxSuppression(
        with_last_dimension(op, node.operand(0), 3, 4),
        node.operand(1),
        as_scalar(op, limit),
        op.constant(SMALLEST) if overlap is None else exclusive(op, overlap),
        op.constant(float(np.finfo(np.float32).min)) if threshold is None else as_scalar(op, threshold),
        box_encoding="center" if node.flag("center_point_box") else "corner",
        sort_result_descending=False,
    )


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
