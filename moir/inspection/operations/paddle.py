"""The operations of PaddlePaddle, with their names in PIR."""

from __future__ import annotations

from moir.frontends.paddle.definitions import definition_of
from moir.inspection.operations.operation import Operation, all_lowered
from moir.lowering.paddle.table import paddle

OF_PIR = ("combine", "if", "while")
"""The kinds that have the same name in programs and in PIR, and no row in the table of definitions."""


def operations() -> list[Operation]:
    """The operations by their names in programs."""
    return [_operation(each) for each in all_lowered(paddle)]


def _operation(operation: Operation) -> Operation:
    kind = operation.kind
    definition = definition_of(kind)
    return operation.with_fields(also=kind if kind in OF_PIR else "" if definition is None else definition.pir)
