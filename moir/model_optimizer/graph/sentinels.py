"""What stands for a value where a port has none.

A disconnected port is an operand from `mo.disconnected`, a number without a port one from `mo.absent_port`: they exist while an extension
edits a graph and are gone when it has ended. `moir.none` is an absent optional operand for good.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, SSAValue

from moir.dialects.framework import MODEL_OPTIMIZER, operation_class
from moir.dialects.moir import NoneOp
from moir.dialects.shapes import UNKNOWN

DISCONNECTED = operation_class(MODEL_OPTIMIZER, "disconnected")
ABSENT_PORT = operation_class(MODEL_OPTIMIZER, "absent_port")
SENTINELS = (DISCONNECTED, ABSENT_PORT)
_NO_VALUE = (*SENTINELS, NoneOp)


def is_sentinel(value: SSAValue) -> bool:
    """Whether a value stands for a port that is disconnected or absent."""
    return isinstance(value.owner, SENTINELS)


def is_value(value: SSAValue) -> bool:
    """Whether a value is one: no sentinel and no absent optional operand."""
    return not isinstance(value.owner, _NO_VALUE)


def is_node(op: Operation) -> bool:
    """Whether an operation is a node of the graph."""
    return not isinstance(op, _NO_VALUE)


def new_sentinel(block: Block, kind: type[Operation]) -> SSAValue:
    """A sentinel in front of everything in a block."""
    op = kind.create(result_types=[UNKNOWN])
    if block.first_op is None:
        block.add_op(op)
    else:
        block.insert_op_before(op, block.first_op)
    return op.results[0]


def nodes_of(block: Block) -> Iterator[Operation]:
    """The operations of a block that are nodes of the graph."""
    return (op for op in block.ops if not isinstance(op, _NO_VALUE))
