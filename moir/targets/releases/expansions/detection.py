"""DetectionOutput, NonMaxSuppression and DeformableConvolution by older operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Operation, OpResult, SSAValue

from moir.dialects import opset
from moir.dialects.element_types import si64
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.rewriting.builder import OpBuilder
from moir.targets.releases.expansions.expansion import Expansion


def detection_output(op: OpBuilder, node: OpsetOp) -> SSAValue | None:
    """DetectionOutput by its first version, which has the number of classes as a property; None if that is dynamic.

    %y = opset8.DetectionOutput(%boxes, %scores, %priors)                           // %scores: [1, 60], %priors: 20
    ->  %y = opset1.DetectionOutput(%boxes, %scores, %priors) {num_classes = 3}
    """
    scores, priors = node.shape(1), node.shape(2)
    if scores is None or priors is None or scores[1] < 0 or priors[2] < 1:
        return None
    count = priors[2] // (4 if node.flag("normalized") else 5)
    properties = {**node.properties, "num_classes": scores[1] // max(count, 1)}
    return op.create(opset.operation("opset1.DetectionOutput"), list(node.operands), properties).results[0]


def deformable_convolution(op: OpBuilder, node: OpsetOp) -> SSAValue | None:
    """DeformableConvolution by its first version; None with a mask, or with interpolation by zeros at the border."""
    if node.optional_operand(3) is not None or node.flag("bilinear_interpolation_pad"):
        return None
    properties = {name: value for name, value in node.properties.items() if name != "bilinear_interpolation_pad"}
    return op.create(opset.operation("opset1.DeformableConvolution"), list(node.operands[:3]), dict(properties)).results[0]


def valid_boxes(op: OpBuilder, node: OpsetOp) -> Sequence[SSAValue]:
    """The selected boxes and scores of a NonMaxSuppression without the rows that only fill up its results.

    %i, %s, %n = opset9.NonMaxSuppression(%boxes, %scores, …)
    ->  %0, %1, %n = opset9.NonMaxSuppression(%boxes, %scores, …)
        %i = opset8.Slice(%0, [0], %n, [1], [0])
        %s = opset8.Slice(%1, [0], %n, [1], [0])
    """
    copy = node.clone()
    for name in ("name", "tensor_names"):
        copy.attributes.pop(name, None)
    op.insert(copy)
    indices, scores, count = copy.results
    stop = op.convert(op.Reshape(count, [1], special_zero=False), si64)
    return [*(op.Slice(each, [0], stop, [1], [0]) for each in (indices, scores)), count]


def has_filled_rows(node: OpsetOp) -> bool:
    """Whether some user of a NonMaxSuppression reads more rows of its results than the `valid_boxes` first ones."""
    return any(not _ends_at(use.operation, node.results[2]) for result in node.results[:2] for use in result.uses)


def _ends_at(op: Operation, count: SSAValue) -> bool:
    """Whether an operation is a Slice that ends at `count`, perhaps reshaped or converted."""
    if op.name != "opset8.Slice":
        return False
    stop = op.operands[2]
    while isinstance(stop, OpResult) and stop.op.name in ("opset1.Reshape", "opset1.Convert"):
        stop = stop.op.operands[0]
    return stop is count


EXPANSIONS: Mapping[str, Expansion] = {
    "opset8.DetectionOutput": detection_output,
    "opset8.DeformableConvolution": deformable_convolution,
}
