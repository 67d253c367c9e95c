"""Outputs and constants: `ObjectDetectionAPIOutputReplacement`, `…MaskRCNNSigmoidReplacement`, `…ConstValueOverride`.

A Mask R-CNN gets two outputs: `reshape_do_2d`, the detections [n, 7], and `masks` [n, classes, height, width] of all
classes for each of them. The graph itself selects the mask of the class.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, cast

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.dialects.data import DataAttr
from moir.dialects.frameworks.detection import head_of
from moir.dialects.frameworks.tensorflow import kind_of, new_integers, new_node, origin
from moir.dialects.names import name_of, tensor_names
from moir.dialects.opset.infrastructure import Constant
from moir.model_optimizer.detection.post_processing import PostProcessing
from moir.model_optimizer.detection.request import Request
from moir.support.suggestions import did_you_mean

MASKS, DETECTIONS = "masks", "reshape_do_2d"
"""The names of the outputs of a Mask R-CNN in the IRs of Model Optimizer."""


def choose_outputs(request: Request) -> None:
    """Make the DetectionOutput, and those nodes of `outputs` that no longer depend on a suppression, the outputs of the
    model.

    `outputs` lists names separated by commas or bars; the model has some of them.
    """
    names = [each for each in re.split(r"[,|\s]+", str(request.attributes.get("outputs", ""))) if each]
    if not names:
        raise request.error("the custom_attributes have no 'outputs'", hint="list the names of nodes, with commas between")
    old = request.results
    kept = [each for each in old if head_of(each.operands[0].owner)]
    nodes = [op for op in request.block.ops if name_of(op) in names and kind_of(op)]
    alive = [op for op in nodes if not (kept and PostProcessing([op.results[0]]).suppressions)]
    if not alive and not kept:
        known = [name for op in request.block.ops if (name := name_of(op)) and kind_of(op)]
        raise request.error(f"the model has none of the nodes {', '.join(names)}", hint=did_you_mean(names[0], known, similarity=0.4))
    request.replace_results([each for each in old if each not in kept], [(op.results[0], str(name_of(op))) for op in alive])


def activate_masks(request: Request) -> None:
    """output conv [n, height, width, classes] -> output Transpose(Sigmoid(conv)), and detections as a matrix [n, 7]

    The outputs with the prefix `masks_node_prefix_name` are masks.
    """
    prefix = str(request.attributes.get("masks_node_prefix_name", ""))
    before = request.results[0]
    values: list[tuple[SSAValue, str]] = []
    for each in request.results:
        owner = origin(each.operands[0]).owner
        if head_of(owner) == "DetectionOutput":
            rows = new_integers([-1, 7])
            values.append(
                (_inserted(request, before, rows, new_node("Reshape", [each.operands[0], rows.results[0]], name=DETECTIONS)), DETECTIONS)
            )
        elif isinstance(owner, Operation) and (name_of(owner) or "").startswith(prefix) and kind_of(owner) != "Sigmoid":
            active, order = new_node("Sigmoid", [each.operands[0]]), new_integers([0, 3, 1, 2])
            moved = new_node("Transpose", [active.results[0], order.results[0]], name=MASKS)
            values.append((_inserted(request, before, active, order, moved), MASKS))
    if not any(name == MASKS for _, name in values):
        names = ", ".join(name_of(each) or "" for each in request.results)
        raise request.error(
            f"no output of the model ({names}) begins with {prefix!r}", hint="ObjectDetectionAPIOutputReplacement names them"
        )
    request.replace_results(request.results, values)


def _inserted(request: Request, before: Operation, *nodes: Operation) -> SSAValue:
    """Insert new nodes before an operation.

    Returns the result of the last node, whose tensor gets the name of that node.
    """
    for each in nodes:
        request.block.insert_op_before(each, before)
    nodes[-1].attributes["tensor_names"] = tensor_names(name_of(nodes[-1]) or "")
    return nodes[-1].results[0]


def override_constants(request: Request) -> None:
    """Replace values of constants by values of fields of the pipeline.config: `replacements` has pairs of a node and a
    field.
    """
    if request.pipeline is None:
        return
    for pair in cast("Iterable[Any]", request.attributes.get("replacements", ())):
        name, field = (str(each) for each in pair)
        value = request.pipeline.in_model(field)
        constant = next((op for op in request.block.ops if isinstance(op, Constant) and name_of(op) == name), None)
        if value is None or constant is None:
            continue
        data = cast("DataAttr", constant.properties["value"])
        array = np.full(data.shape, value).astype(data.array.dtype)
        constant.properties["value"] = DataAttr.of(array, data.element)
