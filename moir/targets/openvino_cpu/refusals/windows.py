"""Operations on sliding windows that the CPU plugin does not execute."""

from __future__ import annotations

from xdsl.ir import Operation

from moir.analysis.analyses import Analyses
from moir.dialects.opset.pooling import PoolingOp
from moir.dialects.shapes import shape_of
from moir.targets.record import Fault, Refusal

SPATIAL = 2
"""The first spatial axis of data [N, C, …]."""


def _windows_of_no_image(op: Operation, _: Analyses) -> str | None:
    shape = shape_of(op.operands[0]) or ()
    return "the CPU plugin has no windows of no image" if 0 in shape[:SPATIAL] and -1 in shape else None


REFUSALS = (
    Refusal(
        "refuse-windows-of-no-image",
        (PoolingOp,),
        _windows_of_no_image,
        "give the inputs static shapes, or another batch",
        "Refuses pooling of no image or channel where other sizes are dynamic.",
        faults=(Fault("windows-of-no-image", "MaxPool and AvgPool of no image or no channel, of dynamic shape", "are not read"),),
    ),
)
