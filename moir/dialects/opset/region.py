"""Pooling of regions that contain their batch index."""

from __future__ import annotations

from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.base import OpsetOp
from moir.dialects.opset.property_definitions import (
    deferred_definition,
    float_property,
    integer_property,
    integers_property,
    string_property,
)
from moir.dialects.opset.spatial import expanded
from moir.dialects.shapes import Shapes, SymbolicShape, is_fixed
from moir.errors import InferenceError


@deferred_definition
class ROIPooling(OpsetOp):
    """Regions [regions, 5] (batch, x1, y1, x2, y2) of data [N, C, H, W] pooled to [regions, C, pooled_h, pooled_w].

    The runtime serializes the size of the result a second time, as `output_size` and `output_roi`, but reads only
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
        if min(self.integer("pooled_h"), self.integer("pooled_w")) < 1 or self.number("spatial_scale") <= 0:
            raise VerifyException("pooled_h, pooled_w and spatial_scale must be positive")
