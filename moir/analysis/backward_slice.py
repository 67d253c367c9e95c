"""The operations that an operation depends on."""

from __future__ import annotations

from xdsl.ir import Operation


def backward_slice(op: Operation) -> list[Operation]:
    """The operations on whose results an operation depends, directly or not, the nearest first, without the operation
    itself.

    Only operations of the same block are followed, and none in the regions of operations.
    """
    dependencies: dict[Operation, None] = {op: None}
    pending = [op]
    for each in pending:
        for operand in each.operands:
            owner = operand.owner
            if isinstance(owner, Operation) and owner not in dependencies:
                dependencies[owner] = None
                pending.append(owner)
    return pending[1:]
