"""`SSDToolboxDetectionOutput`: locations, confidences and priors of an SSD of the toolbox become a DetectionOutput.

The configuration names their nodes: the locations (x, y, width, height) of all priors [images, n * 4], the
confidences [images, n * classes], and the priors with their variances [1, 2, n * 4].
"""

from __future__ import annotations

from moir.dialects.names import name_of
from moir.model_optimizer.detection.request import DETECTION_BOXES, Request
from moir.support.suggestions import did_you_mean


def replace_outputs(request: Request) -> None:
    """The outputs of the model -> DetectionOutput(locations, confidences, priors)

    Class 0 is the background. Raises ConversionError for names that no node has.
    """
    names = [name for each in request.descriptors for name in each.end_points or each.start_points]
    if len(names) != 3:
        raise request.error(f"{len(names)} end points instead of locations, confidences and priors")
    nodes = [request.named(name) for name in names]
    for name, node in zip(names, nodes, strict=True):
        if node is None:
            known = [each for op in request.block.ops if (each := name_of(op))]
            raise request.error(f"there is no node {name!r}", hint=did_you_mean(name, known, similarity=0.4))
    keep, nms, threshold = (request.number(name) for name in ("keep_top_k", "nms_threshold", "confidence_threshold"))
    properties = {
        "keep_top_k": int(keep or 200),
        "top_k": int(request.number("top_k") or -1),
        "nms_threshold": float(nms or 0.45),
        "confidence_threshold": float(threshold or 0.0),
    }
    node = request.new_output("PriorsDetectionOutput", [each.results[0] for each in nodes if each is not None], properties, DETECTION_BOXES)
    request.replace_results(request.results, [(node.results[0], DETECTION_BOXES)])
