"""The operations of a block while a frontend builds it."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.dialects.moir import NoneOp


class Operations:
    """The operations of a block, in order, while they are collected."""

    def __init__(self) -> None:
        self.list: list[Operation] = []
        self._absent: SSAValue | None = None

    def append(self, op: Operation) -> None:
        """Add an operation at the end."""
        self.list.append(op)

    def absent(self) -> SSAValue:
        """What stands for an absent operand, one for all of the block."""
        if self._absent is None:
            op = NoneOp.of()
            self.list.append(op)
            self._absent = op.result
        return self._absent
