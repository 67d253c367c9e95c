"""The list of a block's operations while a frontend builds it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from moir.dialects.moir import NoneOp
from moir.dialects.shapes import impossibility, tensor
from moir.errors import ModelFileError


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


def declared_type(shape: Sequence[int] | None, element: Attribute, name: str) -> Attribute:
    """The type that a file declares for a value.

    Raises ModelFileError, with the name of the value, for a shape that no tensor has.
    """
    if shape is not None and (reason := impossibility(shape)):
        raise ModelFileError(reason, operation="value", node=name, hint="the file is damaged, or its shapes are wrong")
    return tensor(shape, element)
