"""Groups the Enter nodes of a graph by the loops of TensorFlow 1: connected Enters with one frame name belong to one
loop.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation

from moir.dialects.framework import FrameworkOp
from moir.dialects.frameworks.tensorflow import kind_of

ENTERS = ("Enter", "RefEnter")
EXITS = ("Exit", "RefExit")


def connected_loops(block: Block) -> dict[Operation, Operation]:
    """For each Enter of a block, the Enter that represents its loop.

    Enters of one frame name belong to one loop if an operation uses values of both. An Enter that is not connected with
    the condition of any loop belongs to the first loop of its name.
    """
    loops = ConnectedLoops()
    while loops.walk(block):
        pass
    conditions = {loops.representative(op) for op in loops.conditions}
    representatives: dict[Operation, Operation] = {}
    firsts: dict[str, Operation] = {}
    for op in loops.parents:
        loop = loops.representative(op)
        if loop in conditions:
            firsts.setdefault(_frame_name(op), loop)
            representatives[op] = loop
    return {op: representatives.get(op) or firsts.get(_frame_name(op)) or loops.representative(op) for op in loops.parents}


class ConnectedLoops:
    """Disjoint sets of connected Enters (a union-find structure), and which loop encloses which."""

    def __init__(self) -> None:
        self.parents: dict[Operation, Operation] = {}
        """Union-find forest: Enter -> parent; the representative of a set is its own parent."""
        self.inside: dict[Operation, Operation] = {}
        """For each operation within a loop an Enter of the innermost one."""
        self.around: dict[Operation, Operation] = {}
        """For the representative of a loop, an Enter of the loop around it."""
        self.conditions: set[Operation] = set()
        """An Enter of each loop that has a LoopCond."""

    def representative(self, op: Operation) -> Operation:
        """The Enter that represents the loop of an Enter; the Enters of one loop have the same."""
        while (parent := self.parents[op]) is not op:
            self.parents[op] = op = self.parents[parent]
        return op

    def join(self, first: Operation, other: Operation) -> bool:
        """Join the sets of two Enters; returns whether they were different."""
        first, other = self.representative(first), self.representative(other)
        if first is other:
            return False
        self.parents[other] = first
        if (around := self.around.pop(other, None)) is not None:
            self.enclose(first, around)
        return True

    def enclose(self, inner: Operation, outer: Operation) -> bool:
        """Record that a loop is nested in another one; returns whether that changed anything."""
        inner = self.representative(inner)
        if inner not in self.around:
            self.around[inner] = outer
            return True
        around = self.around[inner]
        return _frame_name(around) == _frame_name(outer) and self.join(around, outer)

    def walk(self, block: Block) -> bool:
        """Walk over the operations of a block; returns whether sets were joined, or a loop was recognized as nested."""
        changed = False
        for op in block.ops:
            loops = [
                self.inside[operand.owner]
                for operand in op.operands
                if isinstance(operand.owner, Operation) and operand.owner in self.inside
            ]
            kind = kind_of(op)
            if kind in ENTERS:
                self.parents.setdefault(op, op)
                self.inside[op] = op
                if loops:
                    changed |= self.enclose(op, loops[0])
            elif loops and kind in EXITS:
                if (around := self.around.get(self.representative(loops[0]))) is not None:
                    self.inside[op] = around
            elif loops:
                for other in loops[1:]:
                    if _frame_name(other) == _frame_name(loops[0]):
                        changed |= self.join(loops[0], other)
                self.inside[op] = loops[0]
                if kind == "LoopCond":
                    self.conditions.add(loops[0])
        return changed


def _frame_name(op: Operation) -> str:
    assert isinstance(op, FrameworkOp)
    return op.text("frame_name")
