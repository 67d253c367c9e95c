"""Topological order of the operations of a block: producers before users."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from typing import TypeVar

from xdsl.ir import Block, Operation

from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Result
from moir.errors import ConversionError

AnyOperation = TypeVar("AnyOperation", bound=Operation)


def stable_order(sources: Sequence[Iterable[int]]) -> list[int]:
    """A stable topological order of items, by Kahn's algorithm with a heap.

    Args:
        sources: for each item the indices of the items that must precede it, without duplicates.

    Returns the indices of all items, except of those that are on a cycle or depend on one.
    """
    missing = [0] * len(sources)
    users: list[list[int]] = [[] for _ in sources]
    for position, needed in enumerate(sources):
        for source in needed:
            missing[position] += 1
            users[source].append(position)
    ready = [position for position, count in enumerate(missing) if count == 0]
    ordered: list[int] = []
    while ready:
        position = heapq.heappop(ready)
        ordered.append(position)
        for user in users[position]:
            missing[user] -= 1
            if missing[user] == 0:
                heapq.heappush(ready, user)
    return ordered


def is_sorted(operations: Iterable[Operation]) -> bool:
    """Whether no operation uses a result of a later one."""
    later = set(map(id, operations))
    for op in operations:
        for operand in op.operands:
            if id(operand.owner) in later:
                return False
        later.discard(id(op))
    return True


def sort_block(block: Block) -> None:
    """Sort the operations of a block in a stable topological order, in which Results keep their relative order.

    Raises ConversionError for a cycle, with the names of the operations on it.
    """
    # `list` of an iterator: for the sequence itself, `list` would ask for the length, which walks over all operations.
    operations = list(iter(block.ops))
    in_order = sorted_operations(operations)
    if in_order is operations:
        return
    for op in in_order:
        op.detach()
        block.add_op(op)


def sorted_operations(operations: list[AnyOperation]) -> list[AnyOperation]:
    """The operations in a stable topological order; the same list object if it is already sorted.

    Results keep their relative order, since it is the order of the outputs of a model or a body. Raises ConversionError
    for a cycle, with the names of the operations on it.
    """
    if is_sorted(operations):
        return operations
    position: dict[Operation, int] = {op: index for index, op in enumerate(operations)}
    sources: list[set[int]] = []
    previous_result: int | None = None
    for index, op in enumerate(operations):
        producers = {position[owner] for operand in op.operands if isinstance(owner := operand.owner, Operation) and owner in position}
        if isinstance(op, Result):
            if previous_result is not None:
                producers.add(previous_result)
            previous_result = index
        sources.append(producers)
    order = stable_order(sources)
    if len(order) < len(operations):
        placed = set(order)
        raise _cycle([op for index, op in enumerate(operations) if index not in placed and not isinstance(op, Result)])
    return [operations[index] for index in order]


LONGEST_CYCLE = 12
"""Maximum number of operations of a cycle in an error message; a longer cycle is abbreviated."""


def _cycle(unordered: Sequence[Operation]) -> ConversionError:
    """The error for operations that cannot be sorted, since some of them form a cycle."""
    members = set(unordered)
    path: dict[Operation, int] = {}
    op = unordered[0]
    while op not in path:
        path[op] = len(path)
        op = next(owner for operand in op.operands if isinstance(owner := operand.owner, Operation) and owner in members)
    names = [name_of(each) or each.name for each in reversed(list(path)[path[op] :])]
    shown = " -> ".join(names if len(names) <= LONGEST_CYCLE else [*names[: LONGEST_CYCLE - 2], "…", names[-1]])
    return ConversionError(f"the graph has a cycle: {shown} -> {names[0]}", operation=op.name, node=name_of(op))
