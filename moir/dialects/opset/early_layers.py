"""Layers of early networks for detection and recognition."""

from __future__ import annotations

from math import prod

from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.base import (
    OpsetOp,
    Types,
    boolean_property,
    float_property,
    floats_property,
    integer_property,
    integers_property,
    string_property,
)
from moir.dialects.opset.spatial import expanded
from moir.dialects.shapes import merge_elements, normalize_axis, tensor
from moir.errors import InferenceError


@irdl_op_definition
class RegionYolo(OpsetOp):
    """Activations of a YOLO head [N, C, H, W]: with `do_softmax` the dimensions from `axis` to `end_axis` become one, otherwise the
    channels are those of the boxes in `mask`."""

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

    def infer(self, known: OperandValues) -> Types:
        if self.shape(0) is None:
            return (tensor(None, self.element_type(0)),)
        shape = expanded(self.shape(0), 4, "data")
        if self.flag("do_softmax"):
            first, last = normalize_axis(self.integer("axis"), 4), normalize_axis(self.integer("end_axis"), 4)
            if last < first:
                raise InferenceError(f"end_axis {last} is in front of axis {first}")
            flat = shape[first : last + 1]
            shape = (*shape[:first], -1 if min(flat) < 0 else prod(flat), *shape[last + 1 :])
        else:
            channels = (self.integer("classes") + self.integer("coords") + 1) * len(self.integers("mask"))
            shape = (shape[0], channels, *shape[2:])
        return (tensor(shape, self.element_type(0)),)


@irdl_op_definition
class ReorgYolo(OpsetOp):
    """Blocks of `stride` x `stride` elements of data [N, C, H, W] become channels."""

    name = "opset2.ReorgYolo"
    data = operand_def()
    stride = integers_property()
    result = result_def()

    def infer(self, known: OperandValues) -> Types:
        if self.shape(0) is None:
            return (tensor(None, self.element_type(0)),)
        n, c, h, w = expanded(self.shape(0), 4, "data")
        stride = self.integers("stride")[0]
        return (
            tensor((n, -1 if c < 0 else c * stride**2, *(-1 if size < 0 else size // stride for size in (h, w))), self.element_type(0)),
        )

    def verify_(self) -> None:
        super().verify_()
        if not self.integers("stride") or min(self.integers("stride")) < 1:
            raise VerifyException("stride must be positive")


@irdl_op_definition
class GRN(OpsetOp):
    """x / sqrt(sum(x ^ 2 over channels) + bias)"""

    name = "opset1.GRN"
    data = operand_def()
    bias = float_property()
    result = result_def()

    def infer(self, known: OperandValues) -> Types:
        return (self.operands[0].type,)


@irdl_op_definition
class PSROIPooling(OpsetOp):
    """Position-sensitive pooling of regions [regions, 5] of data [N, C, H, W] to [regions, output_dim, group_size, group_size]."""

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

    def infer(self, known: OperandValues) -> Types:
        expanded(self.shape(0), 4, "data")
        rois = expanded(self.shape(1), 2, "regions")
        size = self.integer("group_size")
        element = merge_elements(self.element_type(0), self.element_type(1))
        return (tensor((rois[0], self.integer("output_dim"), size, size), element),)


@irdl_op_definition
class Proposal(OpsetOp):
    """The best regions [N * post_nms_topn, 5] of anchors with scores [N, 2 * A, H, W] and offsets [N, 4 * A, H, W], and their scores."""

    name = "opset4.Proposal"
    class_probs = operand_def()
    bbox_deltas = operand_def()
    image_shape = operand_def()
    base_size = integer_property()
    pre_nms_topn = integer_property()
    post_nms_topn = integer_property()
    nms_thresh = float_property()
    feat_stride = integer_property()
    min_size = integer_property()
    ratio = floats_property()
    scale = floats_property()
    clip_before_nms = boolean_property(True)
    clip_after_nms = boolean_property(False)
    normalize = boolean_property(False)
    box_size_scale = float_property(1.0)
    box_coordinate_scale = float_property(1.0)
    framework = string_property("", "", "tensorflow")
    rois = result_def()
    probabilities = result_def()

    def infer(self, known: OperandValues) -> Types:
        batches = [expanded(self.shape(index), 4, name)[0] for index, name in enumerate(("scores", "offsets"))]
        batch = max(batches)
        count = -1 if batch < 0 else batch * self.integer("post_nms_topn")
        element = merge_elements(self.element_type(0), self.element_type(1))
        return tensor((count, 5), element), tensor((count,), element)


@irdl_op_definition
class CTCGreedyDecoder(OpsetOp):
    """The best path [N, T, 1, 1] through probabilities [T, N, C] where the mask [T, N] is 1."""

    name = "opset1.CTCGreedyDecoder"
    data = operand_def()
    sequence_mask = operand_def()
    ctc_merge_repeated = boolean_property(True)
    result = result_def()

    def infer(self, known: OperandValues) -> Types:
        time, batch, _ = expanded(self.shape(0), 3, "data")
        mask = expanded(self.shape(1), 2, "the mask")
        merged = [max(one, other) for one, other in zip((time, batch), mask, strict=True)]
        return (tensor((merged[1], merged[0], 1, 1), self.element_type(0)),)
