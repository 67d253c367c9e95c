"""The order of the operations of a block: producers in front of users."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from typing import TypeVar

from xdsl.ir import Block, Operation

from moir.dialects.names import name_of
from moir.errors import ConversionError

AnyOperation = TypeVar("AnyOperation", bound=Operation)


def stable_order(sources: Sequence[Iterable[int]]) -> list[int]:
    """Positions of things in an order in which each stands behind its sources, and else as they were (Kahn's algorithm with a heap).

    Args:
        sources: for each thing the positions of those it needs, each once.

    Returns all positions, but for those that are in a cycle or behind one.
    """
    missing = [0] * len(sources)
    users: list[list[int]] = [[] for _ in sources]
    for position, needed in enumerate(sources):
        for source in needed:
            missing[position] += 1
            users[source].append(position)
    ready = [position for position, count in enumerate(missing) if count == 0]
    found: list[int] = []
    while ready:
        position = heapq.heappop(ready)
        found.append(position)
        for user in users[position]:
            missing[user] -= 1
            if missing[user] == 0:
                heapq.heappush(ready, user)
    return found


def sort_block(block: Block) -> None:
    """Sort a block stably so that every operation stands behind those it uses. Raises ConversionError for a cycle."""
    operations = list(block.ops)
    in_order = sorted_operations(operations)
    if in_order is operations:
        return
    for op in in_order:
        op.detach()
        block.add_op(op)


def sorted_operations(operations: list[AnyOperation]) -> list[AnyOperation]:
    """The operations, each behind those of them it uses and else in the order given; the list itself if that is its order.

    Raises ConversionError for a cycle.
    """
    position: dict[Operation, int] = {op: index for index, op in enumerate(operations)}
    sources: list[set[int]] = []
    in_order = True
    for index, op in enumerate(operations):
        producers = {position[owner] for operand in op.operands if isinstance(owner := operand.owner, Operation) and owner in position}
        sources.append(producers)
        in_order = in_order and all(before < index for before in producers)
    if in_order:
        return operations
    order = stable_order(sources)
    if len(order) < len(operations):
        placed = set(order)
        op = next(op for index, op in enumerate(operations) if index not in placed)
        raise ConversionError("it depends on itself, and not by way of a loop", operation=op.name, node=name_of(op))
    return [operations[index] for index in order]
