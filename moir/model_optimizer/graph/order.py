"""Topological order of a block, liveness, and what to do about cycles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import Block, Operation, OpResult

from moir.dialects.framework import FrameworkOp
from moir.dialects.moir import NoneOp
from moir.dialects.names import name_of
from moir.dialects.opset.base import OpsetOp
from moir.dialects.opset.infrastructure import Parameter
from moir.errors import ConversionError


def _producers(op: Operation) -> list[Operation]:
    return [operand.op for operand in op.operands if isinstance(operand, OpResult)]


def is_sorted(block: Block) -> bool:
    """Whether every operand is defined before it is used."""
    defined: set[Operation] = set()
    for op in block.ops:
        if any(producer not in defined for producer in _producers(op)):
            return False
        defined.add(op)
    return True


def topological_order(operations: Iterable[Operation]) -> list[Operation]:
    """Operations of a block, each behind those it takes tensors from, otherwise as they are.

    Parameters keep their order among each other. Raises ConversionError for a cycle, with the names of the nodes in it.
    """
    given = list(operations)
    members = set(given)
    ordered: list[Operation] = [op for op in given if isinstance(op, Parameter)]
    done: set[Operation] = set(ordered)
    for root in given:
        if root in done:
            continue
        path: dict[Operation, list[Operation]] = {root: _pending(root, members, done)}
        while path:
            current, pending = next(reversed(path.items()))
            if not pending:
                del path[current]
                done.add(current)
                ordered.append(current)
                continue
            producer = pending.pop()
            if producer in path:
                raise _cycle([*path], producer)
            if producer not in done:
                path[producer] = _pending(producer, members, done)
    return ordered


def _pending(op: Operation, members: set[Operation], done: set[Operation]) -> list[Operation]:
    # From the end, since they are taken from there.
    return [producer for producer in reversed(_producers(op)) if producer in members and producer not in done]


def _cycle(path: Sequence[Operation], start: Operation) -> ConversionError:
    nodes = path[path.index(start) :]
    names = [name_of(op) or op.name for op in reversed(nodes)]
    shown = " -> ".join(names if len(names) <= 12 else [*names[:10], "…", names[-1]])
    return ConversionError(f"the graph has a cycle: {shown} -> {names[0]}", operation=start.name, node=name_of(start))


def sort_block(block: Block) -> None:
    """Put the operations of a block in topological order; a block that is in one stays as it is. Raises ConversionError for a cycle."""
    if is_sorted(block):
        return
    previous: Operation | None = None
    for op in topological_order(block.ops):
        op.detach()
        if previous is None:
            first = block.first_op
            if first is None:
                block.add_op(op)
            else:
                block.insert_op_before(op, first)
        else:
            block.insert_op_after(op, previous)
        previous = op


def is_root(op: Operation) -> bool:
    """Whether an operation is there for more than its results: an input, an output, or one with an effect."""
    return op.EFFECTS if isinstance(op, OpsetOp) else not isinstance(op, FrameworkOp | NoneOp)


def live_operations(block: Block, roots: Iterable[Operation] = ()) -> set[Operation]:
    """The operations of a block that outputs or operations with effects depend on, and those of `roots` and what they depend on."""
    pending = [op for op in block.ops if is_root(op)]
    pending.extend(roots)
    live = set(pending)
    while pending:
        for producer in _producers(pending.pop()):
            if producer not in live:
                live.add(producer)
                pending.append(producer)
    return live


def erase_operations(operations: Sequence[Operation]) -> None:
    """Erase operations that nothing else uses, cycles among them."""
    for op in operations:
        op.operands = []
    for op in operations:
        op.detach()
        op.erase()
