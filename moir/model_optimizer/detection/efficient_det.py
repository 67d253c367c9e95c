"""`AutomlEfficientDet`: the heads of an EfficientDet of google/automl become a DetectionOutput with PriorBoxClustered.

Tan et al., "EfficientDet: Scalable and Efficient Object Detection". The anchors of a level have strides of two to the
power of its number; their sizes follow from the attributes `anchor_scale`, `num_scales` and `aspect_ratios` (pairs of
width and height). The nodes of the graph after its heads are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from xdsl.ir import Operation, SSAValue

from moir.dialects.framework import FrameworkOp
from moir.dialects.frameworks.detection import new_head
from moir.dialects.frameworks.tensorflow import new_integers, new_node
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Parameter
from moir.model_optimizer.detection.post_processing import Suppression
from moir.model_optimizer.detection.request import DETECTION_BOXES, Request

_HEADS = re.compile(r"(?:.*/)?(?P<net>class_net/class|box_net/box)-predict(?:_(?P<number>\d+))?/BiasAdd(?:_(?P<call>\d+))?")
"""A pattern for the names of the last nodes of heads.

The names for different levels differ by a number, or by the number of a call if all levels share a layer.
"""

_ATTRIBUTES = ("aspect_ratios", "num_scales", "anchor_scale", "min_level", "num_classes", "nms_threshold", "confidence_threshold")


def replace_heads(request: Request) -> None:
    """Logits and box offsets of all levels -> DetectionOutput(offsets, Sigmoid(logits), PriorBoxClustered of each
    level)

    Labels count from 0. Raises ConversionError if there are no heads of these names, or attributes are missing.
    """
    for name in _ATTRIBUTES:
        if name not in request.attributes:
            raise request.error(f"the custom_attributes have no {name!r}", hint="add it, as automl_efficientdet.json has it")
    logits, codes = (_levels(request, net) for net in ("class_net/class", "box_net/box"))
    if not logits or len(logits) != len(codes):
        names = [name for op in request.nodes("BiasAdd") if (name := name_of(op)) and "predict" in name]
        raise request.error(
            f"{len(logits)} nodes class_net/class-predict…/BiasAdd and {len(codes)} nodes box_net/box-predict…/BiasAdd were found",
            hint=f"the model has {', '.join(names)}" if names else None,
        )
    images = [op for op in request.block.ops if isinstance(op, Parameter)]
    before = request.results[0]
    build = _Nodes(request, before)
    classes = int(request.attributes["num_classes"])
    scores = build.joined([build.add("Sigmoid", build.flattened(each.results[0], classes)) for each in logits], 1)
    boxes = build.joined([build.flattened(each.results[0], 4) for each in codes], 1)
    anchors = build.joined([_anchors(request, build, each, images[0], level) for level, each in enumerate(logits)], 0)
    suppression = Suppression(
        request.number("nms_threshold"),
        request.number("confidence_threshold"),
        None,
        int(request.number("keep_top_k", 100) or 0),
        False,
        False,
    )
    variances = [float(each) for each in request.attributes.get("variance", (1.0, 1.0, 1.0, 1.0))]
    node = request.detection_output([boxes, scores, anchors], suppression, {"variances": variances}, DETECTION_BOXES, before)
    request.replace_results(request.results, [(node.results[0], DETECTION_BOXES)])


def _levels(request: Request, net: str) -> list[FrameworkOp]:
    """The BiasAdd nodes at the end of the heads of `net` ("class" or "box"), one for each feature map, from the finest
    on.
    """
    levels: list[tuple[int, FrameworkOp]] = []
    for op in request.nodes("BiasAdd"):
        match = _HEADS.fullmatch(name_of(op) or "")
        if match is not None and match["net"] == net:
            levels.append((int(match["number"] or match["call"] or 0), op))
    return [op for _, op in sorted(levels, key=lambda each: each[0])]


def _anchors(request: Request, build: _Nodes, features: FrameworkOp, image: Parameter, level: int) -> SSAValue:
    stride = 1 << (int(request.attributes["min_level"]) + level)
    ratios = [float(each) for each in cast("Sequence[Any]", request.attributes["aspect_ratios"])]
    scales = int(request.attributes["num_scales"])
    sizes = [float(request.attributes["anchor_scale"]) * stride * 2 ** (octave / scales) for octave in range(scales)]
    properties = {
        "width": [size * ratio for size in sizes for ratio in ratios[::2]],
        "height": [size * ratio for size in sizes for ratio in ratios[1::2]],
        "step": float(stride),
    }
    return build.head("PriorBoxClustered", features.results[0], image.results[0], **properties)


class _Nodes:
    """Builds new nodes, which are inserted in front of an operation."""

    def __init__(self, request: Request, before: Operation) -> None:
        self.request = request
        self.before = before

    def add(self, kind: str, *operands: SSAValue, **properties: Any) -> SSAValue:
        """The result of a new node."""
        return self._added(new_node(kind, operands, properties))

    def head(self, kind: str, *operands: SSAValue, **properties: Any) -> SSAValue:
        """The result of a new node of the `detection` dialect."""
        return self._added(new_head(kind, operands, properties))

    def _added(self, node: FrameworkOp) -> SSAValue:
        self.request.block.insert_op_before(node, self.before)
        return node.results[0]

    def integers(self, *values: int) -> SSAValue:
        """A new constant, the 1-D tensor of the given integers."""
        constant = new_integers(values)
        self.request.block.insert_op_before(constant, self.before)
        return constant.results[0]

    def flattened(self, value: SSAValue, width: int) -> SSAValue:
        """Reshapes predictions [images, rows, columns, boxes * width] to [images, n, width]."""
        images = self.add("Slice", self.add("Shape", value), self.integers(0), self.integers(1))
        return self.add("Reshape", value, self.joined([images, self.integers(-1, width)], 0))

    def joined(self, values: Sequence[SSAValue], axis: int) -> SSAValue:
        """Concatenates tensors along an axis."""
        constant = new_integers(axis)
        self.request.block.insert_op_before(constant, self.before)
        return self.add("ConcatV2", *values, constant.results[0], N=len(values))
