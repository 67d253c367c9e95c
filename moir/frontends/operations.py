"""The list of a block's operations while a frontend builds it."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.dialects.moir import NoneOp


class Operations:
    """The operations of a block under construction, in order."""

    def __init__(self) -> None:
        self.list: list[Operation] = []
        self._absent: SSAValue | None = None

    def append(self, op: Operation) -> None:
        """Append an operation."""
        self.list.append(op)

    def absent(self) -> SSAValue:
        """The value for absent operands; the block has one operation for all of them."""
        if self._absent is None:
            op = NoneOp.of()
            self.list.append(op)
            self._absent = op.result
        return self._absent
