"""Suppression of overlapping boxes: NonMaxSuppression, MatrixNms, MulticlassNms, NMSRotated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects.element_types import f32, si32, si64
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import (
    boolean_property,
    deferred_definition,
    element_property,
    float_property,
    integer_property,
    optional_operands,
    string_property,
)
from moir.dialects.opset.interfaces.spatial import expanded
from moir.dialects.shapes import Shapes, SymbolicShape, element_count, format_shape, is_fixed, merge_dimensions, product
from moir.dialects.symbols import Dimension
from moir.errors import InferenceError


def boxes_and_scores(shapes: Shapes, coordinates: int = 4) -> tuple[tuple[Dimension, ...], tuple[Dimension, ...]]:
    """Shapes of boxes [N, boxes, coordinates] and scores [N, classes, boxes].

    Raises InferenceError if they contradict each other.
    """
    boxes, scores = expanded(shapes[0], 3, "boxes"), expanded(shapes[1], 3, "scores")
    if is_fixed(boxes[2]) and boxes[2] != coordinates:
        raise InferenceError(f"boxes have {boxes[2]} coordinates, not {coordinates}")
    merge_dimensions(boxes[0], scores[0])
    merge_dimensions(boxes[1], scores[2])
    return boxes, scores


def selected_count(shapes: Shapes, *factors: Dimension) -> int:
    """The number of selected boxes, at most the product of the factors: 0 if that is 0, otherwise dynamic (-1)."""
    return 0 if 0 in factors and shapes[0] is not None and shapes[1] is not None else -1


class RankedSuppressionOp(OpsetOp):
    """Base of MatrixNms and MulticlassNms.

    Results: the selected rows (class, score, box) [selected, 6], their indices [selected, 1] and their number for each
    batch element [N].
    """

    SIZES_OF_ELEMENTS: ClassVar[bool] = True

    boxes = operand_def()
    scores = operand_def()
    selected_outputs = result_def()
    selected_indices = result_def()
    selected_num = result_def()

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        boxes, scores = boxes_and_scores(shapes)
        count = selected_count(shapes, boxes[1], scores[0], scores[1])
        return (count, 6), (count, 1), (boxes[0],)

    def result_elements(self) -> Sequence[Attribute]:
        index = self.element("output_type")
        return self.common_element(0, 1), index, index

    def check_invariants(self) -> None:
        super().check_invariants()
        check_index_type(self)


def check_index_type(op: OpsetOp) -> None:
    """Raise VerifyException unless the property `output_type` is an integer type for indices."""
    if op.element("output_type") not in (si32, si64):
        raise VerifyException("output_type is neither si32 nor si64")


@deferred_definition
class MatrixNms(RankedSuppressionOp):
    """Suppression that lowers each score, linearly or by a Gaussian, by its overlap with boxes of higher scores."""

    name = "opset8.MatrixNms"
    sort_result_type = string_property("none", "classid", "none", "score")
    output_type = element_property(si64)
    nms_top_k = integer_property(-1)
    keep_top_k = integer_property(-1)
    sort_result_across_batch = boolean_property(False)
    score_threshold = float_property(0.0)
    background_class = integer_property(-1)
    decay_function = string_property("linear", "gaussian", "linear")
    gaussian_sigma = float_property(2.0)
    post_threshold = float_property(0.0)
    normalized = boolean_property(True)


class MulticlassSuppressionOp(RankedSuppressionOp):
    """Base of the versions of MulticlassNms: suppression in each class separately.

    The threshold is multiplied by `nms_eta` from box to box.
    """

    sort_result_type = string_property("none", "classid", "none", "score")
    output_type = element_property(si64)
    nms_top_k = integer_property(-1)
    keep_top_k = integer_property(-1)
    sort_result_across_batch = boolean_property(False)
    iou_threshold = float_property(0.0)
    score_threshold = float_property(0.0)
    background_class = integer_property(-1)
    nms_eta = float_property(1.0)
    normalized = boolean_property(True)


@deferred_definition
class MulticlassNms8(MulticlassSuppressionOp):
    """Suppression of boxes that all classes share."""

    name = "opset8.MulticlassNms"


@deferred_definition
class MulticlassNms(MulticlassSuppressionOp):
    """Non-maximum suppression of boxes that all classes share, or of separate boxes per class, with a number of boxes
    per image.

    In the second form boxes are [classes, boxes, 4], scores [classes, boxes], and `roisnum` [N] is the number of boxes
    of each image.
    """

    name = "opset9.MulticlassNms"
    roisnum = optional_operands(1)

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        if self.optional_operand(2) is None:
            return super().result_shapes(shapes, known)
        boxes, scores = expanded(shapes[0], 3, "boxes"), expanded(shapes[1], 2, "scores")
        if is_fixed(boxes[2]) and boxes[2] != 4:
            raise InferenceError(f"boxes have {boxes[2]} coordinates, not 4")
        merge_dimensions(boxes[0], scores[0])
        merge_dimensions(boxes[1], scores[1])
        (images,) = expanded(shapes[2], 1, "roisnum")
        count = selected_count(shapes, boxes[1], scores[0], images)
        return (count, 6), (count, 1), (images,)


class GreedySuppressionOp(OpsetOp):
    """Base of the versions of NonMaxSuppression: greedy suppression in each class separately.

    Boxes [N, boxes, 4], scores [N, classes, boxes] and optionally the scalars (or [1]) max_output_boxes_per_class,
    iou_threshold, score_threshold and, in the newer versions, soft_nms_sigma.
    """

    SIZES_OF_ELEMENTS: ClassVar[bool] = True

    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (2, 3, 4, 5)
    boxes = operand_def()
    scores = operand_def()

    COORDINATES: ClassVar[int] = 4

    SELECTS_NOTHING: ClassVar[bool] = True
    """Whether no boxes are selected if there is no operand that limits their number."""

    def limit(self, shapes: Shapes, known: OperandValues) -> int | None:
        """The largest number of boxes that operands permit for a class of an image; None if it is dynamic.

        Raises InferenceError if shapes contradict each other, or a limit is not a scalar.
        """
        boxes = expanded(shapes[0], 3, "boxes")
        boxes_and_scores(shapes, self.COORDINATES)
        for index, shape in enumerate(shapes[2:], start=2):
            if shape is not None and (len(shape) > 1 or element_count(shape) not in (1, None)):
                raise InferenceError(f"operand {index} has shape {format_shape(shape)}, it should be a scalar")
        limit = (0,) if len(shapes) < 3 and self.SELECTS_NOTHING else known.integers(self.optional_operand(2))
        return limit[0] if limit and limit[0] >= 0 and is_fixed(boxes[1]) else None

    def index_element(self) -> Attribute:
        """The element type of indices."""
        return self.element("output_type")

    def check_invariants(self) -> None:
        super().check_invariants()
        if "output_type" in self.properties:
            check_index_type(self)


class IndexSuppressionOp(GreedySuppressionOp):
    """Base of the versions whose result is (batch, class, box) of each selected box [selected, 3]."""

    limits = optional_operands(3)
    box_encoding = string_property("corner", "center", "corner")
    sort_result_descending = boolean_property(True)

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        return (self.greatest_count(shapes, known), 3)

    def greatest_count(self, shapes: Shapes, known: OperandValues) -> Dimension:
        """The number of rows of the result; -1 if it is dynamic."""
        limit, boxes = self.limit(shapes, known), expanded(shapes[0], 3, "boxes")[1]
        selected = -1 if limit is None else product(limit, expanded(shapes[1], 3, "scores")[1])
        return min(boxes, selected) if is_fixed(selected) and is_fixed(boxes) else -1

    def result_element(self) -> Attribute:
        return self.index_element()


@deferred_definition
class NonMaxSuppression1(IndexSuppressionOp):
    """Indices (si64) of the selected boxes, at most the number of boxes, whatever the number of images."""

    name = "opset1.NonMaxSuppression"
    result = result_def()

    def index_element(self) -> Attribute:
        return si64


@deferred_definition
class NonMaxSuppression3(IndexSuppressionOp):
    """Indices of the selected boxes, at most the number of boxes, whatever the number of images."""

    name = "opset3.NonMaxSuppression"
    output_type = element_property(si64)
    result = result_def()


@deferred_definition
class NonMaxSuppression4(IndexSuppressionOp):
    """Indices of the selected boxes of all images."""

    name = "opset4.NonMaxSuppression"
    output_type = element_property(si64)
    result = result_def()

    def greatest_count(self, shapes: Shapes, known: OperandValues) -> Dimension:
        limit, boxes = self.limit(shapes, known), expanded(shapes[0], 3, "boxes")[1]
        images, classes, _ = expanded(shapes[1], 3, "scores")
        return product(min(boxes, limit), product(images, classes)) if limit is not None and is_fixed(boxes) else -1


class CountedSuppressionOp(GreedySuppressionOp):
    """Base of the versions of NonMaxSuppression that also return the scores and the number of the selected boxes.

    Results: (batch, class, box) and (batch, class, score) [selected, 3], and their number [1].
    """

    SELECTS_NOTHING: ClassVar[bool] = False

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        limit, scores = self.limit(shapes, known), expanded(shapes[1], 3, "scores")
        boxes = expanded(shapes[0], 3, "boxes")[1]
        count = selected_count(shapes, *scores[:2], min(boxes, limit)) if limit is not None and is_fixed(boxes) else -1
        return (count, 3), (count, 3), (1,)

    def result_elements(self) -> Sequence[Attribute]:
        index = self.index_element()
        return index, f32, index


@deferred_definition
class NonMaxSuppression5(CountedSuppressionOp):
    """Selected boxes, their scores and their number."""

    name = "opset5.NonMaxSuppression"
    limits = optional_operands(4)
    box_encoding = string_property("corner", "center", "corner")
    sort_result_descending = boolean_property(True)
    output_type = element_property(si64)
    selected_indices = result_def()
    selected_scores = result_def()
    valid_outputs = result_def()


@deferred_definition
class NonMaxSuppression(CountedSuppressionOp):
    """Selected boxes, their scores and their number."""

    name = "opset9.NonMaxSuppression"
    limits = optional_operands(4)
    box_encoding = string_property("corner", "center", "corner")
    sort_result_descending = boolean_property(True)
    output_type = element_property(si64)
    selected_indices = result_def()
    selected_scores = result_def()
    valid_outputs = result_def()


@deferred_definition
class NMSRotated(CountedSuppressionOp):
    """Suppression of rotated boxes [N, boxes, 5]: centre, width, height, angle in radians."""

    name = "opset13.NMSRotated"
    COORDINATES: ClassVar[int] = 5
    max_output_boxes_per_class = operand_def()
    iou_threshold = operand_def()
    score_threshold = operand_def()
    sort_result_descending = boolean_property(True)
    output_type = element_property(si64)
    clockwise = boolean_property(True)
    selected_indices = result_def()
    selected_scores = result_def()
    valid_outputs = result_def()
