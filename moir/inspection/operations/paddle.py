"""The operations of PaddlePaddle, with their names in PIR."""

from __future__ import annotations

from moir.frontends.paddle.definitions import definition_of
from moir.inspection.operations.operation import REFUSED, Operation, all_lowered
from moir.lowering.paddle.refusals import REASONS
from moir.lowering.paddle.table import paddle

OF_PIR = ("combine", "if", "while")
"""The kinds that have one name in programs and in PIR, and no row in the table of definitions."""


def operations() -> list[Operation]:
    """The operations by their names in programs."""
    return [_operation(each) for each in all_lowered(paddle)]


def _operation(operation: Operation) -> Operation:
    kind = operation.kind
    if kind in REASONS:
        reason, hint = REASONS[kind]
        return operation.with_fields(treatment=REFUSED, since=0, reason=f"{reason}; {hint}" if hint else reason)
    definition = definition_of(kind)
    return operation.with_fields(also=kind if kind in OF_PIR else "" if definition is None else definition.pir)
