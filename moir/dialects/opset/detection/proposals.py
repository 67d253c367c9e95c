"""Region proposals of the first stage of a detector, and the pooling and detections of its second stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects.element_types import si32, si64
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.decoding import larger
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import (
    boolean_property,
    deferred_definition,
    element_property,
    float_property,
    floats_property,
    integer_property,
    integers_property,
    string_property,
)
from moir.dialects.opset.interfaces.spatial import agrees, expanded
from moir.dialects.shapes import Shapes, SymbolicShape, is_fixed, merge_dimensions, product
from moir.dialects.symbols import Dimension
from moir.errors import InferenceError


class ProposalOp(OpsetOp):
    """Base of the versions of Proposal: the highest-scoring regions [N * post_nms_topn, 5].

    The anchors have scores [N, 2 * A, H, W] and offsets [N, 4 * A, H, W].
    """

    UNWRITTEN: ClassVar[Mapping[str, object]] = {"feat_stride": 1, "min_size": 1}

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

    def region_count(self, shapes: Shapes) -> Dimension:
        """The number of regions."""
        scores, offsets = expanded(shapes[0], 4, "scores"), expanded(shapes[1], 4, "offsets")
        return product(larger(scores[0], offsets[0]), self.integer("post_nms_topn"))


@deferred_definition
class Proposal1(ProposalOp):
    """The regions with the highest scores."""

    name = "opset1.Proposal"
    rois = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        return (self.region_count(shapes), 5)

    def result_element(self) -> Attribute:
        return self.common_element(0, 1)


@deferred_definition
class Proposal(ProposalOp):
    """The regions with the highest scores, and these scores."""

    name = "opset4.Proposal"
    rois = result_def()
    probabilities = result_def()

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        count = self.region_count(shapes)
        return (count, 5), (count,)

    def result_elements(self) -> Sequence[Attribute]:
        return (self.common_element(0, 1),) * 2


@deferred_definition
class GenerateProposals(OpsetOp):
    """Regions of all images [selected, 4], their scores [selected], and the number of each image [N].

    Sizes of images [N, 3] or [N, 4], anchors [H, W, A, 4], offsets [N, 4 * A, H, W], scores [N, A, H, W].
    """

    name = "opset9.GenerateProposals"
    SIZES_OF_ELEMENTS: ClassVar[bool] = True
    im_info = operand_def()
    anchors = operand_def()
    deltas = operand_def()
    scores = operand_def()
    min_size = float_property()
    nms_threshold = float_property()
    post_nms_count = integer_property()
    pre_nms_count = integer_property()
    normalized = boolean_property(True)
    nms_eta = float_property(1.0)
    roi_num_type = element_property(si64)
    rois = result_def()
    rois_scores = result_def()
    rois_num = result_def()

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        info, anchors = expanded(shapes[0], 2, "im_info"), expanded(shapes[1], 4, "anchors")
        deltas, scores = expanded(shapes[2], 4, "deltas"), expanded(shapes[3], 4, "scores")
        if is_fixed(info[1]) and info[1] not in (3, 4):
            raise InferenceError(f"im_info has {info[1]} columns, not 3 or 4")
        agrees("anchors", anchors, (deltas[2], deltas[3], scores[1], 4))
        agrees("deltas", deltas, (-1, product(scores[1], 4), scores[2], scores[3]))
        images = merge_dimensions(info[0], merge_dimensions(deltas[0], scores[0]))
        return (-1, 4), (-1,), (images,)

    def result_elements(self) -> Sequence[Attribute]:
        element = self.common_element()
        return element, element, self.element("roi_num_type")

    def check_invariants(self) -> None:
        super().check_invariants()
        if self.element("roi_num_type") not in (si32, si64):
            raise VerifyException("roi_num_type is neither si32 nor si64")


@deferred_definition
class ExperimentalDetectronGenerateProposalsSingleImage(OpsetOp):
    """Regions of one image [post_nms_count, 4], and their scores.

    Size of the image [3], anchors [A * H * W, 4], offsets [4 * A, H, W], scores [A, H, W].
    """

    name = "opset6.ExperimentalDetectronGenerateProposalsSingleImage"
    im_info = operand_def()
    anchors = operand_def()
    deltas = operand_def()
    scores = operand_def()
    min_size = float_property(0.0)
    nms_threshold = float_property(0.0)
    post_nms_count = integer_property(0)
    pre_nms_count = integer_property(0)
    rois = result_def()
    rois_scores = result_def()

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        agrees("im_info", expanded(shapes[0], 1, "im_info"), (3,))
        agrees("anchors", expanded(shapes[1], 2, "anchors"), (-1, 4))
        deltas, scores = expanded(shapes[2], 3, "deltas"), expanded(shapes[3], 3, "scores")
        agrees("deltas", deltas, (product(scores[0], 4), scores[1], scores[2]))
        count = self.integer("post_nms_count")
        return (count, 4), (count,)

    def result_elements(self) -> Sequence[Attribute]:
        return (self.common_element(),) * 2


@deferred_definition
class ExperimentalDetectronPriorGridGenerator(OpsetOp):
    """The priors [A, 4], moved to each cell of a grid: [H, W, A, 4], or [H * W * A, 4] with `flatten`.

    The grid has the size of the feature map [1, C, H, W].
    """

    name = "opset6.ExperimentalDetectronPriorGridGenerator"
    priors = operand_def()
    feature_map = operand_def()
    im_data = operand_def()
    flatten = boolean_property(False)
    h = integer_property(0)
    w = integer_property(0)
    stride_x = float_property(0.0)
    stride_y = float_property(0.0)
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        priors = expanded(shapes[0], 2, "priors")
        agrees("priors", priors, (-1, 4))
        features, image = expanded(shapes[1], 4, "feature_map"), expanded(shapes[2], 4, "im_data")
        merge_dimensions(features[0], image[0])
        _, _, rows, columns = features
        if self.flag("flatten"):
            return (product(product(rows, columns), priors[0]), 4)
        return (rows, columns, priors[0], 4)

    def result_element(self) -> Attribute:
        return self.common_element()


@deferred_definition
class ExperimentalDetectronTopKROIs(OpsetOp):
    """The `max_rois` regions [regions, 4] of highest probability."""

    name = "opset6.ExperimentalDetectronTopKROIs"
    input_rois = operand_def()
    rois_probs = operand_def()
    max_rois = integer_property(0)
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        regions = expanded(shapes[0], 2, "input_rois")
        agrees("input_rois", regions, (-1, 4))
        agrees("rois_probs", expanded(shapes[1], 1, "rois_probs"), (regions[0],))
        return (self.integer("max_rois"), 4)

    def result_element(self) -> Attribute:
        return self.common_element()


@deferred_definition
class ExperimentalDetectronROIFeatureExtractor(OpsetOp):
    """Regions [regions, 4] of a pyramid of feature maps [1, C, …], each pooled from the level of its size.

    Results: [regions, C, output_size, output_size], and the regions.
    """

    name = "opset6.ExperimentalDetectronROIFeatureExtractor"
    rois = operand_def()
    feature_map = operand_def()
    feature_maps = var_operand_def()
    output_size = integer_property(0)
    sampling_ratio = integer_property(0)
    pyramid_scales = integers_property(())
    aligned = boolean_property(False)
    features = result_def()
    rois_ordered = result_def()

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        regions = expanded(shapes[0], 2, "rois")
        agrees("rois", regions, (-1, 4))
        channels: Dimension = -1
        for index, each in enumerate(shapes[1:]):
            level = expanded(each, 4, f"feature map {index}")
            agrees(f"feature map {index}", level, (1, -1, -1, -1))
            channels = merge_dimensions(channels, level[1])
        size = self.integer("output_size")
        return (regions[0], channels, size, size), (regions[0], 4)

    def result_elements(self) -> Sequence[Attribute]:
        return (self.common_element(),) * 2


@deferred_definition
class ExperimentalDetectronDetectionOutput(OpsetOp):
    """The detections of an image: boxes [count, 4], classes [count] and scores [count].

    Regions [regions, 4], offsets [regions, 4 * classes], scores [regions, classes], size of the image [1, 3]; count is
    `max_detections_per_image`.
    """

    name = "opset6.ExperimentalDetectronDetectionOutput"
    rois = operand_def()
    deltas = operand_def()
    scores = operand_def()
    im_info = operand_def()
    score_threshold = float_property(0.0)
    nms_threshold = float_property(0.0)
    max_delta_log_wh = float_property(0.0)
    num_classes = integer_property(0)
    post_nms_count = integer_property(0)
    max_detections_per_image = integer_property(0)
    class_agnostic_box_regression = boolean_property(False)
    deltas_weights = floats_property(())
    boxes = result_def()
    classes = result_def()
    box_scores = result_def()

    COORDINATES: ClassVar[int] = 4

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        classes = self.integer("num_classes")
        regions = expanded(shapes[0], 2, "rois")
        agrees("rois", regions, (-1, self.COORDINATES))
        deltas = expanded(shapes[1], 2, "deltas")
        agrees("deltas", deltas, (regions[0], classes * self.COORDINATES))
        agrees("scores", expanded(shapes[2], 2, "scores"), (merge_dimensions(regions[0], deltas[0]), classes))
        agrees("im_info", expanded(shapes[3], 2, "im_info"), (1, 3))
        count = self.integer("max_detections_per_image")
        return (count, self.COORDINATES), (count,), (count,)

    def result_elements(self) -> Sequence[Attribute]:
        element = self.common_element()
        return element, si32, element
