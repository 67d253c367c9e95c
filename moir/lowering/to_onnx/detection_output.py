"""The head of a detection network: boxes decoded against priors, suppressed by class, and the best of each image.

    %y = opset8.DetectionOutput(%logits [N, P * 4], %scores [N, P * C], %priors [1, 2, P * 4])
->  %boxes [N, P, 4]; onnx.NonMaxSuppression(%boxes, %scores [N, C, P]); the scores that are kept, [N, C * P];
    onnx.TopK of them, in the order of their classes; rows [1, 1, N * K, 7], those of all images without gaps

Sources: Liu et al., "SSD: Single Shot MultiBox Detector", 2016; the specification of opset8.DetectionOutput.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, f32, si64
from moir.dialects.opset.detection.outputs import CODE_TYPES
from moir.dialects.shapes import shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.to_onnx.builder import OnnxBuilder
from moir.lowering.to_onnx.table import opset
from moir.support.records import Record

NOT_KEPT = float(np.finfo(np.float32).min)
"""The score of a box that is not kept; no threshold is lower."""


class Head(Record):
    """The sizes of a detection head.

    Args:
        priors: the number of prior boxes.
        classes: the number of classes.
        is_shared: whether all classes have the same boxes.
        kept: the number of detections of each image.
    """

    priors: int
    classes: int
    is_shared: bool
    kept: int


def _head(node: LoweringNode) -> Head:
    """The sizes of the detection head. Raises ConversionError if they are dynamic."""
    proposals, predictions = shape_of(node.operand(2)), shape_of(node.operand(1))
    if proposals is None or predictions is None or min(proposals[2], predictions[1]) < 0:
        node.fail("the number of its priors or classes is dynamic", hint="give static shapes with --static-shape")
    priors = proposals[2] // (4 if node.flag("normalized", False) else 5)
    classes = predictions[1] // priors
    keep, top = node.integers("keep_top_k")[0], node.integer("top_k", -1)
    kept = keep if keep > 0 else classes * (top if top > 0 else priors)
    return Head(priors, classes, node.flag("share_location", True), kept)


@opset.lowers("DetectionOutput")
def detection_output(node: LoweringNode, op: OnnxBuilder, logits: SSAValue, predictions: SSAValue, proposals: SSAValue) -> SSAValue:
    """opset8.DetectionOutput(logits, predictions, proposals) -> onnx.NonMaxSuppression and onnx.TopK

    Declines results of a first stage (operands 3 and 4) and `decrease_label_id`, which selects boxes in another way.
    """
    if node.flag("decrease_label_id", False):
        node.fail("it selects boxes as MXNet does (decrease_label_id), which ONNX's NonMaxSuppression does not")
    head = _head(node)
    boxes = _decoded(node, op, head, op.cast(logits, f32), op.cast(proposals, f32))
    if node.flag("clip_before_nms", False):
        boxes = op.Clip(boxes, 0.0, 1.0)
    scores = op.Transpose(op.Reshape(op.cast(predictions, f32), [-1, head.priors, head.classes]), perm=(0, 2, 1))
    kept = _kept_scores(node, op, head, boxes, scores)
    return op.cast(op.Reshape(_rows(node, op, head, boxes, kept), [1, 1, -1, 7]), node.element(0))


def _decoded(node: LoweringNode, op: OnnxBuilder, head: Head, logits: SSAValue, proposals: SSAValue) -> SSAValue:
    """Decode box logits against the priors to corners x1, y1, x2, y2: [N, P, 4] or, with boxes of each class, [N, C, P,
    4].
    """
    is_normalized, is_encoded = node.flag("normalized", False), node.flag("variance_encoded_in_target", False)
    if not is_normalized and not is_encoded:
        node.fail("its priors are pixels, with variances of their own", hint="write IR")
    size = 4 if is_normalized else 5
    priors = op.Reshape(op.Slice(proposals, [0], [1], [1]), [-1, head.priors, 1, size])
    if not is_normalized:
        image = [node.integer("input_width", 1), node.integer("input_height", 1)] * 2
        priors = op.Div(op.Slice(priors, [1], [5], [3]), op.constant([float(each) for each in image]))
    deltas = op.Reshape(logits, [-1, head.priors, 1 if head.is_shared else head.classes, 4])
    if not is_encoded:
        deltas = op.Mul(deltas, op.Reshape(op.Slice(proposals, [1], [2], [1]), [-1, head.priors, 1, 4]))
    if node.text("code_type", CODE_TYPES[0]) == CODE_TYPES[0]:
        boxes = op.Add(priors, deltas)
    else:
        first, last = (op.Slice(priors, [start], [start + 2], [3]) for start in (0, 2))
        extent, center = op.Sub(last, first), op.Mul(op.Add(first, last), 0.5)
        middle = op.Add(op.Mul(op.Slice(deltas, [0], [2], [3]), extent), center)
        half = op.Mul(op.Mul(op.Exp(op.Slice(deltas, [2], [4], [3])), extent), 0.5)
        boxes = op.Concat(op.Sub(middle, half), op.Add(middle, half), axis=3)
    return op.Reshape(boxes, [-1, head.priors, 4]) if head.is_shared else op.Transpose(boxes, perm=(0, 2, 1, 3))


def _kept_scores(node: LoweringNode, op: OnnxBuilder, head: Head, boxes: SSAValue, scores: SSAValue) -> SSAValue:
    """The scores [N, C * P] of the boxes that are kept after suppression, and `NOT_KEPT` for the others."""
    background, top = node.integer("background_label_id", 0), node.integer("top_k", -1)
    if 0 <= background < head.classes:
        is_background = np.arange(head.classes).reshape(1, -1, 1) == background
        scores = op.Where(op.constant(is_background), NOT_KEPT, scores)
    if 0 < top < head.priors:
        # Only the best ones of each class take part.
        least = op.Slice(op.TopK.results(2, scores, [top], axis=2)[0], [top - 1], [top], [2])
        scores = op.Where(op.Less(scores, least), NOT_KEPT, scores)
    if node.text("code_type", CODE_TYPES[0]) == CODE_TYPES[0]:
        # A box whose corners are in the other order has no area; ONNX would exchange them.
        first, last = (op.Slice(boxes, [start], [start + 2], [-1]) for start in (0, 2))
        boxes = op.Concat(first, op.Max(first, last), axis=-1)
    if not head.is_shared:
        boxes, scores = op.Reshape(boxes, [-1, head.priors, 4]), op.Reshape(scores, [-1, 1, head.priors])
    limits = [node.number("nms_threshold")], [node.number("confidence_threshold", 0.0)]
    indices = op.NonMaxSuppression(boxes, scores, [head.priors], *limits)
    none = op.Expand(op.constant(NOT_KEPT), op.Shape(scores))
    kept = op.ScatterND(none, indices, op.GatherND(scores, indices))
    return op.Reshape(kept, [-1, head.classes * head.priors])


def _rows(node: LoweringNode, op: OnnxBuilder, head: Head, boxes: SSAValue, kept: SSAValue) -> SSAValue:
    """The detections as rows (image, class, score, x1, y1, x2, y2) [N * K, 7]: ordered by image, class, and descending
    score.

    After the last detection comes a row that begins with -1, then zeros.
    """
    count = min(head.kept, head.classes * head.priors)
    scores, indices = op.TopK.results(2, kept, [count], axis=1)
    labels = op.Div(indices, op.constant(head.priors))
    by_class = op.Add(op.Mul(labels, op.constant(count)), op.constant(np.arange(count)))
    order = op.TopK.results(2, by_class, [count], axis=1, largest=0)[1]
    scores, indices, labels = (op.GatherElements(each, order, axis=1) for each in (scores, indices, labels))
    if head.is_shared:
        indices = op.Mod(indices, op.constant(head.priors))
    else:
        boxes = op.Reshape(boxes, [-1, head.classes * head.priors, 4])
    boxes = op.GatherND(boxes, op.Unsqueeze(indices, [2]), batch_dims=1)
    if node.flag("clip_after_nms", False):
        boxes = op.Clip(boxes, 0.0, 1.0)
    images = op.Range(op.constant(0), op.Squeeze(op.sizes(kept, 0, 1), [0]), op.constant(1))
    image = op.Add(op.cast(op.Unsqueeze(images, [1]), f32), op.Mul(op.cast(labels, f32), 0.0))
    columns = [op.Unsqueeze(each, [2]) for each in (image, op.cast(labels, f32), scores)]
    rows = op.Concat(*columns, boxes, axis=2)
    is_kept = op.Greater(scores, NOT_KEPT)
    if count < head.kept:
        rows = op.Pad(rows, [0, 0, 0, 0, head.kept - count, 0])
        is_kept = op.Cast(op.Pad(op.cast(is_kept, f32), [0, 0, 0, head.kept - count]), to=boolean)
    return _without_gaps(op, op.Reshape(rows, [-1, 7]), op.Reshape(is_kept, [-1]))


def _without_gaps(op: OnnxBuilder, rows: SSAValue, is_kept: SSAValue) -> SSAValue:
    """The rows where `is_kept` is true, in their order, then a row that begins with -1, then rows of zeros;
    [rows, 7].
    """
    size = op.Squeeze(op.Shape(is_kept), [0])
    index = op.Range(op.constant(0), size, op.constant(1))
    order = op.TopK.results(2, op.Where(is_kept, index, op.Add(index, size)), op.Shape(is_kept), axis=0, largest=0)[1]
    number = op.reduced("ReduceSum", op.cast(is_kept, si64), [0])
    end = op.constant(np.array([[-1, 0, 0, 0, 0, 0, 0]], np.float32))
    is_end = op.Unsqueeze(op.Equal(index, number), [1])
    is_before = op.Unsqueeze(op.Less(index, number), [1])
    return op.Where(is_before, op.Gather(rows, order, axis=0), op.Where(is_end, end, 0.0))
