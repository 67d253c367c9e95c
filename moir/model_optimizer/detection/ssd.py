"""`ObjectDetectionAPISSDPostprocessorReplacement`: the post-processing of an SSD becomes a DetectionOutput."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from xdsl.ir import Operation

from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Result
from moir.model_optimizer.detection.post_processing import PostProcessing, last_stage
from moir.model_optimizer.detection.request import DETECTION_BOXES, Request

T = TypeVar("T", bound=Operation)


def replace_postprocessor(request: Request) -> None:
    """Boxes decoded from anchors and scores, suppressed and sorted -> DetectionOutput(offsets, scores, anchors)

    Works on the outputs of the model that depend on a non-maximum suppression, or from which it selects. Raises
    ConversionError if they are computed in another way.
    """
    replaced = detection_results(request)
    processing = last_stage([each.operands[0] for each in replaced])
    coded = processing.boxes[single(request, processing.boxes, "boxes that are decoded from offsets to anchors")]
    activation = single(request, processing.scores, "Sigmoid or Softmax of class predictions")
    if before := PostProcessing([coded.anchors]).suppressions:
        raise request.error("the anchors are selected by another suppression, as in a model of two stages", before[0])
    suppression = request.suppression(processing)
    scores = activation.results[0]
    node = request.detection_output(
        [coded.codes, scores, coded.anchors],
        suppression,
        {
            "variances": coded.variances,
            "tiled": coded.is_tiled,
            "background": processing.drops_background(scores),
            "labels_from": 1,
        },
        DETECTION_BOXES,
        before=request.results[0],
    )
    request.replace_results(replaced, [(node.results[0], DETECTION_BOXES)])


def detection_results(request: Request) -> list[Result]:
    """The outputs that post-processing computes, after decoded boxes. Raises ConversionError if there are none."""
    outputs = [each for each in request.results if PostProcessing([each.operands[0]]).boxes]
    if not outputs:
        names = ", ".join(name_of(each) or "" for each in request.results)
        raise request.error(f"no output of the model ({names}) depends on boxes that are decoded from offsets to anchors")
    scores = {each for result in outputs for each in PostProcessing([result.operands[0]]).scores}
    return [each for each in request.results if each in outputs or scores.intersection(PostProcessing([each.operands[0]]).scores)]


def single(request: Request, candidates: Iterable[T], what: str, node: Operation | None = None) -> T:
    """The only one of the candidates. Raises ConversionError if there are several or none.

    `what` names them in the message, which points to `node`.
    """
    nodes = list(candidates)
    if len(nodes) != 1:
        names = ", ".join(name_of(each) or each.name for each in nodes)
        raise request.error(f"{what} were found {len(nodes)} times instead of once{': ' if names else ''}{names}", node)
    return nodes[0]
