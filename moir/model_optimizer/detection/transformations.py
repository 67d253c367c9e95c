"""The table of moir's transformations of detection heads, by Model Optimizer's ids, and their passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

from moir.dialects.moir import models_of
from moir.errors import ConversionError
from moir.extensions.native import kebab_case
from moir.extensions.transformation import UserTransformation
from moir.frameworks import load
from moir.frameworks.records import MXNET, ONNX, TENSORFLOW
from moir.model_optimizer.api.configuration.json_configuration import CustomReplacementDescriptor
from moir.model_optimizer.detection.pipeline_config import PipelineConfig
from moir.model_optimizer.detection.request import Request
from moir.pipeline import refuse_unknown_options
from moir.support.records import Record

_AFTER = {TENSORFLOW.dialect: "raise-tensor-lists", MXNET.dialect: "freeze-inputs", ONNX.dialect: "front-start"}
"""Framework -> the pass after which its transformations run; for TensorFlow, one after which loops are operations with
bodies.
"""


class Head(Record):
    """A transformation of a detection head.

    Args:
        id: Model Optimizer's id.
        function: the function that does it, `module:name` in this package.
        description: what it does, in a line.
        framework: the framework of the models.
    """

    id: str
    function: str
    description: str
    framework: str = TENSORFLOW.dialect


_API = "ObjectDetectionAPI"

HEADS: tuple[Head, ...] = (
    Head(f"{_API}ConstValueOverride", "outputs:override_constants", "Constants get values of the pipeline.config."),
    Head(f"{_API}PreprocessorReplacement", "preprocessor:remove_preprocessor", "Images come in the size of the network."),
    Head(f"{_API}Preprocessor2Replacement", "preprocessor:remove_preprocessor", "Images come in the size of the network."),
    Head("TFYOLO", "yolo:regions_of_outputs", "YOLO 1 and 2: RegionYolo after the outputs."),
    Head("TFYOLOV3", "yolo:regions_of_entry_points", "YOLO 3: RegionYolo after the feature maps."),
    Head(f"{_API}SSDPostprocessorReplacement", "ssd:replace_postprocessor", "SSD: the post-processing becomes a DetectionOutput."),
    Head(f"{_API}PSROIPoolingReplacement", "position_sensitive:pool_by_position", "R-FCN: crops of maps become a PSROIPooling."),
    Head(f"{_API}ProposalReplacement", "two_stages:replace_proposals", "Faster R-CNN: proposals become a DetectionOutput."),
    Head(f"{_API}DetectionOutputReplacement", "two_stages:replace_detections", "Faster R-CNN: detections become a DetectionOutput."),
    Head(
        f"{_API}MaskRCNNROIPoolingSecondReplacement",
        "two_stages:crop_from_detections",
        "Mask R-CNN: crops for masks are taken from the boxes of the DetectionOutput.",
    ),
    Head(f"{_API}OutputReplacement", "outputs:choose_outputs", "The outputs are those that the configuration names."),
    Head(f"{_API}MaskRCNNSigmoidReplacement", "outputs:activate_masks", "Mask R-CNN: masks of all classes are an output."),
    Head(
        "RetinaNetFilteredDetectionsReplacement",
        "retinanet:replace_filtered_detections",
        "RetinaNet: the suppression becomes a DetectionOutput.",
    ),
    Head("AutomlEfficientDet", "efficient_det:replace_heads", "EfficientDet: the heads become a DetectionOutput with PriorBoxClustered."),
    Head("SSDToolboxDetectionOutput", "ssd_toolbox:replace_outputs", "SSD toolbox: the outputs become a DetectionOutput."),
    Head(
        "ONNXMaskRCNNReplacement",
        "detectron:replace_mask_rcnn",
        "Mask R-CNN of ONNX: pooling and suppression become ExperimentalDetectron operations.",
        ONNX.dialect,
    ),
    Head(
        "ONNXPersonDetectionCrossroadReplacement",
        "detectron:replace_feature_extractors",
        "Person detection of ONNX: pooling of regions becomes ExperimentalDetectronROIFeatureExtractor.",
        ONNX.dialect,
    ),
)
"""The transformations, in the order in which they run."""

COMPLETE = {
    TENSORFLOW.dialect: {
        "SSD": "ssd:replace_postprocessor",
        "Faster R-CNN": "two_stages:replace_both_stages",
        "RetinaNet": "retinanet:replace_filtered_detections",
    },
    MXNET.dialect: {"SSD": "mxnet_ssd:replace_detections"},
}
"""The functions that are tried without a configuration: each replaces the whole post-processing of one kind of
models.
"""

IDS: Mapping[str, Head] = {each.id: each for each in HEADS}
"""The transformations by id."""


@dataclass(frozen=True)
class HeadPass(ModulePass):
    """Runs a transformation of a detection head."""

    name = "detection-head"

    head: Head
    descriptors: tuple[CustomReplacementDescriptor, ...]
    pipeline: Path | None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pipeline = None if self.pipeline is None else PipelineConfig.read(self.pipeline)
        for model in models_of(op):
            load(f"{__package__}.{self.head.function}")(Request(self.head.id, model.block, self.descriptors, pipeline))


@dataclass(frozen=True)
class FirstFittingPass(ModulePass):
    """Runs the first transformation that recognises the head of a model; raises the reasons of all if none does."""

    name = "detection-head-of-any-kind"

    framework: str
    pipeline: Path | None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pipeline = None if self.pipeline is None else PipelineConfig.read(self.pipeline)
        for model in models_of(op):
            reasons: list[str] = []
            for kind, function in COMPLETE[self.framework].items():
                try:
                    load(f"{__package__}.{function}")(Request(kind, model.block, (), pipeline))
                except ConversionError as error:
                    reasons.append(error.reason)
                else:
                    break
            else:
                raise ConversionError(
                    f"no detection head was recognised: {'; '.join(reasons)}",
                    hint="name its id in a --transformations-config, or leave out --detection=output",
                )


def _transformation(
    name: str, id: str, description: str, file: Path, inner: ModulePass, after: str, framework: str = TENSORFLOW.dialect
) -> UserTransformation:
    members: dict[str, Any] = {"id": id, "run_after": (after,), "run_before": ("lower",), "__doc__": description}

    def build(spec: ArgSpec) -> ModulePass:
        refuse_unknown_options(spec, ())
        return inner

    def unconditional(_: object) -> None:
        return None

    source = type(id, (), members)
    return UserTransformation(name, f"{__package__}.{id}", file, "front", framework, source, build, unconditional, lambda _: False)


def configured(
    ids: Sequence[str], descriptions: Mapping[str, Sequence[CustomReplacementDescriptor]], file: Path, pipeline: Path | None
) -> Iterator[UserTransformation]:
    """The transformations for ids of a configuration file, one after the other.

    Args:
        ids: the ids; each is in `IDS`.
        descriptions: the entries of the file by id.
        file: the file.
        pipeline: the pipeline.config, if one is given.
    """
    after = dict(_AFTER)
    for head in HEADS:
        if head.id in ids:
            inner = HeadPass(head, tuple(descriptions[head.id]), pipeline)
            made = _transformation(kebab_case(head.id), head.id, head.description, file, inner, after[head.framework], head.framework)
            after[head.framework] = made.name
            yield made


def recognised(pipeline: Path | None, framework: str | None) -> UserTransformation:
    """The transformation of `--detection=output` without a configuration, for the models of a framework."""
    description = "The post-processing of a detection network, of any kind, becomes a DetectionOutput."
    chosen = framework if framework in COMPLETE else TENSORFLOW.dialect
    inner = FirstFittingPass(chosen, pipeline)
    return _transformation("detection-output", "DetectionOutput", description, Path(__file__), inner, _AFTER[chosen], chosen)
