"""In-place type inference of an operation, and of a block from its first operation to its last."""

from __future__ import annotations

from xdsl.ir import Attribute, Block, Operation, SSAValue

from moir.dialects.names import name_of
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.errors import InferenceError


def set_type(value: SSAValue, type_: Attribute) -> None:
    """Change the type of a value in place.

    The value stays the same object, so that tables with the value as key stay valid.
    """
    value._type = type_  # pyright: ignore[reportPrivateUsage]


def infer_operation(op: Operation, known: OperandValues) -> bool:
    """Infer the result types of an operation and of the bodies in it; returns whether a result type changed.

    An operation that is not of an opset dialect, such as a source node, keeps its types. Raises InferenceError, with
    the names of the operation and its node, if operands contradict the operation.
    """
    if not isinstance(op, OpsetOp):
        return False
    try:
        types = op.infer(known)
        if len(types) != len(op.results):
            raise InferenceError(f"it has {len(types)} results, not {len(op.results)}")
    except InferenceError as error:
        if error.operation is not None:
            raise
        raise InferenceError(error.reason, operation=op.name, node=name_of(op), location=error.location, hint=error.hint) from error
    changed = False
    for result, type_ in zip(op.results, types, strict=True):
        if result.type is not type_ and result.type != type_:
            set_type(result, type_)
            changed = True
    return changed


def infer_block(block: Block, known: OperandValues) -> None:
    """Infer the types of the operations of a block in order.

    `known` must not hold cached values that depend on types of the block.
    """
    for op in block.ops:
        infer_operation(op, known)
