"""Which values depend on the inputs of a model."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.moir import ModelOp
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.opset.interfaces.operation import OpsetOp


def is_computed_of_inputs(value: SSAValue) -> bool:
    """Whether a value depends on values of inputs of the model, not on their shapes only.

    One that depends on shapes is known when the runtime knows these. The CPU plugin (2026.4) compiles no model in which
    other values decide about ranks.
    """
    pending, seen = [value], {value}
    while pending:
        producer = pending.pop().owner
        if not isinstance(producer, OpsetOp) or producer.name.endswith(".ShapeOf"):
            continue
        if isinstance(producer, Parameter):
            if isinstance(producer.parent_op(), ModelOp):
                return True
            continue
        pending += [each for each in producer.operands if each not in seen]
        seen.update(producer.operands)
    return False
