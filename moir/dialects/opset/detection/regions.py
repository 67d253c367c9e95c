"""Pooling of regions of images."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import (
    boolean_property,
    deferred_definition,
    float_property,
    floats_property,
    integer_property,
    integers_property,
    optional_operands,
    string_property,
)
from moir.dialects.opset.interfaces.spatial import expanded
from moir.dialects.shapes import Shapes, SymbolicShape, is_fixed, merge_dimensions, normalize_axis, product
from moir.errors import InferenceError


@deferred_definition
class ROIPooling(OpsetOp):
    """Regions [regions, 5] (batch, x1, y1, x2, y2) of data [N, C, H, W] pooled to [regions, C, pooled_h, pooled_w].

    OpenVINO IR may have the size of the result a second time, as `output_size` and `output_roi`; what counts are
    `pooled_h` and `pooled_w`.
    """

    name = "opset2.ROIPooling"
    data = operand_def()
    rois = operand_def()
    output_size = integers_property((0, 0))
    output_roi = integers_property((0, 0))
    pooled_h = integer_property()
    pooled_w = integer_property()
    spatial_scale = float_property()
    method = string_property("max", "max", "bilinear")
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        data, rois = expanded(shapes[0], 4, "data"), expanded(shapes[1], 2, "regions")
        if is_fixed(rois[1]) and rois[1] != 5:
            raise InferenceError(f"regions have {rois[1]} coordinates, not 5")
        return (rois[0], data[1], self.integer("pooled_h"), self.integer("pooled_w"))

    def result_element(self) -> Attribute:
        return self.common_element()

    def check_invariants(self) -> None:
        super().check_invariants()
        if min(self.integer("pooled_h"), self.integer("pooled_w")) < 1 or self.number("spatial_scale") < _SMALLEST_NORMAL:
            raise VerifyException("pooled_h, pooled_w and spatial_scale must be positive")


_SMALLEST_NORMAL = 2.0**-126
"""The smallest normal number of f32. Subnormal numbers may be flushed to zero, so that they cannot be a scale."""


class RegionAlignOp(OpsetOp):
    """Base of the operations on regions that are sampled at exact positions.

    Regions [regions, 4] of data [N, C, H, W] pooled to [regions, C, pooled_h, pooled_w].

    `batch_indices` [regions] is the batch index of each region.
    """

    data = operand_def()
    rois = operand_def()
    batch_indices = operand_def()
    pooled_h = integer_property()
    pooled_w = integer_property()
    sampling_ratio = integer_property()
    spatial_scale = float_property()

    COORDINATES: ClassVar[int] = 4

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        data = expanded(shapes[0], 4, "data")
        rois = expanded(shapes[1], 2, "rois")
        indices = expanded(shapes[2], 1, "batch_indices")
        if is_fixed(rois[1]) and rois[1] != self.COORDINATES:
            raise InferenceError(f"regions have {rois[1]} coordinates, not {self.COORDINATES}")
        return (merge_dimensions(rois[0], indices[0]), data[1], self.integer("pooled_h"), self.integer("pooled_w"))

    def result_element(self) -> Attribute:
        return self.common_element(0, 1)

    def check_invariants(self) -> None:
        super().check_invariants()
        if min(self.integer("pooled_h"), self.integer("pooled_w")) < 1 or self.integer("sampling_ratio") < 0:
            raise VerifyException("pooled_h and pooled_w must be positive, sampling_ratio must not be negative")


@deferred_definition
class ROIAlign3(RegionAlignOp):
    """Means or maxima of cells, positions count pixels from 0."""

    name = "opset3.ROIAlign"
    mode = string_property(None, "avg", "max")
    result = result_def()

    UNWRITTEN: ClassVar[Mapping[str, object]] = {"mode": "avg"}


@deferred_definition
class ROIAlign(RegionAlignOp):
    """Means or maxima of cells, positions as `aligned_mode` says."""

    name = "opset9.ROIAlign"
    mode = string_property(None, "avg", "max")
    aligned_mode = string_property("asymmetric", "asymmetric", "half_pixel", "half_pixel_for_nn")
    result = result_def()

    UNWRITTEN: ClassVar[Mapping[str, object]] = {"mode": "avg"}


@deferred_definition
class ROIAlignRotated(RegionAlignOp):
    """Means of cells of rotated regions [regions, 5]: centre, width, height, angle in radians."""

    name = "opset15.ROIAlignRotated"
    COORDINATES: ClassVar[int] = 5
    clockwise_mode = boolean_property()
    result = result_def()


@deferred_definition
class PSROIPooling(OpsetOp):
    """Position-sensitive pooling of regions [regions, 5] of data [N, C, H, W].

    Result: [regions, output_dim, group_size, group_size].
    """

    name = "opset1.PSROIPooling"
    data = operand_def()
    rois = operand_def()
    output_dim = integer_property()
    group_size = integer_property()
    spatial_scale = float_property()
    mode = string_property(None, "average", "bilinear")
    spatial_bins_x = integer_property()
    spatial_bins_y = integer_property()
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        expanded(shapes[0], 4, "data")
        rois = expanded(shapes[1], 2, "regions")
        size = self.integer("group_size")
        return (rois[0], self.integer("output_dim"), size, size)

    def result_element(self) -> Attribute:
        return self.common_element()


@deferred_definition
class DeformablePSROIPooling(OpsetOp):
    """Position-sensitive pooling of regions [regions, 5] of data [N, C, H, W], whose bins offsets displace.

    Result: [regions, output_dim, group_size, group_size]. The offsets [regions, 2 * classes, part_size, part_size] are
    multiplied by `trans_std`.
    """

    name = "opset1.DeformablePSROIPooling"
    data = operand_def()
    coords = operand_def()
    offsets = optional_operands(1)
    output_dim = integer_property()
    spatial_scale = float_property()
    group_size = integer_property(1)
    mode = string_property("bilinear_deformable", "bilinear_deformable")
    spatial_bins_x = integer_property(1)
    spatial_bins_y = integer_property(1)
    trans_std = float_property(1.0)
    part_size = integer_property(1)
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        expanded(shapes[0], 4, "data")
        rois = expanded(shapes[1], 2, "regions")
        if len(shapes) > 2:
            expanded(shapes[2], 4, "offsets")
        size = self.integer("group_size")
        return (rois[0], self.integer("output_dim"), size, size)

    def check_invariants(self) -> None:
        super().check_invariants()
        if min(self.integer("output_dim"), self.integer("group_size")) < 1:
            raise VerifyException("output_dim and group_size must be positive")


@deferred_definition
class RegionYolo(OpsetOp):
    """Activations of a YOLO head [N, C, H, W].

    With `do_softmax` the dimensions from `axis` to `end_axis` are flattened into one; otherwise the channels are those
    of the boxes in `mask`.
    """

    name = "opset1.RegionYolo"
    data = operand_def()
    anchors = floats_property(())
    axis = integer_property()
    coords = integer_property()
    classes = integer_property()
    end_axis = integer_property()
    num = integer_property()
    do_softmax = boolean_property()
    mask = integers_property()
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        if shapes[0] is None:
            return None
        shape = expanded(shapes[0], 4, "data")
        if self.flag("do_softmax"):
            first, last = normalize_axis(self.integer("axis"), 4), normalize_axis(self.integer("end_axis"), 4)
            if last < first:
                raise InferenceError(f"end_axis {last} is before axis {first}")
            return (*shape[:first], reduce(product, shape[first : last + 1]), *shape[last + 1 :])
        channels = (self.integer("classes") + self.integer("coords") + 1) * len(self.integers("mask"))
        return (shape[0], channels, *shape[2:])


@deferred_definition
class ReorgYolo(OpsetOp):
    """Moves blocks of `stride` x `stride` elements of data [N, C, H, W] into the channels."""

    name = "opset2.ReorgYolo"
    data = operand_def()
    stride = integers_property()
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        if shapes[0] is None:
            return None
        n, c, h, w = expanded(shapes[0], 4, "data")
        stride = self.integers("stride")[0]
        return (n, product(c, stride**2), *(-1 if size == -1 else size // stride for size in (h, w)))

    def check_invariants(self) -> None:
        super().check_invariants()
        if not self.integers("stride") or min(self.integers("stride")) < 1:
            raise VerifyException("stride must be positive")
