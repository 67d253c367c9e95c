"""Pooling of regions of images, with the attributes that detection networks of all frameworks have."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.rewriting.builder import OpBuilder


def roi_align(
    op: OpBuilder, x: SSAValue, boxes: SSAValue, images: SSAValue, size: tuple[int, int], scale: float, samples: int, *, aligned: bool
) -> SSAValue:
    """Build opset9.ROIAlign: the means of samples in boxes [R, 4] of images x [N, C, H, W].

    Args:
        op: the builder.
        x: the images.
        boxes: the corners (x1, y1, x2, y2) of the regions.
        images: the index of the image of each region [R].
        size: the rows and columns of the result.
        scale: the factor from the coordinates of the boxes to those of x.
        samples: the number of samples of a cell along each axis; 0 or less if it depends on the size of the cell.
        aligned: whether coordinates are shifted by half an element of x after they are scaled, and regions may be
            smaller than an element. (The `aligned_mode` `half_pixel` shifts the boxes before they are scaled.)
    """
    rows, columns = size
    mode = "half_pixel_for_nn" if aligned else "asymmetric"
    attributes = {"sampling_ratio": max(samples, 0), "spatial_scale": scale, "mode": "avg", "aligned_mode": mode}
    return op["opset9.ROIAlign"](x, boxes, images, pooled_h=rows, pooled_w=columns, **attributes)


def position_averages(op: OpBuilder, x: SSAValue, rows: SSAValue, channels: int, size: int, scale: float) -> SSAValue:
    """Build opset1.PSROIPooling: the averages over size x size cells of the regions, where each cell reads its own
    channels.

    `rows` [R, 5] are the regions, each the index of its image and its corners; `channels` is the number of channels of
    the result, and `scale` the factor from the coordinates of the regions to those of x.
    """
    attributes = {"output_dim": channels, "group_size": size, "spatial_scale": scale, "spatial_bins_x": 1, "spatial_bins_y": 1}
    return op.PSROIPooling(x, rows, mode="average", **attributes)
