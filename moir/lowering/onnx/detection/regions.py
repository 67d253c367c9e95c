"""Pooling of regions of images."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.expansions.images import pooled_regions
from moir.expansions.shape_values import with_last_dimension
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.detection.roi_maxima import roi_maxima
from moir.lowering.onnx.table import onnx
from moir.lowering.ranks import fixed
from moir.rewriting.builder import OpBuilder


@onnx.lowers("RoiAlign", since=10, rank=fixed(4, 2, 1))
def roi_align(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    rois_: SSAValue,
    batch_indices: SSAValue,
    *,
    mode: str = "avg",
    sampling_ratio: int = 0,
    coordinate_transformation_mode: str = "half_pixel",
    output_height: int = 1,
    output_width: int = 1,
    spatial_scale: float = 1.0,
) -> SSAValue:
    """onnx.RoiAlign(x, rois, batch) {output_height, …} -> opset9.ROIAlign(x, rois, batch) {pooled_h, …, aligned_mode}

    Before version 16 coordinates are not shifted by half a pixel. opset9.ROIAlign defines mode `max` differently from
    ONNX, so that it is computed by other operations.
    """
    coordinates = coordinate_transformation_mode if node.version >= 16 else "output_half_pixel"
    if coordinates not in ("half_pixel", "output_half_pixel") or mode not in ("avg", "max"):
        node.fail(f"mode {mode!r} with coordinates {coordinates!r} is not defined")
    if mode == "max" and sampling_ratio < 1:
        node.fail("maxima of a number of samples that depends on the region are not supported", hint="set sampling_ratio")
    rois = with_last_dimension(op, rois_, 2, 4)
    if mode == "max":
        return roi_maxima(
            op,
            x,
            rois,
            batch_indices,
            scale=spatial_scale,
            size=[output_height, output_width],
            half_pixel=coordinates == "half_pixel",
            samples=sampling_ratio,
        )
    size, aligned = (output_height, output_width), coordinates == "half_pixel"
    return pooled_regions.roi_align(op, x, rois, batch_indices, size, spatial_scale, sampling_ratio, aligned=aligned)


@onnx.lowers("MaxRoiPool")
def max_roi_pool(
    node: LoweringNode, op: OpBuilder, x: SSAValue, rois: SSAValue, *, pooled_shape: tuple[int, ...], spatial_scale: float = 1.0
) -> SSAValue:
    """onnx.MaxRoiPool(x, rois) {pooled_shape, spatial_scale = 1}
    -> opset2.ROIPooling(x, rois) {pooled_h, pooled_w, method = max}
    """
    if len(pooled_shape) != 2:
        node.fail(f"pooled_shape has {len(pooled_shape)} entries, not 2")
    return op.ROIPooling(
        x,
        with_last_dimension(op, rois, 2, 5),
        output_size=pooled_shape,
        output_roi=pooled_shape,
        pooled_h=pooled_shape[0],
        pooled_w=pooled_shape[1],
        spatial_scale=spatial_scale,
        method="max",
    )
