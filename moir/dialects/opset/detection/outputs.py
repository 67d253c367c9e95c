"""Object detection: prior boxes, non-maximum suppression, decoding of detections, pooling of regions.

The number of detections depends on run-time values, so its dimension is dynamic even where it has an upper bound.
"""

from __future__ import annotations

import math
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects.element_types import f32
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
from moir.dialects.opset.interfaces.spatial import agrees, expanded
from moir.dialects.shapes import Shapes, SymbolicShape, format_shape, is_fixed, merge_dimensions, product
from moir.dialects.symbols import Dimension
from moir.errors import InferenceError

CODE_TYPES = ("caffe.PriorBoxParameter.CORNER", "caffe.PriorBoxParameter.CENTER_SIZE")


def check_multiple(what: str, size: Dimension, divisor: Dimension) -> Dimension:
    """`size / divisor`, -1 if one is dynamic. Raises InferenceError, which names `what`, if there is a remainder."""
    if not is_fixed(size) or not is_fixed(divisor) or divisor == 0:
        return -1
    if size % divisor:
        raise InferenceError(f"{what} has {size} entries a batch, which is not a multiple of {divisor}")
    return size // divisor


class DetectionOutputOp(OpsetOp):
    """Base of the versions of DetectionOutput.

    Boxes decoded against priors, suppressed by class and sorted by confidence.

    Box logits [N, priors * location classes * 4], class predictions [N, priors * classes], proposals [1 or N, 1 or 2,
    priors * box size] and optionally predictions of a first stage, of class [N, priors * 2] and of boxes like box
    logits. Result [1, 1, N * kept, 7], each row (batch, class, confidence, x_min, y_min, x_max, y_max).
    """

    box_logits = operand_def()
    class_preds = operand_def()
    proposals = operand_def()
    aux_preds = optional_operands(2)
    background_label_id = integer_property(0)
    top_k = integer_property(-1)
    variance_encoded_in_target = boolean_property(False)
    keep_top_k = integers_property()
    code_type = string_property(CODE_TYPES[0], *CODE_TYPES)
    share_location = boolean_property(True)
    nms_threshold = float_property()
    confidence_threshold = float_property(0.0)
    clip_after_nms = boolean_property(False)
    clip_before_nms = boolean_property(False)
    decrease_label_id = boolean_property(False)
    normalized = boolean_property(False)
    input_height = integer_property(1)
    input_width = integer_property(1)
    objectness_score = float_property(0.0)

    def class_count(self) -> Dimension:
        """The number of classes in the attributes; -1 if the attributes do not have it."""
        return -1

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        logits = expanded(shapes[0], 2, "box_logits")
        predictions = expanded(shapes[1], 2, "class_preds")
        proposals = expanded(shapes[2], 3, "proposals")
        first_stage = None if self.optional_operand(3) is None else expanded(shapes[3], 2, "aux_class_preds")
        priors = check_multiple("proposals", proposals[2], 4 if self.flag("normalized") else 5)
        if not is_fixed(priors) and first_stage is not None:
            priors = check_multiple("aux_class_preds", first_stage[1], 2)
        classes = self.class_count()
        if not is_fixed(priors) and is_fixed(classes):
            priors = check_multiple("class_preds", predictions[1], classes)
        if is_fixed(classes):
            agrees("class_preds", predictions, (-1, product(priors, classes)))
        else:
            classes = check_multiple("class_preds", predictions[1], priors)
        if not is_fixed(classes) and not self.flag("share_location"):
            classes = check_multiple("box_logits", logits[1], product(priors, 4))
        location_classes = 1 if self.flag("share_location") else classes
        expected = product(product(priors, location_classes), 4)
        if is_fixed(logits[1]) and is_fixed(expected) and logits[1] != expected:
            raise InferenceError(f"box_logits has {logits[1]} entries a batch where {priors} priors need {expected}")
        agrees("proposals", proposals, (-1, 1 if self.flag("variance_encoded_in_target") else 2, -1))
        batch = merge_dimensions(logits[0], predictions[0])
        if is_fixed(proposals[0]) and is_fixed(batch) and proposals[0] not in (1, batch):
            raise InferenceError(f"proposals are for {proposals[0]} batches, box_logits and class_preds for {batch}")
        if first_stage is not None:
            agrees("aux_class_preds", first_stage, (batch, product(priors, 2)))
            agrees("aux_box_preds", expanded(shapes[4], 2, "aux_box_preds"), (batch, logits[1]))
        keep, top = next(iter(self.integers("keep_top_k")), -1), self.integer("top_k")
        kept = keep if keep > 0 else product(classes, top if top > 0 else priors)
        return (1, 1, product(batch, kept), 7)

    def result_element(self) -> Attribute:
        return self.common_element(0, 1, 2)

    def check_invariants(self) -> None:
        super().check_invariants()
        if len(self.operands) == 4:
            raise VerifyException("there are class predictions of a first stage but no box predictions")
        if not self.integers("keep_top_k"):
            raise VerifyException("keep_top_k is empty")


