"""Layers of detection networks: SSD, Faster R-CNN, R-FCN, YOLO.

Source: the forks of these networks' authors; the parameters are the attributes of the operations, as the
operations were made for these layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.opset.detection.outputs import CODE_TYPES
from moir.dialects.shapes import shape_of
from moir.expansions.images.pooled_regions import position_averages
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.layer_parameters import LayerParameters, bottoms, parameter_text, parameters, with_parameters
from moir.lowering.caffe.table import caffe
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


def _sizes(op: OpBuilder, x: SSAValue) -> SSAValue:
    """Height and width of a blob."""
    return op.Slice(op.ShapeOf(x, output_type=si64), [2], [4], [1])


def _image_sizes(op: OpBuilder, parameter: LayerParameters, image: SSAValue) -> SSAValue:
    """Height and width of the image: from the parameters of the layer, or the sizes of its second bottom."""
    both = parameter.integer("img_size", 0)
    height, width = parameter.integer("img_h", both), parameter.integer("img_w", both)
    return op.constant([height, width]) if height and width else _sizes(op, image)


def _variances(node: LoweringNode, parameter: LayerParameters) -> tuple[float, ...]:
    variances = parameter.numbers("variance", (0.1,))
    if len(variances) not in (1, 4):
        node.fail(f"it has {len(variances)} variances, not 1 or 4")
    return variances


@caffe.lowers("PriorBox")
@with_parameters("prior_box_param")
def prior_box(
    node: LoweringNode,
    op: OpBuilder,
    *,
    step_h: float = 0.0,
    step_w: float = 0.0,
    flip: bool = True,
    clip: bool = False,
    offset: float = 0.5,
    min_size: tuple[float, ...] = (),
    max_size: tuple[float, ...] = (),
    aspect_ratio: tuple[float, ...] = (),
    density: tuple[float, ...] = (),
    fixed_size: tuple[float, ...] = (),
    fixed_ratio: tuple[float, ...] = (),
) -> SSAValue:
    """caffe.PriorBox(x, image) -> opset1.Unsqueeze(opset8.PriorBox(sizes of x, sizes of image), [0])"""
    parameter = parameters(node, "prior_box_param")
    x, image = bottoms(node, 2, 2)
    if step_h != step_w:
        node.fail("step_h and step_w differ, opset8.PriorBox has one step")
    boxes = op["opset8.PriorBox"](
        _sizes(op, x),
        _image_sizes(op, parameter, image),
        min_size=min_size,
        max_size=max_size,
        aspect_ratio=aspect_ratio,
        density=density,
        fixed_size=fixed_size,
        fixed_ratio=fixed_ratio,
        flip=flip,
        clip=clip,
        step=parameter.number("step", step_h),
        offset=offset,
        variance=_variances(node, parameter),
        scale_all_sizes=True,
    )
    return op.Unsqueeze(boxes, [0])


@caffe.lowers("PriorBoxClustered")
@with_parameters("prior_box_param")
def prior_box_clustered(
    node: LoweringNode,
    op: OpBuilder,
    *,
    step: float = 0.0,
    clip: bool = False,
    offset: float = 0.5,
    width: tuple[float, ...] = (),
    height: tuple[float, ...] = (),
) -> SSAValue:
    """caffe.PriorBoxClustered(x, image)
    -> opset1.Unsqueeze(opset1.PriorBoxClustered(sizes of x, sizes of image), [0])
    """
    parameter = parameters(node, "prior_box_param")
    x, image = bottoms(node, 2, 2)
    boxes = op.PriorBoxClustered(
        _sizes(op, x),
        _image_sizes(op, parameter, image),
        width=width,
        height=height,
        clip=clip,
        step=step,
        step_h=parameter.number("step_h", step),
        step_w=parameter.number("step_w", step),
        offset=offset,
        variance=_variances(node, parameter),
    )
    return op.Unsqueeze(boxes, [0])


@caffe.lowers("DetectionOutput")
@with_parameters("detection_output_param")
def detection_output(
    node: LoweringNode,
    op: OpBuilder,
    *,
    input_height: int = 1,
    input_width: int = 1,
    background_label_id: int = 0,
    variance_encoded_in_target: bool = False,
    share_location: bool = True,
    objectness_score: float = 0.0,
    keep_top_k: int = -1,
    normalized_bbox: bool = False,
) -> SSAValue:
    """caffe.DetectionOutput(boxes, classes, priors) -> opset8.DetectionOutput(boxes, classes, priors), sorted

    Caffe and DetectionOutput list the detections of an image by class, OpenCV's Caffe importer in descending order of
    confidence. The rows of a single image are sorted by confidence, which suits programs written for either.
    """
    parameter = parameters(node, "detection_output_param")
    suppression = parameter.message("nms_param")
    code = parameter.numbered_choice("code_type", {1: "CORNER", 2: "CENTER_SIZE", 3: "CORNER_SIZE"})
    if code == "CORNER_SIZE":
        node.fail("opset8.DetectionOutput has no boxes that are coded as CORNER_SIZE")
    if suppression.number("eta", 1.0) != 1:
        node.fail("opset8.DetectionOutput has no threshold that changes during the suppression (eta)")
    boxes, classes, priors, *others = bottoms(node, 3, 5)
    flat = [op.Reshape(value, [0, -1], special_zero=True) for value in (boxes, classes)]
    size = input_height, input_width
    rows = op["opset8.DetectionOutput"](
        *flat,
        priors,
        *others,
        background_label_id=background_label_id,
        top_k=suppression.integer("top_k", -1),
        variance_encoded_in_target=variance_encoded_in_target,
        keep_top_k=[keep_top_k],
        code_type=next(name for name in CODE_TYPES if name.endswith(f".{code}")),
        share_location=share_location,
        nms_threshold=suppression.number("nms_threshold", 0.3),
        confidence_threshold=parameter.number("confidence_threshold", float(np.finfo(np.float32).min)),
        # The prior boxes of PriorBox are normalized to 0 … 1.
        normalized=size == (1, 1) or normalized_bbox,
        input_height=size[0],
        input_width=size[1],
        objectness_score=objectness_score,
    )
    return _by_confidence(op, rows) if (shape_of(boxes) or (-1,))[0] == 1 else rows


def _by_confidence(op: OpBuilder, rows: SSAValue) -> SSAValue:
    """Rows [1, 1, D, 7] in descending order of column 2, the confidence.

    Rows after the last detection have confidence 0.
    """
    confidences = op.Gather(rows, [2], 3)
    count = op.Gather(op.ShapeOf(rows), 2, 0)
    _, order = op.TopK.results(confidences, count, axis=2, mode="max", sort="value", index_element_type=si64, stable=True)
    return op.Gather(rows, op.Reshape(order, [-1], special_zero=False), 2)


@caffe.lowers("Proposal")
@with_parameters("proposal_param")
def proposal(
    node: LoweringNode,
    op: OpBuilder,
    *,
    base_size: int = 16,
    pre_nms_topn: int = 6000,
    post_nms_topn: int = 300,
    nms_thresh: float = 0.7,
    feat_stride: int = 16,
    min_size: int = 16,
    ratio: tuple[float, ...] = (),
    scale: tuple[float, ...] = (),
) -> Replacement:
    """caffe.Proposal(scores, offsets, image) -> opset4.Proposal(scores, offsets, image as a 1-D tensor)"""
    return _proposed(
        node,
        op,
        base_size=base_size,
        pre_nms_topn=pre_nms_topn,
        post_nms_topn=post_nms_topn,
        nms_thresh=nms_thresh,
        feat_stride=feat_stride,
        min_size=min_size,
        ratio=ratio or [0.5, 1.0, 2.0],
        scale=scale or [8.0, 16.0, 32.0],
    )


def _proposed(node: LoweringNode, op: OpBuilder, **attributes: object) -> Replacement:
    scores, offsets, image = bottoms(node, 3, 3)
    return op["opset4.Proposal"].results(scores, offsets, op.Reshape(image, [-1], special_zero=False), **attributes)


_PROPOSAL_LAYERS = ("rpn.proposal_layer.ProposalLayer", "SSH.layers.proposal_layer.ProposalLayer")
"""Layers written in Python that compute the same as Proposal: module and class."""


@caffe.lowers("Python")
@with_parameters("python_param")
def python(node: LoweringNode, op: OpBuilder, *, param_str_: str = "", module: str = "", layer: str = "") -> Replacement:
    """caffe.Python(scores, offsets, image) {module = "rpn.proposal_layer", …} -> opset4.Proposal, as that of C++"""
    parameter = parameters(node, "python_param")
    name = f"{module}.{layer}"
    if name not in _PROPOSAL_LAYERS:
        hint = "an extension says what it is: a class of CaffePythonFrontExtractorOp"
        node.fail(f"the layer {name} is code in Python", hint=hint)
    text = parameter.text("param_str", param_str_)
    text_parameters = parameter_text(text)
    if text_parameters is None:
        node.fail(f"param_str is {text!r}, which is not a dictionary of parameters")

    def numbers(key: str, default: list[float]) -> list[float]:
        value: object = text_parameters.get(key, default)
        items = cast("Sequence[Any]", value if isinstance(value, list | tuple) else [value])
        return [float(each) for each in items]

    return _proposed(
        node,
        op,
        base_size=int(text_parameters.get("base_size", 16)),
        pre_nms_topn=int(text_parameters.get("pre_nms_topn", 6000)),
        post_nms_topn=int(text_parameters.get("post_nms_topn", 300)),
        nms_thresh=float(text_parameters.get("nms_thresh", 0.7)),
        feat_stride=int(text_parameters.get("feat_stride", 16)),
        min_size=int(text_parameters.get("min_size", 16)),
        ratio=numbers("ratios", [0.5, 1.0, 2.0]),
        scale=numbers("scales", [8.0, 16.0, 32.0]),
    )


@caffe.lowers("ROIPooling")
@with_parameters("roi_pooling_param")
def roi_pooling(node: LoweringNode, op: OpBuilder, *, pooled_h: int, pooled_w: int, spatial_scale: float = 1.0) -> SSAValue:
    """caffe.ROIPooling(x, regions [R, 5]) -> opset2.ROIPooling(x, regions) {method = "max"}"""
    return op.ROIPooling(
        *_data_and_regions(node, op),
        pooled_h=pooled_h,
        pooled_w=pooled_w,
        spatial_scale=spatial_scale,
        method="max",
    )


@caffe.lowers("PSROIPooling")
@with_parameters("psroi_pooling_param")
def psroi_pooling(node: LoweringNode, op: OpBuilder, *, output_dim: int, group_size: int, spatial_scale: float) -> SSAValue:
    """caffe.PSROIPooling(x, regions [R, 5]) -> opset1.PSROIPooling(x, regions) {mode = "average"}"""
    return position_averages(op, *_data_and_regions(node, op), output_dim, group_size, spatial_scale)


def _data_and_regions(node: LoweringNode, op: OpBuilder) -> tuple[SSAValue, SSAValue]:
    """The data and the regions [R, 5] of a pooling; trailing dimensions of 1 of the regions are removed."""
    x, regions = bottoms(node, 2, 2)
    return x, regions if node.rank(1) == 2 else op.Reshape(regions, [-1, 5], special_zero=False)


@caffe.lowers("RegionYolo")
@with_parameters("region_yolo_param")
def region_yolo(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    *,
    coords: int = 4,
    classes: int = 20,
    num: int = 1,
    do_softmax: bool = True,
    mask: tuple[int, ...] = (),
    anchors: tuple[float, ...] = (),
) -> SSAValue:
    """caffe.RegionYolo(x) -> opset1.RegionYolo(x)"""
    return op.RegionYolo(
        x,
        axis=parameters(node, "flatten_param").integer("axis", 1),
        end_axis=parameters(node, "flatten_param").integer("end_axis", -1),
        coords=coords,
        classes=classes,
        num=num,
        do_softmax=do_softmax,
        mask=mask,
        anchors=anchors,
    )


@caffe.lowers("ReorgYolo")
@with_parameters("reorg_yolo_param")
def reorg_yolo(op: OpBuilder, x: SSAValue, *, stride: int = 1) -> SSAValue:
    """caffe.ReorgYolo(x) {stride} -> opset2.ReorgYolo(x) {stride}"""
    return op.ReorgYolo(x, strides=[stride])
