"""Sentinels: the operands of input ports that have no tensor.

The operand of a disconnected port is the result of `mo.disconnected`, and that of a deleted port is the result of
`mo.absent_port`. Both exist only while an extension edits a graph; afterwards an absent operand is the result of
`moir.none`.
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
    """Whether a value stands for a disconnected or deleted port."""
    return isinstance(value.owner, SENTINELS)


def is_value(value: SSAValue) -> bool:
    """Whether a value is a tensor: neither a sentinel nor an absent optional operand."""
    return not isinstance(value.owner, _NO_VALUE)


def is_node(op: Operation) -> bool:
    """Whether an operation is a node of the graph."""
    return not isinstance(op, _NO_VALUE)


def new_sentinel(block: Block, kind: type[Operation]) -> SSAValue:
    """The value of a new sentinel, at the beginning of a block."""
    op = kind.create(result_types=[UNKNOWN])
    if block.first_op is None:
        block.add_op(op)
    else:
        block.insert_op_before(op, block.first_op)
    return op.results[0]


def nodes_of(block: Block) -> Iterator[Operation]:
    """The operations of a block that are nodes of the graph."""
    return (op for op in block.ops if not isinstance(op, _NO_VALUE))
