"""The order of the operations of a block: producers in front of users."""

from __future__ import annotations

import heapq

from xdsl.ir import Block, Operation

from moir.dialects.assembly import name_of
from moir.errors import ConversionError


def sort_block(block: Block) -> None:
    """Sort a block stably so that every operation stands behind those it uses. Raises ConversionError for a cycle."""
    operations = list(block.ops)
    in_order = sorted_operations(operations)
    if in_order is operations:
        return
    for op in in_order:
        op.detach()
        block.add_op(op)


def sorted_operations(operations: list[Operation]) -> list[Operation]:
    """The operations, each behind those of them it uses and else in the order given; the list itself if that is its order.

    Raises ConversionError for a cycle.
    """
    position = {op: index for index, op in enumerate(operations)}
    missing = [0] * len(operations)
    users: list[list[int]] = [[] for _ in operations]
    in_order = True
    for index, op in enumerate(operations):
        for producer in dict.fromkeys(operand.owner for operand in op.operands):
            before = position.get(producer) if isinstance(producer, Operation) else None
            if before is not None:
                missing[index] += 1
                users[before].append(index)
                in_order = in_order and before < index
    if in_order:
        return operations
    ready = [index for index, count in enumerate(missing) if count == 0]
    found: list[Operation] = []
    while ready:
        index = heapq.heappop(ready)
        found.append(operations[index])
        for user in users[index]:
            missing[user] -= 1
            if missing[user] == 0:
                heapq.heappush(ready, user)
    if len(found) < len(operations):
        op = next(op for op, count in zip(operations, missing, strict=True) if count)
        raise ConversionError("it depends on itself, and not by way of a loop", operation=op.name, node=name_of(op))
    return found
