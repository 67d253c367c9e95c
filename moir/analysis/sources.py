"""Whether a value is computed from operations of one kind and constants only."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue

from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp

MOST_VALUES = 64
"""The largest number of values that are visited; a value computed from more is not recognised."""


def is_computed_of(value: SSAValue, kind: str, accepts: Callable[[OpsetOp], bool] | None = None, *, is_end: bool = False) -> bool:
    """Whether a value is computed from at least one operation of a kind, and otherwise only from constants.

    Args:
        value: the value.
        kind: the kind of operation, as `ShapeOf`.
        accepts: a condition that all operations on the way have to meet, including the producer of the value.
        is_end: whether the operands of operations of the kind may be anything; otherwise they have to be constants,
            too.
    """
    remaining, seen, is_met = [value], {value}, False
    while remaining:
        op = remaining.pop().owner
        if not isinstance(op, OpsetOp) or len(seen) > MOST_VALUES or (accepts is not None and not accepts(op)):
            return False
        if kind == op.KIND:
            is_met = True
            if is_end:
                continue
        if not op.operands and not isinstance(op, Constant):
            return False
        following = [each for each in op.operands if each not in seen]
        seen.update(following)
        remaining += following
    return is_met
