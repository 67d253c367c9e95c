"""The operations that an operation depends on."""

from __future__ import annotations

from xdsl.ir import Operation


def backward_slice(op: Operation) -> list[Operation]:
    """The operations on whose results an operation depends, the nearest first; it is not among them.

    Operations around the block of the operation, and in the regions of other operations, are not followed.
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
