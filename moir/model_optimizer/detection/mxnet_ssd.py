"""The end of an SSD of MXNet, MultiBoxDetection, becomes a DetectionOutput."""

from __future__ import annotations

from moir.dialects.framework import FrameworkOp, operation_class
from moir.dialects.moir import NoneOp
from moir.dialects.opset.infrastructure import Result
from moir.frameworks import DETECTION
from moir.model_optimizer.detection.request import Request

KIND = "_contrib_MultiBoxDetection"


def replace_detections(request: Request) -> None:
    """mxnet._contrib_MultiBoxDetection(scores, offsets, anchors) -> detection.MultiBoxDetectionOutput

    The node has to be an output of the model. Raises ConversionError for a model without such an output, or with
    several.
    """
    ends = [op for op in request.block.ops if isinstance(op, FrameworkOp) and op.KIND == KIND]
    if len(ends) != 1:
        raise request.error(f"there are {len(ends)} {KIND}, not one")
    end = ends[0]
    if any(not isinstance(use.operation, Result | NoneOp) for result in end.results for use in result.uses):
        raise request.error("its rows are read by the model itself, which expects those of MXNet", end)
    built = operation_class(DETECTION.dialect, "MultiBoxDetectionOutput").create(
        operands=list(end.operands), properties=dict(end.properties), result_types=[each.type for each in end.results]
    )
    built.attributes.update(end.attributes)
    built.location = end.location
    request.block.insert_op_before(built, end)
    for old, new in zip(end.results, built.results, strict=True):
        old.replace_all_uses_with(new)
    end.detach()
    end.erase()
