"""Changes the class of an operation in place."""

from __future__ import annotations

from xdsl.ir import Operation


def recast(op: Operation, operation: type[Operation]) -> None:
    """Change the class of an operation in place, so that nodes for it, uses of its results and its position stay
    valid.
    """
    object.__setattr__(op, "__class__", operation)
