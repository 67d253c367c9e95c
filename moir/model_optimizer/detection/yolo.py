"""`TFYOLO` and `TFYOLOV3`: the outputs of YOLO networks become those of RegionYolo layers, one for each feature map.

Applications decode boxes from the activations of these layers, with the anchors that the layers have as attributes.
Redmon and Farhadi, "YOLO9000: Better, Faster, Stronger" and "YOLOv3: An Incremental Improvement".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.frameworks.detection import new_head
from moir.dialects.frameworks.tensorflow import kind_of, origin, origin_of_kind
from moir.dialects.names import name_of, tensor_names
from moir.model_optimizer.detection.request import Request
from moir.support.suggestions import did_you_mean


def regions_of_outputs(request: Request) -> None:
    """`TFYOLO`, versions 1 and 2: each output of the model -> RegionYolo(output)

    A matrix, the result of a fully connected layer of version 1, is unchanged.
    """
    attributes = _attributes(request, ("classes", "coords", "num", "do_softmax"))
    anchors = [float(each) for each in attributes.get("anchors", ())]
    number, softmax = int(attributes["num"]), bool(int(attributes["do_softmax"]))
    mask = list(request.integers("mask")) or ([] if softmax else list(range(number)))
    features = [origin(each.operands[0]) for each in request.results]
    _replace(request, features, [{"anchors": anchors, "mask": mask, "do_softmax": softmax}] * len(features), attributes)


def regions_of_entry_points(request: Request) -> None:
    """`TFYOLOV3`, version 3 and its tiny form: feature map -> RegionYolo(feature map), the outputs of the model

    `entry_points` are the nodes that take the feature maps; `masks` says for each which anchors are its own. Without
    the names, feature maps are recognised by the number of their channels.
    """
    attributes = _attributes(request, ("classes", "coords", "num", "entry_points"))
    names = [str(each) for each in attributes["entry_points"]]
    anchors = [float(each) for each in attributes.get("anchors", ())]
    masks = _masks(request, attributes, len(names))
    channels = (int(attributes["classes"]) + int(attributes["coords"]) + 1) * len(masks[0])
    features = _features(request, names, channels)
    for feature, name in zip(features, names, strict=True):
        bias = origin_of_kind(feature, "BiasAdd")
        values = None if bias is None else constant_of(origin(bias.operands[1]))
        if bias is not None and values is not None and values.size != channels:
            raise request.error(
                f"the feature map before {name!r} has {values.size} channels; {attributes['classes']} classes, "
                f"{attributes['coords']} coordinates and {len(masks[0])} anchors need {channels}",
                bias,
                hint="are classes and masks those of the model?",
            )
    _replace(request, features, [{"anchors": anchors, "mask": list(mask), "do_softmax": False} for mask in masks], attributes)


def _attributes(request: Request, needed: Sequence[str]) -> Mapping[str, Any]:
    for name in needed:
        if name not in request.attributes:
            raise request.error(f"the custom_attributes have no {name!r}", hint=did_you_mean(name, request.attributes, "add it"))
    return request.attributes


def _masks(request: Request, attributes: Mapping[str, Any], count: int) -> list[tuple[int, ...]]:
    """The indices of the anchors of each of `count` feature maps: the attribute `masks`, or the `mask` of files before
    2020, which is the same for all, by default the first `num / count`.

    Raises ConversionError if the number or the lengths of the masks do not fit.
    """
    given = attributes.get("masks")
    if given is None:
        return [request.integers("mask") or tuple(range(int(attributes["num"]) // count))] * count
    masks = [tuple(int(each) for each in mask) for mask in cast("Sequence[Sequence[Any]]", given)]
    if len(masks) != count or len(set(map(len, masks))) != 1:
        raise request.error(
            f"there are {len(masks)} masks for {count} entry points", hint="each entry point has a mask, of the same length"
        )
    return masks


def _features(request: Request, names: Sequence[str], channels: int) -> Sequence[SSAValue]:
    nodes = [request.named(name) for name in names]
    if all(nodes):
        return [origin(cast("Operation", node).operands[0]) for node in nodes]
    features = [
        op.results[0]
        for op in request.nodes("BiasAdd")
        if (bias := constant_of(origin(op.operands[1]))) is not None
        and bias.size == channels
        and kind_of(origin(op.operands[0]).owner) == "Conv2D"
    ]
    if len(features) == len(names):
        return features
    missing = next(name for name, node in zip(names, nodes, strict=True) if node is None)
    known = [name for op in request.block.ops if (name := name_of(op)) and kind_of(op)]
    raise request.error(
        f"there is no node {missing!r}, and {len(features)} convolutions have {channels} channels, not {len(names)}",
        hint=did_you_mean(missing, known, "entry_points are the nodes that take the last feature maps", similarity=0.4),
    )


def _replace(
    request: Request, features: Sequence[SSAValue], of_regions: Sequence[Mapping[str, Any]], attributes: Mapping[str, Any]
) -> None:
    """Replace the outputs of the model by a RegionYolo of each feature map, whose own properties are in
    `of_regions`.
    """
    values: list[tuple[SSAValue, str]] = []
    common = {name: int(attributes[name]) for name in ("classes", "coords", "num")}
    old, before = request.results, request.results[0]
    for feature, properties in zip(features, of_regions, strict=True):
        name = f"{name_of(cast('Operation', feature.owner))}/YoloRegion"
        node = new_head("RegionYolo", [feature], {**common, **properties}, name=name)
        node.attributes["tensor_names"] = tensor_names(name)
        request.block.insert_op_before(node, before)
        values.append((node.results[0], name))
    request.replace_results(old, values)
