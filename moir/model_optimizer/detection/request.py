"""The input of a transformation of a detection head: the graph, entries of the configuration, and pipeline.config."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.ir import Block, Operation, SSAValue

from moir.analysis.order import sort_block
from moir.dialects.framework import FrameworkOp
from moir.dialects.frameworks.detection import head_of, new_head
from moir.dialects.frameworks.tensorflow import erase, kind_of
from moir.dialects.moir import NoneOp
from moir.dialects.names import name_of, several_tensor_names
from moir.dialects.opset.infrastructure import Result
from moir.dialects.properties import string_attribute
from moir.errors import ConversionError
from moir.model_optimizer.api.configuration.json_configuration import CustomReplacementDescriptor
from moir.model_optimizer.detection.pipeline_config import PipelineConfig
from moir.model_optimizer.detection.post_processing import PostProcessing, Suppression, suppression_in

DETECTION_BOXES = "detection_boxes"
"""The name of the output of a DetectionOutput in the IRs of Model Optimizer."""

CANDIDATES = 4
"""Number of boxes of a class that enter a suppression, those with the highest scores, as a multiple of the number of
detections.

With all boxes the runtime takes more than ten times as long. A box beyond this number is a detection only if three of
four better boxes are suppressed.
"""

_NMS = "post_processing.batch_non_max_suppression"

_FIELDS = {
    "nms_threshold": "iou_threshold",
    "confidence_threshold": "score_threshold",
    "most_of_class": "max_detections_per_class",
    "keep_top_k": "max_total_detections",
}
"""Parameter of a suppression -> field of the message `batch_non_max_suppression` in a pipeline.config."""


class Request:
    """One application of a transformation to a model.

    Args:
        id: the id of the transformation.
        block: the block of the model, in the framework's dialect with raised loops.
        descriptors: the entries of the configuration with this id; empty without a configuration.
        pipeline: the pipeline.config; None if none is given.
    """

    def __init__(
        self, id: str, block: Block, descriptors: Sequence[CustomReplacementDescriptor] = (), pipeline: PipelineConfig | None = None
    ) -> None:
        self.id = id
        self.block = block
        self.descriptors = descriptors
        self.pipeline = pipeline

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The `custom_attributes` of the entries."""
        return {name: value for each in self.descriptors for name, value in each.custom_attributes.items()}

    @property
    def results(self) -> list[Result]:
        """The outputs of the model."""
        return [op for op in self.block.ops if isinstance(op, Result)]

    def heads(self, kind: str) -> list[FrameworkOp]:
        """The nodes of a kind of the `detection` dialect, in the order of the block."""
        return [cast("FrameworkOp", op) for op in self.block.ops if head_of(op) == kind]

    def nodes(self, *kinds: str) -> list[FrameworkOp]:
        """The TensorFlow nodes of some kinds, in order; those in bodies of loops are not among them."""
        return [cast("FrameworkOp", op) for op in self.block.ops if kind_of(op) in kinds]

    def named(self, name: str) -> Operation | None:
        """The operation with a name; None if there is none."""
        return next((op for op in self.block.ops if name_of(op) == name and not isinstance(op, Result)), None)

    def number(self, name: str, default: float | None = None) -> float | None:
        """A number among the custom attributes, or the default. Raises ConversionError for a value that is not a
        number.
        """
        value = self.attributes.get(name, default)
        if value is not None and (isinstance(value, str) or not isinstance(value, int | float)):
            raise self.error(f"the custom attribute {name!r} is {value!r}, not a number")
        return value

    def integers(self, name: str) -> tuple[int, ...]:
        """A list of integers among the custom attributes; empty if it is absent."""
        return tuple(int(each) for each in cast("Sequence[Any]", self.attributes.get(name, ())))

    def error(self, reason: str, node: Operation | None = None, hint: str | None = None) -> ConversionError:
        """An error about the graph, at a node."""
        location = self.descriptors[0].entry.place if self.descriptors else None
        if hint is None:
            hint = "convert with --detection=plain: the post-processing becomes plain operations"
        operation, name = (None, None) if node is None else (node.name, name_of(node))
        return ConversionError(f"{self.id}: {reason}", operation=operation, node=name, location=location, hint=hint)

    def suppression(self, processing: PostProcessing, place: str | Mapping[str, str] = _NMS) -> Suppression:
        """The parameters of a suppression: from the custom attributes, else from the pipeline.config, else from the
        graph. For clipping of boxes the graph takes precedence, since Model Optimizer's files describe a version of
        the API, not a model.

        Args:
            processing: the nodes of the suppression.
            place: the message of the pipeline.config below that of the architecture, or the fields of each parameter.

        Raises ConversionError if a parameter is found nowhere.
        """
        graph = suppression_in(processing)
        if not processing.suppressions:
            raise self.error(f"there is no NonMaxSuppression after {self.titles(processing)}")
        fields = {name: f"{place}.{field}" for name, field in _FIELDS.items()} if isinstance(place, str) else place
        config = {} if self.pipeline is None else {name: self.pipeline.in_model(field) for name, field in fields.items()}
        said: dict[str, tuple[float | bool | None, ...]] = {
            "nms_threshold": (config.get("nms_threshold"), graph.nms_threshold),
            "confidence_threshold": (config.get("confidence_threshold"), graph.confidence_threshold, 0.0),
            "most_of_class": (config.get("most_of_class"), graph.most_of_class),
            "keep_top_k": (config.get("keep_top_k"), graph.keep_top_k, graph.most_of_class),
            "clip_before_nms": (graph.clip_before_nms,),
            "clip_after_nms": (graph.clip_after_nms,),
        }
        values: dict[str, Any] = {}
        for name, candidates in said.items():
            given = self.attributes.get(name)
            ordered = (*candidates, given, False) if name.startswith("clip") else (given, *candidates)
            values[name] = next((each for each in ordered if each is not None), None)
            if values[name] is None:
                raise self.error(
                    f"neither the graph nor the configuration says {name}",
                    processing.suppressions[0],
                    hint=f"add {name!r} to the custom_attributes, or give --tensorflow-object-detection-api-pipeline-config",
                )
        return Suppression(**values)

    def titles(self, processing: PostProcessing) -> str:
        """The names of up to four nodes with which a walk ended, for a message; `the inputs of the model` if there are
        none.
        """
        names = [name_of(each) or each.name for each in (*processing.boxes, *processing.scores)]
        return ", ".join(names[:4]) or "the inputs of the model"

    def detection_output(
        self, operands: Sequence[SSAValue], suppression: Suppression, properties: Mapping[str, Any], name: str, before: Operation
    ) -> FrameworkOp:
        """A new node for a DetectionOutput before an operation.

        Args:
            operands: box offsets, scores, anchors and sizes, see `moir.lowering.detection.heads`.
            suppression: the parameters.
            properties: further properties.
            name: the name of the node and its tensor.
            before: the operation.
        """
        return self.new_output(
            "DetectionOutput",
            operands,
            {
                "nms_threshold": float(suppression.nms_threshold or 0),
                "confidence_threshold": float(suppression.confidence_threshold or 0),
                "keep_top_k": int(suppression.keep_top_k or -1),
                "top_k": int(self.number("top_k", CANDIDATES * (suppression.keep_top_k or 0)) or -1),
                "clip_before_nms": bool(suppression.clip_before_nms),
                "clip_after_nms": bool(suppression.clip_after_nms),
                **properties,
            },
            name,
            before,
            results=2,
        )

    def new_output(
        self,
        kind: str,
        operands: Sequence[SSAValue],
        properties: Mapping[str, Any],
        name: str,
        before: Operation | None = None,
        results: int = 1,
    ) -> FrameworkOp:
        """A new node whose first result is a named tensor, before an operation, by default before the outputs."""
        node = new_head(kind, operands, properties, results=results, name=name)
        node.attributes["tensor_names"] = several_tensor_names([[name, f"{name}:0"], *[[]] * (results - 1)])
        self.block.insert_op_before(node, before or self.results[0])
        return node

    def absent(self, before: Operation) -> SSAValue:
        """A `moir.none` value inserted before an operation, for an absent operand."""
        none = NoneOp.of()
        self.block.insert_op_before(none, before)
        return none.result

    def replace_results(self, old: Sequence[Result], values: Sequence[tuple[SSAValue, str]]) -> None:
        """Replace some outputs of the model by the given values."""
        for value, name in values:
            result = Result.create(operands=[value])
            result.attributes["name"] = string_attribute(name)
            self.block.add_op(result)
        for each in old:
            erase(each)

    def sort(self) -> None:
        """Sort the block, after nodes were given operands that follow them."""
        sort_block(self.block)
