"""Backward reachability: the operations on which given operations depend."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Block, Operation, OpResult

from moir.dialects.frameworks.tensorflow import BACK_EDGES, MERGES, kind_of
from moir.dialects.names import name_of
from moir.dialects.properties import value_of


def needed_for(roots: Iterable[Operation]) -> set[Operation]:
    """The given operations, and all that they depend on in their blocks, also through the back edges of loops."""
    pending = list(roots)
    needed = set(pending)
    sources: dict[Block | None, dict[str | None, list[Operation]]] = {}
    while pending:
        op = pending.pop()
        dependencies = [operand.op for operand in op.operands if isinstance(operand, OpResult)]
        if kind_of(op) in MERGES:
            block = op.parent
            if block not in sources:
                sources[block] = _back_edges(block)
            dependencies += sources[block].get(name_of(op), ())
        for source in dependencies:
            if source not in needed:
                needed.add(source)
                pending.append(source)
    return needed


def _back_edges(block: Block | None) -> dict[str | None, list[Operation]]:
    """The operations that feed each Merge from the end of a loop, by its name."""
    back_edges: dict[str | None, list[Operation]] = {}
    for op in () if block is None else block.ops:
        if kind_of(op) in BACK_EDGES and (merge := op.properties.get("merge")) is not None:
            back_edges.setdefault(value_of(merge), []).append(op)
    return back_edges
