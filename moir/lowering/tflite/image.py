"""Resizing of images."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.table import Replacement
from moir.lowering.tflite.table import tflite
from moir.lowering.tflite.tensorflow_operations import lowered_as
from moir.rewriting.builder import OpBuilder


@tflite.lowers("RESIZE_NEAREST_NEIGHBOR")
def resize_nearest(
    node: LoweringNode, op: OpBuilder, images: SSAValue, size: SSAValue, *, align_corners: bool = False, half_pixel_centers: bool = False
) -> Replacement:
    """tflite.RESIZE_NEAREST_NEIGHBOR(x, size) -> what tf.ResizeNearestNeighbor(x, size) lowers to"""
    attributes = {"align_corners": align_corners, "half_pixel_centers": half_pixel_centers}
    return lowered_as(node, op, "ResizeNearestNeighbor", [images, size], attributes)
