"""Faster R-CNN and Mask R-CNN of the Object Detection API: both suppressions become DetectionOutputs.

These are `ObjectDetectionAPIProposalReplacement` and `…DetectionOutputReplacement`. Crops are taken from their boxes;
`…MaskRCNNROIPoolingSecondReplacement` does so for crops of masks.

    features -> offsets, objectness -> suppression -> proposals -> CropAndResize -> offsets, classes -> suppression
    features -> DetectionOutput(offsets, objectness, anchors / size of the image) -> CropAndResize
             -> DetectionOutput(offsets, classes, boxes of the first) -> second CropAndResize, of a Mask R-CNN

Ren et al., "Faster R-CNN"; He et al., "Mask R-CNN". Coordinates are from 0 to 1 from the first suppression on, since
offsets are relative to the size of a box.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.framework import FrameworkOp
from moir.dialects.frameworks.detection import head_of
from moir.dialects.frameworks.tensorflow import integer_of, kind_of, new_integers, new_node, origin
from moir.dialects.names import name_of
from moir.model_optimizer.detection.position_sensitive import POOLING, pooled_loops
from moir.model_optimizer.detection.post_processing import PostProcessing, last_stage
from moir.model_optimizer.detection.request import DETECTION_BOXES, Request
from moir.model_optimizer.detection.ssd import detection_results, single

PROPOSALS = "proposals"
"""The name of the first DetectionOutput."""

FIRST_STAGE = {
    "nms_threshold": "first_stage_nms_iou_threshold",
    "confidence_threshold": "first_stage_nms_score_threshold",
    "keep_top_k": "first_stage_max_proposals",
}
"""Parameter of the first suppression -> its field in the pipeline.config."""

_SECOND_STAGE = "second_stage_post_processing.batch_non_max_suppression"
_BOXES, _IMAGES, _SIZE = 1, 2, 3
"""The indices of operands of CropAndResize: the boxes, the index of the image of each box, and height and width of the
crops.
"""

_RANK = 4
"""The rank of crops: [n, height, width, channels]."""


def replace_both_stages(request: Request) -> None:
    """Replace the non-maximum suppressions of both stages of a Faster R-CNN by DetectionOutput operations."""
    replace_proposals(request)
    replace_detections(request)


def replace_proposals(request: Request) -> None:
    """The first suppression -> DetectionOutput(offsets, objectness, anchors / size of the image), of one image.

    Raises ConversionError if no CropAndResize takes boxes that are decoded from anchors and suppressed.
    """
    crops = _crops_of_proposals(request)
    if not crops and pooled_loops(request):
        crops = _crops_of_proposals(request)
    if not crops:
        crop = next(iter(request.nodes("CropAndResize")), None)
        raise request.error("no CropAndResize takes boxes that a NonMaxSuppression selects from decoded ones", crop)
    if len({origin(crop.operands[_BOXES]) for crop, _ in crops}) > 1:
        raise request.error("the crops take different parts of the proposals, not in a loop over images", crops[1][0])
    crop, processing = crops[0]
    coded = processing.boxes[single(request, processing.boxes, "boxes that are decoded from offsets to anchors", crop)]
    activation = single(request, processing.scores, "Sigmoid or Softmax of the objectness", crop)
    suppression = request.suppression(processing, FIRST_STAGE)
    before = request.results[0]
    node = request.detection_output(
        [coded.codes, activation.results[0], coded.anchors, _size_of_image(request, coded.codes, before)],
        suppression,
        {
            "variances": coded.variances,
            "background": processing.drops_background(activation.results[0]),
            "single_image": True,
        },
        PROPOSALS,
        before,
    )
    for each, _ in crops:
        _crop_from(request, each, node)
    request.sort()


def _crops_of_proposals(request: Request) -> list[tuple[FrameworkOp, PostProcessing]]:
    """The nodes that crop boxes which the first suppression selects, each with the post-processing that contains this
    suppression.
    """
    crops = [(crop, PostProcessing([crop.operands[_BOXES]])) for crop in (*request.nodes("CropAndResize"), *request.heads(POOLING))]
    return [(crop, each) for crop, each in crops if each.suppressions and each.boxes and not _is_second(each)]


def replace_detections(request: Request) -> None:
    """The second suppression -> DetectionOutput(offsets, classes, boxes of the first DetectionOutput), the output.

    Raises ConversionError if the first one was not replaced, or the second one is computed in another way.
    """
    first = next((each for each in request.heads("DetectionOutput") if name_of(each) == PROPOSALS), None)
    if first is None:
        raise request.error(
            "the proposals are not a DetectionOutput",
            hint="add ObjectDetectionAPIProposalReplacement to the configuration, as the original file has it",
        )
    replaced = detection_results(request)
    processing = last_stage([each.operands[0] for each in replaced])
    coded = processing.boxes[single(request, processing.boxes, "boxes that are decoded from offsets to proposals")]
    activation = single(request, processing.scores, "Sigmoid or Softmax of class predictions")
    node = request.detection_output(
        [coded.codes, activation.results[0], first.results[1]],
        request.suppression(processing, _SECOND_STAGE),
        {
            "variances": coded.variances,
            "background": processing.drops_background(activation.results[0]),
            "labels_from": 1,
            "shared": "by shape",
            "single_image": True,
        },
        DETECTION_BOXES,
        before=request.results[0],
    )
    request.replace_results(replaced, [(node.results[0], DETECTION_BOXES)])


def crop_from_detections(request: Request) -> None:
    """For a Mask R-CNN: the second CropAndResize takes the boxes of the second DetectionOutput."""
    detections = next((each for each in request.heads("DetectionOutput") if name_of(each) == DETECTION_BOXES), None)
    if detections is None:
        raise request.error(
            "the detections are not a DetectionOutput", hint="add ObjectDetectionAPIDetectionOutputReplacement to the configuration"
        )
    crops = [crop for crop in request.nodes("CropAndResize") if _is_second(PostProcessing([crop.operands[_BOXES]]))]
    if not crops:
        raise request.error("no CropAndResize takes boxes of the second suppression", hint="is it a Mask R-CNN?")
    for crop in crops:
        _crop_from(request, crop, detections)
    request.sort()


def _is_second(processing: PostProcessing) -> bool:
    """Whether a post-processing decodes boxes from offsets to boxes of an earlier suppression."""
    return any(_has_suppressions(each.anchors) for each in processing.boxes.values())


def _has_suppressions(anchors: SSAValue) -> bool:
    return bool(PostProcessing([anchors]).suppressions)


def _crop_from(request: Request, crop: FrameworkOp, boxes: FrameworkOp) -> None:
    """Let a CropAndResize, or a PSROIPooling, take its boxes from a DetectionOutput; all boxes belong to the first
    image.
    """
    crop.operands[_BOXES] = boxes.results[1]
    if head_of(crop) == POOLING:
        return
    images = new_integers([0] * boxes.integer("keep_top_k"))
    request.block.insert_op_before(images, crop)
    crop.operands[_IMAGES] = images.results[0]
    _skip_axis_of_images(crop)


def _skip_axis_of_images(crop: FrameworkOp) -> None:
    """Let the nodes that take crops as [n, height, width, channels] take the crops of a CropAndResize directly.

    crops -> Reshape [images, n, height, width, channels] -> Reshape [images * n, height, width, channels]

    The sizes in between belong to the boxes that the crops had before.
    """
    extent = constant_of(origin(crop.operands[_SIZE]))
    for by_image in _reshapes_of(crop.results[0]):
        for flat in _reshapes_of(by_image.results[0]):
            sizes = origin(flat.operands[1])
            entries = list(sizes.owner.operands) if isinstance(sizes.owner, FrameworkOp) and kind_of(sizes.owner) == "Pack" else []
            known = constant_of(sizes)
            given = [integer_of(each) for each in entries] if known is None else known.reshape(-1).tolist()
            if extent is not None and len(given) == _RANK and given[1:3] == extent.reshape(-1).tolist():
                flat.results[0].replace_all_uses_with(crop.results[0])


def _reshapes_of(value: SSAValue) -> list[FrameworkOp]:
    """The Reshape nodes that reshape a value."""
    users = [use.operation for use in value.uses if use.index == 0]
    return [user for user in users if isinstance(user, FrameworkOp) and kind_of(user) == "Reshape"]


def _size_of_image(request: Request, offsets: SSAValue, before: Operation) -> SSAValue:
    """Height and width of the input image as a 1-D tensor, computed by new nodes in front of `before`.

    The image is the data, before any Pad, of the first convolution on which the box offsets `offsets` depend. Raises
    ConversionError if there is none.
    """
    reached, pending = set[Operation](), [offsets]
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, Operation) and owner not in reached:
            reached.add(owner)
            pending.extend(owner.operands)
    first = next((op for op in request.block.ops if op in reached and "Conv2d" in kind_of(op).replace("Conv2D", "Conv2d")), None)
    if first is None:
        raise request.error("the proposals do not depend on a convolution, whose operand would be the image")
    image = origin(first.operands[0])
    while kind_of(image.owner) in ("Pad", "PadV2", "MirrorPad") and isinstance(image.owner, Operation):
        image = origin(image.owner.operands[0])
    shape = new_node("Shape", [image])
    begin, size = new_integers([1]), new_integers([2])
    extent = new_node("Slice", [shape.results[0], begin.results[0], size.results[0]])
    for each in (shape, begin, size, extent):
        request.block.insert_op_before(each, before)
    return extent.results[0]
