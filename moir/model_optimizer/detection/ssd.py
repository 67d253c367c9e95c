"""`ObjectDetectionAPISSDPostprocessorReplacement`: the post-processing of an SSD becomes a DetectionOutput."""

from __future__ import annotations

from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Result
from moir.model_optimizer.detection.post_processing import PostProcessing
from moir.model_optimizer.detection.request import DETECTION_BOXES, Request


def replace_postprocessor(request: Request) -> None:
    """Boxes decoded from anchors and scores, suppressed and sorted -> DetectionOutput(codes, scores, anchors)

    Works on the outputs of the model that depend on a non-maximum suppression or are what it selects from. Raises
    ConversionError if they are computed in another way.
    """
    replaced = detection_results(request)
    processing = PostProcessing(each.operands[0] for each in replaced)
    if len(processing.boxes) != 1:
        raise request.error(_found("boxes that are decoded from offsets to anchors", [name_of(each) for each in processing.boxes]))
    if len(processing.scores) != 1:
        raise request.error(_found("Sigmoid or Softmax of class predictions", [name_of(each) for each in processing.scores]))
    (coded,), (activation,) = processing.boxes.values(), processing.scores
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
    """The outputs that post-processing computes: those behind decoded boxes. Raises ConversionError if there are none."""
    found = [each for each in request.results if PostProcessing([each.operands[0]]).boxes]
    if not found:
        names = ", ".join(name_of(each) or "" for each in request.results)
        raise request.error(f"no output of the model ({names}) depends on boxes that are decoded from offsets to anchors")
    scores = {each for result in found for each in PostProcessing([result.operands[0]]).scores}
    return [each for each in request.results if each in found or scores.intersection(PostProcessing([each.operands[0]]).scores)]


def _found(what: str, names: list[str | None]) -> str:
    return f"{what} were found {len(names)} times instead of once{': ' if names else ''}{', '.join(filter(None, names))}"