@deferred_definition
class DetectionOutput1(DetectionOutputOp):
    """Detections of `num_classes` classes."""

    name = "opset1.DetectionOutput"
    num_classes = integer_property()
    result = result_def()

    def class_count(self) -> Dimension:
        return self.integer("num_classes")


@deferred_definition
class DetectionOutput(DetectionOutputOp):
    """Detections of as many classes as there are predictions for a prior."""

    name = "opset8.DetectionOutput"
    result = result_def()


class PriorOp(OpsetOp):
    """Base of the prior boxes, for a feature map of size layer_shape (H, W).

    Result: coordinates and variances [2, H * W * priors * 4].
    """

    layer_shape = operand_def()
    image_shape = operand_def()

    def priors(self) -> int:
        """Number of prior boxes for each position of the feature map."""
        raise NotImplementedError

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        for index, shape in enumerate(shapes):
            if shape is not None and (len(shape) != 1 or (is_fixed(shape[0]) and shape[0] != 2)):
                raise InferenceError(f"operand {index} has shape {format_shape(shape)}, it should be two numbers")
        size = known.sizes(self.operands[0])
        if size is None:
            return (2, -1)
        if len(size) != 2:
            raise InferenceError(f"layer_shape has {len(size)} entries, not 2")
        return (2, product(product(*size), 4 * self.priors()))

    def result_element(self) -> Attribute:
        return f32

    def check_invariants(self) -> None:
        super().check_invariants()
        if len(self.numbers("variance")) not in (0, 1, 4):
            raise VerifyException(f"variance has {len(self.numbers('variance'))} entries, not 0, 1 or 4")


class SizedPriorOp(PriorOp):
    """Base of the versions of PriorBox.

    Prior boxes of several sizes and aspect ratios, optionally dense grids of boxes of fixed size.
    """

    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (0, 1)
    min_size = floats_property(())
    max_size = floats_property(())
    aspect_ratio = floats_property(())
    density = floats_property(())
    fixed_ratio = floats_property(())
    fixed_size = floats_property(())
    clip = boolean_property(False)
    flip = boolean_property(False)
    step = float_property(0.0)
    offset = float_property()
    variance = floats_property(())
    scale_all_sizes = boolean_property(True)

    SAME_RATIO: ClassVar[float] = 1e-6
    """Largest difference of two aspect ratios that count as equal."""

    def aspect_ratios(self) -> list[float]:
        """The distinct aspect ratios: 1, the given ones and, with `flip`, their inverses."""
        ratios = [1.0]
        for ratio in self.numbers("aspect_ratio"):
            if any(abs(ratio - other) < self.SAME_RATIO for other in ratios):
                continue
            ratios += [ratio, 1 / ratio] if self.flag("flip") else [ratio]
        return ratios

    def priors(self) -> int:
        values = [value for name in ("aspect_ratio", "density") for value in self.numbers(name)]
        if not all(0 < value < math.inf for value in values):
            raise InferenceError("aspect ratios and densities must be positive")
        ratios = len(self.aspect_ratios())
        smallest, fixed = len(self.numbers("min_size")), len(self.numbers("fixed_size"))
        if fixed:
            count = ratios * fixed
        elif self.flag("scale_all_sizes"):
            count = ratios * smallest + len(self.numbers("max_size"))
        else:
            count = ratios + smallest - 1
        for density in self.numbers("density"):
            count += (len(self.numbers("fixed_ratio")) or ratios) * (int(density) ** 2 - 1)
        return count


@deferred_definition
class PriorBox1(SizedPriorOp):
    """Prior boxes of several sizes and aspect ratios."""

    name = "opset1.PriorBox"
    result = result_def()


@deferred_definition
class PriorBox(SizedPriorOp):
    """Prior boxes of several sizes and aspect ratios; `min_max_aspect_ratios_order` says which come first."""

    name = "opset8.PriorBox"
    min_max_aspect_ratios_order = boolean_property(True)
    result = result_def()


@deferred_definition
class PriorBoxClustered(PriorOp):
    """Prior boxes of the given widths and heights."""

    name = "opset1.PriorBoxClustered"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (0, 1)
    step = float_property(0.0)
    step_w = float_property(0.0)
    step_h = float_property(0.0)
    width = floats_property((1.0,))
    height = floats_property((1.0,))
    clip = boolean_property(True)
    offset = float_property()
    variance = floats_property(())
    result = result_def()

    def priors(self) -> int:
        return len(self.numbers("width"))

    def check_invariants(self) -> None:
        super().check_invariants()
        if len(self.numbers("width")) != len(self.numbers("height")):
            raise VerifyException("width and height have different numbers of entries")
