"""The post-processing of a TensorFlow graph, from decoded boxes and scores to its outputs: non-maximum suppression.

The graph is walked from the outputs backwards, until nodes that decode boxes or turn logits into scores. The nodes
between are the post-processing, whatever their names; loops over images are `tf.While` with a body. The parameters of
the suppression are constants among these nodes.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import cast

from xdsl.ir import Block, Operation, SSAValue

from moir.analysis.constants import constant_of, scalar_of
from moir.dialects.framework import FrameworkOp
from moir.dialects.frameworks.tensorflow import integer_of, kind_of, origin
from moir.dialects.opset.infrastructure import Parameter
from moir.model_optimizer.detection.box_coding import CodedBoxes, decoded_from
from moir.support.records import Record

ACTIVATIONS = ("Sigmoid", "Softmax")
"""The kinds that turn logits into scores."""

BOXES, SCORES, _LIMIT, _OVERLAP, _THRESHOLD = range(5)
"""The indices of operands of NonMaxSuppressionV2 to V5: boxes, scores, largest number of selected boxes, overlap, and
from V3 on a score threshold.
"""


class PostProcessing:
    """The nodes between values of a graph and the boxes and scores from which they are computed.

    Args:
        values: the values at which the walk begins.
        beyond: further nodes at which the walk ends.

    Attributes:
        nodes: the nodes between, nested ones included.
        boxes: the boxes that are decoded where the walk ends, by the node whose result they are.
        scores: the scores where the walk ends.
    """

    def __init__(self, values: Iterable[SSAValue], beyond: Container[Operation] = ()) -> None:
        self.nodes: list[Operation] = []
        self.boxes: dict[Operation, CodedBoxes] = {}
        self.scores: list[FrameworkOp] = []
        seen: set[Operation] = set()
        pending = [value.owner for value in values]
        while pending:
            op = pending.pop()
            if not isinstance(op, Operation) or op in seen or op in beyond:
                continue
            seen.add(op)
            if (coded := decoded_from(op.results[0]) if kind_of(op) == "Transpose" else None) is not None:
                self.boxes[op] = coded
            elif kind_of(op) in ACTIVATIONS:
                self.scores.append(cast("FrameworkOp", op))
            else:
                for each in op.walk():
                    self.nodes.append(each)
                    pending.extend(operand.owner for operand in each.operands)

    @property
    def suppressions(self) -> list[FrameworkOp]:
        """The non-maximum suppressions."""
        return [cast("FrameworkOp", each) for each in self.nodes if "NonMaxSuppression" in kind_of(each)]

    def drops_background(self, scores: SSAValue) -> bool:
        """Whether the first class of scores is cut off, by a slice from 1 on of the last axis."""
        pending, seen = [scores], set[SSAValue]()
        members = set(self.nodes)
        while pending:
            value = pending.pop()
            for use in value.uses:
                user = use.operation
                if user not in members or use.index != 0:
                    continue
                if kind_of(user) in ("Slice", "StridedSlice"):
                    begin = constant_of(origin(user.operands[1]))
                    if begin is not None and begin.size > 1 and begin.reshape(-1)[-1] == 1:
                        return True
                elif kind_of(user) in ("Identity", "Reshape", "ExpandDims", "Squeeze") and user.results[0] not in seen:
                    seen.add(user.results[0])
                    pending.append(user.results[0])
        return False


def last_stage(values: Sequence[SSAValue]) -> PostProcessing:
    """The post-processing of the last stage of a network: the walk ends where boxes of earlier stages are selected.

    The second stage of a Faster R-CNN takes the number of proposals of the first stage.
    """
    whole = PostProcessing(values)
    for coded in whole.boxes.values():
        earlier = PostProcessing([coded.anchors])
        if earlier.suppressions:
            return PostProcessing(values, frozenset(earlier.nodes))
    return whole


class Suppression(Record):
    """Parameters of a non-maximum suppression; None where the graph does not determine them.

    Args:
        nms_threshold: the overlap from which on a box is suppressed by one of higher score.
        confidence_threshold: boxes whose score does not exceed it are left out.
        most_of_class: the largest number of boxes of a class.
        keep_top_k: the largest number of boxes of an image.
        clip_before_nms: whether boxes are clipped to the image before the suppression.
        clip_after_nms: whether boxes are clipped after the suppression.
    """

    nms_threshold: float | None = None
    confidence_threshold: float | None = None
    most_of_class: int | None = None
    keep_top_k: int | None = None
    clip_before_nms: bool | None = None
    clip_after_nms: bool | None = None


def suppression_in(processing: PostProcessing) -> Suppression:
    """The parameters of the suppressions in a post-processing, which are alike for all classes."""
    nodes = processing.suppressions
    if not nodes:
        return Suppression()
    first, kind = nodes[0], kind_of(nodes[0])
    if kind == "CombinedNonMaxSuppression":
        limit, total = _integer(first, 2), _integer(first, 3)
        clips = "clip_boxes" not in first.properties or first.flag("clip_boxes")
        return Suppression(_number(first, 4), _number(first, 5), limit, total, False, clips)
    threshold = first.number("iou_threshold") if "iou_threshold" in first.properties else _number(first, _OVERLAP)
    score = _number(first, _THRESHOLD) if kind[-1:] in ("3", "4", "5") else _compared_with(processing)
    before, after = _clips(processing, nodes)
    most = _limit(first.operands[_LIMIT])
    return Suppression(threshold, score, most, _total(processing, nodes), before, after)


def _number(node: FrameworkOp, index: int) -> float | None:
    return scalar_of(origin(node.operands[index])) if index < len(node.operands) else None


def _integer(node: FrameworkOp, index: int) -> int | None:
    return integer_of(node.operands[index]) if index < len(node.operands) else None


def _limit(value: SSAValue) -> int | None:
    """A constant upper bound of an integer: the integer itself, or an operand of Minimum; None if there is none."""
    known = integer_of(value)
    owner = origin(value).owner
    if known is None and kind_of(owner) == "Minimum":
        return next((integer for each in cast("Operation", owner).operands if (integer := integer_of(each)) is not None), None)
    return known


def _compared_with(processing: PostProcessing) -> float | None:
    """The threshold that scores have to exceed, if a comparison with a constant selects them before the suppression;
    else None.
    """
    for each in processing.nodes:
        if kind_of(each) == "Greater" and (scalar := scalar_of(origin(each.operands[1]))) is not None and 0 < scalar < 1:
            return scalar
    return None


def _dependent(values: Iterable[SSAValue]) -> set[Operation]:
    """The operations of a block that depend on some values."""
    dependent: set[Operation] = set()
    pending = list(values)
    while pending:
        for use in pending.pop().uses:
            if use.operation not in dependent:
                dependent.add(use.operation)
                pending.extend(use.operation.results)
    return dependent


def _clips(processing: PostProcessing, suppressions: Sequence[FrameworkOp]) -> tuple[bool | None, bool | None]:
    """Whether boxes are clipped (maximum(minimum(x, high), low)) before, and after, the suppressions; None for both if
    nothing clips values.
    """
    clipping = [
        each
        for each in processing.nodes
        if kind_of(each) in ("Maximum", "Minimum") and kind_of(origin(each.operands[0]).owner) in {"Maximum", "Minimum"} - {kind_of(each)}
    ]
    if not clipping:
        return None, None
    following = _dependent(result for each in suppressions for result in each.results)
    # A clip is before a suppression only if its boxes depend on it: sizes are computed with Minimum, too.
    before = any(each.operands[BOXES].owner in _dependent(result for clip in clipping for result in clip.results) for each in suppressions)
    return before, any(each in following for each in clipping)


def _total(processing: PostProcessing, suppressions: Sequence[FrameworkOp]) -> int | None:
    """The largest number of boxes of an image: the constant operand of a Minimum, or the k of a TopKV2, after the
    suppressions; None if there is neither.
    """
    following = _dependent(result for each in suppressions for result in each.results)
    for each in processing.nodes:
        if each in following and kind_of(each) == "Minimum" and (limit := _limit(each.results[0])) is not None:
            return limit
    return None


_MOVEMENTS = frozenset(
    (
        *("Gather", "GatherV2", "GatherNd", "Slice", "StridedSlice", "Unpack", "Split", "TensorListGetItem"),
        *("Reshape", "Squeeze", "ExpandDims", "Transpose", "Identity", "Cast"),
    )
)
"""The kinds whose result are elements of their first operand (for Split, of the second)."""


def batch_of(value: SSAValue) -> SSAValue:
    """The tensor of all images, or of all classes, from which an operand of a suppression is taken."""
    while True:
        value = origin(value)
        owner = value.owner
        if isinstance(owner, Parameter) and (loop := owner.parent_op()) is not None and kind_of(loop) in ("While", "StatelessWhile"):
            parameters = [op for op in cast("Block", owner.parent).ops if isinstance(op, Parameter)]
            value = loop.operands[parameters.index(owner)]
        elif kind_of(owner) == "TensorListFromTensor":
            return origin(cast("Operation", owner).operands[0])
        elif kind_of(owner) in _MOVEMENTS:
            value = cast("Operation", owner).operands[1 if kind_of(owner) == "Split" else 0]
            if kind_of(owner) == "Unpack" and kind_of(origin(value).owner) not in _MOVEMENTS:
                return origin(value)
        else:
            return value
