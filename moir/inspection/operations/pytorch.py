"""The operators of PyTorch that are lowered, and those whose writes become values."""

from __future__ import annotations

from moir.inspection.operations.operation import RAISED, Operation, all_lowered
from moir.lowering.pytorch.table import aten
from moir.raising.pytorch.raise_writes import RaiseWritesPass
from moir.raising.pytorch.written_operands import OUT, WRITERS


def operations() -> list[Operation]:
    """The operators by their names and overloads, without `aten`."""
    operators = [each for each in all_lowered(aten) if not each.kind.startswith("moir.")]
    known = {each.kind for each in operators}
    written = {kind: plain for kind, plain in {**WRITERS, **OUT}.items() if plain in known and kind not in known}
    return [
        *operators,
        *(Operation(kind, RAISED, RaiseWritesPass.name, becomes=f"{plain}, and a write", also=plain) for kind, plain in written.items()),
    ]
