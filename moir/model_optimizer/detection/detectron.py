"""`ONNXMaskRCNNReplacement` and `ONNXPersonDetectionCrossroadReplacement`: networks exported from maskrcnn-benchmark.

    levels of regions -> Gather -> RoiAlign, for each level -> Scatter
                        -> ExperimentalDetectronROIFeatureExtractor(regions, levels)
    decoded boxes -> NonMaxSuppression, for each class -> TopK
                        -> ExperimentalDetectronDetectionOutput(regions, offsets, scores, im_info)

The configuration names the nodes at the boundary of these parts, for one model. A node without a name has the name of
its first result, as in Model Optimizer. The model gets an input `im_info` [1, 3]: height, width and scale of the
image.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import SSAValue

from moir.analysis.known_values import KnownValues
from moir.dialects.element_types import f32, si64
from moir.dialects.names import name_of, names_of, set_names, tensor_names
from moir.dialects.opset.infrastructure import Result
from moir.dialects.shapes import tensor
from moir.model_optimizer.detection.request import Request
from moir.rewriting.builder import OpBuilder
from moir.rewriting.model_inputs import new_parameter
from moir.support.suggestions import did_you_mean

_SCALES = (4, 8, 16, 32, 64)
"""Stride in pixels of the image for each feature map of a pyramid, the finest map first."""

_CLASSES = 81
"""The number of classes of the COCO data set with the background, for which the configurations were written."""

_DELTAS_WEIGHTS = (10.0, 10.0, 5.0, 5.0)


def replace_mask_rcnn(request: Request) -> None:
    """Replace both poolings of regions by ROIFeatureExtractors, and the suppression between them by a DetectionOutput.

    A Faster R-CNN has no second pooling, and its configuration no `ROIFeatureExtractor1_output`. Raises ConversionError
    for attributes that are absent and for names that no node has.
    """
    boundary = _Boundary(request)
    heads = boundary.values("input_fpn_heads")
    detected = boundary.values("do_outputs")
    if len(detected) != 3:
        raise request.error(f"'do_outputs' names {len(detected)} nodes instead of those of boxes, labels and scores")
    op = OpBuilder(KnownValues(), request.block, request.results[0])
    pooled, regions = _pooled(op, boundary.value("ROIFeatureExtractor2_input"), heads, 7)
    size = new_parameter(tensor((1, 3), f32), "im_info", tensor_names("im_info"))
    request.block.insert_op_before(size, request.results[0])
    classes = int(request.number("num_classes", _CLASSES) or _CLASSES)
    boxes, labels, scores = op.ExperimentalDetectronDetectionOutput.results(
        regions,
        op.Reshape(boundary.value("box_regressions_input_node"), [-1, 4 * classes], special_zero=False),
        boundary.value("class_predicitons_node"),
        size.results[0],
        class_agnostic_box_regression=False,
        deltas_weights=_DELTAS_WEIGHTS,
        num_classes=classes,
        max_delta_log_wh=boundary.number("max_delta_log_wh"),
        nms_threshold=boundary.number("nms_threshold"),
        score_threshold=boundary.number("score_threshold"),
        max_detections_per_image=int(boundary.number("max_detections_per_image")),
        post_nms_count=int(boundary.number("post_nms_count")),
    )
    replaced = [(boundary.value("ROIFeatureExtractor2_output"), pooled)]
    replaced += zip(detected, (boxes, op.convert(labels, si64), scores), strict=True)
    if "ROIFeatureExtractor1_output" in request.attributes:
        replaced.append((boundary.value("ROIFeatureExtractor1_output"), _pooled(op, boxes, heads, 14)[0]))
    for old, new in replaced:
        _replace(old, new)
    request.sort()


def replace_feature_extractors(request: Request) -> None:
    """Replace each pooling between an input and an output that the configuration names by a ROIFeatureExtractor.

    Raises ConversionError for attributes that are absent and for names that no node has.
    """
    boundary = _Boundary(request)
    heads = boundary.values("fpn_heads")
    regions, outputs = (boundary.values(f"ROI_feature_extractor_{each}") for each in ("inputs", "outputs"))
    if len(regions) != len(outputs):
        raise request.error(f"{len(regions)} ROI_feature_extractor_inputs, but {len(outputs)} ROI_feature_extractor_outputs")
    op = OpBuilder(KnownValues(), request.block, request.results[0])
    for given, old in zip(regions, outputs, strict=True):
        _replace(old, _pooled(op, given, heads, 7)[0])
    request.sort()


class _Boundary:
    """The values of the model that the custom attributes name."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._named: dict[str, SSAValue] = {}
        for op in request.block.ops:
            if op.results and not isinstance(op, Result):
                for name in (name_of(op), *names_of(op.results[0])):
                    self._named.setdefault(name or "", op.results[0])

    def values(self, attribute: str) -> list[SSAValue]:
        """The first results of the nodes that a custom attribute names, which is a name or a list of names.

        Raises ConversionError if the attribute is absent or names a node that does not exist.
        """
        given: object = self._request.attributes.get(attribute)
        listed = [given] if isinstance(given, str) else given
        if not isinstance(listed, list) or not listed:
            raise self._request.error(f"the custom_attributes have no {attribute!r}, the name of a node", hint="add it")
        names = [str(each) for each in cast("list[object]", listed)]
        absent = next((name for name in names if name not in self._named), None)
        if absent is not None:
            hint = did_you_mean(absent, self._named, similarity=0.4)
            raise self._request.error(f"there is no node {absent!r}, which {attribute!r} names", hint=hint)
        return [self._named[name] for name in names]

    def value(self, attribute: str) -> SSAValue:
        """The first result of the node that a custom attribute names. Raises the errors of `values`."""
        return self.values(attribute)[0]

    def number(self, attribute: str) -> float:
        """The number that a custom attribute gives. Raises ConversionError if it is absent or not a number."""
        value = self._request.number(attribute)
        if value is None:
            raise self._request.error(f"the custom_attributes have no {attribute!r}", hint="add it")
        return value


def _pooled(op: OpBuilder, regions: SSAValue, heads: Sequence[SSAValue], size: int) -> tuple[SSAValue, ...]:
    """Build a ROIFeatureExtractor: features [regions, channels, size, size], and the regions in the same order.

    `heads` are the feature maps of the pyramid.
    """
    return op.ExperimentalDetectronROIFeatureExtractor.results(
        regions, *heads, output_size=size, sampling_ratio=2, pyramid_scales=_SCALES, aligned=False
    )


def _replace(old: SSAValue, new: SSAValue) -> None:
    """Replace all uses of a value; if it is an output of the model, the new value also gets its names."""
    if any(isinstance(use.operation, Result) for use in old.uses):
        set_names(new, names_of(old))
        set_names(old, ())
    old.replace_all_uses_with(new)
