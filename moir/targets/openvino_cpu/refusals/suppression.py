"""Suppressions of boxes that the CPU plugin does not compile."""

from __future__ import annotations

from xdsl.ir import Operation

from moir.analysis.analyses import Analyses
from moir.analysis.constants import constant_of
from moir.dialects.opset.detection.suppression import GreedySuppressionOp
from moir.targets.record import Fault, Refusal


def _constants_alone(op: Operation, _: Analyses) -> str | None:
    is_constant = all(constant_of(each) is not None for each in op.operands)
    return "the CPU plugin does not compile a suppression whose operands are all constants" if is_constant else None


REFUSALS = (
    Refusal(
        "refuse-constant-boxes",
        (GreedySuppressionOp,),
        _constants_alone,
        "compute the boxes that it selects, and replace it by them",
        "Refuses suppressions of boxes all of whose operands are constants.",
        faults=(Fault("constant-boxes", "NonMaxSuppression of constants", "is not compiled"),),
    ),
)
