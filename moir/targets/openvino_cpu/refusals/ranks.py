"""Values whose rank depends on the length of an input: the CPU plugin needs the rank of each value."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.input_dependence import is_computed_of_inputs
from moir.dialects.moir import ModelOp
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.opset.repetition import BroadcastOp
from moir.dialects.opset.shape import Reshape, SqueezingOp, Unsqueeze
from moir.dialects.shapes import element_count, rank_of, shape_of
from moir.targets.record import Fault, Refusal


def _rank_of_input(op: Operation, _: Analyses) -> str | None:
    """The reason why the rank of a result depends on the length of an input; None if it does not.

    A length that depends on shapes only is not refused: `model.reshape()` of the runtime may make it static.
    """
    if rank_of(op.results[0]) is not None or len(op.operands) < 2:
        return None
    pending, seen = [op.operands[1]], set[SSAValue]()
    while pending:
        each = pending.pop()
        producer = each.owner
        if each in seen or element_count(shape_of(each)) is not None or not isinstance(producer, Operation):
            continue
        seen.add(each)
        if isinstance(producer, Parameter):
            which = f"input {name_of(producer)!r}" if isinstance(producer.parent_op(), ModelOp) else "a value that enters its loop"
            return f"the length of {which} is dynamic, and so the rank of the result, which the CPU plugin has to know"
        if producer.name.endswith(".Slice") and any(map(is_computed_of_inputs, producer.operands[1:])):
            reason = "the length of its shape or axes, and so the rank of the result, depends on values of inputs"
            return f"{reason}, which the CPU plugin has to know"
        if not producer.name.endswith(".ShapeOf"):
            pending += producer.operands
    return None


REFUSALS = (
    Refusal(
        "refuse-ranks-of-inputs",
        (BroadcastOp, Reshape, SqueezingOp, Unsqueeze),
        _rank_of_input,
        "give the inputs static shapes, or make those that are shapes and axes constants",
        "Refuses values whose rank depends on the length of an input.",
        faults=(Fault("ranks-of-inputs", "Reshape, Broadcast, Squeeze and Unsqueeze by an input of dynamic length", "are not compiled"),),
    ),
)
