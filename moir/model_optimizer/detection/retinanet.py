"""`RetinaNetFilteredDetectionsReplacement`: the suppression of a Keras RetinaNet becomes a DetectionOutput.

Lin et al., "Focal Loss for Dense Object Detection"; the structure is that of the implementation for Keras, whose boxes
are (x_min, y_min, x_max, y_max) in pixels.
"""

from __future__ import annotations

from moir.dialects.frameworks.tensorflow import new_integers, new_node
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.shapes import rank_of
from moir.model_optimizer.detection.post_processing import BOXES, SCORES, PostProcessing, batch_of
from moir.model_optimizer.detection.request import Request


def replace_filtered_detections(request: Request) -> None:
    """Boxes in pixels and scores, suppressed class by class -> DetectionOutput(boxes / size of the image, scores)

    The boxes are decoded and clipped by the nodes of the graph. Labels count from 0.
    """
    replaced = [each for each in request.results if PostProcessing([each.operands[0]]).suppressions]
    if not replaced:
        names = ", ".join(name_of(each) or "" for each in request.results)
        raise request.error(f"no output of the model ({names}) depends on a NonMaxSuppression")
    processing = PostProcessing(each.operands[0] for each in replaced)
    boxes = {batch_of(each.operands[BOXES]) for each in processing.suppressions}
    scores = {batch_of(each.operands[SCORES]) for each in processing.suppressions}
    if len(boxes) != 1 or len(scores) != 1:
        raise request.error(
            f"the suppressions take boxes of {len(boxes)} tensors and scores of {len(scores)}, not one each", processing.suppressions[0]
        )
    images = [op for op in request.block.ops if isinstance(op, Parameter) and rank_of(op.results[0]) in (None, 4)]
    if len(images) != 1:
        raise request.error(f"{len(images)} inputs are images, whose size the coordinates are divided by, not one")
    before = request.results[0]
    shape = new_node("Shape", images[0].results, {})
    begin, size = new_integers([1]), new_integers([2])
    extent = new_node("Slice", [shape.results[0], begin.results[0], size.results[0]])
    for each in (shape, begin, size, extent):
        request.block.insert_op_before(each, before)
    node = request.detection_output(
        [boxes.pop(), scores.pop(), request.absent(before), extent.results[0]],
        request.suppression(processing),
        {"order": "xy"},
        name := name_of(replaced[0]) or "detections",
        before,
    )
    request.replace_results(replaced, [(node.results[0], name)])
